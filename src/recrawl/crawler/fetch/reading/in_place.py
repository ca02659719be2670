"""The extractor without processes: for virtual time and for tests, where no page is hostile."""

from collections.abc import Callable
from typing import TypeVar

from typing_extensions import override

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.feeds import is_feed
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.crawler.fetch.reading.signature import raw_hash
from recrawl.crawler.ports import Extractor, Offload
from recrawl.terms import DatedUrls, Extract, FetchResponse

T = TypeVar("T")


class InPlaceExtractor(Extractor):
    """Reads everything in this process.

    Parameters
    ----------
    agent : product token of the robot
    on_work : runs what is not read at once; default: where it is called
    at_once_bytes : pages up to this size are read at once; less than none: none are
    rules : how pages are read
    """

    def __init__(
        self,
        agent: str,
        on_work: Offload | None = None,
        *,
        at_once_bytes: int = 16 * 1024,
        rules: ReadingRules | None = None,
    ) -> None:
        self._pages = PageExtractor(agent, rules)
        self._on_work = on_work
        self._at_once_bytes = at_once_bytes

    @override
    def at_once(self, response: FetchResponse) -> Extract | None:
        return self._pages.page(response) if len(response.body) <= self._at_once_bytes else None

    @override
    async def page(self, response: FetchResponse) -> Extract:
        return await self._done(self._pages.page, response)

    @override
    async def sitemap(self, response: FetchResponse) -> tuple[DatedUrls, DatedUrls]:
        if is_feed(response.body):
            return await self.feed(response), []
        return await self._done(self._pages.sitemap, response)

    @override
    async def feed(self, response: FetchResponse) -> DatedUrls:
        return await self._done(self._pages.feed, response)

    @override
    def raw_hash(self, body: bytes) -> bytes:
        return raw_hash(body)

    @override
    def close(self) -> None:
        pass

    async def _done(self, read: Callable[[FetchResponse], T], response: FetchResponse) -> T:
        return read(response) if self._on_work is None else await self._on_work(read, response)
