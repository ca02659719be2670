"""The finite buffer between the robots and the indexer, in the papers' sense.

It holds at most ``capacity`` pages, the one being indexed included. A page that finds it full is
lost. It measures what the models predict: starvation, mean length, arrivals, losses.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from recrawl.terms import BufferedPage

__all__ = ["Buffer"]


class Buffer:
    """First in, first out, for one indexer.

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
        self._waiting: deque[BufferedPage] = deque()
        self._in_service = False
        self._taker: asyncio.Future[None] | None = None

    @property
    def length(self) -> int:
        """Pages in the buffer, the one being indexed included."""
        return len(self._waiting) + self._in_service

    def offer(self, page: BufferedPage) -> bool:
        """Bring a page; False if it is lost because the buffer is full."""
        self.account()
        self.arrivals += 1
        if self.length >= self.capacity:
            self.lost += 1
            return False
        self._waiting.append(page)
        self.nudge()
        return True

    async def take(self, *, within_s: float | None = None) -> BufferedPage | None:
        """Take the oldest page into service; None if none came in time, or on a nudge."""
        if not self._waiting:
            loop = asyncio.get_running_loop()
            self._taker = loop.create_future()
            timer = None
            if within_s is not None:
                timer = loop.call_later(max(within_s, 0.0), _wake, self._taker)
            try:
                await self._taker
            finally:
                self._taker = None
                if timer is not None:
                    timer.cancel()
        if not self._waiting:
            return None
        self.account()
        self._in_service = True
        return self._waiting.popleft()

    def nudge(self) -> None:
        """Let a waiting :meth:`take` return without a page."""
        if self._taker is not None:
            _wake(self._taker)

    def finish(self) -> None:
        """The page in service is done: a departure."""
        self.account()
        self._in_service = False

    def drain(self) -> list[BufferedPage]:
        """Take out every page that waits."""
        self.account()
        waiting = list(self._waiting)
        self._waiting.clear()
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
