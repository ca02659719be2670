"""Instants on the clock of a place: hours of its week, and changes to and from summer time."""

import datetime as dt
import zoneinfo
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InputError

__all__ = ["LocalClock", "find_zone"]

Vector = NDArray[np.float64]
WEEK_S = 604_800.0
_MONDAY_S = 345_600.0  # 1970-01-05, the first Monday of the epoch
_STEP_S = 86_400.0


def find_zone(name: str) -> zoneinfo.ZoneInfo:
    """Return a time zone by its name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(
            f"--tz: {name!r} is not a known time zone; write one such as UTC, Europe/Paris or "
            "America/New_York"
        ) from error


@dataclass(frozen=True, eq=False)
class LocalClock:
    """The clock of a time zone over a stretch of time.

    Parameters
    ----------
    zone : the time zone
    first_s, last_s : the stretch, seconds since the epoch, UTC
    changes_s, offsets_s : when the offset to UTC changed, and the offset from then on
    """

    zone: zoneinfo.ZoneInfo
    first_s: float
    last_s: float
    changes_s: Vector
    offsets_s: Vector

    @classmethod
    def over(cls, zone: zoneinfo.ZoneInfo, first_s: float, last_s: float) -> "LocalClock":
        """Look for changes day by day, and find each to the second."""
        days = np.arange(first_s, last_s + _STEP_S, _STEP_S)
        offsets = [_offset_s(zone, day) for day in days]
        changes, kept = [-np.inf], [offsets[0]]
        for day, before, after in zip(days[1:], offsets, offsets[1:], strict=False):
            if before != after:
                low, high = int(day - _STEP_S), int(day)
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (
                        (low, middle) if _offset_s(zone, middle) == after else (middle, high)
                    )
                changes.append(float(high))
                kept.append(after)
        return cls(zone, first_s, last_s, np.array(changes), np.array(kept))

    def local_s(self, times_s: Vector) -> Vector:
        """Seconds on the wall clock since the epoch's first Monday."""
        at = np.searchsorted(self.changes_s, times_s, side="right") - 1
        return times_s + self.offsets_s[at] - _MONDAY_S

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


def _offset_s(zone: zoneinfo.ZoneInfo, instant_s: float) -> float:
    at = dt.datetime.fromtimestamp(instant_s, zone).utcoffset()
    return at.total_seconds() if at is not None else 0.0
