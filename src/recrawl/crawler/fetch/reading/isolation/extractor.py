"""The extractor of a real crawl: what is cheap is read at once, all else by readers.

There are two lanes, each with a reader of its own. Pages pass the quick one, whose limits are a
fraction of those allowed; what exceeds them, and large pages, are read in the slow one within all
of them. So pages of well-meant hosts wait an eighth of a second for a page that kills its reader,
not seconds. A host whose page had to leave the quick lane is not let in there for an hour. In the
slow lane hosts take turns: a page waits for one page of each other host at most, however many it
has there. One that sent poison has at most one page waiting, until one of its pages was read again:
the others are put off, unread.
"""

import asyncio
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec
from typing_extensions import override

from recrawl.crawler.control.urls import host_of
from recrawl.crawler.fetch.reading.extract import PDF, PageExtractor
from recrawl.crawler.fetch.reading.feeds import is_feed
from recrawl.crawler.fetch.reading.isolation.cheap import is_cheap
from recrawl.crawler.fetch.reading.isolation.reader import Limits, Reader
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.crawler.fetch.reading.signature import raw_hash
from recrawl.crawler.ports import Extractor
from recrawl.errors import PoisonPage, ReadingCut, ReadingPutOff
from recrawl.terms import DatedUrls, Extract, FetchResponse

_QUICK_SHARE: Final = 1 / 16  # of the processor time
_QUICK_MEMORY: Final = 3 / 16  # an eighth is left for what waits to be read
_SLOW_MEMORY: Final = 11 / 16
_QUICK_BYTES: Final = 512 * 1024  # larger pages take longer than that
_KEPT_S: Final = 3_600.0
_MOST_HOSTS: Final = 10_000
_MOST_TRUST: Final = 3  # pages of poison that pages which were read make up for

# Answers of a reader; nothing in them is taken on trust.
_PAGE: Final = msgspec.json.Decoder(Extract)
_SITEMAP: Final = msgspec.json.Decoder(tuple[DatedUrls, DatedUrls])
_FEED: Final = msgspec.json.Decoder(DatedUrls)


class IsolatedExtractor(Extractor):
    """Reads what is hostile where it does no harm.

    Parameters
    ----------
    agent : product token of the robot
    limits : of one page; both readers together take no more memory
    rules : how pages are read
    """

    def __init__(self, agent: str, limits: Limits, rules: ReadingRules | None = None) -> None:
        quick_bytes = int(limits.memory_bytes * _QUICK_MEMORY)
        slow_bytes = int(limits.memory_bytes * _SLOW_MEMORY)
        self._in_place = PageExtractor(agent, rules)
        self._is_dear = rules is not None and rules.markdown  # a converter is not bounded so
        quick = Limits(limits.cpu_s * _QUICK_SHARE, quick_bytes)
        self._quick = _Lane("quick", Reader(agent, quick, rules))
        self._slow = _Lane("slow", Reader(agent, Limits(limits.cpu_s, slow_bytes), rules))
        self._slow_hosts = _Recent()
        self._trust: dict[str, int] = {}  # pages read for those of poison; -1: it is one of poison
        self._waiting: Counter[str] = Counter()  # for the slow lane, by host
        self._turns: dict[str, asyncio.Lock] = {}  # held by the page that is in it

    @override
    def at_once(self, response: FetchResponse) -> Extract | None:
        if self._is_dear or not is_cheap(response):
            return None
        try:
            return self._in_place.page(response)
        except Exception:  # no page stops the crawl: a reader fails for it, and it is put aside
            return None

    @override
    async def page(self, response: FetchResponse) -> Extract:
        kind = "pdf" if response.content_type == PDF else "page"
        return _PAGE.decode(await self._read(kind, response))

    @override
    async def sitemap(self, response: FetchResponse) -> tuple[DatedUrls, DatedUrls]:
        if is_feed(response.body):
            return await self.feed(response), []
        return _SITEMAP.decode(await self._read("sitemap", response))

    @override
    async def feed(self, response: FetchResponse) -> DatedUrls:
        return _FEED.decode(await self._read("feed", response))

    @override
    def raw_hash(self, body: bytes) -> bytes:
        return raw_hash(body)

    @override
    def close(self) -> None:
        self._quick.close()
        self._slow.close()

    async def _read(self, kind: str, response: FetchResponse) -> bytes:
        host = host_of(response.url)
        is_quick = kind == "page" and len(response.body) <= _QUICK_BYTES
        if is_quick and host not in self._slow_hosts:
            try:
                read = await self._quick.read(kind, response)
            except PoisonPage:
                self._slow_hosts.add(host)
            else:
                self._judge(host, 1)
                return read
        if self._waiting[host] and self._trust.get(host, 0) < 0:
            raise ReadingPutOff("another page of its host is read slowly, and some were poison")
        self._waiting[host] += 1
        try:
            async with self._turns.setdefault(host, asyncio.Lock()):
                read = await self._slow.read(kind, response)
        except PoisonPage:
            self._judge(host, -1)
            raise
        else:
            self._judge(host, 1)
            return read
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host], self._turns[host]

    def _judge(self, host: str, more: int) -> None:
        """Trust a host more for a page that was read, and less for poison."""
        if host not in self._trust and len(self._trust) >= _MOST_HOSTS:
            del self._trust[next(iter(self._trust))]
        self._trust[host] = max(min(self._trust.get(host, 0) + more, _MOST_TRUST), -1)


class _Lane:
    """A reader and the thread that talks to it; pages wait in the order in which they come."""

    def __init__(self, name: str, reader: Reader) -> None:
        self._reader = reader
        self._closed = False
        # The kernel ends a reader when the thread that started it ends: this one stays.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"read-{name}")

    async def read(self, kind: str, response: FetchResponse) -> bytes:
        if self._closed:
            raise ReadingCut("the crawl stops")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._reader.ask, kind, response)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._reader.close()
        self._thread.submit(self._reader.clear)
        self._thread.shutdown()  # all that waits is told so at once


class _Recent:
    """Hosts of the last hour, so many at most."""

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def add(self, host: str) -> None:
        if len(self._until_s) >= _MOST_HOSTS:
            self._until_s.pop(next(iter(self._until_s)))
        self._until_s[host] = time.monotonic() + _KEPT_S

    def __contains__(self, host: str) -> bool:
        return self._until_s.get(host, 0.0) > time.monotonic()
