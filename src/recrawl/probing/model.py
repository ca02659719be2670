"""The cost model: updates come with the clock, and cost by importance until the next probe."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_cost import accumulate, sum_intervals
from recrawl.probing.profile import Profile


@dataclass(frozen=True, eq=False)
class ProbedSource:
    r"""A source whose updates follow the clock, over one period [0, T].

    Parameters
    ----------
    intensity : updates per unit of time, lambda(t), >= 0; not zero everywhere
    importance : cost per unit of time of an update not yet seen, a(t), >= 0, same period; not
        zero everywhere
    gap : least time between two probes, and from 0 to the first; 0 <= gap <= T

    Notes
    -----
    An update at t that the probe at p sees costs :math:`\int_t^p a`, so the expected cost of an
    interval between probes is :math:`C(s, f) = \int_s^f \lambda(t) \int_t^f a(\tau) d\tau dt` and
    that of a schedule :math:`0 = p_0 < p_1 < \dots < p_n = T` the sum over its intervals: equal
    to the area between the curve (L, A) of the integrals and its upper staircase.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, "Optimal information monitoring under a politeness
    constraint", RUTCOR Research Report 16-2005, equations 5 to 8.
    """

    intensity: Profile
    importance: Profile
    gap: float = 0.0

    def __post_init__(self) -> None:
        if abs(self.intensity.period - self.importance.period) > 1e-9 * self.intensity.period:
            raise InvalidModel(
                f"intensity has period {self.intensity.period:g}, importance "
                f"{self.importance.period:g}: they must be equal (see Profile.repeat)"
            )
        if self.importance.total <= 0:
            raise InvalidModel("importance is zero everywhere: then no probe is worth anything")
        if self.intensity.total <= 0:
            raise InvalidModel("intensity is zero everywhere: then there is nothing to probe for")
        if not 0 <= self.gap <= self.period:
            raise InvalidModel(
                f"gap must lie in 0 .. {self.period:g} (the period), got {self.gap!r}"
            )

    @property
    def period(self) -> float:
        """T, the length of the period."""
        return self.intensity.period

    @property
    def updates(self) -> float:
        """Expected updates in one period."""
        return self.intensity.total

    @property
    def max_probes(self) -> float:
        """The most probes that the gap allows: floor(T / gap), or infinity without a gap."""
        if self.gap == 0:
            return np.inf
        return float(np.floor(self.period / self.gap * (1 + 1e-12)))

    @cached_property
    def cell_starts(self) -> Vector:
        """Breaks of both functions together, shape (k + 1,)."""
        both = np.unique(np.concatenate([self.intensity.breaks, self.importance.breaks]))
        keep = np.append(np.diff(both) > 1e-12 * self.period, True)
        starts: Vector = both[keep]
        starts[0], starts[-1] = 0.0, self.period
        return starts

    @cached_property
    def cells(self) -> Vector:
        """Intensity, its slope, importance and its slope in each cell, shape (4, k)."""
        starts = self.cell_starts
        middles, widths = 0.5 * (starts[1:] + starts[:-1]), np.diff(starts)
        rows = []
        for profile in (self.intensity, self.importance):
            piece = np.clip(
                np.searchsorted(profile.breaks, middles, side="right") - 1,
                0,
                profile.starts.size - 1,
            )
            slope = (profile.ends - profile.starts)[piece] / np.diff(profile.breaks)[piece]
            middle = profile.starts[piece] + slope * (middles - profile.breaks[piece])
            rows += [np.maximum(middle - 0.5 * slope * widths, 0.0), slope]
        return np.array(rows)

    @cached_property
    def before(self) -> Vector:
        """Both integrals up to the start of each cell, shape (2, k)."""
        widths = np.diff(self.cell_starts)
        rate, slope, worth, rise = self.cells
        steps = np.array(
            [widths * (rate + 0.5 * slope * widths), widths * (worth + 0.5 * rise * widths)]
        )
        return np.concatenate([np.zeros((2, 1)), np.cumsum(steps, axis=1)[:, :-1]], axis=1)

    def integrals(self, times: ArrayLike) -> Vector:
        """Integrals of intensity and importance from 0 to each of sorted times, shape (2, n)."""
        at = np.ascontiguousarray(times, dtype=np.float64)
        return accumulate(self.cell_starts, self.cells, self.before, at)

    def interval_costs(self, probes: ArrayLike) -> Vector:
        """Expected cost of each interval between 0 and the sorted probes, shape (n,), closed form.

        O(n + pieces) time. Only nonnegative terms are added, so every cost keeps its relative
        accuracy, however short the interval.
        """
        at = np.ascontiguousarray(probes, dtype=np.float64)
        costs = np.empty(at.size)
        sum_intervals(self.cell_starts, self.cells, at, costs)
        return costs

    def interval_cost(self, start: float, end: float) -> float:
        """C(start, end), with 0 <= start <= end <= T."""
        return float(self.interval_costs([start, end])[1])

    def cost(self, probes: ArrayLike) -> float:
        """Expected cost of a schedule whose last probe is at T."""
        at = np.ascontiguousarray(probes, dtype=np.float64)
        return float(sum_intervals(self.cell_starts, self.cells, at, np.empty(at.size)))

    def with_gap(self, gap: float) -> "ProbedSource":
        """The same source with another least time between probes."""
        return ProbedSource(self.intensity, self.importance, gap)

    def check_count(self, n: int) -> None:
        """Refuse a number of probes that cannot be.

        Raises
        ------
        InvalidModel
            If n < 1 or the gap makes n probes impossible; the message has the largest n.
        """
        if n < 1:
            raise InvalidModel(f"probes must be at least 1, got {n}")
        if n > self.max_probes:
            raise InvalidModel(
                f"{n} probes with a gap of {self.gap:g} do not fit into a period of "
                f"{self.period:g}: the largest possible number is {int(self.max_probes)}"
            )
