"""Areas with shares of the buffer: against value iteration, other solvers and simulation."""

import itertools

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.fleet import (
    Area,
    AreaFleet,
    AreaOptimum,
    ControlledBuffer,
    PhasedFleet,
    RobotClass,
    erlang_service,
    solve_areas,
    solve_phased,
    solve_robots,
    solve_shares,
)

TWO = AreaFleet([Area(2, 0.4, 10.0), Area(2, 0.6, 0.1)], 3, 1.0, 6.0)


def least_cost(model: AreaFleet, shares: tuple[int, ...]) -> float:
    """Relative value iteration on plain dictionaries, until both bounds agree to 1e-7."""
    areas, k = model.areas, model.buffer
    states = [
        state
        for state in itertools.product(range(k + 1), *(range(area.robots + 1) for area in areas))
        if state[0] > 0 or sum(state[1:]) > 0
    ]
    fastest = model.index_rate + sum(area.robots * area.fetch_rate for area in areas)
    value = dict.fromkeys(states, 0.0)
    while True:
        new = {}
        for state in states:
            q, *robots = state
            cost = model.starvation_weight * (q == 0) + model.holding_cost * q
            total, rest = 0.0, fastest
            for j, area in enumerate(areas):
                rate = area.fetch_rate * robots[j]
                if rate == 0:
                    continue
                full = q >= shares[j]
                cost += area.loss_weight * rate * full
                left = [*robots]
                left[j] -= 1
                after = (q + (not full), *left), (q + (not full), *robots)
                total += rate * min(value[s] for s in after if s in value)
                rest -= rate
            if q > 0:
                ways = [(q - 1, *robots)]
                for j, area in enumerate(areas):
                    if robots[j] < area.robots:
                        more = [*robots]
                        more[j] += 1
                        ways.append((q - 1, *more))
                total += model.index_rate * min(value[s] for s in ways if s in value)
                rest -= model.index_rate
            new[state] = (cost + total + rest * value[state]) / fastest
        moved = [new[state] - value[state] for state in states]
        base = new[states[0]]
        value = {state: kept - base for state, kept in new.items()}
        if max(moved) - min(moved) < 1e-7:
            return fastest * 0.5 * (max(moved) + min(moved))


@pytest.mark.parametrize("shares", [(1, 1), (2, 3), (3, 2), (3, 1), (3, 3)])
def test_no_control_costs_less_for_given_shares(shares: tuple[int, int]) -> None:
    """By value iteration that knows nothing of events, bands or policies."""
    found = solve_areas(TWO, shares)

    assert found.cost == pytest.approx(least_cost(TWO, shares), abs=1e-6)
    assert found.residual <= 1e-11


def test_the_best_shares_of_all() -> None:
    """Nine of a buffer of three, each by value iteration."""
    found = solve_shares(TWO)

    costs = {shares: least_cost(TWO, shares) for shares in itertools.product((1, 2, 3), repeat=2)}
    assert found.solved == 9
    assert found.cost == pytest.approx(min(costs.values()), abs=1e-6)
    assert costs[found.shares[0], found.shares[1]] == pytest.approx(found.cost, abs=1e-6)


def test_an_area_of_little_worth_gets_a_smaller_share() -> None:
    """It keeps the indexer busy, but leaves the last places to pages that are dear to lose."""
    whole, best = solve_areas(TWO, (3, 3)), solve_shares(TWO)

    assert best.shares[0] == 3 > best.shares[1]
    assert best.cost < 0.99 * whole.cost
    page = AreaFleet([Area(2, 0.4, 10.0), Area(4, 0.3, 0.1)], 4, 1.0, 2.0)
    assert solve_areas(page, (4, 4)).cost == pytest.approx(0.2477, abs=5e-5)
    assert solve_shares(page).cost == pytest.approx(0.2046, abs=5e-5)
    assert solve_shares(page).shares == (4, 3)


