"""Threads for what must not hold up the event loop: one for each kind of question."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from recrawl.crawler.ports import StatePlace
from recrawl.web.source import CrawlSource

P = ParamSpec("P")
T = TypeVar("T")


class Reader:
    """A thread with its own view of the state; calls run one after the other.

    Parameters
    ----------
    directory : of the state
    name : of the thread
    """

    def __init__(self, directory: StatePlace, name: str) -> None:
        self._source = CrawlSource(directory)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def __call__(
        self, call: Callable[Concatenate[CrawlSource, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return what ``call(source, ...)`` returns, or raise what it raises."""
        work = partial(call, self._source, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Finish what is under way, and release files."""
        self._pool.shutdown(cancel_futures=True)
        self._source.close()
