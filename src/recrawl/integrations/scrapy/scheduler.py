"""The scheduler: what a spider asks for is kept on disk, and given back when it is due.

It wraps the scheduler that the project has, which goes on deciding in what order requests leave,
slot by slot; what is none of ours passes through it as it was.
"""

import logging
from time import monotonic
from typing import Any, Final, Self

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object
from typing_extensions import override

from recrawl.errors import StateError
from recrawl.integrations.scrapy.addon import told
from recrawl.integrations.scrapy.first import is_first
from recrawl.integrations.scrapy.options import INNER
from recrawl.integrations.scrapy.requests import META
from recrawl.integrations.scrapy.underway import Underway
from recrawl.integrations.scrapy.visits import SpiderVisits

_LOOK_EVERY_S: Final = 1.0
_log: Final = logging.getLogger(__name__)


class RecrawlScheduler(BaseScheduler):
    """Wraps a scheduler.

    Parameters
    ----------
    inner : the project's own
    visits : of the crawl
    """

    def __init__(self, inner: BaseScheduler, visits: SpiderVisits) -> None:
        self._inner = inner
        self._visits = visits
        self._looked_s = monotonic()
        # What Scrapy's own would say is known already; one of the project's may say more.
        own = getattr(inner, "df", None)
        self._filter = None if type(own) in (BaseDupeFilter, RFPDupeFilter) else own

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        inner = build_from_crawler(load_object(crawler.settings[INNER]), crawler)
        return cls(inner, SpiderVisits.of(crawler))

    @override
    def open(self, spider: Spider) -> Any:
        with told(in_a_task=True):  # two that begin at once have both found the state free
            self._visits.open(spider)
        return self._inner.open(spider)

    @override
    def close(self, reason: str) -> Any:
        try:
            self._visits.close(reason)
        except StateError as error:
            self._lose(error)
        return self._inner.close(reason)

    @override
    def enqueue_request(self, request: Request) -> bool:
        try:
            return not self._visits.is_lost and self._enqueue(request)
        except StateError as error:
            return self._lose(error)

    def _enqueue(self, request: Request) -> bool:
        visit = self._visits.of_request(request)
        if visit is not None:  # redirected, or tried again
            return self._hand_over(request)
        request.meta.pop(META, None)
        if is_first(request):
            is_queued = self._inner.enqueue_request(request)
            if is_queued:
                self._visits.first.queued()
            return is_queued
        is_asked = self._visits.is_kept(request) and not request.dont_filter
        if is_asked and self._filter is not None and self._filter.request_seen(request):
            self._filter.log(request, self._visits.spider)
            return False
        answer = self._visits.admit(request)
        if answer is None:
            if is_asked and self._filter is not None:
                request.dont_filter = True  # the filter would have seen it by now
            return self._inner.enqueue_request(request)
        return self._hand_over(request) if isinstance(answer, Underway) else answer

    @override
    def has_pending_requests(self) -> bool:
        try:
            return not self._visits.is_lost and (
                self._inner.has_pending_requests() or self._refill()
            )
        except StateError as error:
            return self._lose(error)

    @override
    def next_request(self) -> Request | None:
        try:
            return None if self._visits.is_lost else self._next()
        except StateError as error:
            self._lose(error)
            return None

    def _lose(self, error: StateError) -> bool:
        """Have the spider end, as its state takes nothing any more: the disk is full, say."""
        if not self._visits.is_lost:
            _log.critical("%s; the spider ends, and visits that it tells nothing of are due", error)
        self._visits.is_lost = True
        return False

    def _next(self) -> Request | None:
        if monotonic() - self._looked_s > _LOOK_EVERY_S:  # while others wait, some fall due
            self._refill(known_only=True)
        request = self._next_of_inner()
        if request is None and self._refill():
            request = self._next_of_inner()
        return request

    def _next_of_inner(self) -> Request | None:
        while (request := self._inner.next_request()) is not None:
            if META not in request.meta:
                if is_first(request):
                    self._visits.first.left()
                return request
            visit = self._visits.of_request(request) or self._take_over(request)
            if visit is not None:
                request.dont_filter = visit.dont_filter
                return request
            # Left in a job directory by another run: the store has it too, and gives it back.
        return None

    def _take_over(self, request: Request) -> Underway | None:
        """Begin a visit of what a process with another state put into a queue that both share."""
        if self._visits.store.find(request.meta.pop(META)) is not None:
            return None
        request.dont_filter = False  # set when it was handed over
        answer = self._visits.admit(request)
        return answer if isinstance(answer, Underway) else None

    def _refill(self, *, known_only: bool = False) -> bool:
        """Hand over what is due; return whether there was anything."""
        if self._visits.first.are_under_way():
            return False
        n = sum(self._hand_over(request) for request, _ in self._visits.due(known_only=known_only))
        self._looked_s = monotonic()
        return n > 0

    def _hand_over(self, request: Request) -> bool:
        # Whether it has been seen is known already, by what it is and not by this run alone.
        request.dont_filter = True
        if self._inner.enqueue_request(request):
            return True
        self._visits.drop(request)
        return False
