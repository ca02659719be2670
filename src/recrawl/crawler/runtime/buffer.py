"""The finite buffer between the robots and the indexer, in the papers' sense.

It holds at most ``capacity`` pages, those being indexed included. A page that finds it full is
lost. It measures what the models predict: starvation, mean length, arrivals, losses. Large pages
fill it before it has so many: robots then hold back as if it were full.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from recrawl.crawler.control.fleet.forgetting_rate import ForgettingRate
from recrawl.terms import BufferedPage

MOST_BYTES: Final = 64 * 1024 * 1024  # of bodies that wait, until robots hold back
_MEMORY: Final = 200.0  # pages whose waits count


class Buffer:
    """First in, first out, for one server or several.

    A copy that became obsolete while it waits makes room for one that finds the buffer full.

    Parameters
    ----------
    capacity : K >= 1
    now_s : the crawl's time
    """

    def __init__(self, capacity: int, now_s: Callable[[], float]) -> None:
        self.capacity = capacity
        self.arrivals = 0
        self.lost = 0
        self.starved_s = 0.0
        self.page_seconds = 0.0
        self._now_s = now_s
        self._since_s = now_s()
        self._waiting: deque[tuple[float, BufferedPage]] = deque()  # with when it came
        self._waits = ForgettingRate(_MEMORY)
        self._bytes = 0  # of bodies that wait
        self._in_service = 0
        self._takers: deque[asyncio.Future[None]] = deque()
        self._drop: Callable[[BufferedPage], None] | None = None

    def on_obsolete(self, drop: Callable[[BufferedPage], None]) -> None:
        """Have ``drop`` called with copies that made room because they were obsolete."""
        self._drop = drop

    @property
    def length(self) -> int:
        """Pages in the buffer, those being indexed included."""
        return len(self._waiting) + self._in_service

    @property
    def fill(self) -> int:
        """The length as robots go by it: the capacity where large pages fill it."""
        return self.length if self._bytes < MOST_BYTES else self.capacity

    @property
    def usual_wait_s(self) -> float:
        """Recent mean wait of pages until they are served, or turn out to be obsolete."""
        return 1.0 / self._waits.rate if self._waits.rate else 0.0

    def has_others(self, host_id: int) -> bool:
        """Tell whether a page of another host waits. O(pages that wait)."""
        return any(page.lease.host_id != host_id for _, page in self._waiting)

    def offer(self, page: BufferedPage) -> bool:
        """Bring a page; False if it is lost because the buffer is full."""
        self.account()
        self.arrivals += 1
        if self.length >= self.capacity:
            self._expire()
        if self.length >= self.capacity:
            self.lost += 1
            return False
        self._waiting.append((self._since_s, page))
        self._bytes += len(page.response.body)
        if self._takers:
            _wake(self._takers.popleft())
        return True

    def _expire(self) -> None:
        now_s = self._now_s()
        if self._drop is None or all(page.deadline_s >= now_s for _, page in self._waiting):
            return
        waiting, self._waiting = self._waiting, deque()
        for came_s, page in waiting:
            if page.deadline_s < now_s:
                self._waits.observe(now_s - came_s)
                self._bytes -= len(page.response.body)
                self._drop(page)
            else:
                self._waiting.append((came_s, page))

    async def take(self, *, within_s: float | None = None) -> BufferedPage | None:
        """Take the oldest page into service; None if none came in time, or on a nudge."""
        if not self._waiting:
            loop = asyncio.get_running_loop()
            taker: asyncio.Future[None] = loop.create_future()
            self._takers.append(taker)
            timer = None
            if within_s is not None:
                timer = loop.call_later(max(within_s, 0.0), _wake, taker)
            try:
                await taker
            finally:
                if taker in self._takers:  # else whoever woke it has taken it out
                    self._takers.remove(taker)
                if timer is not None:
                    timer.cancel()
        if not self._waiting:
            return None
        self.account()
        self._in_service += 1
        came_s, page = self._waiting.popleft()
        self._bytes -= len(page.response.body)
        self._waits.observe(self._since_s - came_s)
        return page

    def nudge(self) -> None:
        """Let every waiting :meth:`take` return without a page."""
        for taker in self._takers:
            _wake(taker)

    def finish(self) -> None:
        """A page in service is done: a departure."""
        self.account()
        self._in_service -= 1

    def drain(self) -> list[BufferedPage]:
        """Take out every page that waits."""
        self.account()
        waiting = [page for _, page in self._waiting]
        self._waiting.clear()
        self._bytes = 0
        return waiting

    def account(self) -> None:
        """Bring the measures up to now."""
        now_s = self._now_s()
        passed_s = now_s - self._since_s
        self._since_s = now_s
        self.page_seconds += passed_s * self.length
        if not self.length:
            self.starved_s += passed_s


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
