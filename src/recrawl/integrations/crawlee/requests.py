"""The request manager: what a crawler asks for is kept on disk, and given back when it is due.

A visit counts once Crawlee marks its request as handled, which it does after the handler has ended
and the items and requests of it are written. Until then the page stays due.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Final, Self

import xxhash
from crawlee import Request, RequestState
from crawlee.request_loaders import RequestManager
from crawlee.storage_clients.models import ProcessedRequest
from typing_extensions import override

from recrawl.crawler.control.answers.lifecycle import RevisitRules, outcome_of_status
from recrawl.crawler.control.revisiting.due_times import DISCOVERED
from recrawl.crawler.control.urls import host_of
from recrawl.errors import InvalidSettings
from recrawl.held_files import StateLock
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.integrations.revisits.planning import RevisitPlanner
from recrawl.integrations.revisits.requests import KeptRequests
from recrawl.integrations.revisits.visits import Visit, concluded
from recrawl.quantities import parse_duration_s, parse_rate_per_s
from recrawl.terms import Outcome

_WINDOW: Final = 100  # requests taken from the store at a time
_OF_ONE_RUN: Final = {"retry_count", "loaded_url", "handled_at"}


@dataclass(slots=True, eq=False)
class _Underway(Visit):
    is_granted: bool = False  # the budget paid for it
    is_known: bool = False  # the answer was what was known already


class RecrawlRequests(RequestManager):  # type: ignore[misc] # Crawlee is not in the environment
    """Requests of one crawler. A context manager; its end puts on disk what is left.

    Parameters
    ----------
    state : directory of the state, made if it is missing
    budget : visits of known pages, as ``"5000/d"``; new pages are free
    name : of the crawler, where several share a state
    change : what counts as a change: of the ``body``, or of the ``text`` that a reader would see
    min_interval, max_interval, initial_interval : bounds on intervals, and the one to the second
        visit
    clock : seconds since the epoch

    Raises
    ------
    InputError
        A value is wrong; the message names it and what would be right.
    StateError
        The state cannot be used, or a crawler of this name runs already.
    """

    def __init__(
        self,
        state: str | Path = "recrawl-state",
        budget: str = "1000/h",
        *,
        name: str = "crawlee",
        change: str = "body",
        min_interval: str = "10min",
        max_interval: str = "30d",
        initial_interval: str = "1d",
        clock: Callable[[], float] = time,
    ) -> None:
        if change not in ("body", "text"):
            raise InvalidSettings(f"change: {change!r} is none of body, text")
        rules = RevisitRules(
            min_interval_s=parse_duration_s(min_interval, name="min_interval"),
            max_interval_s=parse_duration_s(max_interval, name="max_interval"),
            initial_interval_s=parse_duration_s(initial_interval, name="initial_interval"),
        )
        if rules.min_interval_s > rules.max_interval_s:
            raise InvalidSettings(
                f"max_interval: {max_interval!r} is shorter than min_interval, {min_interval!r}"
            )
        self._options = RevisitOptions(Path(state), parse_rate_per_s(budget, name="budget"), rules)
        if not self._options.budget_per_s > 0:
            raise InvalidSettings(f"budget: {budget!r} must be > 0")
        self.change, self.now_s = change, clock
        self._name = name
        self._planner = RevisitPlanner(self._options)
        self._ready: deque[Request] = deque()
        self._underway: dict[str, _Underway | None] = {}  # by unique key; None: it is not kept
        self._passed: set[str] = set()  # handed on in this run, and not kept
        self._n_handled = 0
        of_name = xxhash.xxh3_64_hexdigest(name.encode())
        self._lock = StateLock(
            Path(state) / f"crawlee-{of_name}.lock",
            f"state: {Path(state)}",
            ": a crawler of this name runs already, in {holder}",
        )
        try:
            self._store = KeptRequests(
                Path(state) / "crawlee.sqlite3", "state", "crawlers of Crawlee",
                "recrawl.integrations.crawlee.sql",
            )  # fmt: skip
            self._store.grant(0, self._options.budget_per_s, clock())  # its clock begins to run
            self._begin()
        except BaseException:
            self._lock.release()
            raise

    def _begin(self) -> None:
        """Plan. A run visits each page once, however long it takes: what is due now."""
        self._opened_s = self.now_s()
        self._passed.clear()
        self._planner.replan(self._store, self._opened_s, self._name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Put on disk what was gathered, and give back what was not visited."""
        left = sum(one is not None and one.is_granted for one in self._underway.values())
        self._store.give_back(left)
        self._store.close()
        self._lock.release()

    def visit_of(self, request: Request) -> _Underway | None:
        """Return the visit that a request makes; None: nothing is learned of it."""
        return self._underway.get(request.unique_key)

    # -- what Crawlee asks --

    @override
    async def add_request(
        self, request: str | Request, *, forefront: bool = False
    ) -> ProcessedRequest | None:
        made = self._transform_request(request)
        key = made.unique_key
        if key in self._underway or key in self._passed:
            return _told(key, is_present=True, is_handled=key not in self._underway)
        page_id = xxhash.xxh3_64_intdigest(f"{self._name}\0{key}".encode()) >> 1
        visit = None
        if made.method in ("GET", "HEAD") and not made.payload:
            kept, now_s = _written(made), self.now_s()
            found = self._store.find(page_id)
            if found is not None:
                if found.request != kept:
                    self._store.reword(page_id, kept, int(forefront))
                return _told(key, is_present=True, is_handled=found.due_s > self._opened_s)
            visit = _Underway(page_id, made.url, 1.0, None)
            self._store.add({
                "id": page_id, "spider": self._name, "url": made.url, "host": host_of(made.url),
                "request": kept, "priority": int(forefront), "weight": 1.0, "now_s": now_s,
                "why": DISCOVERED,
            })  # fmt: skip
        else:
            self._passed.add(key)
        self._underway[key] = visit
        self._put(made, forefront=forefront)
        return _told(key)

    def _put(self, request: Request, *, forefront: bool) -> None:
        (self._ready.appendleft if forefront else self._ready.append)(request)

    @override
    async def fetch_next_request(self) -> Request | None:
        return self._ready.popleft() if self._ready or self._refill() else None

    def _refill(self) -> bool:
        """Take from the store what is due, known pages as far as the budget goes."""
        under = {one.page_id for one in self._underway.values() if one is not None}
        limit = len(under) + _WINDOW
        for first in (True, False):
            rows = self._store.due(self._name, self._opened_s, first=first, limit=limit)
            rows = [row for row in rows if row["id"] not in under][:_WINDOW]
            if not first and rows:
                budget_per_s = self._options.budget_per_s
                rows = rows[: self._store.grant(len(rows), budget_per_s, self.now_s())]
            for row in rows:
                request = Request.model_validate_json(row["request"])
                visit = _Underway(row["id"], row["url"], row["weight"], row)
                visit.is_granted = not first
                self._underway[request.unique_key] = visit
                self._ready.append(request)
        return bool(self._ready)

    @override
    async def mark_request_as_handled(self, request: Request) -> ProcessedRequest | None:
        visit = self._underway.pop(request.unique_key, None)
        self._n_handled += 1
        if visit is not None:
            outcome, note = _outcome_of(visit, request.state)
            at_s = self.now_s() if visit.asked_s is None else visit.asked_s
            self._store.complete(*concluded(self._planner.due_times, visit, outcome, at_s, note))
        return _told(request.unique_key, is_present=True, is_handled=True)

    @override
    async def reclaim_request(
        self, request: Request, *, forefront: bool = False
    ) -> ProcessedRequest | None:
        self._put(request, forefront=forefront)
        return _told(request.unique_key, is_present=True)

    @override
    async def is_empty(self) -> bool:
        return not self._ready and not self._refill()

    @override
    async def is_finished(self) -> bool:
        return not self._underway and await self.is_empty()

    @override
    async def get_handled_count(self) -> int:
        return self._n_handled

    @override
    async def get_total_count(self) -> int:
        return self._n_handled + len(self._underway)

    @override
    async def purge(self) -> None:
        """Begin anew, as Crawlee does before it runs again; nothing that is known is lost."""
        self._begin()

    @override
    async def drop(self) -> None:
        """Keep the state: it is what recrawling is for. Delete its directory to forget it."""


def _outcome_of(visit: _Underway, state: RequestState) -> tuple[Outcome, str | None]:
    """Return what came of a visit, and why it told nothing."""
    by_status = outcome_of_status(visit.status or 0) if visit.status else None
    if visit.is_known:
        return by_status or Outcome.UNCHANGED, None
    if state is RequestState.SKIPPED:
        return Outcome.DISALLOWED, None
    if by_status is not None:
        return by_status, None
    if state is not RequestState.DONE:
        return Outcome.FAILED, f"Crawlee ended it in the state {state.name}"
    before = visit.known("signature")
    if before is None or visit.signature is None:
        return Outcome.NEW, None
    return (Outcome.UNCHANGED if visit.signature == before else Outcome.CHANGED), None


def _written(request: Request) -> bytes:
    return bytes(request.model_dump_json(by_alias=True, exclude=_OF_ONE_RUN).encode())


def _told(key: str, *, is_present: bool = False, is_handled: bool = False) -> ProcessedRequest:
    return ProcessedRequest(
        unique_key=key, was_already_present=is_present, was_already_handled=is_handled
    )
