"""Batch Markovian arrivals: closed forms, superposition, thinning, counts, samples, refusals."""

import numpy as np
import pytest
from scipy.linalg import expm

from recrawl.errors import InvalidModel
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.markovian_arrivals import MarkovianArrivals

MODE = BatchArrivals(
    [[[-10.0, 2.0], [0.0, -0.5]], [[0.05, 3.0], [0.29, 0.005]], [[0.05, 4.9], [0.2, 0.005]]]
)
SLOW = BatchArrivals([[[-1.0, 0.2], [0.3, -2.0]], [[0.8, 0.0], [0.2, 1.5]]])


def test_the_published_characteristics() -> None:
    """Mode 1 of the reconstructed example: lambda, lambda_b, variance, correlations."""
    assert MODE.rate == pytest.approx(1.28248315688)
    assert MODE.batch_rate == pytest.approx(0.853705486044)
    assert MODE.interval_variance == pytest.approx(3.1476354559)
    lags = [-0.218301822116, 0.168965610317, -0.130779382386, 0.101223241967]
    np.testing.assert_allclose(MODE.correlations(4), lags, rtol=1e-10)


def test_batch_poisson_in_closed_form() -> None:
    """Compound Poisson counts: mean and variance grow in proportion, intervals independent."""
    arrivals = BatchArrivals.of(MarkovianArrivals.poisson(2.0), [0.25, 0.5, 0.25])

    assert arrivals.rate == pytest.approx(4)
    assert arrivals.count_moments(3.0) == pytest.approx((12, 3 * 2 * (0.25 + 2 + 2.25)))
    np.testing.assert_allclose(arrivals.correlations(3), 0, atol=1e-15)


@pytest.mark.parametrize("t", [0.01, 1.0, 30.0])
def test_counting_moments_against_the_matrix_of_counts(t: float) -> None:
    """The joint chain (count, phase), cut far out, by the matrix exponential."""
    most = 160
    chain = np.kron(np.eye(most), MODE.matrices[0])
    for k in (1, 2):
        chain += np.kron(np.eye(most, k=k), MODE.matrices[k])
    start = np.zeros(2 * most)
    start[:2] = MODE.stationary
    law = (start @ expm(chain * t)).reshape(most, 2).sum(axis=1)
    counts = np.arange(most)

    mean, variance = MODE.count_moments(t)

    assert mean == pytest.approx(law @ counts, rel=1e-9)
    assert variance == pytest.approx(law @ counts**2 - (law @ counts) ** 2, rel=1e-8)


def test_superposition_thinning_and_marks() -> None:
    """Rates add; thinned batches keep their sizes, thinned items do not; marks share it out."""
    both = MODE.superposed(SLOW)
    kept, items = MODE.thinned(0.3), MODE.thinned_items(0.3)

    assert both.rate == pytest.approx(MODE.rate + SLOW.rate)
    assert both.batch_rate == pytest.approx(MODE.batch_rate + SLOW.batch_rate)
    assert sum(both.count_moments(2.0)) == pytest.approx(
        sum(MODE.count_moments(2.0)) + sum(SLOW.count_moments(2.0))
    )
    assert kept.rate == pytest.approx(0.3 * MODE.rate)
    assert kept.batch_rate == pytest.approx(0.3 * MODE.batch_rate)
    assert items.rate == pytest.approx(0.3 * MODE.rate)
    assert items.batch_rate > kept.batch_rate
    np.testing.assert_allclose(MODE.thinned_items(1.0).matrices, MODE.matrices)
    assert sum(part.rate for part in MODE.marked([0.2, 0.8])) == pytest.approx(MODE.rate)


def test_samples_have_the_rates_and_correlations() -> None:
    """30,000 batches, seed 2: mean size and interval within five standard errors."""
    times, sizes = MODE.sample(30_000, np.random.default_rng(2))

    assert sizes.mean() == pytest.approx(MODE.rate / MODE.batch_rate, abs=5 * sizes.std() / 173)
    assert times.mean() == pytest.approx(1 / MODE.batch_rate, abs=5 * times.std() / 173)
    centred = times - times.mean()
    lag = float(centred[1:] @ centred[:-1] / (centred @ centred))
    assert lag == pytest.approx(MODE.correlations(1)[0], abs=5 / 173)


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([[[-1.0]]], "D_0 and at least D_1"),
        ([[[-1.0]], [[1.0, 0.0]]], r"D_1 must be square of size 1, got shape \(1, 2\)"),
        ([[[-1.0]], [[np.inf]]], "D_1, row 0: must be finite"),
        (
            [[[-1.0, -0.5], [1, -1]], [[1.5, 0], [0, 0]]],
            "D_0, row 0: rates off the diagonal must be >= 0, holds -0.5",
        ),
        ([[[-1, 1], [1, -1]], [[0, 0], [-0.25, 0.25]]], "D_1, row 1: rates must be >= 0"),
        (
            [[[-1.0, 0.5], [0.5, -2]], [[0.5, 0], [0, 1.25]]],
            r"D_0 \+ ... \+ D_1, row 1: must sum to 0, sums to -0.25",
        ),
        ([[[-1, 0], [1, -2]], [[1, 0], [0, 1]]], "phase 1 is never reached from phase 0"),
        ([[[-1, 1], [1, -1]], [[0, 0], [0, 0]]], "nothing ever arrives"),
    ],
)
def test_what_is_no_bmap_is_said(matrices: list[list[list[float]]], message: str) -> None:
    """Which matrix, which row, by how much."""
    with pytest.raises(InvalidModel, match=message):
        BatchArrivals(matrices)


def test_other_refusals() -> None:
    """Shares and laws that make no sense."""
    with pytest.raises(InvalidModel, match=r"sizes must be >= 0 and sum to 1, sum to 0.9"):
        BatchArrivals.of(MarkovianArrivals.poisson(1.0), [0.5, 0.4])
    with pytest.raises(InvalidModel, match="share must be > 0 and at most 1, got 0"):
        MODE.thinned(0.0)
    with pytest.raises(InvalidModel, match="share must be > 0 and at most 1, got 2"):
        MODE.thinned_items(2.0)
    with pytest.raises(InvalidModel, match="shares must be > 0 and sum to 1"):
        MODE.marked([0.5, 0.6])
