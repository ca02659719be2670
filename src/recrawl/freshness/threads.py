"""Work on several parts of a table at once, with answers in the order of the parts."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_order(
    function: Callable[[Item], Answer], items: Iterable[Item], threads: int
) -> Iterator[Answer]:
    """Apply a function to items on several threads and yield the answers in order.

    At most two items for each thread are held at a time.
    """
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
