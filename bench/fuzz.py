"""Coverage-guided fuzzing of everything that reads what others wrote.

Bar: no input breaks a promise. A reader raises nothing but the error that it documents, its output
is bounded, a normal form is its own, and no 4 KiB take a second.

Inputs are mutated from examples; one that reaches a line from where no other came is kept and
mutated in turn. What breaks a promise is shrunk, written to ``--out`` and shown; the exit status is
then 1. The same seed gives the same inputs.

    python bench/fuzz.py                          every target, 60 seconds each
    python bench/fuzz.py html feed --seconds 300  two of them, longer
    python bench/fuzz.py url --replay FILE        one input again
    python bench/fuzz.py html --atheris           with libFuzzer's guidance, where atheris is there
    python bench/fuzz.py --seconds 240            an hour in all
    python bench/fuzz.py --at-once 2              two targets side by side
"""

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# libFuzzer's guidance needs the code as it is imported.
guided: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
if "--atheris" in sys.argv:
    import atheris  # of bench/requirements.txt; there is none for every Python

    guided = atheris.instrument_imports(include=["recrawl", "protego", "feedparser", "tomllib"])
with guided:
    from fuzz_readers import EXAMPLE, Answers, Asked, as_parquet, model_readers, tables
    from recrawl.crawler.control.addresses.scope import Scope, why_outside
    from recrawl.crawler.control.dispatching.robots_txt import robots_from_answer
    from recrawl.crawler.control.urls import (
        MAX_URL_LENGTH,
        host_of,
        join,
        normalise,
        path_of,
        variant_key,
    )
    from recrawl.crawler.fetch.reading.extract import MAX_LINKS, PageExtractor
    from recrawl.crawler.fetch.reading.feeds import read_feed
    from recrawl.crawler.fetch.reading.main_content import MAX_TEXT, MAX_TITLE
    from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
    from recrawl.crawler.fetch.reading.sitemaps import read_sitemap
    from recrawl.crawler.frontier.sqlite import SqliteFrontier
    from recrawl.crawler.index.tantivy import TantivyIndex
    from recrawl.crawler.ports import AdmissionLimits
    from recrawl.crawler.settings import load_settings
    from recrawl.errors import InputError, StateError
    from recrawl.terms import Discovery, Document, FetchResponse, Kind

LONGEST = 4_096  # bytes of an input
SLOW_S = 1.0  # of CPU, traced
WATCHED = ("/recrawl/", "/protego", "/feedparser/", "/tomllib/")
PAGE = "http://a.test/dir/page.html"


@dataclass(frozen=True, slots=True)
class Target:
    """One reader: what it promises, examples, and words of its language."""

    check: Callable[[bytes], None]
    examples: tuple[bytes, ...]
    words: tuple[bytes, ...]


def check_url(data: bytes) -> None:
    """Normal forms are normal, short, and of http; the helpers take every one of them."""
    text = data.decode("utf-8", "replace")
    base, _, reference = text.partition("\n")
    for url in (normalise(text), join(normalise(base) or PAGE, reference)):
        if url is None:
            continue
        assert len(url) <= MAX_URL_LENGTH
        assert url.startswith(("http://", "https://"))
        assert url.isascii()
        assert url.isprintable()
        assert " " not in url
        assert "#" not in url
        assert normalise(url) == url
        assert host_of(url) + path_of(url) == url
        variant_key(url)
        why_outside(Scope(hosts=("*.test",), include=("/a*",)), url)


def check_robots(data: bytes) -> None:
    """Every body is rules, and every question has an answer."""
    rules = robots_from_answer("recrawl", 200, data)
    for url in ("http://a.test/", "http://a.test/a/b?c=%2F", PAGE):
        assert rules.allows(url) in (True, False)
    delay_s = rules.crawl_delay_s
    assert delay_s is None or 0.0 <= delay_s <= 86_400.0
    assert len(rules.sitemaps) <= 1_000


