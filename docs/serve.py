"""Build the site, index it by a crawl of it, and serve both: `python3 x.py docs`.

Searches of the served site are answered by recrawl's own index; a copy of the built pages without
this server falls back to the search that Sphinx builds in.
"""

import argparse
import asyncio
import contextlib
import functools
import html
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import recrawl

HERE = Path(__file__).resolve().parent
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title} - recrawl</title><link rel="stylesheet" href="_static/styles/furo.css">
<body style="max-width: 46em; margin: 2em auto; padding: 0 1em">
<p><a href="index.html">recrawl</a></p>
<form action="search.html"><input name="q" value="{query}" size="40" aria-label="Search">
<button>Search</button></form>
<p>{told}</p>
<ol>
{hits}
</ol>
<p><small>Answered by recrawl, from a crawl of these pages.</small></p>
</body></html>
"""


def answer(query: str, hits: Sequence[recrawl.Hit]) -> str:
    """Return the page of results; whatever was crawled or typed is text in it."""
    told = f"{len(hits)} pages, the best first" if hits else "Nothing found." if query else ""
    lines = [
        f'<li><a href="{html.escape(urlsplit(hit.url).path.lstrip("/") or "index.html")}">'
        f"{html.escape(hit.title or hit.url)}</a><br>{html.escape(hit.snippet)}</li>"
        for hit in hits
    ]
    shown = html.escape(query)
    return PAGE.format(title=shown or "Search", query=shown, told=told, hits="\n".join(lines))


class Handler(http.server.SimpleHTTPRequestHandler):
    """The files of the site, and results in the place of its search page."""

    def __init__(self, *given: object, state: Path, **named: object) -> None:
        self.state = state
        super().__init__(*given, **named)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer a search by the index, all else from the files."""
        asked = urlsplit(self.path)
        if asked.path != "/search.html" or not (self.state / "index").exists():
            super().do_GET()
            return
        query = parse_qs(asked.query).get("q", [""])[0][:500]
        with recrawl.open_state(self.state) as state:
            hits = state.search(query, limit=20) if query.strip() else []
        body = answer(query, hits).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


def serve(site: Path, state: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Serve a built site in a thread of its own."""
    handler = functools.partial(Handler, state=state, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def index(home: str, state: Path) -> int:
    """Crawl a served site once; return how many pages can be searched."""
    settings = recrawl.Settings(
        seeds=[home],
        contact="docs@localhost.test",
        state=state,
        delay_s=0.0,
        budget_per_s=1000.0,
        allow_private=["127.0.0.1"],
        exclude=["/_sources/*", "/_static/*", "/search.html", "/genindex*"],
    )

    async def crawl() -> int:
        async with recrawl.open_crawl(settings) as opened:
            await opened.run(once=True)
            return int(opened.status()["pages"].get("indexed", 0))

    return asyncio.run(crawl())


def main() -> None:
    """Build, index, serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--build-only", action="store_true")
    given = parser.parse_args()
    site, state = HERE.parent / "site", HERE.parent / "build" / "docs-index"
    strict = ("--fail-on-warning", "--keep-going", "--quiet")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", *strict, HERE, site], check=False
    )
    if built.returncode:
        sys.exit(built.returncode)
    shutil.rmtree(state, ignore_errors=True)
    try:
        server = serve(site, state, given.port)
    except OSError as error:
        sys.exit(f"--port {given.port}: {error.strerror}; choose another")
    home = f"http://127.0.0.1:{server.server_port}/"
    print(f"{index(home, state)} pages can be searched; {home} (Ctrl-C ends it)", flush=True)
    if not given.build_only:
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    server.shutdown()


if __name__ == "__main__":
    main()
