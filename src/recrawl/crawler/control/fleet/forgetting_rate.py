"""A rate that is measured while it drifts, and how regular its events are."""

import math
from dataclasses import dataclass

from recrawl.errors import InvalidModel


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
    _squares: float = 0.0
    _cubes: float = 0.0
    _products: float = 0.0  # of neighbours
    _pairs: float = 0.0
    _last: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.memory) and self.memory > 1):
            raise InvalidModel(f"memory must be finite and > 1, got {self.memory!r}")

    def observe(self, duration: float) -> None:
        """Take one duration into account, >= 0; others are ignored as faults of a clock."""
        if not (math.isfinite(duration) and duration >= 0):
            return
        keep = 1 - 1 / self.memory
        self._count = keep * self._count + 1
        self._time = keep * self._time + duration
        self._squares = keep * self._squares + duration**2
        self._cubes = keep * self._cubes + duration**3
        if self._last is not None:
            self._products = keep * self._products + self._last * duration
            self._pairs = keep * self._pairs + 1
        self._last = duration

    @property
    def rate(self) -> float | None:
        """Events per unit of time, or None as long as nothing was seen to take time."""
        return self._count / self._time if self._time > 0 else None

    @property
    def count(self) -> float:
        """Number of durations that the rate rests on, those forgotten in part counted in part."""
        return self._count

    @property
    def relative_error(self) -> float:
        """Standard error of the rate, relative to it; at least that of exponential durations."""
        if self._count <= 0:
            return math.inf
        return math.sqrt(max(self.squared_variation, 1.0) / self._count)

    @property
    def squared_variation(self) -> float:
        """Variance of the durations over the square of their mean, 1 for exponential ones."""
        if self._time <= 0:
            return 1.0
        return max(self._count * self._squares / self._time**2 - 1.0, 0.0)

    @property
    def third_ratio(self) -> float:
        """Mean of the cubes over the cube of the mean, 6 for exponential durations."""
        return self._count**2 * self._cubes / self._time**3 if self._time > 0 else 6.0

    @property
    def correlation(self) -> float:
        """Correlation of neighbouring durations, 0 as long as there are none that took time."""
        variation = self.squared_variation
        if self._pairs <= 0 or self._time <= 0 or variation <= 0:
            return 0.0
        mean = self._time / self._count
        joint = self._products / self._pairs / mean**2 - 1.0
        return min(max(joint / variation, -1.0), 1.0)
