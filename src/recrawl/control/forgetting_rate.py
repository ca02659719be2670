"""A rate that is measured while it drifts."""

import math
from dataclasses import dataclass

from recrawl.errors import InvalidModel

__all__ = ["ForgettingRate"]


@dataclass(slots=True)
class ForgettingRate:
    """A rate estimated from durations, where old ones count for less and less.

    Parameters
    ----------
    memory : how many of the latest durations count, > 1
    """

    memory: float
    _count: float = 0.0
    _time: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.memory) and self.memory > 1):
            raise InvalidModel(f"memory must be finite and > 1, got {self.memory!r}")

    def observe(self, duration: float) -> None:
        """Take one duration into account, >= 0; others are ignored as faults of a clock."""
        if math.isfinite(duration) and duration >= 0:
            keep = 1 - 1 / self.memory
            self._count = keep * self._count + 1
            self._time = keep * self._time + duration

    @property
    def rate(self) -> float | None:
        """Events per unit of time, or None as long as nothing was seen to take time."""
        return self._count / self._time if self._time > 0 else None

    @property
    def count(self) -> float:
        """How many durations the rate rests on, those forgotten in part counted in part."""
        return self._count

    @property
    def relative_error(self) -> float:
        """Standard error of the rate, relative to it, for exponential durations."""
        return 1 / math.sqrt(self._count) if self._count > 0 else math.inf