def check_sitemap(data: bytes) -> None:
    """Addresses in normal form, finite instants, no more than the protocol's bound."""
    pages, further = read_sitemap(data, PAGE)
    assert len(pages) + len(further) <= 50_000
    assert all(normalise(url) == url for url, _ in pages + further)
    assert all(at_s is None or abs(at_s) < 1e12 for _, at_s in pages + further)


def check_feed(data: bytes) -> None:
    """Addresses in normal form, at most a thousand."""
    links = read_feed(data, PAGE)
    assert len(links) <= 1_000
    assert all(normalise(url) == url for url, _ in links)
    assert all(at_s is None or abs(at_s) < 1e12 for _, at_s in links)


def check_html(data: bytes) -> None:
    """Text, title and links are bounded, and safe to show and to store."""
    extractor = PageExtractor("recrawl", ReadingRules(markdown=True))
    for charset, kind in ((None, "text/html"), ("utf-8", "text/plain")):
        extract = extractor.page(FetchResponse(PAGE, 200, data, kind, charset=charset))
        assert len(extract.text) <= MAX_TEXT
        assert len(extract.title) <= MAX_TITLE
        assert len(extract.links) <= MAX_LINKS
        assert all(normalise(url) == url for url in (*extract.links, *extract.feeds))
        assert len(extract.signature) == 16
        assert "\x1b" not in extract.title + extract.text
        (extract.title + extract.text).encode()


