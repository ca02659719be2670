"""Disks that are slow, full or failing, and processes that end between two steps."""

import asyncio
import contextlib
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from tests.storms.weather import Broken
from typing_extensions import override

from recrawl.crawler.ports import Frontier, Offload, PageIndex, Preparation
from recrawl.crawler.runtime.virtual import VirtualLoop
from recrawl.errors import StateError
from recrawl.terms import Document, Lease, PageUpdate

__all__ = ["Killed", "KilledLoop", "Leases", "StormyDisk", "StormyPreparation", "handle"]

P = ParamSpec("P")
T = TypeVar("T")


class Killed(BaseException):
    """The process is gone; nothing of it runs any more."""


class KilledLoop(VirtualLoop):
    """A loop that ends like a killed process after so many steps, and runs nothing afterwards."""

    def __init__(self, steps: int | None) -> None:
        super().__init__()
        self._left = steps

    def _run_once(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Killed
        super()._run_once()  # type: ignore[misc]

    def bury(self) -> None:
        """Drop every task where it stands."""
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            with contextlib.suppress(BaseException):  # the dead say nothing
                cast("Any", task.get_coro()).close()
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            self.close()  # what generators would still have awaited is dropped too


class StormyPreparation(Preparation):
    """Takes any time over a page, and leaves it as it is."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    @override
    async def __call__(self, document: Document) -> Document:
        await asyncio.sleep(float(self._random.exponential(3.0)))
        return document

    @override
    def close(self) -> None:
        pass


class StormyDisk(Offload):
    """Runs calls after a while, and sometimes fails before or after them.

    Parameters
    ----------
    random : what comes is drawn from it
    failures : probability that a call fails, half of the time after it was done
    is_fair : says whether nothing fails any more
    """

    def __init__(
        self, random: np.random.Generator, failures: float, is_fair: Callable[[], bool]
    ) -> None:
        self._random = random
        self._failures = failures
        self._is_fair = is_fair

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        fate = self._random.random()
        if fate < 0.3:
            await asyncio.sleep(float(self._random.exponential(0.01 if fate < 0.28 else 3.0)))
        fails = not self._is_fair() and self._random.random() < self._failures
        if fails and self._random.random() < 0.5:
            raise StateError("the disk is full")
        result = call(*args, **kwargs)
        if fails:
            raise StateError("the disk failed, after all was written")
        return result


class Leases:
    """Watches that no page is handed out twice, and no visit recorded twice."""

    def __init__(self, frontier: Frontier, now_s: Callable[[], float]) -> None:
        self._frontier = frontier
        self._now_s = now_s
        self._out: dict[int, float] = {}
        self._recorded: set[tuple[int, float]] = set()

    def lease(self, host_id: int, *, until_s: float, **options: Any) -> list[Lease]:
        """Hand out pages that nobody has."""
        leases = self._frontier.lease(host_id, until_s=until_s, **options)
        for lease in leases:
            if self._out.get(lease.page_id, -np.inf) > self._now_s():
                raise Broken(f"{lease.url} was leased twice")
            self._out[lease.page_id] = until_s
        return leases

    def release(self, leases: list[Lease]) -> None:
        """Take pages back."""
        for lease in leases:
            self._out.pop(lease.page_id, None)
        self._frontier.release(leases)

    def put_off(self, leases: list[tuple[Lease, float]], why: str) -> None:
        """Take pages back that are due later."""
        self._frontier.put_off(leases, why)
        for lease, _ in leases:
            self._out.pop(lease.page_id, None)

    def complete(self, updates: list[PageUpdate], now_s: float | None = None) -> None:
        """Record visits, each once."""
        for update in updates:
            visit = (update.lease.page_id, update.visit.visited_at_s)
            if visit in self._recorded:
                raise Broken(f"a visit of {update.lease.url} was recorded twice")
            self._recorded.add(visit)
        self._frontier.complete(updates, now_s)
        for update in updates:
            self._out.pop(update.lease.page_id, None)


class _Handle:
    """Handle of a process on a disk: of no use to it once it is dead."""

    def __init__(self, real: object, instead: object | None) -> None:
        self._real = real
        self._instead = instead
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        if self.is_dead:
            raise Killed
        return getattr(self._instead, name, None) or getattr(self._real, name)


def handle(real: Frontier | PageIndex, instead: object | None = None) -> Any:
    """Return a handle that can be taken away; some methods are those of ``instead``."""
    return _Handle(real, instead)
