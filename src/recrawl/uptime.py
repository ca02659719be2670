"""The clock of the machine that nobody sets."""

import time


def monotonic_s() -> float:
    """Return seconds of a clock that nobody sets, and that runs while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
