"""Weekly functions: work hours, and the patterns printed by Eckstein, Gal and Reiner (2005)."""

from itertools import pairwise

from recrawl.errors import InvalidModel
from recrawl.probing.profile import Profile

_WORKDAYS = 5


def work_hours(first: float, last: float, preference: float, *, day: float = 1.0) -> Profile:
    """Importance of a week from Monday 0:00: ``preference`` during work hours, else 1.

    Parameters
    ----------
    first, last : hours of the day, 0 <= first < last <= 24, Monday to Friday
    preference : importance during work hours over that at other times, finite, >= 0
    day : float, how long a day is in the unit of time wanted
    """
    if not 0 <= first < last <= 24:
        raise InvalidModel(f"work hours must have 0 <= first < last <= 24, got {first:g}-{last:g}")
    hours = sorted({0.0, float(first), float(last), 24.0})
    row = [preference if first <= hour < last else 1.0 for hour, _ in pairwise(hours)]
    return _week(hours, [row] * _WORKDAYS + [[1.0] * len(row)] * 2).scale_time(day)


def _week(hours: list[float], rows: list[list[float]]) -> Profile:
    breaks = [number + hour / 24 for number in range(7) for hour in hours[:-1]]
    return Profile.steps([*breaks, 7.0], [value for row in rows for value in row])


_DBWORLD_DAY = [2.40, 5.96, 6.04, 7.50, 3.03, 2.41]
_MICRONET_DAY = [0.25, 2.60, 0.14]

DBWORLD = _week([0, 3, 6, 9, 18, 21, 24], [_DBWORLD_DAY] * _WORKDAYS + [[1.50] * 6, [1.15] * 6])
"""Table 2: postings a day on the DBWorld list, a week from Monday, time in days."""

MICRONET = _week([0, 9, 19, 24], [_MICRONET_DAY] * _WORKDAYS + [[0.08] * 3] * 2)
"""Table 3: threads a day in the MicroNet forum, a week from Monday, time in days."""
