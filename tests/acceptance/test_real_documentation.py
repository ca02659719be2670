"""A site that nobody here wrote: the Python documentation, as Debian packages it.

Skipped where the package ``python3-doc`` is not installed.
"""

import contextlib
import functools
import http.server
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.command import answer, recrawl, rows, write_config

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]

PLACES = [
    place
    for place in sorted(Path("/usr/share/doc").glob("python3.*/html"))
    if (place / "library" / "asyncio-task.html").exists()
]
CONFIG = """
seeds = ["http://docs.localhost:{port}/index.html"]
contact = "mailto:tester@site.test"
budget = "1000/s"
[politeness]
delay = "0s"
allow_private = ["docs.localhost"]
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- its name there
        """Say nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[int]:
    """Serve a folder as `python -m http.server` does; yields the port."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def outcomes(cwd: Path, *, since: int) -> Counter[str]:
    """Count the outcomes of visits after the first so many."""
    return Counter(row["outcome"] for row in rows(cwd, "visits")[since:])


@pytest.mark.skipif(not PLACES, reason="python3-doc is not installed")
def test_a_documentation_is_found_kept_fresh_and_searchable(tmp_path: Path) -> None:
    """Every page once; then 304s; then exactly the ten pages that were touched."""
    site, cwd = tmp_path / "site", tmp_path / "crawl"
    cwd.mkdir()
    shutil.copytree(PLACES[-1], site, ignore=shutil.ignore_patterns("_sources"))
    with served(site) as port:
        write_config(cwd, CONFIG.format(port=port))

        assert recrawl("run", "--once", "--quiet", cwd=cwd, timeout=300).returncode == 0
        first = outcomes(cwd, since=0)
        known = {row["url"] for row in rows(cwd, "pages") if row["state"] == "indexed"}
        chapters = {
            f"http://docs.localhost:{port}/{path.relative_to(site)}"
            for part in ("library", "tutorial", "reference", "howto")
            for path in (site / part).glob("*.html")
        }
        assert len(chapters) > 300
        assert len(chapters - known) <= 0.01 * len(chapters), sorted(chapters - known)[:10]

        hits = answer("search", "asyncio task group", cwd=cwd)["hits"]
        assert hits[0]["url"].endswith("/library/asyncio-task.html")

        assert recrawl("run", "--once", "--quiet", cwd=cwd, timeout=300).returncode == 0
        second = outcomes(cwd, since=first.total())
        assert second["not-modified"] >= 0.99 * len(known)

        touched = sorted(known & chapters)[::30][:10]
        for url in touched:
            path = site / url.partition(f":{port}/")[2]
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace("<h1>", "<h1>Zyzzyva edition: ", 1), encoding="utf-8")
            later = path.stat().st_mtime + 100
            os.utime(path, (later, later))
        assert recrawl("run", "--once", "--quiet", cwd=cwd, timeout=300).returncode == 0
        third = outcomes(cwd, since=first.total() + second.total())
        assert third["changed"] == len(touched) == 10

        found = answer("search", "zyzzyva", "--limit", "50", cwd=cwd)
        assert {hit["url"] for hit in found["hits"]} == set(touched)
