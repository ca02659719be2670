"""The interval rules that crawlers ship, described by their numbers, with their defaults.

Each starts at an interval and moves it after a visit: times (1 - down) after a change, times
(1 + up) after none, within bounds. They know neither a budget nor what a page is worth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.kernels.revisits import RULE_AGE, RULE_COUNT, RULE_STEPS

__all__ = ["SHIPPED_RULES", "IntervalRule"]

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class IntervalRule:
    """One rule; durations in seconds.

    Parameters
    ----------
    kind : how the replay applies it
    initial_s : first interval
    up, down : shares by which the interval grows and shrinks
    shortest_s, longest_s : bounds on the interval
    offset_s : added when it shrinks
    extra : share of the age of the last change by which the next visit comes earlier, or the
        window in which entries are counted, s
    """

    kind: int
    initial_s: float
    up: float
    down: float
    shortest_s: float
    longest_s: float
    offset_s: float = 0.0
    extra: float = 0.0

    def numbers(self, unit_s: float) -> np.ndarray:
        """Return what the replay needs, in a unit of time of so many seconds."""
        extra = self.extra if self.kind == RULE_AGE else self.extra / unit_s
        times = (self.shortest_s, self.longest_s, self.offset_s)
        return np.array([self.up, self.down, *(time / unit_s for time in times), extra])


SHIPPED_RULES: Final[Mapping[str, IntervalRule]] = {
    # Without the defect by which pages long unchanged are fetched in every cycle (NUTCH-1564).
    "nutch": IntervalRule(RULE_AGE, 30 * _DAY, 0.4, 0.2, 60.0, 365 * _DAY, extra=0.3),
    "stormcrawler": IntervalRule(
        RULE_STEPS, _DAY, 0.5, 0.5, _HOUR, 14 * _DAY, offset_s=0.5 * _HOUR
    ),
    "news-crawl": IntervalRule(
        RULE_STEPS, 12 * _HOUR, 0.5, 0.2, 90 * _MINUTE, 90 * _DAY, offset_s=0.2 * 90 * _MINUTE
    ),
    "miniflux": IntervalRule(RULE_COUNT, _DAY, 0.0, 0.0, 5 * _MINUTE, _DAY, extra=7 * _DAY),
}
