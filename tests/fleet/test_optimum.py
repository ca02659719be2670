"""The optimal control: certificates, independent oracles, limits, errors."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.fleet.strategies import any_policies, models, rational_cost

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet import (
    ControlledBuffer,
    RobotOptimum,
    RobotPolicy,
    evaluate_curve_policy,
    evaluate_policy,
    iterate_to_span,
    solve_robots,
    solve_robots_generally,
    solve_robots_unrestricted,
    solve_static,
)
from recrawl.fleet.curve import find_best_curve
from recrawl.fleet.events import from_buffer
from recrawl.fleet.policy_iteration import improve_policy

COUNTEREXAMPLE = ControlledBuffer(3, 2, 50.0, 1.0, 500.0, holding_cost=20.0)


def bellman_residual(best: RobotOptimum) -> float:
    """Largest violation of the optimality equation, relative to the terms in it."""
    model, v, worst = best.model, best.values, 0.0
    for q in range(model.buffer + 1):
        for r in range(model.robots + 1):
            if (q, r) == (0, 0):
                continue
            up, down = model.arrival_rates[q, r], model.index_rates[q, r]
            total = model.cost_rates[q, r] - best.cost
            size = abs(model.cost_rates[q, r]) + best.cost
            if r > 0:
                n = min(q + 1, model.buffer)
                total += up * (min(v[n, r - 1], v[n, r]) - v[q, r])
                size += up * (abs(v[n, r]) + abs(v[n, r - 1]) + abs(v[q, r]))
            if q > 0:
                more = v[q - 1, min(r + 1, model.robots)]
                lead = more if (q, r) == (1, 0) else min(v[q - 1, r], more)
                total += down * (lead - v[q, r])
                size += down * (abs(lead) + abs(v[q, r]))
            worst = max(worst, abs(total) / size)
    return worst


def linear_programme(model: ControlledBuffer) -> float:
    """Least average cost over all randomised policies, by the occupation measure."""
    events = from_buffer(model)
    n = events.cost.size
    width = model.robots + 1
    options = [
        events.option_state[events.option_start[d] : events.option_start[d + 1]]
        for d in range(events.option_start.size - 1)
    ]
    columns, balances = [], []
    for s in range(n):
        mine = range(events.event_start[s], events.event_start[s + 1])
        for targets in itertools.product(*(options[events.event_decision[e]] for e in mine)):
            flow = np.zeros(n)
            for e, to in zip(mine, targets, strict=True):
                flow[to] += events.event_rate[e]
                flow[s] -= events.event_rate[e]
            columns.append(events.cost[s])
            balances.append(flow)
    assert width > 1
    system = np.vstack([np.array(balances).T, np.ones(len(columns))])
    found = linprog(columns, A_eq=system, b_eq=np.append(np.zeros(n), 1.0), method="highs")
    assert found.success
    return float(found.fun)


@given(models(7, general=False))
def test_the_optimality_equation_holds(model: ControlledBuffer) -> None:
    """Cost and relative values satisfy it in every state: the certificate of optimality."""
    best = solve_robots(model)

    assert best.residual <= 1e-11
    assert bellman_residual(best) <= 1e-12
    assert best.cost == pytest.approx(evaluate_curve_policy(model, best.targets).cost, rel=1e-12)


@given(models(5, general=True))
def test_the_optimality_equation_holds_for_any_rates_and_costs(model: ControlledBuffer) -> None:
    """Where no curve is optimal the general method answers, with the same certificate."""
    best = solve_robots(model)

    assert best.residual <= 1e-11
    assert bellman_residual(best) <= 1e-11
    (measured,) = evaluate_policy(model, best.policy)
    assert best.cost == pytest.approx(measured.cost, rel=1e-11)


@given(models(6))
def test_two_solvers_agree(model: ControlledBuffer) -> None:
    """Policy iteration that knows nothing of curves finds the same cost."""
    assert solve_robots(model).cost == pytest.approx(
        solve_robots_generally(model).cost, rel=1e-12, abs=1e-290
    )


@settings(max_examples=15)
@given(models(4, general=True))
def test_agrees_with_a_linear_programme(model: ControlledBuffer) -> None:
    """The dual form, solved by other people's code."""
    assert solve_robots(model).cost == pytest.approx(linear_programme(model), rel=1e-7)


