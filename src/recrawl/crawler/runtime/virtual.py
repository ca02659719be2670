"""An event loop in virtual time: when every task sleeps, time jumps to the next deadline.

The engine, its timeouts and its waits run as they are; only waiting costs nothing. Runs are
deterministic as long as nothing outside the loop (a socket, a thread) takes part.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from typing_extensions import override

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of waiting, it moves the loop's time."""

    def __init__(self) -> None:
        super().__init__()
        self.time_s = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise RuntimeError("every task waits for something that will never happen")
        self.time_s += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop whose time is virtual and starts at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # What asyncio takes for "now": a nanosecond is lost in a time of months, and it would wait
        # for ever for a deadline that has come.
        self._clock_resolution = 1e-6

    @override
    def time(self) -> float:
        return self._jumping.time_s


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time, as ``asyncio.run`` would in real time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
