"""The order of due pages: what it weighs, and what it buys."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracles.dispatched import dispatch_visits

from recrawl.crawler.control.worth.order import forgiven_s, lane_of, root_urgency
from recrawl.terms import Lease

PAGE = Lease(page_id=1, url="http://a.test/", host_id=1, token=1, due_s=0.0)
RATES = st.floats(1e-12, 1e3)


def planned(crawl_rate: float, change_rate: float | None, weight: float = 1.0) -> Lease:
    return replace(PAGE, crawl_rate_per_s=crawl_rate, change_rate_per_s=change_rate, weight=weight)


def test_urgency_is_the_second_derivative_of_an_interval_s_cost() -> None:
    """The root of w l exp(-l/x); here l = 2, x = 4, w = 3."""
    assert root_urgency(planned(4.0, 2.0, 3.0)) == pytest.approx((6.0 * np.exp(-0.5)) ** 0.5)


@pytest.mark.parametrize(
    ("square", "crawl_rate", "change_rate", "weight"),
    [
        (20.0 * np.exp(-3.0), 1.0, 10.0, 2.0),  # more than three changes a visit are as three
        (0.08, 4.0, 0.0, 2.0),  # a page that hardly changes: a hundredth of its visits
        (8.0 * np.exp(-1.0), 4.0, None, 2.0),  # of an unknown rate: one change a visit
        (4e-14, 0.0, 1.0, 4.0),  # one that the plan gives up
        (4e-9 * np.exp(-1.0), 4.0, 4.0, 0.0),  # one of no worth
    ],
)
def test_no_page_is_so_hopeless_that_it_is_not_urgent_at_all(
    square: float, crawl_rate: float, change_rate: float | None, weight: float
) -> None:
    urgency = root_urgency(planned(crawl_rate, change_rate, weight))

    assert urgency == pytest.approx(square**0.5)


def test_a_page_without_a_plan_has_no_urgency() -> None:
    """Its share of the requests is set apart."""
    assert root_urgency(PAGE) is None


@given(crawl_rate=st.floats(0, 1e3), change_rate=st.none() | RATES, weight=st.floats(0, 1e6))
def test_every_page_is_urgent_in_the_end(
    crawl_rate: float, change_rate: float | None, weight: float
) -> None:
    """Nothing is so hopeless, so quiet or so light that it would starve."""
    root = root_urgency(planned(crawl_rate, change_rate, weight))

    assert root is not None
    assert 0.0 < root < inf
    assert 2.0 ** (lane_of(root) - 1) <= root < 2.0 ** lane_of(root)


@given(late=st.floats(0, 1e9), interval=st.floats(1e-3, 1e9), share=st.floats(0, 1))
def test_lateness_is_forgiven_up_to_a_bound(late: float, interval: float, share: float) -> None:
    """In full while it is small, not at all when it is large."""
    forgiven = forgiven_s(late, interval, share)

    assert 0.0 <= forgiven <= min(late, share * interval)
    if late <= share * interval:
        assert forgiven == late
    if late >= 2.0 * share * interval:
        assert forgiven == 0.0


def lognormal(n_pages: int) -> NDArray[np.float64]:
    """Return change rates of one a second in all."""
    rates: NDArray[np.float64] = np.exp(np.random.default_rng(1).normal(0.0, 1.5, n_pages))
    return np.asarray(rates / rates.sum())


def test_the_order_comes_near_what_no_order_can_beat() -> None:
    """Through the crawler's own dispatcher; earliest due first, from visit to visit, is 40 off."""
    now = dispatch_visits(lognormal(100), 8_000)
    simple = dispatch_visits(lognormal(100), 8_000, forgiven_share=0.0, root_of=lambda lease: 1.0)

    assert 0.0 < now.excess < 0.004
    assert simple.excess > 0.02
    assert now.visits_per_s > 0.995
    assert simple.visits_per_s < 0.97


def test_the_order_bears_more_pages_due_than_can_be_fetched() -> None:
    """Nothing starves, and the loss stays near that of earliest due first."""
    now = dispatch_visits(lognormal(100), 8_000, load=1.3)
    simple = dispatch_visits(
        lognormal(100), 8_000, load=1.3, forgiven_share=0.0, root_of=lambda lease: 1.0
    )

    assert now.visits_per_s == pytest.approx(1.0, abs=1e-3)
    assert now.longest_gap < 3.0
    assert now.staleness < 1.02 * simple.staleness


def test_staleness_is_counted_exactly() -> None:
    """One page, a visit a second: (l - 1 + exp(-l)) / l of the time."""
    visits = dispatch_visits(np.array([0.7]), 1_000)

    assert visits.staleness == pytest.approx((0.7 - 1.0 + np.exp(-0.7)) / 0.7, rel=1e-9)
    assert visits.excess == pytest.approx(0.0, abs=1e-9)
