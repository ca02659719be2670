"""Policies as tables of bits, targets and switching curves."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.fleet import RobotPolicy


def test_a_fixed_number_is_flat() -> None:
    """Keep n: start when fewer are left, whatever the length."""
    policy = RobotPolicy.static(2, buffer=3, robots=4)

    assert policy.arrival[:, 1:].tolist() == [[True, True, False, False]] * 4
    assert policy.departure[1:, :].tolist() == [[True, True, False, False, False]] * 3
    assert (policy.buffer, policy.robots) == (3, 4)


def test_not_every_policy_has_curves() -> None:
    """A hole in the table, or a curve that rises, is no pair of switching curves."""
    arrival = np.ones((3, 3), np.bool_)
    hole, rising = np.zeros((3, 3), np.bool_), np.zeros((3, 3), np.bool_)
    hole[1, 0] = hole[2, 1] = True
    rising[1, :] = True
    rising[2, 1] = True

    assert RobotPolicy(arrival=arrival, departure=hole).switching_curves() is None
    assert RobotPolicy(arrival=arrival, departure=rising).switching_curves() is None


@pytest.mark.parametrize(("targets", "robots"), [((3,), 3), ((4, 2), 3), ((0, 1), 3), ((2, -1), 3)])
def test_targets_outside_the_domain(targets: tuple[int, ...], robots: int) -> None:
    """At least two lengths, 0..N robots, and at least one at an empty buffer."""
    with pytest.raises(InvalidModel, match="targets must name"):
        RobotPolicy.from_targets(targets, robots)


def test_tables_must_fit_each_other() -> None:
    """Both tables have the same shape (K + 1, N + 1)."""
    with pytest.raises(InvalidModel, match="two tables of shape"):
        RobotPolicy(arrival=np.ones((2, 2), np.bool_), departure=np.ones((3, 2), np.bool_))


def test_an_absorbing_policy_is_refused() -> None:
    """Starting nobody when the last page leaves and none is active stops the crawl for ever."""
    with pytest.raises(InvalidModel, match=r"departure\[1, 0\] must be true"):
        RobotPolicy(arrival=np.ones((2, 2), np.bool_), departure=np.zeros((2, 2), np.bool_))
