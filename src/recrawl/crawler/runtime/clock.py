"""The clock of a crawl, over the event loop's time.

A real crawl, an accelerated demo and a run in virtual time differ by the loop and by one number.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from typing_extensions import override

from recrawl.crawler.ports import Clock
from recrawl.uptime import monotonic_s

_LOOK_S: Final = 60.0  # between two looks at a clock that runs while the loop's stands still


class LoopClock(Clock):
    """Time that passes ``speed`` times as fast as the event loop's.

    Parameters
    ----------
    epoch_s : the instant at which it starts; default: now
    speed : crawl seconds per second of the loop, > 0
    """

    def __init__(self, *, epoch_s: float | None = None, speed: float = 1.0) -> None:
        self._began_s = time.time() if epoch_s is None else epoch_s  # when the loop's time was 0
        self._speed = speed
        self._loop_time: Callable[[], float] | None = None

    @override
    def now_s(self) -> float:
        if self._loop_time is None:  # the loop that first asks is the clock's
            self._loop_time = asyncio.get_running_loop().time
            self._began_s -= self._loop_time() * self._speed
        return self._began_s + self._loop_time() * self._speed

    @override
    async def sleep_until(self, instant_s: float) -> None:
        await asyncio.sleep(max((instant_s - self.now_s()) / self._speed, 0.0))


class WallClock(Clock):
    """Time of a machine that may be put to sleep, as the loop's clock then stands still.

    What was due meanwhile is due within a minute of its waking.

    Parameters
    ----------
    epoch_s : the instant at which it starts; default: now
    elapsed_s : seconds of a clock that nobody sets
    """

    def __init__(
        self, *, epoch_s: float | None = None, elapsed_s: Callable[[], float] = monotonic_s
    ) -> None:
        self._elapsed_s = elapsed_s
        self._began_s = (time.time() if epoch_s is None else epoch_s) - elapsed_s()

    @override
    def now_s(self) -> float:
        return self._began_s + self._elapsed_s()

    @override
    async def sleep_until(self, instant_s: float) -> None:
        while (left_s := instant_s - self.now_s()) > 0.0:  # noqa: ASYNC110 - a clock has no events
            await asyncio.sleep(min(left_s, _LOOK_S))
        await asyncio.sleep(0.0)
