"""Freshness over time, against a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.estimate import estimate_freshness
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.reports.history import freshness_over_time


def planned(n: int, last: np.ndarray, rates: np.ndarray, weights: np.ndarray) -> PlannedPages:
    ids = 10 * np.arange(1, n + 1)
    ones = np.ones(n)
    hosts, unsaid = np.zeros(n, np.int64), np.full(n, np.nan)
    return PlannedPages(ids, hosts, weights, rates, 2 * ones, ones, last, last, unsaid)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans())
def test_it_is_the_estimate_at_each_instant(seed: int, n: int, cut: bool) -> None:
    """Page by page, by the last visit before; a table cut off at its start loses nothing."""
    random = np.random.default_rng(seed)
    visits = [np.sort(random.uniform(0, 10, random.integers(1, 7))) for _ in range(n)]
    rates, weights = random.uniform(0.01, 2, n), random.uniform(0.1, 3, n)
    pages = planned(n, np.array([times[-1] for times in visits]), rates, weights)
    rows = [
        (page_id, at, at - before if number else np.nan)
        for page_id, times in zip(pages.page_ids, visits, strict=True)
        for number, (at, before) in enumerate(zip(times, [np.nan, *times], strict=False))
        if not cut or at > 4.0
    ]
    table = np.array(rows, np.float64).reshape(len(rows), 3)
    instants = np.linspace(4.0, 12.0, 9)

    seen = freshness_over_time(
        pages, {}, table[:, 0].astype(np.int64), table[:, 1], table[:, 2], instants
    )

    for place, instant in enumerate(instants):
        last = np.array([max((t for t in times if t <= instant), default=-1.0) for times in visits])
        held = last >= 0
        twin = estimate_freshness(
            rates[held], np.full(held.sum(), np.log(2.0)), weights[held], instant - last[held]
        )
        if twin is None:
            assert np.isnan(seen.values[place])
        else:
            assert seen.values[place] == pytest.approx(twin.value)
            assert (seen.lows[place], seen.highs[place]) == pytest.approx((twin.low, twin.high))


def test_visits_of_pages_that_are_not_kept_fresh_do_not_count() -> None:
    """A page that is gone was visited too."""
    pages = planned(1, np.array([5.0]), np.array([1.0]), np.array([1.0]))

    seen = freshness_over_time(
        pages,
        {},
        np.array([5, 10, 99]),
        np.array([9.0, 5.0, 9.0]),
        np.array([np.nan, np.nan, np.nan]),
        np.array([6.0, 10.0]),
    )

    doubt = np.expm1(np.log(2.0) ** 2)  # the rate is known to a factor of two
    np.testing.assert_allclose(seen.values, (1 + doubt * np.array([1.0, 5.0])) ** (-1 / doubt))
