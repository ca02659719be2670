"""The reader: a process that reads one page after the other and can do nothing else.

Run by :mod:`recrawl.crawler.fetch.reading.isolation.reader`, which talks to it over the socket that
is its standard input. It takes no file, no environment and no address with it, can open nothing,
and ends with its parent. A page that takes too long or too much ends the process: that is its
answer.
"""

import base64
import codecs
import contextlib
import encodings
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import sys
from dataclasses import asdict
from typing import Any, Final, NoReturn

from recrawl.crawler.fetch.charsets import CHARSETS
from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.markdown import load as load_markdown
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.terms import FetchResponse

NO_MEMORY: Final = 3  # exit codes
BROKEN: Final = 4
READY: Final = b"!"  # to begin with
MORE: Final = b"+"  # before an answer: the process goes on
LAST: Final = b"."  # it has grown, and ends
FAILED: Final = b"-"  # what follows is what it failed with
_SOCKET: Final = 0
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_MOST_PAGES: Final = 20_000
_IDLE_S: Final = 60.0


def main() -> None:
    """Serve until the parent hangs up, or asks nothing for a minute.

    Arguments: product token, parent's number, seconds of processor time a page, bytes of memory,
    what is to be read ("page", "pdf", "sitemap", "feed"), rules of reading.
    """
    name, parent, cpu_s, memory_bytes, kinds, rules = sys.argv[1:7]
    reading = ReadingRules.load(rules)
    extractor = PageExtractor(name, reading)
    _load(kinds)
    if reading.markdown:
        load_markdown()
    held = os.open("/proc/self/statm", os.O_RDONLY)
    _lock_up(int(parent), int(memory_bytes))
    _send(READY)
    for number in range(1, _MOST_PAGES + 1):
        if not select.select([_SOCKET], [], [], _IDLE_S)[0]:
            _end()
        asked = json.loads(_received(int.from_bytes(_received(4), "big")))
        response = FetchResponse(body=_received(asked.pop("length")), status=200, **asked["told"])
        signal.setitimer(signal.ITIMER_PROF, float(cpu_s))  # its signal ends the process
        try:
            answer = json.dumps(_read(extractor, asked["kind"], response)).encode()
        except MemoryError:
            os._exit(NO_MEMORY)
        except Exception as error:  # lexbor says no more than this where memory ends
            failure = type(error).__name__.encode()
            _send(FAILED + len(failure).to_bytes(4, "big") + failure)
            os._exit(BROKEN)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        held_bytes = int(os.pread(held, 100, 0).split()[1]) * resource.getpagesize()
        last = held_bytes > int(memory_bytes) // 2 or number == _MOST_PAGES
        _send((LAST if last else MORE) + len(answer).to_bytes(4, "big") + answer)
        if last:
            os._exit(0)


def _read(extractor: PageExtractor, kind: str, response: FetchResponse) -> Any:
    if kind == "sitemap":
        return extractor.sitemap(response)
    if kind == "feed":
        return extractor.feed(response)
    found = extractor.page(response)
    return asdict(found) | {"signature": base64.b64encode(found.signature).decode()}


def _load(kinds: str) -> None:
    """Load all that reading may need, as long as files can be opened."""
    if "sitemap" in kinds:
        import recrawl.crawler.fetch.reading.sitemaps
    if "pdf" in kinds:
        import pypdf

        import recrawl.crawler.fetch.reading.pdf

        for module in pkgutil.walk_packages(pypdf.__path__, "pypdf."):  # what it has put off
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
        for codec in pkgutil.iter_modules(encodings.__path__):  # a font names what it is read by
            with contextlib.suppress(LookupError):
                codecs.lookup(codec.name)
    if "feed" in kinds:
        import feedparser

        import recrawl.crawler.fetch.reading.feeds  # noqa: F401

        feedparser.parse(b"<rss/>")  # loads what it has put off
    if kinds != "sitemap":
        for name in CHARSETS:
            codecs.lookup(name)


def _lock_up(parent: int, memory_bytes: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None)
    for option, value in (
        (_PR_SET_PDEATHSIG, signal.SIGKILL),
        (_PR_SET_DUMPABLE, 0),
        (_PR_SET_NO_NEW_PRIVS, 1),
    ):
        libc.prctl(option, value, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked to be told
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to decide
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),  # no file, socket or pipe is opened from here on
    ):
        resource.setrlimit(limit, (value, value))


def _received(length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = os.read(_SOCKET, min(length - len(data), 1 << 20))
        if not piece:
            _end()
        data += piece
    return bytes(data)


def _send(data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(_SOCKET, view) :]
        except OSError:
            _end()


def _end() -> NoReturn:
    os._exit(0)  # nobody is left to talk to
