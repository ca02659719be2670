"""Freshness over time, against a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.estimate import freshness_of_copies
from recrawl.crawler.reports.history import freshness_over_time


def planned(n: int, last: np.ndarray, rates: np.ndarray, weights: np.ndarray) -> PlannedPages:
    ids = 10 * np.arange(1, n + 1)
    ones = np.ones(n)
    hosts, unsaid = np.zeros(n, np.int64), np.full(n, np.nan)
    return PlannedPages(ids, hosts, weights, rates, 2 * ones, ones, last, last, unsaid)


def unchanged(rate: float, elapsed: float) -> float:
    """Return the chance of no change where a rate is known to a factor of two."""
    doubt = np.expm1(np.log(2.0) ** 2)
    return float((1 + doubt * rate * elapsed) ** (-1 / doubt))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans())
def test_it_is_what_the_visits_since_tell_of_each_instant(seed: int, n: int, cut: bool) -> None:
    """Page by page: fresh if the next visit found no change, for a while if it did.

    By the age alone where none followed. A table cut off at its start loses nothing.
    """
    random = np.random.default_rng(seed)
    visits = [np.sort(random.uniform(0, 10, random.integers(1, 7))) for _ in range(n)]
    rates, weights = random.uniform(0.01, 2, n), random.uniform(0.1, 3, n)
    pages = planned(n, np.array([times[-1] for times in visits]), rates, weights)
    found = [random.random(times.size) < 0.5 for times in visits]
    rows = [
        (page_id, at, at - before if number else np.nan, changes[number])
        for page_id, times, changes in zip(pages.page_ids, visits, found, strict=True)
        for number, (at, before) in enumerate(zip(times, [np.nan, *times], strict=False))
        if not cut or at > 4.0
    ]
    table = np.array(rows, np.float64).reshape(len(rows), 4)
    instants = np.linspace(4.0, 12.0, 9)

    seen = freshness_over_time(
        pages,
        {},
        table[:, 0].astype(np.int64),
        table[:, 1],
        table[:, 2],
        table[:, 3] > 0.0,
        instants,
    )

    for place, instant in enumerate(instants):
        fresh = []
        for times, changes, rate in zip(visits, found, rates, strict=True):
            ahead = int(np.searchsorted(times, instant, side="right"))
            if not ahead:
                fresh.append(np.nan)
                continue
            before = unchanged(rate, instant - times[ahead - 1])
            if ahead < times.size:
                whole = unchanged(rate, times[ahead] - times[ahead - 1])
                before = (before - whole) / (1 - whole) if changes[ahead] else 1.0
            fresh.append(before)
        held = np.isfinite(fresh)
        twin = freshness_of_copies(np.array(fresh)[held], weights[held])
        if twin is None:
            assert np.isnan(seen.values[place])
        else:
            bounds = seen.lows[place], seen.highs[place]
            assert seen.values[place] == pytest.approx(twin.value, abs=1e-8)
            assert bounds == pytest.approx((twin.low, twin.high), abs=1e-3)  # by cells


def test_visits_of_pages_that_are_not_kept_fresh_do_not_count() -> None:
    """A page that is gone was visited too."""
    pages = planned(1, np.array([5.0]), np.array([1.0]), np.array([1.0]))

    seen = freshness_over_time(
        pages,
        {},
        np.array([5, 10, 99]),
        np.array([9.0, 5.0, 9.0]),
        np.array([np.nan, np.nan, np.nan]),
        np.zeros(3, np.bool_),
        np.array([6.0, 10.0]),
    )

    np.testing.assert_allclose(seen.values, [unchanged(1.0, 1.0), unchanged(1.0, 5.0)])
