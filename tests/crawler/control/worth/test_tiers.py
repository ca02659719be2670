"""In which queue a page waits, and what a visit ahead of its time is worth."""

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.worth.tiers import TIMED, tier_of, visit_gain, worth_share
from recrawl.terms import Lease

VISITED_S, INTERVAL_S = 1_800_000_000.0, 1_000.0
PAGE = Lease(
    page_id=1, url="http://a.test/", host_id=1, token=1,
    due_s=VISITED_S + INTERVAL_S, last_visit_s=VISITED_S,
)  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "interval_s"),
    [
        (TIMED, None),
        (2, 1e-9), (2, 0.99), (3, 1.0), (3, 1.99), (4, 2.0), (12, 1_000.0), (19, 86_400.0),
        (48, 7.0e13), (49, 7.1e13), (49, 1e300),
    ],
)  # fmt: skip
def test_pages_wait_beside_those_whose_interval_is_within_a_factor_of_two(
    expected: int, interval_s: float | None
) -> None:
    """From a second to nine million years. The numbers are in states, and so for good."""
    assert tier_of(interval_s) == expected


@given(st.floats(0.0, 700.0))
def test_the_worth_of_a_visit_keeps_its_digits(x: float) -> None:
    """By the formula, or its series where that would lose them: x^2 / 2 - x^3 / 3 + x^4 / 8."""
    series = x * x * (0.5 + x * (-1 / 3 + x * (1 / 8 - x / 30)))
    expected = series if x < 1e-2 else 1.0 - (1.0 + x) * exp(-x)

    assert visit_gain(x) == pytest.approx(expected, rel=3e-7, abs=1e-300)


def test_the_worth_of_a_visit_is_exact_from_both_sides_of_where_the_series_ends() -> None:
    """To a ten-millionth."""
    assert visit_gain(0.999e-3) == pytest.approx(4.98668e-07, rel=1e-6)
    assert visit_gain(1.001e-3) == pytest.approx(5.00666e-07, rel=1e-6)


@pytest.mark.parametrize(
    ("expected", "age_s", "change_rate_per_s"),
    [
        (0.0, 0.0, 0.002),
        (1.0, 1_000.0, 0.002),
        (1.0, 1_000.0, None),
        ((1 - 2 * exp(-1)) / (1 - 3 * exp(-2)), 500.0, 0.002),
        ((1 - 1.5 * exp(-0.5)) / (1 - 2 * exp(-1)), 500.0, None),
        ((1 - 5 * exp(-4)) / (1 - 3 * exp(-2)), 2_000.0, 0.002),
    ],
)
def test_a_visit_is_worth_what_copies_of_that_age_are_stale(
    expected: float, age_s: float, change_rate_per_s: float | None
) -> None:
    """Over the same when it is due; a page of unknown rate changes once in its interval."""
    page = replace(PAGE, change_rate_per_s=change_rate_per_s)

    assert worth_share(page, VISITED_S + age_s) == pytest.approx(expected)


@pytest.mark.parametrize(
    "page",
    [
        replace(PAGE, last_visit_s=None),
        replace(PAGE, due_s=VISITED_S),
        replace(PAGE, due_s=VISITED_S - 1.0),
        replace(PAGE, last_visit_s=VISITED_S + 500.0),
    ],
)
def test_where_there_is_no_age_or_no_interval_a_page_counts_as_due(page: Lease) -> None:
    """Never visited, due at its visit or before it, and visited by a clock that was ahead."""
    assert worth_share(page, VISITED_S + 250.0) == 1.0
