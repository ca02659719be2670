"""Convex order of access times, and Theorem 3.1 by it."""

import numpy as np
import pytest

from recrawl.freshness import evaluate_sequence
from recrawl.processes.access_times import AccessTime, ConstantTime, ObservedTimes
from recrawl.processes.orders import compare_times, expected_excess
from recrawl.processes.phase_type import PhaseType

CHAIN: list[AccessTime] = [
    ConstantTime(2.0),
    PhaseType.erlang(4, 2.0),
    ObservedTimes([0.5, 3.5]),
    PhaseType.exponential(2.0),
    PhaseType.hyperexponential([0.9, 0.1], [1.0, 11.0]),
]


def test_expected_excess_in_closed_form() -> None:
    """Exponential: m exp(-t/m); two values by hand; constant."""
    t = np.array([0.0, 0.5, 1.0, 4.0, 40.0])

    np.testing.assert_allclose(
        expected_excess(PhaseType.exponential(2.0), t), 2 * np.exp(-t / 2), rtol=1e-9
    )
    np.testing.assert_allclose(
        expected_excess(ObservedTimes([3.0, 1.0]), t), [2.0, 1.5, 1.0, 0.0, 0.0]
    )
    np.testing.assert_allclose(expected_excess(ConstantTime(1.5), t), [1.5, 1.0, 0.5, 0, 0])


@pytest.mark.parametrize(("i", "j"), [(0, 1), (0, 2), (0, 4), (1, 3), (3, 4), (1, 4)])
def test_theorem_3_1(i: int, j: int) -> None:
    """What is below in convex order is fresher, page by page, under policies drawn at random."""
    order = compare_times(CHAIN[i], CHAIN[j])

    assert order.verdict == "below"
    assert compare_times(CHAIN[j], CHAIN[i]).verdict == "above"
    rng = np.random.default_rng(i + 10 * j)
    for _ in range(20):
        sequence = np.append(np.arange(4), rng.integers(0, 4, 12))
        rates = rng.uniform(0.01, 1, 4)
        one, two = (evaluate_sequence(rates, sequence, CHAIN[k]) for k in (i, j))
        assert np.all(one <= two + 1e-12)


def test_laws_that_cannot_be_compared() -> None:
    """Equal is equal; two laws whose excesses cross are in no order."""
    same = compare_times(PhaseType.erlang(1, 2.0), PhaseType.exponential(2.0))
    crossing = compare_times(ObservedTimes([0.0, 2.9]), PhaseType.exponential(1.5))

    assert same.verdict == "equal"
    assert crossing.verdict == "none"
