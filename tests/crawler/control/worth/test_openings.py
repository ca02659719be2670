"""For how long a host stays closed whose robots.txt has grown old."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.worth.announced import UNPROVED
from recrawl.crawler.control.worth.births import NewPages, birth_interval
from recrawl.crawler.control.worth.openings import (
    RULES_HOLD_S,
    opening_gaps,
    opening_share,
    plan_openings,
)
from recrawl.crawler.control.worth.order import curvatures, root_urgency
from recrawl.terms import Lease

DAY_S = 86_400.0
POSITIVE = st.floats(1e-6, 1e6)


def planned(hosts: list[int], change_rates: list[float]) -> PlannedPages:
    n = len(hosts)
    empty = np.full(n, np.nan)
    return PlannedPages(
        np.arange(1, n + 1),
        np.array(hosts),
        np.ones(n),
        np.array(change_rates),
        np.full(n, 2.0),
        empty,
        np.zeros(n),
        np.zeros(n),
        empty,
    )


@given(slope=POSITIVE, price=POSITIVE, hold=POSITIVE)
def test_what_waits_in_a_gap_pays_for_the_opening(slope: float, price: float, hold: float) -> None:
    """And no longer or shorter gap costs less per unit of time."""
    (gap,) = opening_gaps(np.array([slope]), price, hold)

    def cost(gap: float) -> float:
        return (price + slope * gap**3 / 6.0) / (hold + gap)

    assert slope * (0.5 * hold * gap**2 + gap**3 / 3.0) == pytest.approx(price, rel=1e-9)
    assert all(cost(gap) <= cost(gap * factor) * (1 + 1e-12) for factor in (0.5, 0.99, 1.01, 2.0))


@given(slope=POSITIVE, price=POSITIVE, hold=POSITIVE, part=st.floats(0.01, 1.0))
def test_the_share_of_an_opening_is_that_of_the_price_it_would_be_made_at(
    slope: float, price: float, hold: float, part: float
) -> None:
    sooner, gap = (opening_gaps(np.array([slope]), one, hold)[0] for one in (part * price, price))

    assert opening_share(sooner, gap, hold) == pytest.approx(part, rel=1e-8)


def test_an_opening_is_worth_nothing_at_once_and_its_price_without_a_gap() -> None:
    assert opening_share(-5.0, 10.0) == opening_share(0.0, 10.0) == 0.0
    assert opening_share(0.0, 0.0) == 1.0
    assert not opening_gaps(np.array([1.0, 2.0]), 0.0).any()


@given(
    weight=st.floats(0.0, 10.0), rate=st.none() | st.floats(1e-9, 1.0), crawl=st.floats(1e-9, 1.0)
)
def test_the_urgency_of_pages_is_that_of_each(
    weight: float, rate: float | None, crawl: float
) -> None:
    lease = Lease(
        1, "http://a.test/", 1, 1, 0.0, weight=weight, change_rate_per_s=rate,
        crawl_rate_per_s=crawl,
    )  # fmt: skip
    (found,) = curvatures(
        np.array([weight]), np.array([np.nan if rate is None else rate]), np.array([crawl])
    )

    root = root_urgency(lease)
    assert root is not None
    assert found == pytest.approx(root**2, rel=1e-9)


def test_the_more_often_a_host_is_visited_the_sooner_it_is_opened() -> None:
    """A host of which nothing is visited has no gap, nor one that no plan knows."""
    pages = planned([1, 2, 2, 2, 3], [1.0 / (20.0 * DAY_S)] * 5)
    rates = np.array([1.0, 1.0, 1.0, 1.0, 0.0]) / (10.0 * DAY_S)

    found = plan_openings(
        pages,
        rates,
        4.0 * DAY_S,
        1.0,
        new_pages={},
        announced={},
        listings=[],
        longest_s=90.0 * DAY_S,
    )
    often = plan_openings(
        planned([1], [1.0 / (20.0 * DAY_S)]),
        np.array([1.0 / DAY_S]),
        0.01 * DAY_S,
        1.0,
        new_pages={},
        announced={},
        listings=[],
        longest_s=90.0 * DAY_S,
    )
    unknown = plan_openings(
        pages, np.full(5, np.nan), 1.0, 1.0, new_pages={}, announced={}, listings=[], longest_s=1.0
    )

    assert 0.0 < found.gaps_s[2] < found.gaps_s[1]
    assert set(found.gaps_s) == {1, 2}
    assert found.per_s == pytest.approx(
        1.0 / (RULES_HOLD_S + found.gaps_s[1]) + 1.0 / (RULES_HOLD_S + found.gaps_s[2])
    )
    assert often.gaps_s[1] < DAY_S
    assert often.per_s == pytest.approx(1.0 / (RULES_HOLD_S + DAY_S)), "its pages come no sooner"
    assert (unknown.gaps_s, unknown.per_s) == ({}, 0.0)


def test_what_is_born_on_pages_and_told_by_listings_shortens_the_gap() -> None:
    """What others find too counts until they do; what is announced of known pages does so, too."""
    pages = planned([1, 2, 3], [1.0 / (20.0 * DAY_S)] * 3)
    rates = np.full(3, 1.0 / (5.0 * DAY_S))
    flow = NewPages(flow_per_s=1.0 / DAY_S)
    late = replace(flow, shared=1.0, lead_s=4.0 * DAY_S)

    found = plan_openings(
        pages,
        rates,
        4.0 * DAY_S,
        1.0,
        new_pages={2: flow, 3: replace(flow, shared=1.0), 99: flow, 98: flow},
        announced={97: late, 96: UNPROVED},
        listings=[(99, 1), (98, 7), (97, 8), (96, 9)],
        longest_s=90.0 * DAY_S,
    )

    def gap_s(per_visit: float, age_s: float) -> float:
        return float(opening_gaps(np.array([per_visit / (DAY_S * age_s)]), 4.0 * DAY_S)[0])

    assert found.gaps_s[1] < found.gaps_s[2] < found.gaps_s[3]
    assert found.gaps_s[7] == pytest.approx(gap_s(1.0, 8.0**0.5 * DAY_S), rel=1e-5)
    age_s = birth_interval([late], 4.0 * DAY_S, 90.0 * DAY_S)
    assert found.gaps_s[8] == pytest.approx(gap_s(np.exp(-age_s / (4.0 * DAY_S)), age_s))
    assert 9 not in found.gaps_s


def test_what_a_host_needs_fits_in_the_time_in_which_it_is_open() -> None:
    """A budget that lies unused meanwhile is lost: one host alone is never closed."""
    pages, rates = planned([1, 1, 2], [1.0 / (20.0 * DAY_S)] * 3), np.full(3, 0.1 / DAY_S)

    def gaps_s(budget: float) -> list[float]:
        found = plan_openings(
            pages,
            rates,
            9.0 * DAY_S,
            budget,
            new_pages={},
            announced={},
            listings=[],
            longest_s=1e9,
        )
        return [found.gaps_s[host] for host in (1, 2)]

    assert gaps_s(0.2 / DAY_S) == pytest.approx([0.0, 0.5 * DAY_S])
    assert gaps_s(0.5 / DAY_S) == pytest.approx([0.75 * DAY_S, 2.0 * DAY_S])
    assert max(gaps_s(9.0 / DAY_S)) == max(gaps_s(1.0)) < 40.0 * DAY_S


def test_no_gap_is_longer_than_the_longest_interval() -> None:
    found = plan_openings(
        planned([1], [1e-9]),
        np.array([1e-9]),
        1e9,
        1.0,
        new_pages={},
        announced={},
        listings=[],
        longest_s=7.0,
    )

    assert found.gaps_s == {1: 7.0}


def lost_per_day(
    change_rates: np.ndarray, intervals: np.ndarray, price: float, gap: float
) -> float:
    """Return what a host costs that is opened after a gap: stale time, and requests at a price.

    A page is visited when it is due, or with the next opening, in days; for two hundred openings.
    """
    ages = intervals * (np.arange(1, intervals.size + 1) * 0.618 % 1.0)
    last, now, until, cost = -ages, 0.0, 0.0, 0.0
    openings = 0
    while openings < 200:
        page = int(np.argmin(last + intervals))
        now = max(now, float(last[page] + intervals[page]))
        if now > until:
            now = max(now, until + gap)
            openings, until, cost = openings + 1, now + 1.0, cost + price
        age, rate = now - last[page], change_rates[page]
        cost += price + age + np.expm1(-rate * age) / rate  # it was stale for so long, on average
        last[page] = now
    return cost / now


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("price", [1.0, 4.0])
def test_no_other_gap_costs_less_where_pages_are_visited_one_after_another(
    n: int, price: float
) -> None:
    """Intervals at which a visit is worth the price, each page by itself."""
    rates = np.exp(np.random.default_rng(n).normal(np.log(1 / 20), 0.8, n))
    rates = rates[rates < 0.9 / price]
    x = np.array(
        [brentq(lambda x, r=r: 1 - (1 + x) * np.exp(-x) - price * r, 1e-9, 60) for r in rates]
    )
    intervals = x / rates
    slope = np.sum(rates * np.exp(-x) / intervals)
    (gap,) = opening_gaps(np.array([slope]), price, 1.0)

    best, *others = (
        lost_per_day(rates, intervals, price, factor * gap) for factor in (1.0, 0.0, 0.25, 4.0)
    )

    assert best < min(others)
