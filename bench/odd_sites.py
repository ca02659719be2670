"""Sites whose pages are hard to come by, crawled once and judged by their server's log.

    python bench/odd_sites.py [NAME ...] [--pages 1000]

Links that redirect, lists that are left out of the index or share a script with what they list,
records of one title, sessions in every link, lists without an end, errors that are called pages:
as stock software and templates make them, each by a small script.

Bars: every page is read, and with it at most 1.2 requests go to each of those that a reader would
follow on the way: pages, lists, and redirects that are the only way to a page.
"""

import argparse
import asyncio
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from aiohttp import web
from typing_extensions import override

RECRAWL = [sys.executable, "-m", "recrawl"]
MOST_REQUESTS = 1.2
ON_A_LIST = 20
SETTINGS = """\
seeds = ["http://127.0.0.1:{port}/"]
contact = "mailto:bench@site.test"
budget = "1000/s"
state = "state"
[scope]
max_depth = 20
[politeness]
delay = "0s"
allow_private = ["127.0.0.1"]
"""
Query = Mapping[str, str]


def words(seed: object, n: int) -> str:
    """Return so many made-up words, always the same of a seed."""
    random = Random(str(seed))
    return " ".join(
        "".join(random.choice("aeioubcdfglmnprst") for _ in range(random.randint(4, 8)))
        for _ in range(n)
    )


def name(number: int) -> str:
    """Return what a page is called in its address."""
    return f"{words(number, 2).replace(' ', '-')}-{number}"


def html(title: str, body: str, head: str = "") -> web.Response:
    """Return a page in a template."""
    text = (
        f"<html><head><title>{title}</title>{head}</head><body>"
        f"<header><a href='/'>Home</a></header><main><h1>{title}</h1>{body}</main>"
        "<footer>imprint</footer></body></html>"
    )
    return web.Response(text=text, content_type="text/html")


def moved(to: str) -> web.Response:
    """Return a redirect."""
    return web.Response(status=301, headers={"Location": to})


