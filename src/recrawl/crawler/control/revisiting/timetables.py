"""Sources that are probed by the clock: each has a weekly timetable, learned from its own probes.

Other pages have rates; a source named in the configuration has so many probes a week, and they
come when its updates do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.processes.local_clock import HOUR_S, WEEK_S, LocalClock
from recrawl.terms import Kind

_GOLDEN = 0.5 * (5.0**0.5 - 1.0)
_LEAST_RESULTS = 20
_RECENT_S = 26 * WEEK_S  # patterns drift; half a year is enough to learn one


@dataclass(frozen=True, eq=False)
class ProbedBy:
    """Rules by which one source is probed.

    Parameters
    ----------
    url : normal form
    kind : what it is
    n_probes : a week, >= 1
    gap_s : least time between two probes, >= 0
    importance : shape (168,), worth of one update an hour earlier, by hour of the local week, >= 0
        and not zero everywhere
    clock : of the source
    """

    url: str
    kind: Kind
    n_probes: int
    gap_s: float
    importance: Vector
    clock: LocalClock

    @property
    def rate_per_s(self) -> float:
        """Probes per second."""
        return self.n_probes / WEEK_S


@dataclass(frozen=True, eq=False)
class Timetable:
    """Timetable of a source's probes.

    Parameters
    ----------
    rules : how it is to be probed
    probes_s : shape (n_probes,), seconds into the local week, in order
    shifts : whether the probes move from week to week, to learn at all hours; only while nothing
        is known
    pattern : the model of the week that was chosen, in words
    n_results : probes that it was learned from
    delay_s, even_delay_s : expected delay of an update, times the importance, and what evenly
        spaced probes would bring; nan while nothing is known
    """

    rules: ProbedBy
    probes_s: Vector
    shifts: bool
    pattern: str
    n_results: int
    delay_s: float = float("nan")
    even_delay_s: float = float("nan")

    def next_s(self, after_s: float) -> float:
        """Return when the next probe is to follow a probe, no nearer than the gap.

        The probe that was made stands for the nearest one of the timetable, which may have been
        another when it was made. O(probes a week).
        """
        clock = self.rules.clock
        week = floor(float(clock.local_s(after_s)) / WEEK_S)
        instants_s = np.concatenate([self._instants_s(week + step) for step in (-1, 0, 1, 2)])
        later = int(np.searchsorted(instants_s, after_s + 1e-3))
        if instants_s[later] - after_s < after_s - instants_s[later - 1]:
            later += 1
        return max(float(instants_s[later]), after_s + self.rules.gap_s)

    def _instants_s(self, week: int) -> Vector:
        probes_s = self.probes_s
        if self.shifts:
            probes_s = np.sort((probes_s + self._shift_s(week)) % WEEK_S)
        return self.rules.clock.instants_s(week * WEEK_S + probes_s)

    def _shift_s(self, week: int) -> float:
        return float(week * _GOLDEN % 1.0) * WEEK_S / self.rules.n_probes


def even_timetable(rules: ProbedBy, n_results: int = 0) -> Timetable:
    """Return evenly spaced probes that move from week to week, so that every hour is seen.

    Parameters
    ----------
    rules : of the source
    n_results : probes that told too little to learn from
    """
    places = np.arange(rules.n_probes, dtype=np.float64) + 0.5
    probes_s = places * (WEEK_S / rules.n_probes)
    return Timetable(rules, probes_s, True, "not known yet", n_results)


def learn_timetable(
    rules: ProbedBy, probed_s: Sequence[float], changed: Sequence[bool]
) -> Timetable:
    """Return the optimal timetable for what a source's probes tell of its pattern.

    Parameters
    ----------
    rules : how it is to be probed
    probed_s : instants of the probes that told something, in order
    changed : whether each found something new

    Returns
    -------
    Timetable
        Optimal in continuous time for the weekly pattern that best predicts probes left out; with
        a gap, within the bound of
        :func:`recrawl.probing.continuous.solve_continuous_with_gap`. Evenly spaced, and moving,
        while there are fewer than 20 results in half a year, or all are alike.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, "Optimal information monitoring under a politeness
    constraint", RUTCOR Research Report 16-2005, sections 3 and 5.
    """
    at = np.asarray(probed_s, np.float64)
    found = np.asarray(changed, np.bool_)
    recent = at >= (at[-1] if at.size else 0.0) - _RECENT_S
    at, found = at[recent], found[recent]
    if at.size < _LEAST_RESULTS:
        return even_timetable(rules, at.size)
    # Compiled loops take a second to import: paid here, beside the crawl, not at its start.
    from recrawl.learning.probe_results import estimate_from_probes

    exposure = rules.clock.weekly_exposure(at)
    seen = exposure.any(axis=1)
    try:
        pattern = estimate_from_probes(exposure[seen], found[1:][seen])
    except InvalidModel:  # always something, or never: no pattern can be told
        return even_timetable(rules, at.size)
    return _solve(rules, pattern.rates, pattern.chosen, at.size)


def _solve(rules: ProbedBy, rates: Vector, chosen: str, n_results: int) -> Timetable:
    from recrawl.probing import (
        ProbedSource,
        Profile,
        evaluate_schedule,
        schedule_uniform,
        solve_continuous,
        solve_continuous_with_gap,
    )

    hours = np.arange(169) * HOUR_S
    gap_s = min(rules.gap_s, WEEK_S / rules.n_probes)
    source = ProbedSource(
        Profile.steps(hours, rates), Profile.steps(hours, rules.importance), gap=gap_s
    )
    solve = solve_continuous_with_gap if gap_s else solve_continuous
    probes = solve(source, rules.n_probes).probes
    best, even = (
        evaluate_schedule(source, schedule).cost / source.updates
        for schedule in (probes, schedule_uniform(source, rules.n_probes))
    )
    # The last probe of a period is at its very end: the start of the next local week.
    return Timetable(rules, np.sort(probes % WEEK_S), False, chosen, n_results, best, even)


class Timetables:
    """The timetables in force, by URL; even ones until they are learned."""

    def __init__(self, sources: Sequence[ProbedBy] = ()) -> None:
        self._tables = {rules.url: even_timetable(rules) for rules in sources}
        self.page_ids: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def all(self) -> list[Timetable]:
        """Return every timetable."""
        return list(self._tables.values())

    def of(self, url: str) -> Timetable | None:
        """Return the timetable of a source, None for any other page."""
        return self._tables.get(url)

    def put(self, table: Timetable) -> None:
        """Have this timetable in force for its source."""
        self._tables[table.rules.url] = table

    def next_s(self, url: str, after_s: float) -> float | None:
        """Return when a source is probed next, None for any other page."""
        table = self._tables.get(url)
        return None if table is None else table.next_s(after_s)

    @property
    def rate_per_s(self) -> float:
        """Probes per second, of all sources."""
        return sum((table.rules.rate_per_s for table in self._tables.values()), 0.0)
