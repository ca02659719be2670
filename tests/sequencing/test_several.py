"""Several robots and one list: bounds from both sides, and robots event by event."""

import heapq

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.freshness import Pages, solve_even_freshness
from recrawl.sequencing import (
    bound_even_gaps,
    bound_shared_list,
    bound_whole_gaps,
    complete_shared_list,
    evaluate_cycle,
    evaluate_random,
    phase_cycle,
    random_cycle,
    shared_costs,
)


def instance(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rates and weights of some pages."""
    random = np.random.default_rng(seed)
    return np.exp(0.7 * random.standard_normal(n)) * 0.4 / n, random.pareto(2.0, n) + 1.0


def stale_share(
    rates: np.ndarray, weights: np.ndarray, order: np.ndarray, times: np.ndarray
) -> float:
    """Weighted staleness over the time that accesses, which end at these times, leave between."""
    cost = 0.0
    for page, (rate, weight) in enumerate(zip(rates, weights, strict=True)):
        at = np.concatenate([[times[0]], times[order == page], [times[-1]]])
        gaps = np.diff(at)
        cost += weight * float(np.sum(gaps + np.expm1(-rate * gaps) / rate))
    return cost / float(times[-1] - times[0])


def run_robots(
    sequence: np.ndarray, access_times: np.ndarray, robots: int
) -> tuple[np.ndarray, np.ndarray]:
    """Robots event by event: each takes the next page when it is free."""
    length = sequence.size
    busy = [(access_times[k], k) for k in range(robots)]
    heapq.heapify(busy)
    order, times = np.empty(access_times.size, np.int64), np.empty(access_times.size)
    for slot in range(access_times.size):
        now, k = heapq.heappop(busy)
        order[slot], times[slot] = sequence[k % length], now
        started = slot + robots
        if started < access_times.size:
            heapq.heappush(busy, (now + access_times[started], started))
    return order, times


@pytest.mark.parametrize("robots", [1, 2, 5, 20])
@pytest.mark.parametrize("even", [True, False])
def test_the_bounds_hold_what_robots_do(robots: int, even: bool) -> None:
    """Thirty pages, 100,000 accesses of exponential times, to a hundredth of the cost."""
    rates, weights = instance(robots, 30)
    costs = shared_costs(rates, weights, 1.0, robots)
    shares = bound_even_gaps(costs).frequencies
    cycle = (
        phase_cycle(shares, 1000) if even else random_cycle(shares, 1000, np.random.default_rng(1))
    )
    found = bound_shared_list(costs, cycle, robots)

    random = np.random.default_rng(3)
    order, times = run_robots(cycle, random.exponential(1.0, 100_000), robots)
    seen = stale_share(rates, weights, order, times)
    drawn = evaluate_cycle(costs, complete_shared_list(cycle, robots, 100_000, random)).cost

    assert found.bound == bound_whole_gaps(costs).cost
    assert found.bound * 0.99 <= seen <= found.most * 1.01
    assert drawn == pytest.approx(seen, rel=0.01)
    if robots == 1:
        assert found.most == pytest.approx(evaluate_cycle(costs, cycle).cost, rel=1e-12)
    if even and robots <= 5:  # hardly any access is overtaken: the upper bound is the cost
        assert found.most == pytest.approx(seen, rel=0.01)


def test_many_pages_for_each_robot_leave_next_to_no_gap() -> None:
    """200 pages: 0.14 % for four robots, by the bounds alone."""
    rates, weights = instance(1, 200)
    gaps = []
    for robots in (1, 4, 16):
        costs = shared_costs(rates, weights, 1.0, robots)
        cycle = phase_cycle(bound_even_gaps(costs).frequencies, 4000)
        gaps.append(bound_shared_list(costs, cycle, robots).gap)

    assert 0.0 <= gaps[0] < gaps[1] < 0.0015
    assert gaps[1] < gaps[2] < 0.02


def test_robots_that_draw_lots_are_one_robot_that_is_as_fast() -> None:
    """Independent draws end as independent draws."""
    rates, weights = instance(2, 10)
    costs = shared_costs(rates, weights, 1.0, 4)
    shares = bound_even_gaps(costs).frequencies
    list_drawn = np.random.default_rng(5).choice(10, 200_000, p=shares)

    ended = complete_shared_list(list_drawn, 4, 200_000, np.random.default_rng(6))

    expected = evaluate_random(costs, shares).cost
    assert evaluate_cycle(costs, ended).cost == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("law", ["constant", "hyper"])
def test_whatever_the_access_times_no_order_beats_even_visits(law: str) -> None:
    """The plan for M/EX accesses a unit of time bounds all robots' orders, by Jensen."""
    rates, weights = instance(7, 12)
    random, n = np.random.default_rng(8), 60_000
    times = (
        np.ones(n)
        if law == "constant"
        else random.exponential(np.where(random.random(n) < 0.9, 0.5, 5.5))
    )
    plan = solve_even_freshness(Pages(rates, weights), 3.0 / times.mean())
    cycle = phase_cycle(plan.crawl_rates / plan.crawl_rates.sum(), 1000)

    order, ends = run_robots(cycle, times, 3)

    seen = stale_share(rates, weights, order, ends)
    assert seen >= (1.0 - plan.value) * weights.sum() * (1 - 1e-3)


def test_a_page_that_changes_within_an_access_counts_as_never_fresh() -> None:
    """Where the mean of what overtaking costs is infinite; it never costs more than its weight."""
    costs = shared_costs([0.01, 50.0], [1.0, 2.0], 1.0, 8)

    found = bound_shared_list(costs, [0, 1], 8)

    assert 2.0 < found.most <= 3.0
    alone = bound_shared_list(costs, [0, 0], 8)
    assert alone.most >= 2.0


def test_refusals() -> None:
    """What cannot be is said."""
    with pytest.raises(InvalidModel, match="robots must be at least 1, got 0"):
        shared_costs([1.0], [1.0], 1.0, 0)
    with pytest.raises(InvalidModel, match="mean_access_time must be finite and > 0, got 0"):
        shared_costs([1.0], [1.0], 0.0, 2)
    costs = shared_costs([1.0], [1.0], 1.0, 2)
    with pytest.raises(InvalidModel, match="slot 0 of the sequence is page 1"):
        bound_shared_list(costs, [1], 2)
    with pytest.raises(InvalidModel, match="robots must be at least 1, got -1"):
        complete_shared_list([0], -1, 2, np.random.default_rng(0))
