"""The best fixed number of robots."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    balanced_weight,
    solve_static,
    solve_static_unrestricted,
    static_cost,
)


@given(st.floats(0.01, 50), st.floats(0.01, 100), st.integers(1, 60), st.floats(0.1, 10))
def test_equation_9(load: float, weight: float, buffer: int, index_rate: float) -> None:
    """Away from rho = 1 the printed closed form holds; the sum of the series has no singularity."""
    expected = (weight + index_rate * load ** (buffer + 1)) / math.fsum(
        load**j for j in range(buffer + 1)
    )

    assert static_cost(load, weight, buffer, index_rate) == pytest.approx(expected, rel=1e-12)
    if abs(load - 1) > 0.01:
        printed = (1 - load) * (weight + index_rate * load ** (buffer + 1))
        assert expected == pytest.approx(printed / (1 - load ** (buffer + 1)), rel=1e-9)


def test_at_utilisation_one() -> None:
    """C = (gamma + mu) / (K + 1)."""
    assert static_cost(1.0, 1.4, 5) == pytest.approx(2.4 / 6, rel=1e-15)


@pytest.mark.slow
@given(st.floats(0.02, 0.5), st.floats(0.05, 20), st.integers(1, 12), st.floats(0.5, 2))
def test_proposition_3_finds_the_best_of_all_numbers(
    fetch_rate: float, weight: float, buffer: int, index_rate: float
) -> None:
    """Two neighbours of the real optimum suffice: no number up to 2,000 robots costs less."""
    best = solve_static_unrestricted(fetch_rate, index_rate, weight, buffer)

    costs = [
        static_cost(n * fetch_rate / index_rate, weight, buffer, index_rate) for n in range(1, 2001)
    ]
    assert best.cost <= min(costs) * (1 + 1e-12)
    assert best.cost == pytest.approx(weight * best.starvation + best.loss_rate, rel=1e-9)


@given(st.floats(0.02, 0.5), st.floats(0.05, 20), st.integers(2, 12))
def test_which_side_of_utilisation_one(fetch_rate: float, weight: float, buffer: int) -> None:
    """Proposition 3: fewer than mu / lambda robots below gamma(K), more above it."""
    best = solve_static_unrestricted(fetch_rate, 1.0, weight, buffer)

    if weight < balanced_weight(buffer):
        assert best.robots <= math.ceil(1 / fetch_rate)
    else:
        assert best.robots >= math.floor(1 / fetch_rate)


def test_enumeration_agrees_with_the_closed_form() -> None:
    """With enough robots both ways give the same number, cost, starvation and loss."""
    closed = solve_static_unrestricted(0.07, 1.3, 2.0, 7)

    tried = solve_static(ControlledBuffer(60, 7, 0.07, 1.3, 2.0))

    assert tried.robots == closed.robots
    assert tried.cost == pytest.approx(closed.cost, rel=1e-12)
    assert tried.starvation == pytest.approx(closed.starvation, rel=1e-12)
    assert tried.loss_rate == pytest.approx(closed.loss_rate, rel=1e-12)


def test_too_few_robots_are_all_used() -> None:
    """Where the limit binds, everybody works."""
    assert solve_static(ControlledBuffer(3, 5, 0.1, 1.0, 1.4)).robots == 3


def test_costly_robots_are_fewer() -> None:
    """Any cost counts: a price on robots lowers their best number, the extreme leaves one."""
    numbers = [
        solve_static(ControlledBuffer(30, 5, 0.1, 1.0, 1.4, robot_cost=cost)).robots
        for cost in (0.0, 0.01, 0.05, 10.0)
    ]

    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == 10
    assert numbers[-1] == 1


def test_time_may_be_measured_in_any_unit() -> None:
    """Rates per hour instead of per second change the cost's unit and nothing else."""
    slow = solve_static_unrestricted(0.1, 1.0, 1.4, 5)

    fast = solve_static_unrestricted(360.0, 3600.0, 1.4 * 3600, 5)

    assert fast.robots == slow.robots
    assert fast.cost == pytest.approx(3600 * slow.cost, rel=1e-12)


@pytest.mark.parametrize("position", range(4))
def test_all_arguments_must_be_positive(position: int) -> None:
    """The message names the one that is not."""
    arguments: list[float] = [0.1, 1.0, 1.4, 5]
    arguments[position] = 0
    name = ("fetch_rate", "index_rate", "starvation_weight", "buffer")[position]

    with pytest.raises(InvalidModel, match=f"{name} must be finite and > 0"):
        solve_static_unrestricted(*arguments)  # type: ignore[arg-type]


def test_very_long_buffers_neither_overflow_nor_vanish() -> None:
    """Logarithms carry utilisations far from 1 through thousands of lengths."""
    found = solve_static(ControlledBuffer(3, 5000, 4.0, 1.0, 1.0))

    assert found.robots == 1
    assert found.cost == pytest.approx(3.0, rel=1e-12)  # 4 arrive, 1 is indexed, 3 are lost
    assert np.isfinite(found.loss_rate)
