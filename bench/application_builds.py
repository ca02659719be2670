"""Sites that documentation builders and small scripts make, on 127.0.0.1.

As :mod:`application_sites`: each is a context manager that yields a ``Site``. What PyPI has is
found on the path: ``pip install sphinx mkdocs``; so is Docusaurus, in ``node_modules/.bin``
of wherever ``npm install @docusaurus/core @docusaurus/preset-classic react react-dom`` was said.
"""

import contextlib
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from application_sites import (
    Site,
    free_port,
    needs,
    paragraph,
    quiet,
    server,
)

PER_PAGE = 10


@contextlib.contextmanager
def _served(root: Path, log: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-u", "-m", "http.server", str(port), "--directory", str(root)]
    with server([*command, "--bind", "127.0.0.1"], port, log):
        yield f"http://127.0.0.1:{port}/"


# -- builders of documentation --


@contextlib.contextmanager
def sphinx(folder: Path, n_pages: int) -> Iterator[Site]:
    """A build of Sphinx, with an index, a search and the source of every page."""
    needs("sphinx-build")
    source, built = folder / "source", folder / "built"
    source.mkdir()
    (source / "conf.py").write_text("project = 'Manifold'\n")

    def write(number: int, more: str) -> None:
        title = f"Page {number}"
        (source / f"page{number}.rst").write_text(
            f"{title}\n{'=' * len(title)}\n\n{paragraph(number, more)}\n\n"
            f".. index:: thing{number}\n\nSee :doc:`page{(31 * number + 7) % n_pages}`.\n"
        )

    for number in range(n_pages):
        write(number, "")
    toc = "".join(f"   page{number}\n" for number in range(n_pages))
    (source / "index.rst").write_text(f"Manifold\n========\n\n.. toctree::\n\n{toc}")
    build = ["sphinx-build", "-q", "-b", "html", source, built]
    quiet(build)

    def edit(number: int) -> str:
        write(number, f"Edited at {time.time():.3f}.")
        quiet(build)
        return f"/page{number}.html"

    with _served(built, folder / "server.log") as home:
        page = re.compile(r"/page\d+\.html")
        yield Site(
            home,
            folder / "server.log",
            lambda url: page.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: url in ("/", "/index.html"),
        )


@contextlib.contextmanager
def mkdocs(folder: Path, n_pages: int) -> Iterator[Site]:
    """A build of MkDocs, a folder for each page, and a sitemap."""
    needs("mkdocs")
    source = folder / "docs"
    source.mkdir()

    def write(number: int, more: str) -> None:
        see = f"[see](page{(31 * number + 7) % n_pages}.md)"
        (source / f"page{number}.md").write_text(
            f"# Page {number}\n\n{paragraph(number, more)}\n\n{see}\n"
        )

    for number in range(n_pages):
        write(number, "")
    (source / "index.md").write_text("# Manifold\n\nWelcome, all.\n")

    def build(home: str) -> None:
        (folder / "mkdocs.yml").write_text(f"site_name: Manifold\nsite_url: {home}\n")
        quiet(["mkdocs", "build", "-q", "-f", folder / "mkdocs.yml"])

    (folder / "site").mkdir()
    with _served(folder / "site", folder / "server.log") as home:
        build(home)

        def edit(number: int) -> str:
            write(number, f"Edited at {time.time():.3f}.")
            build(home)
            return f"/page{number}/"

        page = re.compile(r"/page\d+/")
        yield Site(
            home,
            folder / "server.log",
            lambda url: page.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: url in ("/", "/sitemap.xml", "/sitemap.xml.gz"),
        )


_DOCUSAURUS = """export default {
  title: 'Manifold', url: 'HOME', baseUrl: '/', trailingSlash: true, onBrokenLinks: 'ignore',
  presets: [['classic', {blog: false, docs: {routeBasePath: '/', sidebarPath: undefined}}]],
};
"""


@contextlib.contextmanager
def docusaurus(folder: Path, n_pages: int) -> Iterator[Site]:
    """A build of Docusaurus: pages whose menu, search and next page scripts take over."""
    needs("docusaurus")
    modules = Path(shutil.which("docusaurus") or "").parents[1]
    source = folder / "docs"
    source.mkdir()
    (folder / "node_modules").symlink_to(modules)

    def write(number: int, more: str) -> None:
        see = f"[see](page{(31 * number + 7) % n_pages}.md)"
        (source / f"page{number}.md").write_text(
            f"# Page {number}\n\n{paragraph(number, more)}\n\n{see}\n"
        )

    for number in range(n_pages):
        write(number, "")
    (source / "index.md").write_text("# Manifold\n\nWelcome, all.\n")

    def build(home: str) -> None:
        (folder / "docusaurus.config.js").write_text(_DOCUSAURUS.replace("HOME", home.rstrip("/")))
        (folder / "package.json").write_text('{"name": "manifold", "private": true}')
        quiet(["docusaurus", "build", "--out-dir", folder / "next"], folder)
        shutil.copytree(folder / "next", folder / "site", dirs_exist_ok=True)

    (folder / "site").mkdir()
    with _served(folder / "site", folder / "server.log") as home:
        build(home)

        def edit(number: int) -> str:
            write(number, f"Edited at {time.time():.3f}.")
            build(home)
            return f"/page{number}/"

        page = re.compile(r"/page\d+/")
        yield Site(
            home,
            folder / "server.log",
            lambda url: page.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: url in ("/", "/sitemap.xml"),
        )


# -- a tracker --


# -- by small scripts --


@contextlib.contextmanager
def blog(folder: Path, n_pages: int) -> Iterator[Site]:
    """Posts under their dates, pages of ten posts, and the same for each tag and month."""
    root = folder / "root"
    tags = ("red", "green", "blue", "white")

    def path(number: int) -> str:
        return f"/20{10 + number % 9}/{1 + number % 12:02}/post-{number}/"

    def put(where: str, title: str, body: str) -> None:
        place = root / where.strip("/")
        place.mkdir(parents=True, exist_ok=True)
        side = "".join(f'<a href="/tag/{tag}/">{tag}</a> ' for tag in tags)
        (place / "index.html").write_text(
            f"<html><head><title>{title}</title></head><body><main>{body}</main>"
            f"<nav><a href='/'>home</a> {side}</nav></body></html>"
        )

    def post(number: int, more: str) -> None:
        put(path(number), f"Post {number}", f"<h1>Post {number}</h1><p>{paragraph(number, more)}")

    def listed(base: str, numbers: list[int]) -> None:
        for first in range(0, len(numbers), PER_PAGE):
            some = numbers[first : first + PER_PAGE]
            items = "".join(f"<li><a href='{path(one)}'>Post {one}</a>" for one in some)
            place = first // PER_PAGE + 1
            more = f"<a href='{base}page/{place + 1}/'>older</a>"
            put(base if place == 1 else f"{base}page/{place}/", "Posts", f"<ul>{items}</ul>{more}")

    for number in range(n_pages):
        post(number, "")
    listed("/", list(range(n_pages)))
    for place, tag in enumerate(tags):
        listed(f"/tag/{tag}/", [one for one in range(n_pages) if one % len(tags) == place])

    def edit(number: int) -> str:
        post(number, f"Edited at {time.time():.3f}.")
        return path(number)

    content = re.compile(r"/20\d\d/\d\d/post-\d+/")
    way = re.compile(r"/|/(tag/\w+/)?(page/\d+/)?")
    with _served(root, folder / "server.log") as home:
        yield Site(
            home,
            folder / "server.log",
            lambda url: content.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: way.fullmatch(url) is not None,
        )


@contextlib.contextmanager
def facets(folder: Path, n_pages: int) -> Iterator[Site]:
    """A list of things by state, label, order and page, in all their combinations."""
    log, texts = folder / "server.log", dict.fromkeys(range(n_pages), "")
    labels = [f"label{place}" for place in range(6)]
    choices = {
        "state": ["open", "closed"],
        "label": labels,
        "sort": ["newest", "oldest", "recentupdate"],
        "assignee": ["1", "2", "3"],
    }

    def listing(query: dict[str, str]) -> str:
        chosen = [one for one in range(n_pages) if _fits(one, query, labels)]
        chosen.sort(reverse=query.get("sort") == "oldest")
        first = PER_PAGE * (int(query.get("page", "1")) - 1)
        items = "".join(
            f"<li><a href='/things/{one}'>Thing {one}</a>"
            for one in chosen[first : first + PER_PAGE]
        )
        further = [{**query, name: value} for name in choices for value in choices[name]]
        if first + PER_PAGE < len(chosen):
            further.append({**query, "page": str(int(query.get("page", "1")) + 1)})
        links = "".join(f"<a href='/things?{urlencode(one)}'>{one}</a> " for one in further)
        return f"<title>Things</title><main><ul>{items}</ul></main><nav>{links}</nav>"

    def answer(target: str) -> tuple[int, str]:
        parts = urlsplit(target)
        if parts.path in ("/", "/things"):
            return 200, listing({name: one[0] for name, one in parse_qs(parts.query).items()})
        found = re.fullmatch(r"/things/(\d+)", parts.path)
        if found and int(found[1]) in texts:
            number = int(found[1])
            body = paragraph(number, texts[number])
            return 200, f"<title>Thing {number}</title><main><h1>{number}</h1><p>{body}</main>"
        return 404, "none"

    def edit(number: int) -> str:
        texts[number] = f"Edited at {time.time():.3f}."
        return f"/things/{number}"

    page = re.compile(r"/things/\d+")
    way = re.compile(r"/|/things(\?page=\d+)?")
    with _answering(answer, log) as home:
        yield Site(
            home,
            log,
            lambda url: page.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: way.fullmatch(url) is not None,
        )


def _fits(number: int, query: dict[str, str], labels: list[str]) -> bool:
    state = "closed" if number % 3 == 0 else "open"
    return (
        query.get("state", state) == state
        and query.get("label", labels[number % 6]) == labels[number % 6]
        and query.get("assignee", str(1 + number % 3)) == str(1 + number % 3)
    )


@contextlib.contextmanager
def _answering(answer: Callable[[str], tuple[int, str]], log: Path) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = answer(self.path)
            body = f"<!DOCTYPE html><html><body>{text}</body></html>".encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
            with log.open("a") as file:
                file.write(format % args + "\n")

    log.touch()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}/"
        finally:
            running.shutdown()


BUILDS = {one.__name__: one for one in (sphinx, mkdocs, docusaurus, blog, facets)}