def simulate(model: AreaFleet, found: AreaOptimum, events: int) -> tuple[float, np.ndarray]:
    """Robots and pages event by event; costs a unit of time in twenty blocks."""
    random, robots = np.random.default_rng(4), [0] * len(model.areas)
    robots[0], q = 1, 0
    spent, time = np.zeros(20), np.zeros(20)
    for event in range(events):
        block = event * 20 // events
        rates = [area.fetch_rate * r for area, r in zip(model.areas, robots, strict=True)]
        rates.append(model.index_rate if q > 0 else 0.0)
        passed = random.exponential(1.0 / sum(rates))
        time[block] += passed
        spent[block] += passed * (model.starvation_weight * (q == 0) + model.holding_cost * q)
        j = int(np.searchsorted(np.cumsum(rates), random.random() * sum(rates)))
        if j < len(robots):
            robots[j] -= 1
            if q < found.shares[j]:
                q += 1
            else:
                spent[block] += model.areas[j].loss_weight
            robots[j] += int(found.restart[(j, q, *robots)])
        else:
            q -= 1
            which = int(found.start[(q, *robots)])
            if which >= 0:
                robots[which] += 1
    return float(spent.sum() / time.sum()), spent / time


@pytest.mark.slow
def test_the_control_does_what_it_promises() -> None:
    """Half a million events of the tables that it gives, to three standard errors."""
    model = AreaFleet([Area(2, 0.4, 10.0), Area(3, 0.6, 0.1)], 4, 1.0, 6.0, holding_cost=0.05)
    found = solve_areas(model, (4, 2))

    cost, blocks = simulate(model, found, 500_000)

    assert abs(cost - found.cost) < 3 * blocks.std(ddof=1) / 20**0.5
    losses = float(found.losses @ [area.loss_weight for area in model.areas])
    assert losses < found.cost
    assert found.robots[0] <= 2
    assert found.robots[1] <= 3


def test_whole_shares_are_the_classes_that_are_known() -> None:
    """Two classes by the phased solver; one area by the simple one, to rounding."""
    initial, generator = erlang_service(1.0, 1)
    classes = (RobotClass(4, (0.1,)), RobotClass(3, (0.2,)))
    known = solve_phased(PhasedFleet(classes, 5, initial, generator, 1.4, None, 1.0, 0.02))
    areas = AreaFleet([Area(4, 0.1), Area(3, 0.2)], 5, 1.0, 1.4, holding_cost=0.02)
    one = solve_robots(ControlledBuffer(16, 5, 0.05, 1.0, 1.4))

    found = solve_areas(areas, (5, 5))
    halves = solve_areas(AreaFleet([Area(8, 0.05), Area(8, 0.05)], 5, 1.0, 1.4), (5, 5))

    assert found.cost == pytest.approx(known.measures.cost, rel=1e-10)
    np.testing.assert_allclose(found.starvation, known.measures.starvation, rtol=1e-9)
    assert found.losses.sum() == pytest.approx(known.measures.loss_rate, rel=1e-9)
    assert halves.cost == pytest.approx(one.cost, rel=1e-10)


def test_the_unit_of_time_does_not_matter() -> None:
    """Rates and costs per second or per minute."""
    fast = AreaFleet([Area(2, 24.0, 10.0), Area(2, 36.0, 0.1)], 3, 60.0, 360.0)

    assert solve_areas(fast, (3, 2)).cost == pytest.approx(60 * solve_areas(TWO, (3, 2)).cost)


def test_refusals() -> None:
    """Each names the argument, the bound and the value."""
    for call, message in (
        (lambda: Area(0, 1.0), "robots of an area must be at least 1, got 0"),
        (lambda: Area(1, 0.0), "fetch_rate must be finite and > 0, got 0.0"),
        (lambda: Area(1, 1.0, -1.0), "loss_weight must be finite and >= 0, got -1.0"),
        (lambda: AreaFleet([], 1, 1.0, 1.0), "areas: at least one is needed"),
        (lambda: AreaFleet([Area(1, 1.0)], 0, 1.0, 1.0), "buffer must be at least 1, got 0"),
        (lambda: AreaFleet([Area(1, 1.0)], 1, 0.0, 1.0), "index_rate must be finite and > 0"),
        (lambda: AreaFleet([Area(1, 1.0)], 1, 1.0, -1.0), "starvation_weight must be finite"),
        (lambda: AreaFleet([Area(400, 1.0)] * 2, 9, 1.0, 1.0), "states, more than 100000"),
        (lambda: solve_areas(TWO, (3,)), r"shares must be 1 \.\. 3, one for each of 2 areas"),
        (lambda: solve_areas(TWO, (3, 4)), r"shares must be 1 \.\. 3"),
        (
            lambda: solve_shares(AreaFleet([Area(1, 1.0)] * 4, 9, 1.0, 1.0)),
            "has 6561 shares, more than 5000",
        ),
    ):
        with pytest.raises(InvalidModel, match=message):
            call()