@given(models(5))
def test_lies_between_the_bounds_of_value_iteration(model: ControlledBuffer) -> None:
    """Each step of value iteration proves bounds on the least cost."""
    bounds = iterate_to_span(model, 1e-6 * solve_static(model).cost)

    best = solve_robots(model)

    slack = 1e-12 * (1 + bounds.high)
    assert bounds.low - slack <= best.cost <= bounds.high + slack


@given(st.data())
def test_no_policy_costs_less(data: st.DataObject) -> None:
    """Nor does the best fixed number of robots."""
    model = data.draw(models(4, general=True))
    policy = data.draw(any_policies(model.buffer, model.robots))

    best = solve_robots(model)

    assert best.cost <= evaluate_policy(model, policy)[0].cost * (1 + 1e-11)
    assert best.cost <= solve_static(model).cost * (1 + 1e-11)


def test_brute_force_in_rational_arithmetic() -> None:
    """All 512 sensible policies of the smallest interesting model, in fractions."""
    model = ControlledBuffer(2, 2, 0.6, 1.0, 1.4)
    costs = []
    for bits in itertools.product((False, True), repeat=9):
        arrival, departure = np.zeros((3, 3), np.bool_), np.zeros((3, 3), np.bool_)
        arrival[:, 1:] = np.reshape(bits[:6], (3, 2))
        departure[1, 0], departure[1, 1], departure[2, :2] = True, bits[6], bits[7:]
        policy = RobotPolicy(arrival=arrival, departure=departure)
        if len(evaluate_policy(model, policy)) == 1:
            costs.append(rational_cost(model, policy))

    assert solve_robots(model).cost == pytest.approx(float(min(costs)), rel=1e-14)


def test_one_place_and_one_robot() -> None:
    """Nothing to decide but when full: stop, and the buffer is empty until the robot is back."""
    best = solve_robots(ControlledBuffer(1, 1, 2.0, 3.0, 0.7))

    # Stopped at a full buffer: half cycles of mean 1/3 (full) and 1/2 (empty, cost 0.7).
    assert best.cost == pytest.approx(0.7 * (1 / 2) / (1 / 2 + 1 / 3), rel=1e-14)
    assert best.targets == (1, 0)


def test_the_conjecture_is_false_with_a_holding_cost() -> None:
    """K = 2, N = 3: start a robot at r = 0 and r = 2 when q = 1 is left, but not at r = 1."""
    best = solve_robots(COUNTEREXAMPLE)

    assert best.cost == pytest.approx(float(Fraction(500, 17)), rel=1e-14)
    assert best.policy.departure[1:, :3].sum(axis=0).tolist() == [1, 0, 1]
    assert best.policy.switching_curves() is None
    assert not best.is_curve


def test_without_the_holding_cost_it_is_a_curve_again() -> None:
    """The same buffer, priced as in the paper."""
    assert solve_robots(replace(COUNTEREXAMPLE, holding_cost=0.0)).is_curve


def test_policy_iteration_survives_several_recurrent_classes() -> None:
    """Starting from "always restart, never start" every number of robots is a class of its own."""
    model = ControlledBuffer(5, 4, 0.4, 1.0, 1.2)
    events = from_buffer(model)
    choice = np.zeros(events.option_start.size - 1, dtype=np.int64)
    start_again = (np.arange(1, 5)[:, None] * 6 + np.arange(5)).ravel()
    choice[start_again] = 1

    found = improve_policy(events, choice * (np.diff(events.option_start) > 1))

    assert found.gain == pytest.approx(solve_robots(model).cost, rel=1e-13)


