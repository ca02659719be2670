"""Intervals from few blocks cover what they say."""

import numpy as np
import pytest
from scipy import stats

from recrawl.errors import InvalidModel
from recrawl.processes.intervals import gamma_bounds, half_width, student_975


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 7, 15, 31, 200])
def test_students_points(freedom: int) -> None:
    """Against the library's."""
    assert student_975(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-3)


@pytest.mark.parametrize("dependence", [0.0, 0.4])
@pytest.mark.parametrize("blocks", [3, 32])
def test_coverage(blocks: int, dependence: float) -> None:
    """At least 94 % of 4,000 intervals hold the truth; 92 % where 32 batches depend by 0.4."""
    if blocks == 3 and dependence:
        pytest.skip("three blocks cannot tell")
    rng = np.random.default_rng(blocks)
    noise = rng.normal(size=(4000, blocks))
    for k in range(1, blocks):
        noise[:, k] += dependence * (noise[:, k - 1] - 0.0)
    covered = np.mean([abs(row.mean()) <= half_width(row) for row in noise])

    assert covered >= (0.92 if dependence else 0.94)
    assert half_width(np.ones(1)) == np.inf


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0, 2.0, 2.99, 3.0, 7.0, 1e4])
def test_the_bounds_of_a_gamma_law(shape: float) -> None:
    """They hold 95 % of it, and 2.5 % lie below."""
    low, high = gamma_bounds(shape)

    assert stats.gamma.cdf(low * shape, shape) == pytest.approx(0.025, abs=0.002)
    assert stats.gamma.sf(high * shape, shape) == pytest.approx(0.025, abs=0.005)
    with pytest.raises(InvalidModel, match="shape must be > 0"):
        gamma_bounds(0.0)
