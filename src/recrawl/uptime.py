"""The clock of the machine that nobody sets."""

import time
from typing import Final

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def monotonic_s() -> float:
    """Return seconds of a clock that nobody sets, and that runs while the machine sleeps."""
    return time.clock_gettime(_CLOCK)
