"""Weekly patterns from events and from probes: known truths, overfitting, bursts, trend."""

from itertools import pairwise

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.learning.probe_results import estimate_from_probes
from recrawl.learning.weekly_intensity import (
    CANDIDATES,
    cell_labels,
    estimate_weekly_intensity,
)

OFFICE = np.where(cell_labels("kind", 24) == 0, 1.0, 0.2) * np.tile(
    np.where((np.arange(24) >= 9) & (np.arange(24) < 18), 2.0, 0.2), 7
)


def simulate(
    rng: np.random.Generator, rates: np.ndarray, weeks: int
) -> tuple[np.ndarray, np.ndarray]:
    exposure = np.ones((weeks, 168))
    return rng.poisson(np.broadcast_to(rates, exposure.shape)).astype(float), exposure


def divergence(truth: np.ndarray, rates: np.ndarray) -> float:
    """Kullback-Leibler divergence of the Poisson process a week, per event."""
    return float(np.sum(truth * np.log(truth / rates) - truth + rates) / truth.sum())


def test_much_data_show_the_pattern() -> None:
    """Two years of an office pattern: within a tenth of a nat of nothing lost."""
    found = estimate_weekly_intensity(*simulate(np.random.default_rng(1), OFFICE, 104))

    assert "1 h" in found.chosen or "3 h" in found.chosen
    assert divergence(OFFICE, found.rates) < 0.005
    assert found.dispersion_week == pytest.approx(1.0, abs=0.4)
    assert not found.has_trend


@pytest.mark.parametrize("seed", range(8))
def test_a_hundred_events_are_not_overfitted(seed: int) -> None:
    """Whatever is chosen is closer to the truth than 168 free cells, and no cell is zero."""
    counts, exposure = simulate(np.random.default_rng(seed), OFFICE * 0.11, 10)
    free = (counts.sum(axis=0) + 0.01) / 10

    found = estimate_weekly_intensity(counts, exposure)

    assert found.rates.min() > 0
    assert divergence(OFFICE * 0.11, found.rates) < 0.5 * divergence(OFFICE * 0.11, free)


@pytest.mark.parametrize("seed", range(5))
def test_no_pattern_is_seen_where_there_is_none(seed: int) -> None:
    """A constant rate stays nearly constant."""
    found = estimate_weekly_intensity(
        *simulate(np.random.default_rng(seed), np.full(168, 0.05), 20)
    )

    assert divergence(np.full(168, 0.05), found.rates) < 0.06


def test_bursts_are_recognised_and_make_no_pattern() -> None:
    """Ten events each time: variance ten times the mean, and hardly any held-out gain."""
    rng = np.random.default_rng(4)
    counts = np.asarray(10.0 * rng.poisson(0.02, (60, 168)), dtype=np.float64)

    found = estimate_weekly_intensity(counts, np.ones_like(counts))

    assert found.dispersion_week == pytest.approx(10, rel=0.4)
    assert found.dispersion_day == pytest.approx(10, rel=0.4)
    assert np.ptp(found.rates) < 2 * found.rates.mean()


def test_a_trend_is_found_with_its_error() -> None:
    """A rate growing 2 % a week, within three standard errors; the level now is above the mean."""
    rng = np.random.default_rng(2)
    growth = np.exp(0.02 * np.arange(60))[:, None]
    exposure = np.ones((60, 168))
    counts = rng.poisson(OFFICE * growth * 0.3).astype(float)

    found = estimate_weekly_intensity(counts, exposure)

    assert found.has_trend
    assert abs(found.trend - 0.02) < 3 * found.trend_error
    assert found.level_now == pytest.approx(np.exp(0.02 * 59) / growth.mean(), rel=0.15)


def test_hours_not_observed_do_not_count() -> None:
    """A record of mornings only: rates there as they are, elsewhere what the model expects."""
    rng = np.random.default_rng(3)
    exposure = np.tile(np.tile(np.arange(24) < 12, 7), (40, 1)).astype(float)
    counts = rng.poisson(0.5 * exposure).astype(float)

    found = estimate_weekly_intensity(counts, exposure)

    assert found.rates.mean() == pytest.approx(0.5, rel=0.1)


def test_fewer_than_ten_weeks_leave_out_days() -> None:
    """One week is enough to run, and shows no more than it can."""
    counts, exposure = simulate(np.random.default_rng(0), OFFICE, 1)

    found = estimate_weekly_intensity(counts, exposure)

    assert found.trend_error == np.inf
    assert set(found.scores) == set(CANDIDATES)


def probe_record(
    rng: np.random.Generator, rates: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Exposures and binary results of probes at random times, three hours apart on average."""
    ends = np.cumsum(rng.exponential(3.0, n + 1))
    exposure = np.zeros((n, 168))
    for row, (start, end) in enumerate(pairwise(ends)):
        edges = np.arange(int(start), int(end) + 2)
        np.add.at(exposure[row], edges[:-1] % 168, np.diff(np.clip(edges, start, end)))
    return exposure, rng.poisson(exposure @ rates) > 0


def test_probes_that_only_say_changed_or_not_show_the_pattern() -> None:
    """4,000 answers: work hours and nights told apart, the mean within 15 %."""
    exposure, changed = probe_record(np.random.default_rng(6), OFFICE, 4000)

    found = estimate_from_probes(exposure, changed)

    assert found.residual < 1e-9
    assert found.rates[9:18].mean() > 4 * found.rates[[0, 1, 2, 3, 4, 5]].mean()
    assert found.rates.mean() == pytest.approx(OFFICE.mean(), rel=0.15)
    assert divergence(OFFICE, found.rates) < 0.15


def test_the_estimate_from_probes_is_a_maximum() -> None:
    """Equal intervals of constant rate: the closed form -ln(1 - share) / interval."""
    rng = np.random.default_rng(8)
    exposure = np.full((500, 168), 2.0 / 168)
    changed = rng.random(500) < 0.4

    found = estimate_from_probes(exposure, changed)

    expected = -np.log1p(-changed.mean()) / 2.0
    assert found.rates == pytest.approx(np.full(168, expected), rel=0.01)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: estimate_weekly_intensity(np.zeros((2, 168)), np.ones((2, 168))), "no event"),
        (lambda: estimate_weekly_intensity(np.ones((2, 24)), np.ones((2, 24))), "shape"),
        (lambda: estimate_weekly_intensity(np.ones((2, 168)), np.zeros((2, 168))), "exposure"),
        (lambda: estimate_from_probes(np.ones((9, 168)), np.ones(9, np.bool_)), "always or never"),
        (lambda: estimate_from_probes(np.ones((9, 24)), np.ones(9, np.bool_)), "shape"),
    ],
)
def test_refusals(call, said: str) -> None:
    """A record that says nothing is refused with the reason."""
    with pytest.raises(InvalidModel, match=said):
        call()
