"""Instants on the clock of a place: hours of its week, through changes to and from summer time."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from recrawl.kernels.arrays import Vector

HOUR_S = 3_600.0
WEEK_S = 604_800.0
_MONDAY_S = 345_600.0  # 1970-01-05, the first Monday of the epoch


@dataclass(frozen=True, eq=False)
class LocalClock:
    """The clock of a time zone over a stretch of time.

    Parameters
    ----------
    changes_s, offsets_s : shape (k,), when the offset to UTC changed (the first is -inf), and the
        offset from then on; seconds
    """

    changes_s: Vector
    offsets_s: Vector

    @classmethod
    def utc(cls) -> "LocalClock":
        """Return the clock that never changes."""
        return cls(np.array([-np.inf]), np.array([0.0]))

    def local_s(self, times_s: ArrayLike) -> Vector:
        """Seconds on the wall clock since the epoch's first Monday, of instants in UTC."""
        times = np.asarray(times_s, np.float64)
        at = np.searchsorted(self.changes_s, times, side="right") - 1
        return np.asarray(times + self.offsets_s[at] - _MONDAY_S)

    def instants_s(self, local_s: ArrayLike) -> Vector:
        """Instants in UTC of times on the wall clock, by the offset in force just before.

        A time that is skipped comes an hour later on the clock, one that is repeated comes first.
        """
        local = np.asarray(local_s, np.float64) + _MONDAY_S
        starts = self.changes_s + np.concatenate([self.offsets_s[:1], self.offsets_s[:-1]])
        at = np.searchsorted(starts, local, side="right") - 1
        late = local - self.offsets_s[at]
        before = local - self.offsets_s[np.maximum(at - 1, 0)]
        return np.asarray(np.where(late < self.changes_s[at], before, late))

    def observed(self, first_s: float, last_s: float) -> tuple[Vector, float]:
        """Time observed in each hour of each local week, shape (weeks, 168), and the first week.

        The hour that summer time skips is not observed; the one that it repeats is, twice.
        """
        edges = np.clip(self.changes_s[1:], first_s, last_s)
        bounds = np.unique(np.concatenate([[first_s, last_s], edges]))
        local = self.local_s(np.array([first_s, last_s]))
        first_week = np.floor(min(local[0], local[1]) / WEEK_S)
        n_weeks = int(np.floor(max(local) / WEEK_S) - first_week) + 1
        total = np.zeros(n_weeks * 168)
        hours = np.arange(n_weeks * 168 + 1) * 3600.0 + first_week * WEEK_S
        for start, end in pairwise(bounds):
            shift = self.local_s(np.array([start]))[0] - start
            inside = np.clip(hours, start + shift, end + shift)
            total += np.diff(inside)
        return total.reshape(n_weeks, 168), float(first_week)

    def weekly_exposure(self, times_s: ArrayLike) -> Vector:
        """Time that each interval between instants spends in each hour of the local week.

        Returns
        -------
        shape (len(times) - 1, 168)
            Seconds; O(hours in all intervals).
        """
        local = self.local_s(times_s)
        exposure = np.zeros((max(local.size - 1, 0), 168))
        for row, (start, end) in enumerate(pairwise(local)):
            first, last = int(start // HOUR_S), int(end // HOUR_S)
            edges = np.clip(np.arange(first, last + 2) * HOUR_S, start, max(end, start))
            np.add.at(exposure[row], np.arange(first, last + 1) % 168, np.diff(edges))
        return exposure
