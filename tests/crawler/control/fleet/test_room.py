"""What running as room permits leaves to be won: closed forms against the exact model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.fleet.room import most_to_win, starvation_with_room
from recrawl.fleet import ControlledBuffer, solve_robots

loads = st.floats(0.0, 4.0)


@given(st.integers(1, 20), st.integers(1, 20), loads)
def test_starvation_is_that_of_the_chain(n_robots: int, capacity: int, load: float) -> None:
    """The stationary law of births and deaths, solved as linear equations."""
    rates = np.zeros((capacity + 1, capacity + 1))
    for length in range(capacity):
        rates[length, length + 1] = load * min(n_robots, capacity - length)
        rates[length + 1, length] = 1.0
    equations = (rates - np.diag(rates.sum(axis=1))).T
    equations[-1] = 1.0
    law = np.linalg.solve(equations, np.eye(capacity + 1)[-1])

    assert starvation_with_room(n_robots, capacity, load) == pytest.approx(law[0], abs=1e-9)


@pytest.mark.parametrize(("robots", "buffer", "fetch_rate"), [(16, 5, 0.1), (4, 6, 0.3)])
def test_no_control_wins_more_than_the_bound(robots: int, buffer: int, fetch_rate: float) -> None:
    """Not even the optimal one, however little it minds losses."""
    optimum = solve_robots(ControlledBuffer(robots, buffer, fetch_rate, 1.0, 50.0))
    won = starvation_with_room(robots, buffer, fetch_rate) - optimum.measures.starvation

    assert won <= most_to_win(robots, buffer, fetch_rate) + 1e-12


@given(st.integers(1, 30), loads)
def test_room_for_twice_the_fleet_leaves_nothing(n_robots: int, load: float) -> None:
    """A robot rests only while more pages wait than there are robots; loads below one starve."""
    assert most_to_win(n_robots, 2 * n_robots + 40, load) < 0.02


def test_long_buffers_under_any_load_stay_finite() -> None:
    """Weights of lengths span more than floats do."""
    assert starvation_with_room(1_000, 100_000, 5.0) < 1e-100
    assert most_to_win(1_000, 100_000, 0.0) == 0.0