class Site:
    """A site of so many pages; ``on_the_way`` is what else a reader follows to come to them."""

    on_the_way = 1

    def __init__(self, n_pages: int) -> None:
        self.n_pages = n_pages
        self.read: set[int] = set()

    def article(self, number: int) -> web.Response:
        """Return a page that says something of its own."""
        return self.page(number, words(number, 3), f"<p>{words(('text', number), 60)}</p>")

    def page(self, number: int, title: str, body: str) -> web.Response:
        """Return a page, and remember that it was read."""
        self.read.add(number)
        return html(title, body)

    def links(self, shape: str, numbers: Sequence[int] | None = None) -> str:
        """Return links to pages, all of them if none are named."""
        chosen = range(self.n_pages) if numbers is None else numbers
        return "".join(
            f'<p><a href="{shape.format(n=n, name=name(n))}">{words(n, 3)}</a></p>' for n in chosen
        )

    def listed(self, nth: int, page: str, after: str, head: str = "") -> web.Response:
        """Return the nth list from 1, which leads to its pages and the next list."""
        first = (nth - 1) * ON_A_LIST
        numbers = range(self.n_pages)[first : first + ON_A_LIST]
        on = f'<a href="{after.format(n=nth + 1)}">Older</a>' if numbers.stop < self.n_pages else ""
        return html(f"Blog, page {nth}", self.links(page, numbers) + on, head)

    @property
    def n_lists(self) -> int:
        """How many lists there are."""
        return -(-self.n_pages // ON_A_LIST)

    def answer(self, path: str, query: Query) -> web.Response | None:
        """Return what is said; None: there is no such page."""
        raise NotImplementedError


class Redirects(Site):
    """Links lead to pages by way of another address each."""

    def __init__(self, n_pages: int, way: str) -> None:
        super().__init__(n_pages)
        self.way, self.on_the_way = way, n_pages + 1

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        if path.startswith("/names/") and path.endswith("/"):
            return self.article(int(path.strip("/").rpartition("-")[2]))
        if "n" in query:
            return moved(f"/names/{name(int(query['n']))}/")
        last = path.rstrip("/").rpartition("/")[2].rpartition("-")[2]
        return moved(f"/names/{name(int(last))}/") if last else html("Home", self.links(self.way))


class LeftOut(Site):
    """Lists that ask not to be indexed."""

    def __init__(self, n_pages: int, after: str) -> None:
        super().__init__(n_pages)
        self.after, self.on_the_way = after, self.n_lists + 1

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        if path.startswith("/names/"):
            return self.article(int(path.rpartition("-")[2]))
        told = query.get("page") or (path.rpartition("/")[2] if path != "/" else "1")
        head = '<meta name="robots" content="noindex, follow">' if told != "1" else ""
        return self.listed(int(told), "/names/{name}", self.after, head)


class NoEnd(Site):
    """Lists that go on for ever, with nothing behind the last."""

    def __init__(self, n_pages: int) -> None:
        super().__init__(n_pages)
        self.on_the_way = self.n_lists

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        name, _, number = path.strip("/").partition("/")
        if name == "a" and int(number) < self.n_pages:
            return self.article(int(number))
        nth = int(number) if name == "page" else 1
        first = (nth - 1) * ON_A_LIST
        listed = self.links("/a/{n}", range(self.n_pages)[first : first + ON_A_LIST])
        older = f'<a href="/page/{nth + 1}">Older</a>'
        return html(f"Blog, page {nth}", (listed or "<p>Nothing is here.</p>") + older)


class OneScript(Site):
    """Lists and what they list have the same address but for the query."""

    def __init__(self, n_pages: int) -> None:
        super().__init__(n_pages)
        self.on_the_way = self.n_lists + 1

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        if "topic" in query:
            return self.article(int(query["topic"]))
        if "board" in query:
            first = int(query["board"]) * ON_A_LIST
            numbers = range(self.n_pages)[first : first + ON_A_LIST]
            return html(f"Board {query['board']}", self.links("/index.php?topic={n}", numbers))
        boards = (f'<a href="/index.php?board={n}">board {n}</a> ' for n in range(self.n_lists))
        return html("Forum", "".join(boards))


class InTheHead(Site):
    """Lists of which only the head of each names the next."""

    def __init__(self, n_pages: int) -> None:
        super().__init__(n_pages)
        self.on_the_way = self.n_lists

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        if path.startswith("/names/"):
            return self.article(int(path.rpartition("-")[2]))
        nth = int(query.get("page", "1"))
        first = (nth - 1) * ON_A_LIST
        numbers = range(self.n_pages)[first : first + ON_A_LIST]
        head = f'<link rel="next" href="/?page={nth + 1}">' if nth < self.n_lists else ""
        return html(f"Blog, page {nth}", self.links("/names/{name}", numbers), head)


class Records(Site):
    """A register of one title, whose records differ in a few numbers and a word."""

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        if "id" not in query:
            return html("Register", self.links("/record?id={n}"))
        number = int(query["id"])
        rows = {"Number": number, "Value": number * 7 % 101, "Owner": words(("owner", number), 2)}
        cells = "".join(f"<tr><td>{of}<td>{told}" for of, told in rows.items())
        return self.page(number, "Record", f"<table>{cells}</table>")


class Shop(Site):
    """Products of few prices that say their own name and a template."""

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        if not path.startswith("/product/"):
            return html("Shop", self.links("/product/{name}"))
        slug = path.rpartition("/")[2]
        number = int(slug.rpartition("-")[2])
        text = f"<p>{number % 13}.99</p><p>Buy {slug.replace('-', ' ')} now.</p>"
        return self.page(number, slug.replace("-", " "), text)


class Sessions(Site):
    """A forum that has a session in each of its links, other for each answer."""

    def __init__(self, n_pages: int) -> None:
        super().__init__(n_pages)
        self.on_the_way = self.n_lists + 1

    @override
    def answer(self, path: str, query: Query) -> web.Response | None:
        session = secrets.token_hex(16)
        if "t" in query:
            reply = f'<a href="/post?mode=reply&t={query["t"]}&sid={session}">reply</a>'
            number = int(query["t"])
            return self.page(number, words(number, 3), f"<p>{words(number, 60)}</p>{reply}")
        if "f" in query:
            first = int(query["f"]) * ON_A_LIST
            numbers = range(self.n_pages)[first : first + ON_A_LIST]
            links = self.links("/topic?t={n}&sid=" + session, numbers)
            return html(f"Forum {query['f']}", links)
        if path == "/post":
            return html("Log in", "<form><input name=user><input type=password name=p></form>")
        forums = (f'<a href="/forum?f={n}&sid={session}">{n}</a> ' for n in range(self.n_lists))
        return html("Forums", "".join(forums))


SITES: dict[str, Callable[[int], Site]] = {
    "slash": lambda n: Redirects(n, "/names/{name}"),
    "nodes": lambda n: Redirects(n, "/node/{n}"),
    "numbers": lambda n: Redirects(n, "/?n={n}"),
    "counted": lambda n: Redirects(n, "/go?n={n}&from=start"),
    "noindex-query": lambda n: LeftOut(n, "/?page={n}"),
    "noindex-path": lambda n: LeftOut(n, "/page/{n}"),
    "no-end": NoEnd,
    "one-script": OneScript,
    "head-next": InTheHead,
    "records": Records,
    "shop": Shop,
    "sessions": Sessions,
}


async def crawled(site: Site, folder: Path) -> int:
    """Crawl a site once; return how many requests it saw."""
    n_requests = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal n_requests
        n_requests += 1
        try:
            return site.answer(request.path, request.query) or web.Response(status=404)
        except ValueError:
            return web.Response(status=404)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    (folder / "recrawl.toml").write_text(SETTINGS.format(port=runner.addresses[0][1]))
    try:
        running = await asyncio.create_subprocess_exec(
            *RECRAWL, "run", "--once", "--quiet", cwd=folder, stdout=subprocess.DEVNULL
        )
        await running.wait()
    finally:
        await runner.cleanup()
    return n_requests


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl the sites that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(SITES), metavar="NAME")
    parser.add_argument("--pages", type=int, default=1_000)
    given = parser.parse_args(arguments)
    unknown = [one for one in given.names if one not in SITES]
    if unknown:
        parser.error(f"there is no site {unknown[0]}; there are {', '.join(SITES)}")
    is_held = True
    for one in given.names:
        site = SITES[one](given.pages)
        with tempfile.TemporaryDirectory() as folder:
            n_requests = asyncio.run(crawled(site, Path(folder)))
        share = n_requests / (site.n_pages + site.on_the_way)
        held = len(site.read) == site.n_pages and share <= MOST_REQUESTS
        is_held &= held
        told = f"{one:14} {len(site.read):6,} read of {site.n_pages:,}, {n_requests:,} requests"
        print(f"{'held  ' if held else 'MISSED'}  {told}, {share:.2f} of those needed", flush=True)
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main())