def test_any_start_of_policy_iteration_ends_at_the_same_cost() -> None:
    """Hundreds of random first policies, many of them with several classes."""
    model = ControlledBuffer(4, 4, 0.3, 1.0, 1.0)
    events = from_buffer(model)
    rng = np.random.default_rng(7)
    expected, rerouted = solve_robots(model).cost, 0

    for _ in range(300):
        pick = (rng.random(events.option_start.size - 1) * np.diff(events.option_start)).astype(int)
        found = improve_policy(events, pick.astype(np.int64))
        assert found.gain == pytest.approx(expected, rel=1e-12)
        rerouted += found.rerouted

    assert rerouted > 0


@given(models(6), st.sampled_from([1e-3, 60.0, 3600.0]))
def test_unit_of_time_does_not_matter(model: ControlledBuffer, scale: float) -> None:
    """All rates and the weight of starvation per hour: cost per hour, same measures."""
    faster = replace(
        model,
        fetch_rate=model.fetch_rate * scale,  # type: ignore[operator]
        index_rate=model.index_rate * scale,  # type: ignore[operator]
        starvation_weight=model.starvation_weight * scale,
    )

    slow, fast = solve_robots(model), solve_robots(faster)

    assert fast.cost == pytest.approx(scale * slow.cost, rel=1e-10)


@given(models(6), st.integers(1, 4))
def test_more_robots_never_cost_more(model: ControlledBuffer, extra: int) -> None:
    """Idle robots are free."""
    more = replace(model, robots=model.robots + extra)

    assert solve_robots(more).cost <= solve_robots(model).cost * (1 + 1e-11)


def test_unrestricted_means_that_more_robots_do_not_help() -> None:
    """Twice as many give the same cost and targets."""
    best = solve_robots_unrestricted(ControlledBuffer(1, 5, 0.1, 1.0, 2.0))
    twice = solve_robots(replace(best.model, robots=2 * best.model.robots))

    assert twice.targets == best.targets
    assert twice.cost == pytest.approx(best.cost, rel=1e-13)
    assert best.cost == pytest.approx(0.321881, abs=5e-7)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ControlledBuffer(2, 1, [0, 1, 2], 1.0, 1.0), "fetch_rate must be a number"),
        (ControlledBuffer(2, 1, 1.0, np.ones((2, 3)), 1.0), "index_rate must not depend"),
        (ControlledBuffer(2, 1, 1.0, 1.0, 1.0, loss_weight=0.0), "both 0: every further robot"),
    ],
)
def test_unrestricted_needs_a_reason_to_stop(model: ControlledBuffer, message: str) -> None:
    """Each message says what to give instead."""
    with pytest.raises(InvalidModel, match=message):
        solve_robots_unrestricted(model)


def test_an_unrestricted_search_gives_up_somewhere() -> None:
    """Beyond 1e8 states it asks for the number of robots."""
    with pytest.raises(InvalidModel, match="give their number"):
        solve_robots_unrestricted(ControlledBuffer(10**6, 10**3, 1.0, 1.0, 1.0))


def test_the_general_method_refuses_what_would_not_fit() -> None:
    """A buffer and a fleet of 1,000 would need a band of 16 GB."""
    with pytest.raises(NotConverged, match="too large for the general method"):
        solve_robots_generally(ControlledBuffer(1000, 1000, 0.001, 1.0, 1.0))


def test_very_different_sizes() -> None:
    """A long buffer with few robots, and a short one with many."""
    for robots, buffer in ((2, 300), (300, 2), (1, 50), (50, 1)):
        model = ControlledBuffer(robots, buffer, 1.1 / robots, 1.0, 1.3)
        best = find_best_curve(model)
        assert best.residual <= 1e-11
        assert best.gain == pytest.approx(solve_robots_generally(model).cost, rel=1e-11)
