"""Response times in the cost: against every policy of small buffers, and simulation."""

import itertools

import numpy as np
import pytest

from recrawl.crawler.control.fleet.careful import lookup_policy
from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    RobotPolicy,
    evaluate_policy,
    solve_response,
    solve_robots,
    solve_static_response,
)
from recrawl.simulation.controlled_queue import simulate_fleet


def all_policies(buffer: int, robots: int) -> list[RobotPolicy]:
    """Every policy that starts a robot when the last page leaves and none is active."""
    shape = (buffer + 1, robots + 1)
    free = [(0, q, r) for q in range(buffer + 1) for r in range(1, robots + 1)]
    free += [(1, q, r) for q in range(1, buffer + 1) for r in range(robots) if (q, r) != (1, 0)]
    found = []
    for bits in itertools.product((False, True), repeat=len(free)):
        tables = np.zeros((2, *shape), np.bool_)
        tables[1, 1, 0] = True
        for place, bit in zip(free, bits, strict=True):
            tables[place] = bit
        found.append(RobotPolicy(arrival=tables[0], departure=tables[1]))
    return found


@pytest.mark.parametrize("weight", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("fetch_rate", [0.2, 0.9])
def test_no_policy_costs_less_than_the_bound_and_none_less_than_ours(
    fetch_rate: float, weight: float
) -> None:
    """All 512 policies of two robots and two places, each by its exact measures."""
    model = ControlledBuffer(2, 2, fetch_rate, 1.0, starvation_weight=1.3, robot_cost=0.05)

    found = solve_response(model, weight)

    costs = [
        measured.cost + weight * measured.response_time
        for policy in all_policies(2, 2)
        for measured in evaluate_policy(model, policy)
    ]
    assert found.cost == pytest.approx(min(costs), rel=1e-9)
    assert found.bound <= min(costs) * (1 + 1e-12)
    assert found.gap <= 1e-3


def test_the_cost_is_that_of_the_policy_in_the_model_as_given() -> None:
    """By its exact measures and by simulation; cheaper than what knows no response time."""
    model, weight = ControlledBuffer(16, 5, 0.1, 1.0, starvation_weight=1.4), 0.1

    found = solve_response(model, weight)

    (told,) = evaluate_policy(model, found.optimum.policy)
    assert found.cost == pytest.approx(told.cost + weight * told.response_time, rel=1e-9)
    assert found.gap <= 1e-4
    without = solve_robots(model).measures
    assert found.cost < without.cost + weight * without.response_time
    seen = simulate_fleet(
        model, lookup_policy(found.optimum), np.random.default_rng(1), events=200_000
    )
    assert seen.response_time.holds(told.response_time, widths=2.0)


def test_a_search_that_is_cut_off_says_how_far_it_may_be_from_the_best() -> None:
    """Its bound still holds; less is known of it."""
    model = ControlledBuffer(16, 5, 0.1, 1.0, starvation_weight=1.4)
    best = solve_response(model, 0.1)

    cut = solve_response(model, 0.1, most=4)

    assert cut.solutions < best.solutions
    assert cut.bound <= best.cost <= cut.cost
    assert cut.gap > best.gap


def test_refusals() -> None:
    """What cannot be is said."""
    model = ControlledBuffer(2, 2, 0.2, 1.0, starvation_weight=1.0)
    with pytest.raises(InvalidModel, match="response_weight must be finite and > 0, got 0"):
        solve_response(model, 0.0)
    with pytest.raises(InvalidModel, match="most must be at least 3, got 2"):
        solve_response(model, 1.0, most=2)
    several = ControlledBuffer(2, 2, 0.2, [0.0, 1.0, 2.0], starvation_weight=1.0)
    with pytest.raises(InvalidModel, match="index_rate must be one number"):
        solve_response(several, 1.0)


@pytest.mark.parametrize("weight", [0.01, 0.1, 3.0])
def test_the_best_fixed_number_by_its_exact_measures(weight: float) -> None:
    """Each number of robots that restart always, evaluated as a policy; never below the bound."""
    model = ControlledBuffer(9, 4, 0.2, 1.0, 1.4, holding_cost=0.02, robot_cost=0.01)

    found = solve_static_response(model, weight)

    costs = []
    for n in range(1, 10):
        (fixed,) = evaluate_policy(model, RobotPolicy.from_targets((n,) * 5, 9))
        costs.append(fixed.cost + weight * fixed.response_time)
    assert found.robots == 1 + int(np.argmin(costs))
    assert found.cost == pytest.approx(min(costs), rel=1e-12)
    assert solve_response(model, weight).bound <= found.cost
