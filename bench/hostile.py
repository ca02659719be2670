"""A crawl of hosts that serve what is dear to read, beside a host that means well.

For each hostile page, and for all of them at once, `recrawl run` crawls a local web for some
seconds and is then stopped. The server's log tells how long the good host was not asked; memory is
read ten times a second, of the crawl and all processes below it.

Bars: less than 700 MiB in all; no pause above 5 s between pages of the good host; from SIGTERM to
the end at most 10 s; no page is poison twice.

    python bench/hostile.py                      all of them, ten minutes
    python bench/hostile.py --only unclosed-font everything
    python bench/hostile.py --seconds 20
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

FORMATTING = "a b big code em font i nobr s small strike strong tt u".split()
CONFIG = """
seeds = [{seeds}]
contact = "mailto:bench@site.test"
budget = "200/s"
state = "state"
[scope]
hosts = ["*.localhost"]
[politeness]
delay = "50ms"
allow_private = ["*.localhost"]
"""
GOOD_DELAY_S = 0.05


def unclosed(tag: str) -> bytes:
    """Formatting elements that are left open, and paragraphs that each build them again."""
    opened = "".join(f"<{tag} a{number}>" for number in range(400))
    return f"<p>{opened}{'<p>x' * 20_000}".encode()


def many_attributes(n: int) -> bytes:
    """One tag of so many attributes, all compared with each other."""
    return b"<p " + b" ".join(b"a%d" % number for number in range(n)) + b">x"


def feed(item: str, n: int) -> bytes:
    """A feed of so many equal items."""
    return f"<rss version='2.0'><channel>{item * n}</channel></rss>".encode()


def trapped_in_tables() -> bytes:
    """Text and formatting elements in tables, all of which are moved before them."""
    return b"<table><b>x" * 5_000 + b"<table>x<tr>y<i>" * 10_000


Make = Callable[[], bytes]
PAGES: dict[str, Make] = {
    **{f"unclosed-{tag}": (lambda tag=tag: unclosed(tag)) for tag in FORMATTING},
    "small-unclosed": lambda: b"<p>" + b"".join(b"<b %d>" % n for n in range(500)) + b"<p>x" * 490,
    "attributes-40000": lambda: many_attributes(40_000),
    "attributes-400000": lambda: many_attributes(400_000),
    "attributes-again": lambda: b"<p" + b" a" * 1_000_000 + b">x",
    "html-attributes": lambda: b"".join(b"<html a%d>" % n for n in range(60_000)),
    "rebuilt-attributes": lambda: (
        b"<p><b " + b" ".join(b"a%d" % n for n in range(2_000)) + b">" + b"<p>x" * 20_000
    ),
    "adoption": lambda: b"<a><b><i><u>" * 20_000 + b"</a></b></i></u>" * 20_000,
    "tables": trapped_in_tables,
    "deep": lambda: b"<div>" * 700_000,
    "deep-lists": lambda: b"<ul><li>" * 400_000,
    "templates": lambda: b"<template>" * 300_000,
    "svg": lambda: b"<svg><g><foreignObject>" * 100_000,
    "select": lambda: b"<select><option>" * 200_000,
    "entities": lambda: b"&CounterClockwiseContourIntegral;" * 120_000,
    "comments": lambda: b"<!-->" * 700_000 + b"<!--" * 100_000,
    "less-than": lambda: b"<" * 4_000_000,
    "long-word": lambda: b"<main>" + b"a1" * 2_000_000,
    "dates": lambda: b"<main>" + b"12 january 2024 1.1.2024 " * 160_000,
    "spaces": lambda: b"<main>" + b" \n" * 2_000_000,
    "links": lambda: b"".join(b"<a href=/%%25%d>x</a>" % n for n in range(150_000)),
    "plain.txt": lambda: b"0-" * 2_000_000,
}
LISTINGS: dict[str, Make] = {
    "feed-items": lambda: feed("<item><link>http://a.test/</link></item>", 20_000),
    "feed-deep": lambda: b"<rss><channel>" + b"<a>" * 300_000,
    "feed-attributes": lambda: b"<rss><channel><item " + many_attributes(90_000)[3:],
    "feed-dates": lambda: feed(f"<item><pubDate>{'1 ' * 5_000}</pubDate></item>", 90),
    "feed-html": lambda: feed(f"<item><description>{'&lt;b&gt;' * 1_000}</description></item>", 80),
    "sitemap-deep": lambda: b"<urlset>" + b"<url>" * 3_000_000,
    "sitemap-attributes": lambda: b"<urlset " + b" ".join(b'a%d="1"' % n for n in range(800_000)),
    "sitemap-open": lambda: b"<urlset><x>" + b"<y/>" * 5_000_000,
    "sitemap-entities": lambda: b"<!DOCTYPE x [" + b"<!ENTITY a 'b'>" * 500_000 + b"]><urlset/>",
    "robots-rules": lambda: b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*b$\n" * 20_000,
}


class Web:
    """The hosts: one that means well, and one for each page that does not."""

    def __init__(self) -> None:
        self.bodies = {name: make() for name, make in (PAGES | LISTINGS).items()}
        self.good_s: list[float] = []
        self.asked: list[tuple[str, str]] = []
        self.port = 0
        self.n_more = 20  # further pages of each hostile host

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                path = lines[0].split(" ")[1]
                host = next(line[6:] for line in lines if line.lower().startswith("host: "))
                status, kind, body = self.reply(host.partition(".")[0], path)
                writer.write(
                    f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def reply(self, name: str, path: str) -> tuple[int, str, bytes]:  # noqa: PLR0911 - a table
        """Return status, type and body."""
        if name == "good":
            return self.good(path)
        self.asked.append((name, path))
        body = self.bodies.get(name, b"")
        if name == "robots-rules":
            if path == "/robots.txt":
                return 200, "text/plain", body
            links = "".join(f"<a href='/{'a' * 60}{n}'>x</a>" for n in range(100))
            return 200, "text/html", f"<main>{links if path == '/' else path}</main>".encode()
        if name.startswith("sitemap"):
            is_it = path == "/sitemap.xml"
            return (
                (200, "text/xml", body)
                if is_it
                else (404 * (path != "/") or 200, "text/html", b"x")
            )
        if path in ("/robots.txt", "/sitemap.xml"):
            return 404, "text/html", b""
        if name.startswith("feed") and path == "/":
            link = b"<link rel=alternate type=application/rss+xml href=/feed>"
            return 200, "text/html", b"<head>" + link + b"</head><main>feed</main>"
        if name.startswith("feed"):
            return 200, "application/rss+xml", body
        if path == "/":  # the page, and more of the kind
            links = "".join(f"<a href='/{number}'>x</a>" for number in range(self.n_more))
            return 200, "text/html", f"<main>{links}</main>".encode()
        return 200, "text/plain" if name == "plain.txt" else "text/html", body

    def good(self, path: str) -> tuple[int, str, bytes]:
        """Return pages without end, each with a link to the next two."""
        if path[1:] and not path[1:].isdecimal():
            return 404, "text/html", b""
        self.good_s.append(time.monotonic())
        number = int(path[1:] or 0)
        links = "".join(f"<a href='/{2 * number + step}'>x</a>" for step in (1, 2))
        return 200, "text/html", f"<main>good page {number} {links}</main>".encode()


def tree_mib(pid: int) -> float:
    """Return the memory of a process and all below it; what several share counts once."""
    total = 0
    waiting = [pid]
    while waiting:
        number = waiting.pop()
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{number}/task").iterdir():
                waiting += map(int, (task / "children").read_text(encoding="utf-8").split())
            total += _held_kib(number)
    return total / 1024


def _held_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except PermissionError:  # a reader lets nobody look into it but root
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(("Pss:", "VmRSS"))), 0)


async def trial(web: Web, folder: Path, names: list[str], seconds: float) -> dict[str, float]:
    """Crawl for a while, then stop; return memory, longest pause and time to the end."""
    hosts = ["good", *names]
    seeds = ", ".join(f'"http://{name}.localhost:{web.port}/"' for name in hosts)
    (folder / "recrawl.toml").write_text(CONFIG.format(seeds=seeds))
    web.n_more = 20 if len(names) == 1 else 2  # pages wait their turn behind those due before
    web.good_s.clear()
    web.asked.clear()
    process = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs
        [sys.executable, "-m", "recrawl", "run", "--quiet"], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    peak = 0.0
    until_s = time.monotonic() + 60.0
    while not web.good_s and time.monotonic() < until_s and process.poll() is None:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s and process.poll() is None:
        peak = max(peak, tree_mib(process.pid))
        await asyncio.sleep(0.1)
    stopped_s = time.monotonic()
    if process.poll() is not None:
        sys.exit(f"{names}: it ended by itself: {process.stderr.read().decode()[-2000:]}")
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.to_thread(process.wait, 60)
    except subprocess.TimeoutExpired:
        process.kill()
    ended_s = time.monotonic()
    times = [*web.good_s, stopped_s]
    pauses = [after - before for before, after in pairwise(times)]
    visits = export(folder)
    poison = [row["url"] for row in visits if row["outcome"] == "poison"]
    return {
        "memory": peak,
        "pause": max(pauses, default=seconds),
        "stop": ended_s - stopped_s,
        "good": len(web.good_s),
        "poison": len(poison),
        "twice": len(poison) - len(set(poison)),
        "code": process.returncode,
    }


def export(folder: Path) -> list[dict[str, str]]:
    """Return the visits on record."""
    command = [sys.executable, "-m", "recrawl", "export", "visits", "--out", "visits.jsonl"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    lines = (folder / "visits.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def run(chosen: list[str], seconds: float) -> bool:
    """Try each of them; say whether all bars hold."""
    web = Web()
    server = await asyncio.start_server(web.answer, "127.0.0.1", 0, limit=2**20)
    web.port = server.sockets[0].getsockname()[1]
    holds = True
    heads = ("MiB", "pause s", "stop s", "good", "poison", "twice", "code")
    print(f"{'':22}" + "".join(f"{head:>9}" for head in heads), flush=True)
    for name in chosen:
        names = list(web.bodies) if name == "everything" else [name]
        with tempfile.TemporaryDirectory() as folder:
            got = await trial(web, Path(folder), names, seconds * (3 if len(names) > 1 else 1))
        ok = got["memory"] < 700 and got["pause"] <= 5.0 and got["stop"] <= 10.0
        ok = ok and not got["twice"] and not got["code"]
        holds &= ok
        figures = "".join(f"{value:9.1f}" for value in list(got.values())[:3])
        figures += "".join(f"{value:9.0f}" for value in list(got.values())[3:])
        print(f"{name:22}{figures}{'' if ok else '   BROKEN'}", flush=True)
    server.close()
    return holds


def main() -> None:
    """Run what is asked for; exit 1 if a bar is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[*PAGES, *LISTINGS, "everything"])
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    os.environ.pop("RECRAWL_STATE", None)
    sys.exit(0 if asyncio.run(run(arguments.only, arguments.seconds)) else 1)


if __name__ == "__main__":
    main()