def check_settings(data: bytes) -> None:
    """A file is settings, or one message in one line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recrawl.toml"
        path.write_bytes(data)
        try:
            load_settings(path)
        except InputError as error:
            if not str(error):
                raise AssertionError("nothing was said") from error
        assert os.listdir(folder) == ["recrawl.toml"]


def _state(folder: Path) -> None:
    frontier = SqliteFrontier(folder, read_only=False)
    urls = [f"http://a.test/{number}" for number in range(5)]
    found = [Discovery(url, host_of(url), Kind.PAGE, 0, 0, 1.0, None, None) for url in urls]
    frontier.admit(found, 1e9, AdmissionLimits())
    frontier.close()
    index = TantivyIndex(folder / "index")
    index.replace(Document(urls[0], "title", "some text", 1e9, b"s" * 16))
    index.commit()
    index.close()


class Damaged:
    """A state directory in which bytes were changed: it opens, or a StateError says why not.

    An input is a list of edits: file, place and byte, four bytes each.
    """

    def __init__(self) -> None:
        self._whole = Path(tempfile.mkdtemp())
        _state(self._whole)
        self._files = sorted(
            path.relative_to(self._whole)
            for path in self._whole.rglob("*")
            if path.name in ("state.sqlite3", "meta.json", "language", ".managed.json")
        )

    def __call__(self, data: bytes) -> None:
        """Damage a copy and use it."""
        # The index may still be writing a file when it is closed.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name) / "state"
            shutil.copytree(self._whole, folder)
            for first in range(0, min(len(data), 64) - 3, 4):
                which, high, low, byte = data[first : first + 4]
                path = folder / self._files[which % len(self._files)]
                body = bytearray(path.read_bytes())
                body[(256 * high + low) % len(body)] = byte
                path.write_bytes(body)
            for use in (self._frontier, self._index):
                try:
                    use(folder)
                except StateError as error:
                    if not str(error):
                        raise AssertionError("nothing was said") from error

    def _frontier(self, folder: Path) -> None:
        frontier = SqliteFrontier(folder, read_only=False)
        try:
            frontier.in_indexing()
            for host in frontier.hosts():
                leases = frontier.lease(host.host_id, limit=9, due_by_s=2e9, now_s=2e9, until_s=3e9)
                frontier.release(leases)
            frontier.planned_pages()
        finally:
            frontier.close()

    def _index(self, folder: Path) -> None:
        index = TantivyIndex(folder / "index")
        try:
            index.signature("http://a.test/0")
            index.search("some text")
        finally:
            index.close()


CONFIG = b"""seeds = ["https://a.test/"]
contact = "mailto:me@a.test"
budget = "10/min"
robots = 4
[scope]
hosts = ["a.test", "*.b.test:8080"]
include = ["/docs/*"]
max_depth = 3
[fetch]
timeout = "30s"
max_bytes = "4MiB"
[[weights]]
path = "/a*"
weight = 2.5
[[sources]]
url = "https://a.test/feed"
every = "4h"
work_hours = "9-18"
[buffer]
capacity = 8
deadline = "1h30m"
"""
HTML = (
    b"<!doctype html><html><head><title>T</title><base href=/b/><meta name=robots content=noindex>"
    b"<link rel=canonical href='/c'><link rel=alternate type=application/rss+xml href=/f></head>"
    b"<body><nav><a href=x>x</a></nav><main><h1>H</h1><p>5 minutes ago, 1 may 2020"
    b"<a href='//b.test/?utm_source=1'>l</a><svg><g></g></svg></main></body></html>"
)
SITEMAP = (
    b"<?xml version='1.0'?><!DOCTYPE x><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    b"<url><loc>http://a.test/1</loc><lastmod>2024-01-02T03:04:05+01:00</lastmod></url></urlset>"
)
FEED = (
    b"<rss version='2.0'><channel><item><link>/1</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT"
    b"</pubDate><description>&lt;p&gt;</description></item></channel></rss>"
)
ATOM = (
    b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='/2'/>"
    b"<updated>2024-01-01T00:00:00Z</updated></entry></feed>"
)


def targets() -> dict[str, Target]:
    """Return every reader by name."""
    markup = tuple(b"< > </ <![CDATA[ ]]> <!-- --> &#x0; &amp; = / \x00".split(b" "))
    model, policy, pattern = model_readers()
    return {
        "url": Target(
            check_url,
            (b"HTTP://A.test:80/a/../b;sid=1?utm_x=1&b=%7e%2F#f", b"/a\n../b?c", b"http://[::1]/"),
            tuple(rb"%25 %2e .. / ;sid= ?sid= @ : \ // xn-- #".split()),
        ),
        "robots": Target(
            check_robots,
            (
                b"User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 2\nSitemap: http://a.test/s\n",
            ),
            (b"User-agent: recrawl\n", b"Request-rate: 1/5m\n", b"*", b"$", b"%2F", b"Disallow: "),
        ),
        "sitemap": Target(
            check_sitemap, (SITEMAP, b"http://a.test/1\n"), (*markup, b"<loc>", b"9999-12-31")
        ),
        "feed": Target(
            check_feed, (FEED, ATOM, b'{"version": "x"}'), (*markup, b"<item>", b"xml:base='x:'")
        ),
        "html": Target(
            check_html, (HTML,), (*markup, b"<table>", b"<template>", b"<meta charset=utf-16>")
        ),
        "config": Target(
            check_settings,
            (CONFIG,),
            tuple(b"inf nan 1e999 -1 '' [] {} '0s' '1e9d' 1979-05-27 '/h' http:// true".split()),
        ),
        "table": Target(
            tables(),
            (
                b"url,change_rate\na,1\nb,2.5\n",
                b'{"url": "a", "change_rate": 1}\n{"url": "b"}\n',
                b"source,at\na,2026-01-01T00:00:00Z\na,2026-01-02T00:00:00+02:00\n",
                as_parquet(),
            ),
            tuple(
                b'PAR1 [[[[ {{{{ " , \n \x00 \xff\xfe \xef\xbb\xbf 1e999 nan null \r'.split(b" ")
            ),
        ),
        "model": Target(
            model,
            (
                EXAMPLE.encode()[-1200:],
                b"capacity = 2\nservice = {mean = 1}\n[[arrivals]]\nrate = 0.5\n",
                b"capacity = 2\nservice = {mean = 1, scv = 2}\nobsolescence = {mean = 1}\n"
                b"[thinning]\nD = [[[-1.0]], [[1.0]]]\nshares = [0.5, 1.0]\n",
            ),
            tuple(b"inf nan -1 1e308 [[]] [] 'erlang' stages=9 scv=0.5 moments=[1,2,9]".split()),
        ),
        "policy": Target(
            policy,
            (b'{"targets": [3, 2, 1]}', b'{"arrival": [[0, 1]], "departure": [[1, 0]]}'),
            tuple(b'[[[[ ]]]] true null 1e999 -1 9999999999999999999999 "'.split()),
        ),
        "pattern": Target(
            pattern,
            (b'{"unit": "d", "period": 7, "breaks": [0, 3, 7], "intensity": [1, 2]}',),
            tuple(
                b'[[ ]] "shape":"linear" "importance":[1,1] "time_zone":"x" 1e308 -1 null'.split()
            ),
        ),
        "query": Target(
            Asked(),
            (b'some "text here" -not title:word host:a.test OR other', b"NOT x AND y"),
            tuple(b'" - : OR NOT title: host: text: ( ) ^ ~ * \xcc\x81 \xe2\x80\x8b'.split()),
        ),
        "answer": Target(
            Answers(),
            (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n"
                b"Content-Length: 2\r\n\r\nhi",
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
                b"2\r\n\x1f\x8b\r\n0\r\n\r\n",
                b"HTTP/1.0 301 Moved\r\nLocation: //b.test/\r\nRetry-After: 9\r\nETag: x\r\n\r\n",
            ),
            tuple(
                b"\r\n|Content-Encoding: br|deflate|HTTP/1.1 100 x\r\n\r\n|: |\x00|9e9".split(b"|")
            ),
        ),
        "state": Target(
            Damaged(), (b"\x00\x00\x10\x00", b"\x03\x00\x20\x41"), (b"\x00\x00\x64\x05",)
        ),
    }


@dataclass(slots=True)
class Coverage:
    """Which line came after which, in the code that is watched."""

    edges: set[tuple[CodeType, int, int]] = field(default_factory=set)
    _watched: dict[CodeType, bool] = field(default_factory=dict)

    def run(self, call: Callable[[], None]) -> int:
        """Run ``call``; return how many edges it was the first to take."""
        before, edges, watched = len(self.edges), self.edges, self._watched

        def enter(frame: FrameType, event: str, argument: Any) -> Any:
            code = frame.f_code
            if code not in watched:
                watched[code] = any(part in code.co_filename for part in WATCHED)
            if not watched[code]:
                return None
            last = 0

            def step(frame: FrameType, event: str, argument: Any) -> Any:
                nonlocal last
                if event == "line":
                    edges.add((code, last, frame.f_lineno))
                    last = frame.f_lineno
                return step

            return step

        sys.settrace(enter)
        try:
            call()
        finally:
            sys.settrace(None)
        return len(edges) - before


def mutate(rng: random.Random, corpus: list[bytes], words: tuple[bytes, ...]) -> bytes:
    """Return a new input: an old one with a few changes."""
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(data) + 1)
        end = min(at + rng.choice((1, 2, 8, 64)), len(data))
        match rng.randrange(6):
            case 0 if data:
                data[at % len(data)] = rng.randrange(256)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end] * rng.choice((1, 2, 30))
            case 3:
                data[at:at] = rng.choice(words)
            case 4:
                other = rng.choice(corpus)
                start = rng.randrange(len(other) + 1)
                data[at:end] = other[start : start + rng.choice((4, 16, 256))]
            case _:
                data[at:at] = rng.randbytes(rng.choice((1, 2, 4)))
    return bytes(data[:LONGEST])


def broken(target: Target, data: bytes, coverage: Coverage) -> tuple[str, int]:
    """Run one input; return what it broke, or nothing, and how many edges were new."""
    started = time.process_time()
    try:
        new = coverage.run(lambda: target.check(data))
    except Exception as error:  # whatever it is, it was not promised
        return f"{type(error).__name__}: {str(error)[:200]}", 0
    spent = time.process_time() - started
    return (f"slow: {spent:.1f} s" if spent > SLOW_S else ""), new


def shrunk(target: Target, data: bytes) -> bytes:
    """Cut what is not needed to break the promise."""
    kind = broken(target, data, Coverage())[0].partition(":")[0]
    size, until_s = max(len(data) // 2, 1), time.monotonic() + 20.0
    while size and time.monotonic() < until_s:
        at = 0
        while at < len(data) and time.monotonic() < until_s:
            less = data[:at] + data[at + size :]
            if kind and broken(target, less, Coverage())[0].startswith(kind):
                data = less
            else:
                at += size
        size //= 2
    return data


def fuzz(name: str, target: Target, seconds: float, seed: int, out: Path) -> int:
    """Fuzz one target; print a line; return how many kinds of breach were found."""
    rng, coverage, corpus = random.Random(f"{seed}/{name}"), Coverage(), list(target.examples)
    found: dict[str, bytes] = {}
    until_s, n = time.monotonic() + seconds, 0
    waiting = [*target.examples, b""]
    while time.monotonic() < until_s:
        data = waiting.pop() if waiting else mutate(rng, corpus, target.words)
        n += 1
        problem, new = broken(target, data, coverage)
        if new:
            corpus.append(data)
        kind = problem[:60] if not problem.startswith("slow") else "slow"
        if problem and kind not in found and len(found) < 10:
            found[kind] = data
            out.mkdir(parents=True, exist_ok=True)
            path = out / f"{name}-{len(found)}"
            path.write_bytes(shrunk(target, data))
            print(f"  {name}: {problem}\n    {path}: {path.read_bytes()[:200]!r}", flush=True)
    print(
        f"{name:10}{n:10,} inputs {len(corpus):7,} kept {len(coverage.edges):8,} edges"
        f"{len(found):4} breaches",
        flush=True,
    )
    return len(found)


def fuzz_with_atheris(target: Target, seconds: float, seed: int, out: Path) -> None:
    """Fuzz one target with libFuzzer, which ends the process."""
    corpus = out / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, example in enumerate(target.examples):
        (corpus / f"example-{number}").write_bytes(example)
    limits = [f"-max_total_time={seconds:g}", f"-seed={seed}", f"-max_len={LONGEST}"]
    found = f"-artifact_prefix={out}/"
    atheris.Setup([sys.argv[0], *limits, found, "-timeout=10", str(corpus)], target.check)
    atheris.Fuzz()


def main() -> None:
    """Fuzz what was asked for."""
    known = targets()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(known))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--atheris", action="store_true")
    arguments = parser.parse_args()
    names = arguments.targets or list(known)
    for name in names:
        if name not in known:
            sys.exit(f"{name!r} is not one of {', '.join(known)}")
    if arguments.replay is not None:
        known[names[0]].check(arguments.replay.read_bytes())
        return
    if arguments.atheris:
        for name in names:
            fuzz_with_atheris(known[name], arguments.seconds, arguments.seed, arguments.out / name)
        return
    if arguments.at_once > 1:
        more = [f"--{name}={getattr(arguments, name)}" for name in ("seconds", "seed", "out")]
        lanes = [names[number :: arguments.at_once] for number in range(arguments.at_once)]
        running = [
            subprocess.Popen([sys.executable, __file__, *lane, *more]) for lane in lanes if lane
        ]
        codes = [one.wait() for one in running]
        sys.exit(1 if any(codes) else 0)
    breaches = [
        fuzz(name, known[name], arguments.seconds, arguments.seed, arguments.out) for name in names
    ]
    sys.exit(1 if any(breaches) else 0)


if __name__ == "__main__":
    main()
