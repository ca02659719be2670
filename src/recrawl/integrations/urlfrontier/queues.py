"""Queues that may be asked now: those that hold an address that is due, rested and not blocked.

A queue sleeps until an instant; those of a crawl lie in a heap by it, so that a call touches the
queues that it serves and no others, however many there are. Of queues that are all ready the one
comes first that was served longest ago. Pure: it is told the time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Final

DEFAULT_DELAY_S: Final = 1.0


@dataclass(slots=True, eq=False)
class Queue:
    """Addresses of a crawl that share a key. Seconds since the epoch.

    Parameters
    ----------
    crawl, name : of the queue
    delay_s : between two times that it is served; None: as all
    blocked_until_s : it gives nothing before
    served_s : when it last gave something
    wakes_s : when it is looked at again
    held : addresses that clients have, and until when they are theirs
    """

    crawl: str
    name: str
    delay_s: float | None = None
    blocked_until_s: float = 0.0
    served_s: float = -inf
    wakes_s: float = inf
    held: dict[int, float] = field(default_factory=dict)

    def let_go(self, now_s: float) -> None:
        """Forget whom nobody put back in time."""
        if self.held:
            self.held = {page: until for page, until in self.held.items() if until > now_s}


class Queues:
    """All queues of all crawls."""

    def __init__(self) -> None:
        self.delay_s = DEFAULT_DELAY_S
        self._crawls: dict[str, dict[str, Queue]] = {}
        self._heaps: dict[str, list[tuple[float, int, Queue]]] = {}
        self._turn = count()

    def crawls(self) -> list[str]:
        """Return the names of all crawls."""
        return list(self._crawls)

    def of(self, crawl: str) -> dict[str, Queue]:
        """Return the queues of a crawl by name."""
        return self._crawls.get(crawl, {})

    def at(self, crawl: str, name: str) -> Queue:
        """Return a queue, made if it is new."""
        queues = self._crawls.setdefault(crawl, {})
        found = queues.get(name)
        if found is None:
            found = queues[name] = Queue(crawl, name)
        return found

    def forget(self, crawl: str, name: str | None) -> None:
        """Drop a queue, or all of a crawl."""
        queues = self._crawls.get(crawl, {})
        for one in list(queues) if name is None else [name]:
            queue = queues.pop(one, None)
            if queue is not None:
                queue.wakes_s = inf  # its place in the heap counts no more
        if not queues:
            self._crawls.pop(crawl, None)
            self._heaps.pop(crawl, None)

    def rested_s(self, queue: Queue) -> float:
        """Return from when a queue may be served, whatever it holds."""
        delay_s = self.delay_s if queue.delay_s is None else queue.delay_s
        return max(queue.blocked_until_s, queue.served_s + delay_s)

    def sleep(self, queue: Queue, until_s: float) -> None:
        """Look at a queue again at an instant, and not before it may be served; inf: when woken."""
        until_s = max(until_s, self.rested_s(queue))
        queue.wakes_s = until_s
        if until_s < inf:
            heap = self._heaps.setdefault(queue.crawl, [])
            heappush(heap, (until_s, next(self._turn), queue))

    def wake(self, queue: Queue, at_s: float) -> None:
        """Look at a queue by an instant at the latest, as something in it is due by then."""
        if max(at_s, self.rested_s(queue)) < queue.wakes_s:
            self.sleep(queue, at_s)

    def ready(self, crawl: str, now_s: float) -> Iterator[Queue]:
        """Yield queues that may be served; each is asleep for good until :meth:`sleep`."""
        heap = self._heaps.get(crawl, [])
        while heap and heap[0][0] <= now_s:
            at_s, _, queue = heappop(heap)
            if at_s == queue.wakes_s:
                queue.wakes_s = inf
                yield queue
