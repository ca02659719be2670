"""Runners of calls that would hold up the event loop: on a thread of their own, or in place."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from typing_extensions import override

from recrawl.crawler.ports import Offload

P = ParamSpec("P")
T = TypeVar("T")


class OnThread(Offload):
    """Runs calls one after the other on a thread of their own."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        work = partial(call, *args, **kwargs)
        return await loop.run_in_executor(self._pool, work)

    def now(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call there, and wait for it in place: only for what takes milliseconds."""
        return self._pool.submit(call, *args, **kwargs).result()

    def close(self) -> None:
        """Finish what is under way."""
        self._pool.shutdown()


class InPlace(Offload):
    """Runs calls where they are made: for virtual time, where nothing may happen unseen."""

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return call(*args, **kwargs)
