"""Markovian arrivals: special cases in closed form, stationarity, and every refusal."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.processes.markovian_arrivals import MarkovianArrivals


def test_poisson_in_closed_form() -> None:
    """Independent exponential intervals."""
    arrivals = MarkovianArrivals.poisson(2.0)

    assert arrivals.rate == pytest.approx(2)
    np.testing.assert_allclose(arrivals.discounts(0.5, 4), 0.8 ** np.arange(1, 5))


def test_the_phase_at_arrivals_is_stationary_from_arrival_to_arrival() -> None:
    """It solves q F(infinity) = q, and F(infinity) is stochastic."""
    arrivals = MarkovianArrivals.modulated([[-1, 1], [3, -3]], [0.2, 5])

    steps = arrivals.transform(0.0)

    np.testing.assert_allclose(steps.sum(axis=1), 1)
    np.testing.assert_allclose(arrivals.at_arrivals @ steps, arrivals.at_arrivals, atol=1e-14)
    assert arrivals.rate == pytest.approx(0.75 * 0.2 + 0.25 * 5)


def test_samples_have_the_mean_interval() -> None:
    """Within four standard errors of blocks (seed 1)."""
    arrivals = MarkovianArrivals.modulated([[-1, 1], [3, -3]], [0.5, 5])
    blocks = arrivals.sample(20_000, np.random.default_rng(1)).reshape(20, -1).mean(axis=1)

    assert 1 / arrivals.rate == pytest.approx(blocks.mean(), abs=4 * blocks.std() / 20**0.5)


@pytest.mark.parametrize(
    ("hidden", "visible", "message"),
    [
        ([[-1.0]], [[1.0, 0.0]], "must be square of one size"),
        ([[np.nan]], [[1.0]], "must be finite"),
        (
            [[-1.0, -1.0], [1.0, -1.0]],
            np.eye(2),
            "hidden off the diagonal and visible must be >= 0",
        ),
        ([[-1.0]], [[2.0]], "row 0 of hidden . visible must sum to 0, sums to 1"),
        ([[-1.0, 0.0], [1.0, -2.0]], [[1.0, 0.0], [0.0, 1.0]], "reachable"),
        ([[-1.0, 1.0], [1.0, -1.0]], np.zeros((2, 2)), "nothing ever arrives"),
    ],
)
def test_what_is_no_map_is_said(hidden: list[list[float]], visible: object, message: str) -> None:
    """Each message names the row or the bound."""
    with pytest.raises(InvalidModel, match=message):
        MarkovianArrivals(hidden, np.asarray(visible))


def test_modulated_needs_a_rate_for_each_phase() -> None:
    """Shapes are named."""
    with pytest.raises(InvalidModel, match=r"rates \(1,\) must agree in phases"):
        MarkovianArrivals.modulated([[-1, 1], [1, -1]], [1])
