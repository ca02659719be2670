"""The freshness of an index over time, reconstructed from visits and change rates."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.estimate import (
    fresh_between,
    fresh_chances,
    freshness_of_copies,
)
from recrawl.crawler.control.worth.announced import unannounced
from recrawl.crawler.reports.status import believed_rates
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.terms import Announcer


@dataclass(frozen=True, slots=True, eq=False)
class FreshnessOverTime:
    """Estimated freshness at instants, by weight, with 95 % intervals; nan before any copy."""

    instants_s: Vector
    values: Vector
    lows: Vector
    highs: Vector


def freshness_over_time(
    pages: PlannedPages,
    announcers: Mapping[int, Announcer],
    visit_pages: Integers,
    visited_at_s: Vector,
    interval_s: Vector,
    changed: Flags,
    instants_s: Vector,
) -> FreshnessOverTime:
    """Return what the freshness of the index was, as the visits since and today's rates tell it.

    Parameters
    ----------
    pages : that are kept fresh
    announcers : hosts that announce changes, by id
    visit_pages, visited_at_s, interval_s, changed : visits that told something, by page and then
        by time, with the time since the one before (nan: none), and whether they found a change;
        visits before the first are not needed
    instants_s : when, ascending

    Notes
    -----
    A copy that the next visit found unchanged was fresh all the time; one that it found changed
    was so for a while (:func:`recrawl.crawler.control.revisiting.estimate.fresh_between`); one that
    was not visited since counts as it does in an estimate of that instant. Pages without a copy yet
    do not count. O(instants (pages + log visits)).
    """
    n = len(pages.page_ids)
    rates, doubts = believed_rates(pages)
    row = np.searchsorted(pages.page_ids, visit_pages)
    known = (row < n) & (pages.page_ids[np.minimum(row, n - 1)] == visit_pages)
    row, times, gaps, changed = row[known], visited_at_s[known], interval_s[known], changed[known]
    first = np.searchsorted(row, np.arange(n), side="left")
    ends = np.searchsorted(row, np.arange(n), side="right")
    seen = first < ends
    at_first = np.minimum(first, max(len(row) - 1, 0))
    # Before its first visit in the table a page had the copy of the visit that this one names;
    # a page without any visit in it was visited last before the table begins.
    before = pages.seen_s.copy()
    if len(row):
        before[seen] = (times - gaps)[at_first][seen]  # nan: there was no copy yet
    told: list[tuple[float, float, float]] = []
    place = first.copy()
    for instant in instants_s:
        # Visits are few between two instants; pages move on through their own.
        while len(row):
            ahead = (place < ends) & (times[np.minimum(place, len(row) - 1)] <= instant)
            if not ahead.any():
                break
            place[ahead] += 1
        last = np.where(place > first, times[place - 1] if len(row) else 0.0, before)
        held = np.isfinite(last) & (last <= instant)
        ages_s, kept = unannounced(pages, announcers, last, float(instant))
        fresh = kept * fresh_chances(rates, doubts, ages_s)
        again = np.flatnonzero(held & (place < ends))
        after = place[again]
        ages_s, intervals_s = instant - last[again], times[after] - last[again]
        in_between = fresh_between(rates[again], doubts[again], ages_s, intervals_s)
        fresh[again] = np.where(changed[after], in_between, 1.0)
        estimate = freshness_of_copies(fresh[held], pages.weights[held])
        told.append(
            (estimate.value, estimate.low, estimate.high) if estimate else (np.nan, np.nan, np.nan)
        )
    table = np.array(told, np.float64).reshape(len(told), 3)
    return FreshnessOverTime(instants_s, table[:, 0], table[:, 1], table[:, 2])
