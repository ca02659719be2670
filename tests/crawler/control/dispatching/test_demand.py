"""One budget for several owners: what each takes at one price for all."""

import numpy as np
import pytest

from recrawl.crawler.control.dispatching.budget import GrantedBudget
from recrawl.crawler.control.dispatching.demand import (
    PRICES,
    Told,
    demand_at_prices,
    parts_of_budget,
)

DAY_S = 86_400.0


def _pages(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.lognormal(0.0, 1.5, n) / DAY_S, random.lognormal(0.0, 1.0, n)


def test_demand_is_that_of_pages_visited_when_they_are_worth_the_price() -> None:
    """Against the equation solved page by page."""
    rates, weights = _pages(50, 1)
    told = demand_at_prices(rates, weights)

    for number in (20, 30, 34):
        x = np.linspace(1e-4, 60.0, 400_000)
        worth = 1.0 - np.exp(-x) * (1.0 + x)
        expected = 0.0
        for rate, weight in zip(rates, weights, strict=True):
            reached = PRICES[number] * rate / weight
            if reached < 1.0:
                expected += rate / x[np.searchsorted(worth, reached)]
        assert told[number] == pytest.approx(expected, rel=0.02)
    assert np.all(np.diff(told) <= 1e-12)


def test_slow_pages_are_wanted_by_the_root_of_their_worth() -> None:
    """Where few changes are expected, after x of them a visit is worth half of x squared."""
    rate, weight = 1e-9, 3.0

    told = demand_at_prices(np.array([rate]), np.array([weight]))

    assert told[:20] == pytest.approx(np.sqrt(rate * weight / (2.0 * PRICES[:20])), rel=0.02)


def test_there_is_a_price_at_which_nobody_wants_a_visit() -> None:
    """Weight over change rate: no visit is worth more than that."""
    told = demand_at_prices(np.array([1.5 / PRICES[20]]), np.ones(1))

    assert told[19] > 0.0
    assert told[20] == 0.0


@pytest.mark.parametrize("budget", [1e-4, 1e-3, 3e-3])
@pytest.mark.parametrize(("backlog", "first"), [(0, 0.0), (50, 1 / 3)])
def test_one_price_holds_for_owners_whose_pages_differ(
    budget: float, backlog: int, first: float
) -> None:
    """That at which both take what the budget has left; one in twenty goes by shards."""
    curves = [
        demand_at_prices(*_pages(100, 4)),
        demand_at_prices(np.full(9, 1e-3), np.full(9, 40.0)),
    ]
    told = {0: Told(curves[0], 50, backlog, 1), 1: Told(curves[1], 50, 0, 1)}

    parts = parts_of_budget(told, budget)

    fine = np.linspace(0.0, 63.0, 100_000)
    taken = np.array([np.interp(fine, np.arange(64.0), curve) for curve in curves])
    left = (1.0 - first) * budget
    at_price = taken[:, np.argmin(np.abs(taken.sum(axis=0) - left))]
    expected = 0.025 * budget + 0.95 * (at_price + first * budget * np.array([1.0, 0.0]))
    assert list(parts.values()) == pytest.approx(expected.tolist(), rel=1e-2)


def test_parts_are_what_each_takes_at_the_price_for_all() -> None:
    """Two owners of the same pages have a half each; ten times as many pages take ten times."""
    few, many = _pages(100, 2), _pages(1_000, 2)
    many = tuple(np.tile(column, 10) for column in few)  # type: ignore[assignment]
    told = {
        1: Told(demand_at_prices(*few), 100, 0, 8),
        2: Told(demand_at_prices(*many), 1_000, 0, 8),
    }

    parts = parts_of_budget(told, 0.01)

    assert sum(parts.values()) == pytest.approx(0.01)
    assert parts[2] / parts[1] == pytest.approx((0.95 * 10 / 11 + 0.025) / (0.95 / 11 + 0.025))


def test_without_a_plan_the_budget_goes_by_shards_and_then_by_what_waits() -> None:
    """Whoever owns nothing gets nothing."""
    assert parts_of_budget({1: Told(None, 0, 5, 6), 2: Told(None, 0, 5, 2)}, 8.0) == {
        1: 6.0,
        2: 2.0,
    }
    curve = demand_at_prices(*_pages(10, 3))
    owner, unplanned = Told(curve, 9, 0, 3), Told(None, 0, 5, 1)
    assert parts_of_budget({1: Told(None, 0, 0, 1)}, 8.0) == {1: 8.0}
    assert parts_of_budget({1: owner, 2: unplanned}, 8.0) == {1: 6.0, 2: 2.0}
    assert parts_of_budget({1: owner, 2: owner}, 0.0) == {1: 0.0, 2: 0.0}
    told = {1: Told(curve, 10, 90, 4), 2: Told(curve, 10, 10, 4), 3: Told(None, 0, 0, 0)}
    parts = parts_of_budget(told, 1.0)
    assert parts[3] == 0.0
    assert parts[1] > 1.5 * parts[2]
    assert sum(parts.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(("backlog", "share"), [(1, 1 / 17), (4, 0.2), (16, 0.5), (160, 0.5)])
def test_what_waits_counts_as_much_as_it_is_of_all_pages(backlog: int, share: float) -> None:
    """A half at most, where two have the same pages and all that waits is one's."""
    curve = demand_at_prices(*_pages(8, 3))
    nobody = Told(curve, 0, 0, 0)

    parts = parts_of_budget(
        {1: Told(curve, 8, backlog, 1), 2: Told(curve, 8, 0, 1), 3: nobody}, 1.0
    )

    assert parts[1] == pytest.approx(0.025 + 0.95 * (0.5 * (1.0 - share) + share))
    assert parts[3] == 0.0


def test_only_what_was_granted_is_spent_and_little_is_held() -> None:
    """Two seconds' worth at most; a part below one a second holds one request."""
    budget = GrantedBudget(5.0, burst=100.0)
    assert budget.ready_s(0.0) == 0.1
    assert budget.wanted(0.0) == 1
    budget.grant(1)
    assert budget.ready_s(0.0) == 0.0
    budget.spend(0.0)
    assert budget.ready_s(0.0) > 0.0
    assert budget.wanted(100.0) == 10
    budget.grant(10)
    assert budget.wanted(200.0) == 0

    assert GrantedBudget(5.0, burst=3.0).wanted(0.0) == 1
    bounded = GrantedBudget(5.0, burst=3.0)
    bounded.wanted(0.0)
    assert bounded.wanted(100.0) == 3

    earning, drawn = GrantedBudget(5.0, burst=100.0), []
    for now_s in (0.0, 0.4, 0.55, 0.65):
        drawn.append(earning.wanted(now_s))
        earning.grant(drawn[-1])
        for _ in range(drawn[-1]):
            earning.spend(now_s)
    assert drawn == [1, 2, 0, 1]

    slow = GrantedBudget(0.001)
    assert slow.wanted(0.0) == 1
    slow.grant(1)
    assert slow.wanted(1e6) == 0
