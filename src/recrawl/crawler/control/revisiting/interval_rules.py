"""The interval rules that crawlers ship, by their numbers and defaults, and as revisit policies.

Each starts at an interval and moves it after a visit: times (1 - down) after a change, times
(1 + up) after none, within bounds. They know neither a budget nor what a page is worth.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Final, Literal

import numpy as np
from typing_extensions import override

from recrawl.crawler.control.revisiting.revisit_policy import (
    NextVisit,
    PageVisit,
    Replan,
    RevisitPolicy,
)

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class IntervalRule:
    """One rule; durations in seconds.

    Parameters
    ----------
    kind : ``steps`` multiply the interval; ``age`` has it follow the age of the last change too;
        ``count`` makes it the pause between the entries of a window
    initial_s : first interval
    up, down : shares by which the interval grows and shrinks
    shortest_s, longest_s : bounds on the interval
    offset_s : added when it shrinks
    extra : share of the age of the last change by which the next visit comes earlier, or the
        window in which entries are counted, s
    """

    kind: Literal["steps", "age", "count"]
    initial_s: float
    up: float
    down: float
    shortest_s: float
    longest_s: float
    offset_s: float = 0.0
    extra: float = 0.0

    def numbers(self, unit_s: float) -> np.ndarray:
        """Return what the replay needs, in a unit of time of so many seconds."""
        extra = self.extra if self.kind == "age" else self.extra / unit_s
        times = (self.shortest_s, self.longest_s, self.offset_s)
        return np.array([self.up, self.down, *(time / unit_s for time in times), extra])


SHIPPED_RULES: Final[Mapping[str, IntervalRule]] = {
    # Without the defect by which pages long unchanged are fetched in every cycle (NUTCH-1564).
    "nutch": IntervalRule("age", 30 * _DAY, 0.4, 0.2, 60.0, 365 * _DAY, extra=0.3),
    "stormcrawler": IntervalRule("steps", _DAY, 0.5, 0.5, _HOUR, 14 * _DAY, offset_s=0.5 * _HOUR),
    "news-crawl": IntervalRule(
        "steps", 12 * _HOUR, 0.5, 0.2, 90 * _MINUTE, 90 * _DAY, offset_s=0.2 * 90 * _MINUTE
    ),
    "miniflux": IntervalRule("count", _DAY, 0.0, 0.0, 5 * _MINUTE, _DAY, extra=7 * _DAY),
}


class IntervalRulePolicy(RevisitPolicy):
    """A rule as a crawl follows it: what it remembers of a page is its interval, and little more.

    Parameters
    ----------
    name : what reports call it
    rule : the rule
    """

    _MEMORY: Final = struct.Struct("<Bdddd")  # version, interval, last change, count, counted from
    _VERSION: Final = 1

    def __init__(self, name: str, rule: IntervalRule) -> None:
        self._name = name
        self._rule = rule

    @property
    @override
    def name(self) -> str:
        return self._name

    @override
    def after_visit(self, visit: PageVisit) -> NextVisit:
        rule, at_s = self._rule, visit.at_s
        kept = visit.memory
        is_first = visit.changed is None and visit.elapsed_s is None
        is_known = not is_first and len(kept) == self._MEMORY.size and kept[0] == self._VERSION
        interval_s, changed_s, count, counted_s = rule.initial_s, at_s, 0.0, at_s
        if is_known:
            _, interval_s, changed_s, count, counted_s = self._MEMORY.unpack(kept)
        if is_known and visit.changed is not None:
            if visit.changed:
                interval_s = interval_s * (1.0 - rule.down) + rule.offset_s
                interval_s, changed_s = max(interval_s, rule.shortest_s), at_s
            else:
                interval_s = min(interval_s * (1.0 + rule.up), rule.longest_s)
            if rule.kind == "age":
                interval_s = max(interval_s, at_s - changed_s, rule.shortest_s)
                interval_s = min(interval_s, rule.longest_s)
            elif rule.kind == "count":
                count = count * exp(-(at_s - counted_s) / rule.extra) + visit.changed
                counted_s = at_s
                pause_s = rule.extra / count if count > 0.0 else rule.longest_s
                interval_s = min(max(pause_s, rule.shortest_s), rule.longest_s)
        due_s = at_s + interval_s
        if rule.kind == "age":
            due_s -= rule.extra * min(at_s - changed_s, interval_s)
        memory = self._MEMORY.pack(self._VERSION, interval_s, changed_s, count, counted_s)
        return NextVisit(due_s, f"the rule of {self._name}", memory=memory)

    @override
    def replan(self, question: Replan) -> None:
        """Return nothing: the rule knows no plan, and no budget."""
        return
