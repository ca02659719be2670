"""One crawl by a spider: which of its pages are under way, and what came of each visit.

Scheduler and middlewares of a crawler share one :class:`SpiderVisits`. A visit is recorded when
the callback has ended and the pipelines have taken every item that it gave; until then the page
stays due, so whatever ends the process has it visited again.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

from recrawl.crawler.control.answers.lifecycle import outcome_of_status
from recrawl.crawler.control.revisiting.due_times import DISCOVERED
from recrawl.crawler.control.urls import host_of
from recrawl.errors import StateError
from recrawl.integrations.revisits.planning import RevisitPlanner
from recrawl.integrations.revisits.store import PageRow
from recrawl.integrations.revisits.visits import concluded
from recrawl.integrations.scrapy.first import FirstRequests
from recrawl.integrations.scrapy.options import Options, read_options
from recrawl.integrations.scrapy.requests import (
    META,
    decode_request,
    encode_request,
    is_readable,
    page_id_of,
)
from recrawl.integrations.scrapy.signals import item_hash, response_signature
from recrawl.integrations.scrapy.store import RequestStore, SpiderLock
from recrawl.integrations.scrapy.underway import Underway, header_of
from recrawl.terms import Outcome

_WINDOW: Final = 100  # requests taken from the store at a time
_TOLD: Final = 10  # reasons why requests cannot be read
_STUCK_S: Final = 3_600.0  # of a visit whose end nobody told, as other middlewares dropped it
_crawls: "WeakKeyDictionary[Crawler, SpiderVisits]" = WeakKeyDictionary()


class SpiderVisits:
    """State of a spider's crawl while it runs.

    Parameters
    ----------
    crawler : Scrapy's
    options : of the project
    """

    def __init__(self, crawler: Crawler, options: Options) -> None:
        self.options = options
        self.underway: dict[int, Underway] = {}
        self.starts: WeakSet[Request] = WeakSet()
        self._born_s: WeakKeyDictionary[Request, float] = WeakKeyDictionary()
        self.first = FirstRequests(crawler)
        self._crawler = crawler
        self._planner = RevisitPlanner(options)
        self._opened_s = self._planned_s = 0.0
        self._is_open = self.is_lost = False  # lost: the state takes nothing any more
        self._counts: Counter[str] = Counter()
        self._unread: set[str] = set()  # why requests could not be read
        self._plan: Future[float | None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    @classmethod
    def of(cls, crawler: Crawler) -> "SpiderVisits":
        """Return the one of a crawler, made when it is first asked for."""
        found = _crawls.get(crawler)
        if found is None:
            found = _crawls[crawler] = cls(crawler, read_options(crawler.settings))
        return found

    # -- beginning and end --

    def open(self, spider: Spider) -> None:
        """Take the state, and plan by what is known.

        Raises
        ------
        StateError
            The spider runs already, or the state cannot be used.
        """
        self.spider = spider
        self._lock = SpiderLock(self.options.state, spider.name)
        try:
            self.store = RequestStore(self.options.state)
        except StateError:
            self._lock.release()
            raise
        self._is_open = True
        self.first.open(self.store, spider.name)
        self._opened_s = self._planned_s = self.now_s()
        self.store.grant(0, self.options.budget_per_s, self._opened_s)  # its clock begins to run
        self._note_plan(self._planner.replan(self.store, self._opened_s, spider.name))

    def close(self, reason: str) -> None:
        """Give back what was not visited, and let others have the spider."""
        if not self._is_open:  # the state could not be taken
            return
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        if reason == "finished":  # nothing waits to be tried again
            self._note_dropped(self.now_s())
        self.tell()
        left = sum(one.is_granted and one.asked_s is None for one in self.underway.values())
        with contextlib.ExitStack() as end:
            end.callback(self._lock.release)
            end.callback(self.store.close)
            self.store.give_back(left)

    def now_s(self) -> float:
        """Seconds since the epoch."""
        return self.options.clock()

    def count(self, name: str, n: int = 1) -> None:
        """Add to a number of Scrapy's statistics, with the next :meth:`tell`."""
        self._counts[name] += n

    def tell(self) -> None:
        """Put into Scrapy's statistics what was counted."""
        if self._crawler.stats is not None:
            for name, n in self._counts.items():
                self._crawler.stats.inc_value(f"recrawl/{name}", n)
        self._counts.clear()

    # -- requests --

    def admit(self, request: Request) -> Underway | bool | None:
        """Decide on a request that a spider makes.

        Returns
        -------
        Underway
            It is new: to be handed to Scrapy now.
        True
            It is kept, and due: it comes back from the store.
        False
            It is under way, or known and not due.
        None
            It cannot be kept, and is none of ours.
        """
        if not self.is_kept(request):
            self.count("passed")
            return None
        printer = self._crawler.request_fingerprinter
        assert printer is not None
        page_id = page_id_of(self.spider.name, printer.fingerprint(request))
        if page_id in self.underway:
            self.count("filtered")
            return False
        try:
            kept = encode_request(request, self.spider)
        except ValueError:
            self.count("passed/unstorable")
            return None
        found = self.store.find(page_id)
        if found is None:
            return self._add(page_id, request, kept)
        due_s = found.due_s
        if found.request != kept:
            if not is_readable(found.request, self.spider):  # it was put off until now
                due_s = min(due_s, self._horizon_s())
            self.store.reword(page_id, kept, request.priority, due_s)
        if due_s <= self._horizon_s():
            return True
        self.count("not_due")
        return False

    def is_kept(self, request: Request) -> bool:
        """Tell whether a request is one for the state."""
        if request.method not in ("GET", "HEAD"):
            return False
        # Scrapy marks every start request so that a filter lets it pass; ours is no such filter.
        return not request.dont_filter or request in self.starts

    def _add(self, page_id: int, request: Request, kept: bytes) -> Underway | bool:
        url, weight = request.url, self.options.weights.of(request.url)
        self.store.add(
            {
                "id": page_id,
                "spider": self.spider.name,
                "url": url,
                "host": host_of(url),
                "request": kept,
                "priority": request.priority,
                "weight": weight,
                "now_s": self.now_s(),
                "why": DISCOVERED,
                "born_s": self._born_s.get(request),
            }
        )
        self.count("new")
        if len(self.underway) >= self.options.n_waiting:
            return True
        return self._set_out(
            request, Underway(page_id, url, weight, None, dont_filter=request.dont_filter)
        )

    def _set_out(self, request: Request, visit: Underway) -> Underway:
        request.meta[META] = visit.page_id
        self.underway[visit.page_id] = visit
        return visit

    def drop(self, request: Request) -> None:
        """Forget a page that the project's scheduler would not take; it stays due."""
        self.underway.pop(request.meta.pop(META), None)

    def of_request(self, request: Request | None) -> Underway | None:
        """Return the visit that a request belongs to, as itself, redirected or tried again."""
        number = None if request is None else request.meta.get(META)
        return self.underway.get(number) if isinstance(number, int) else None

    def fetched_by(self, request: Request | None) -> Underway | None:
        """Return the visit that a request fetches the page of.

        A callback or pipeline may download more by itself, with the meta of the answer it has.
        """
        visit = self.of_request(request)
        return None if visit is None or visit.status is not None else visit

    def _horizon_s(self) -> float:
        # A run that ends visits each page once, however long it takes.
        return self.now_s() if self.options.continuous else self._opened_s

    def due(self, *, known_only: bool = False) -> Iterable[tuple[Request, Underway]]:
        """Yield requests that are due now, known pages as far as the budget goes.

        Parameters
        ----------
        known_only : leave out pages that were never visited
        """
        self.tell()
        self._replan_if_time()
        horizon_s, n_out = self._horizon_s(), len(self.underway)
        if n_out >= self.options.n_waiting:
            return
        limit = n_out + _WINDOW
        for first in (False,) if known_only else (True, False):
            rows = self.store.due(self.spider.name, horizon_s, first=first, limit=limit)
            rows = [row for row in rows if row["id"] not in self.underway][:_WINDOW]
            if not first and rows:
                per_s = self.options.budget_per_s
                rows = rows[: self.store.grant(len(rows), per_s, self.now_s())]
            for row in rows:
                request = self._read(row)
                if request is None:
                    continue
                visit = Underway(
                    row["id"], row["url"], row["weight"], row, dont_filter=request.dont_filter
                )
                visit.is_granted = not first
                self.count("first_visits" if first else "revisits")
                yield request, self._set_out(request, visit)

    def _read(self, row: PageRow) -> Request | None:
        try:
            return decode_request(row["request"], self.spider)
        except ValueError as error:
            if str(error) not in self._unread and len(self._unread) < _TOLD:
                self._unread.add(str(error))
                self.spider.logger.warning(
                    "recrawl: %s cannot be asked for again: %s; put off until the spider asks for "
                    "it anew, or for the longest interval, as all others that the statistic "
                    "recrawl/unreadable counts",
                    row["url"],
                    error,
                )
            self.count("unreadable")
            visit = Underway(row["id"], row["url"], row["weight"], row, dont_filter=False)
            self._record(visit, Outcome.POISON, note=f"request unreadable: {error}")
            return None

    # -- visits --

    def ask(self, request: Request) -> None:
        """Note that a page is being fetched, and ask only for what is new since the last visit."""
        visit = self.fetched_by(request)
        if visit is None:
            return
        if visit.asked_s is None:
            visit.asked_s = self.now_s()
        if visit.known("signature") is None or self.options.asks_whole(request.url):
            return
        for name, column in (("If-None-Match", "etag"), ("If-Modified-Since", "last_modified")):
            if visit.known(column) and name not in request.headers:
                request.headers[name] = visit.known(column)

    def answered(self, visit: Underway, request: Request, response: Response) -> bool:
        """Note what a server said; return whether that is what was known already."""
        visit.status = response.status
        visit.fetch_s = float(request.meta.get("download_latency") or 0.0)
        visit.received_bytes = len(response.body)
        visit.etag = header_of(response, "ETag")
        visit.last_modified = header_of(response, "Last-Modified")
        if outcome_of_status(response.status) is not None:
            return response.status == 304
        if self.options.change == "items" or not response.body:  # HEAD, or nothing was downloaded
            return False
        visit.signature = response_signature(response, self.options.change)
        return bool(visit.signature == visit.known("signature"))

    def failed(self, request: Request, why: str, *, forbidden: bool = False) -> None:
        """Record a visit that brought no answer."""
        visit = self.fetched_by(request)
        if visit is not None:
            self._record(visit, Outcome.DISALLOWED if forbidden else Outcome.FAILED, note=why)

    def gave(self, visit: Underway, item: Any) -> None:
        """Note an item that a callback gave; the pipelines are to take it."""
        visit.n_items += 1
        visit.pending += 1
        if visit.signature is None:
            visit.items = visit.items or []
            visit.items.append(item_hash(item, self.options.volatile))

    def led_to(self, visit: Underway, request: Request) -> None:
        """Note a request that a callback gave."""
        if visit.news_born_s is not None:
            self._born_s[request] = visit.news_born_s
        visit.note_link(request.url)

    def taken(self, response: Response | None, wrong: str | None = None) -> None:
        """Note that the pipelines are through with an item."""
        visit = self.of_request(getattr(response, "request", None))
        if visit is None:
            return
        visit.pending -= 1
        visit.wrong = visit.wrong or wrong
        self._end_if_done(visit)

    def read(self, visit: Underway, wrong: str | None = None) -> None:
        """Note that a callback has ended."""
        if self.underway.get(visit.page_id) is not visit:
            return  # its error was told twice
        if visit.is_continued and wrong is None:
            visit.is_continued = False
            return
        visit.is_read = True
        visit.wrong = visit.wrong or wrong
        if wrong is not None:
            visit.pending = 0
        self._end_if_done(visit)

    def _end_if_done(self, visit: Underway) -> None:
        if not visit.is_read or visit.pending > 0:
            return
        if visit.wrong is not None:  # not delivered: as if it had not been seen
            self._record(visit, Outcome.FAILED, note=visit.wrong)
            return
        self._record(visit, outcome_of_status(visit.status or 0) or visit.compared())

    def _record(self, visit: Underway, outcome: Outcome, note: str | None = None) -> None:
        self.underway.pop(visit.page_id, None)
        at_s = self.now_s() if visit.asked_s is None else visit.asked_s
        self.store.complete(*concluded(self._planner.due_times, visit, outcome, at_s, note))
        self.count(f"visits/{outcome.value}")

    def _note_dropped(self, asked_by_s: float) -> None:
        for visit in list(self.underway.values()):
            if visit.asked_s is not None and visit.asked_s <= asked_by_s:
                self._record(visit, Outcome.FAILED, note="another middleware dropped the answer")

    # -- plans --

    def _replan_if_time(self) -> None:
        if not self.options.continuous:
            return
        if self._plan is not None:
            if self._plan.done():
                plan, self._plan = self._plan, None
                self._note_plan(plan.result())
            return
        now_s = self.now_s()
        if now_s - self._planned_s >= self.options.replan_s:
            self._planned_s = now_s
            self._note_dropped(now_s - _STUCK_S)
            self.store.flush()
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="recrawl-plan")
            self._plan = self._thread.submit(self._plan_beside, now_s)

    def _plan_beside(self, now_s: float) -> float | None:
        with contextlib.closing(RequestStore(self.options.state)) as store:
            return self._planner.replan(store, now_s, self.spider.name)

    def _note_plan(self, freshness: float | None) -> None:
        if freshness is not None and self._crawler.stats is not None:
            self._crawler.stats.set_value("recrawl/planned_freshness", round(freshness, 4))
