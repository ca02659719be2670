"""Middlewares: what servers are told and tell, and what becomes of their pages."""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from twisted.python.failure import Failure

from recrawl.integrations.scrapy.requests import META
from recrawl.integrations.scrapy.underway import Underway
from recrawl.integrations.scrapy.visits import SpiderVisits

_FOR_EVER: Final = "scrapy.extensions.httpcache.DummyPolicy"
_log: Final = logging.getLogger(__name__)


class RecrawlDownloaderMiddleware:
    """Validators go in; status, size, latency and signature come out.

    It stands next to the engine, so it hears of an answer once redirects and retries are over.
    """

    def __init__(self, visits: SpiderVisits) -> None:
        self._visits = visits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the one of a crawler; warn of a cache that never asks a server again."""
        settings = crawler.settings
        policy, kept_s = settings["HTTPCACHE_POLICY"], settings.getint("HTTPCACHE_EXPIRATION_SECS")
        if settings.getbool("HTTPCACHE_ENABLED") and policy == _FOR_EVER and kept_s == 0:
            _log.warning(
                "recrawl: HTTPCACHE_POLICY: %r answers known pages from the disk for ever, and no "
                "change is seen; leave HTTPCACHE_ENABLED out, or take %r",
                policy,
                _FOR_EVER.replace("Dummy", "RFC2616"),
            )
        return cls(SpiderVisits.of(crawler))

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Add the validators of the last visit."""
        self._visits.ask(request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Take down what was answered; what is known already ends before its callback."""
        visit = self._visits.fetched_by(request)
        if visit is None:
            return response
        is_known = self._visits.answered(visit, request, response)
        if is_known and self._visits.options.skip_unchanged:
            response.request = request.replace(
                callback=nothing, errback=None, meta=request.meta | {"handle_httpstatus_all": True}
            )
        elif response.status == 304:
            request.meta["handle_httpstatus_list"] = [
                *request.meta.get("handle_httpstatus_list", ()),
                304,
            ]
        return response

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Take down that no answer came."""
        why = f"{type(exception).__name__}: {exception}"
        self._visits.failed(request, why, forbidden=isinstance(exception, IgnoreRequest))


def nothing(response: Response, **_: Any) -> Iterator[Any]:
    """Take the place of the callback of a page that says nothing new."""
    return iter(())


class RecrawlSpiderMiddleware:
    """Follows what a callback gives, to the end of its pipelines.

    It stands next to the engine, so it sees what all other middlewares have let through.
    """

    def __init__(self, visits: SpiderVisits) -> None:
        self._visits = visits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the one of a crawler, and listen to what becomes of items."""
        visits = SpiderVisits.of(crawler)
        made = cls(visits)
        for heard, signal in (
            (made.item_taken, signals.item_scraped),
            (made.item_taken, signals.item_dropped),
            (made.item_wrong, signals.item_error),
            (made.callback_wrong, signals.spider_error),
        ):
            crawler.signals.connect(heard, signal)
        crawler.signals.connect(made.idle, signals.spider_idle)
        return made

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Know the start requests from those that copy the meta of one."""
        try:
            async for one in start:
                if isinstance(one, Request):
                    self._visits.starts.add(one)
                yield one
                self._visits.first.began()
        finally:
            self._visits.first.began()

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Count items, and tell links from the page that gives them."""
        visit = self._visits.of_request(response.request)
        if visit is None:
            async for one in result:
                yield _without_number(one)
            return
        try:
            async for one in result:
                yield self._seen(visit, response, one)
        except CloseSpider:
            raise
        except Exception as error:
            self._visits.read(visit, f"callback: {type(error).__name__}: {error}")
            raise
        self._visits.read(visit)

    def _seen(self, visit: Underway, response: Response, one: Any) -> Any:
        if isinstance(one, Request):
            self._visits.led_to(visit, one)
            # A callback may ask for its own page again, as Scrapy's get_retry_request does.
            again = one.dont_filter and response.request is not None
            if again and one.meta.get(META) == visit.page_id and one.url == response.request.url:  # type: ignore[union-attr]
                visit.is_continued = True
                visit.status = None
                return one
            return _without_number(one)
        if one is not None:
            self._visits.gave(visit, one)
        return one

    def item_taken(self, item: Any, response: Response | None) -> None:
        """Hear that the pipelines have taken an item, or dropped it."""
        self._visits.taken(response)

    def item_wrong(self, item: Any, response: Response | None, failure: Failure) -> None:
        """Hear that a pipeline failed."""
        self._visits.taken(response, f"pipeline: {failure.type.__name__}: {failure.value}")  # type: ignore[union-attr]

    def callback_wrong(self, failure: Failure, response: Any) -> None:
        """Hear that a callback failed, also before it gave anything."""
        visit = self._visits.of_request(getattr(response, "request", None))
        if visit is not None:
            self._visits.read(visit, f"callback: {failure.type.__name__}: {failure.value}")  # type: ignore[union-attr]

    def idle(self) -> None:
        """Keep a continuous spider open, as something will be due; end one without its state."""
        if self._visits.is_lost:
            raise CloseSpider("recrawl_state")
        if self._visits.options.continuous:
            raise DontCloseSpider


def _without_number(one: Any) -> Any:
    """Take our number off a request that copied the meta of the page it was found on."""
    if isinstance(one, Request):
        one.meta.pop(META, None)
    return one
