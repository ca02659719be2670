"""Work on several parts of a table at once, with answers in the order of the parts."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Elsewhere(ABC, Generic[Item]):
    """Parts that others hold, on machines of their own: functions go there, and answers come back.

    Functions and answers can be pickled; an answer is small, or can be added to others.
    """

    @abstractmethod
    def mapped(self, function: Callable[[Item], Answer]) -> Iterator[Answer]:
        """Yield what a function makes of each part, in the order of the parts."""

    @abstractmethod
    def total(self, function: Callable[[Item], Answer]) -> Answer:
        """Add up what a function makes of the parts, neighbours first, where they are."""


def in_order(
    function: Callable[[Item], Answer], items: Iterable[Item] | Elsewhere[Item], threads: int
) -> Iterator[Answer]:
    """Apply a function to items and yield the answers in order.

    At most two items for each thread are held at a time; what is elsewhere is worked on there.

    Parameters
    ----------
    function : may be called by several threads at once; can be pickled if items are elsewhere
    items : the parts
    threads : how many work on items that are here; up to 1: the caller's alone
    """
    if isinstance(items, Elsewhere):
        yield from items.mapped(function)
        return
    if threads <= 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Answer]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
