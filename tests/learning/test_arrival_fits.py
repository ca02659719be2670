"""From logs to processes: batches, order two, likelihood; recovery within sampling error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidModel, NotConverged
from recrawl.learning import ascent
from recrawl.learning.batch_log import split_log
from recrawl.learning.erlang_branches import (
    branchings,
    fit_branches,
    fit_dependent_branches,
    select_branches,
)
from recrawl.learning.order_two import correlation_bound, fit_order_two
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType

TRUTH = fit_order_two(2.0, 4.0, 0.3 * 0.8 ** np.arange(6)).process
SIZES = np.array([0.5, 0.3, 0.2])


def logged(n: int, seed: int) -> np.ndarray:
    """Timestamps, one for each item, of a process with correlated intervals and batches."""
    intervals, sizes = BatchArrivals.of(TRUTH, SIZES).sample(n, np.random.default_rng(seed))
    return np.repeat(np.cumsum(intervals), sizes)


def test_a_log_is_cut_and_merged() -> None:
    """Stops leave no interval and no pair; short gaps make batches."""
    part = np.cumsum(np.full(8, 2.0))
    times = np.sort(np.concatenate([part, part + 0.01, part + 900, [916.02]]))

    log = split_log(times, stop=100.0, merge=0.05)

    np.testing.assert_allclose(log.intervals, [*[1.99] * 7, *[2.0] * 7])
    assert log.starts.tolist() == [0, 7, 14]
    assert log.sizes.tolist() == [2] * 8 + [1] * 7 + [2]
    assert log.stops.size == 1
    assert log.merged == 9


def test_a_sampled_log_is_fitted_back() -> None:
    """6,000 batches, seed 5: law of sizes, mean, variance, correlations within sampling error."""
    log = split_log(logged(6000, 5))

    two = fit_order_two(log.mean, log.squared_variation, log.correlations(6))
    likely = fit_dependent_branches(log.intervals, log.starts, (1, 1))

    np.testing.assert_allclose(log.size_law, SIZES, atol=4 * 0.5 / 6000**0.5)
    errors = log.correlation_errors(4)
    for process in (two.process, likely.process):
        assert 1 / process.rate == pytest.approx(2.0, rel=0.1)
        assert process.interval_variance == pytest.approx(TRUTH.interval_variance, rel=0.25)
        off = process.correlations(4) - TRUTH.correlations(4)
        assert np.all(np.abs(off) < 4 * errors)
    assert two.said == ()
    rates = -np.diag(TRUTH.hidden)
    np.testing.assert_allclose(np.sort(likely.rates), np.sort(rates), rtol=0.1)
    alone = fit_dependent_branches(log.intervals, log.starts, (1,))
    assert likely.bic < alone.bic


@given(st.floats(0.01, 100), st.floats(1.05, 50), st.floats(-0.3, 0.98), st.floats(2.0, 5.0))
def test_order_two_matches_what_it_can(mean: float, scv: float, decay: float, third: float) -> None:
    """Mean and variance exactly; correlations that are a geometric decay from the bound."""
    bound = correlation_bound(scv)
    given_lags = bound * decay ** np.arange(1, 6)

    fit = fit_order_two(mean, scv, given_lags, third=third * (scv + 1) ** 2 * mean**3)

    assert fit.process.rate == pytest.approx(1 / mean, rel=1e-6)
    assert fit.process.interval_variance == pytest.approx(scv * mean**2, rel=1e-5)
    shares = fit.process.at_arrivals
    if decay >= -shares.min() / (1 - shares.min()):
        assert fit.decay == pytest.approx(decay, abs=2e-3)
    second = np.linalg.matrix_power(np.linalg.inv(-fit.process.hidden), 3).sum(axis=1)
    assert 6 * shares @ second == pytest.approx(third * (scv + 1) ** 2 * mean**3, rel=1e-5)


def test_the_papers_impossible_correlation_is_said() -> None:
    """0.622 at a squared variation of 1.1423; at a tenth of it all is well."""
    scv = 51352.38 / 212.03**2
    printed = np.array([0.622, 0.574, 0.555, 0.537, 0.523, 0.507])

    wrong, right = (fit_order_two(212.03, scv, row) for row in (printed, printed / 10))

    assert "lag-1 correlation 0.622: impossible" in wrong.said[0]
    assert "largest is 0.06227" in wrong.said[0]
    assert right.said == ()
    assert right.decay == pytest.approx(0.9675, abs=0.004)
    negative = fit_order_two(1.0, 2.0, [-0.4])
    assert "the least possible is" in negative.said[0]
    light = fit_order_two(1.0, 3.0, [0.1], third=1.0)
    assert "third moment 1: two exponential phases have more than 24" in light.said[0]


def test_likelihood_of_one_branch_in_closed_form() -> None:
    """Exponential: rate 1/mean, log-likelihood -n (1 + log mean); BIC picks it."""
    samples = np.random.default_rng(6).exponential(3.0, 2000)

    best, *others = select_branches(samples, order=3)

    assert best.stages == (1,)
    assert best.rates[0] == pytest.approx(1 / samples.mean())
    assert best.log_likelihood == pytest.approx(-2000 * (1 + np.log(samples.mean())))
    assert all(other.bic > best.bic for other in others)
    assert best.process.rate == pytest.approx(1 / samples.mean())


def test_mixtures_are_found_again() -> None:
    """Two branches of one and two stages, 4,000 samples, seed 7."""
    truth = PhaseType.erlang_mixture([0.4, 0.6], [1, 3], [0.2, 6.0])
    samples = truth.sample(4000, np.random.default_rng(7))

    fit = fit_branches(samples, (3, 1))

    np.testing.assert_allclose(fit.rates, [6.0, 0.2], rtol=0.08)
    np.testing.assert_allclose(fit.shares, [0.6, 0.4], atol=0.03)
    assert fit.time_law.mean == pytest.approx(samples.mean(), rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_stages_does_not_matter(seed: int) -> None:
    """Any order gives the same top, which is not below the likelihood of the truth."""
    rng = np.random.default_rng(seed)
    stages, rates = np.array([1, 2, 4]), np.array([1, 2, 4]) / np.exp(rng.uniform(-2, 2, 3))
    shares = rng.dirichlet(np.ones(3))
    which = rng.choice(3, 400, p=shares)
    times = rng.gamma(stages[which], 1 / rates[which])
    law = PhaseType.erlang_mixture(shares, stages, rates)
    truth = float(np.log(law.density(times)).sum())

    found = [fit_branches(times, order) for order in ((1, 2, 4), (4, 2, 1), (2, 4, 1))]

    assert found[0].log_likelihood > truth - 0.01
    for other in found[1:]:
        assert other.log_likelihood == pytest.approx(found[0].log_likelihood, abs=0.01)
    assert all(fit.gain > 0 for fit in found)


@pytest.mark.parametrize("seed", [3, 8])
def test_dependent_branches_are_not_below_the_truth(seed: int) -> None:
    """Sequences of 300 intervals, stages given in either order."""
    rng = np.random.default_rng(seed)
    stages, rates = np.array([1, 3]), np.array([1, 3]) / np.exp(rng.uniform(-2, 2, 2))
    moves = np.array([[0.9, 0.1], [0.2, 0.8]])
    which = np.zeros(300, dtype=np.int64)
    for t in range(1, 300):
        which[t] = rng.choice(2, p=moves[which[t - 1]])
    times = rng.gamma(stages[which], 1 / rates[which])
    likelihood = 0.0
    ahead = np.array([1.0, 0.0])
    for time in times:
        density = rates**stages * time ** (stages - 1.0) * np.exp(-rates * time) / [1, 2]
        here = ahead * density
        likelihood += np.log(here.sum())
        ahead = here / here.sum() @ moves

    one, two = (
        fit_dependent_branches(times, np.array([0, 300]), order) for order in ((1, 3), (3, 1))
    )

    assert one.log_likelihood > likelihood - 0.01
    assert two.log_likelihood == pytest.approx(one.log_likelihood, abs=0.01)


def test_all_ways_to_split_stages() -> None:
    """Partitions, fewest stages first."""
    assert list(branchings(3)) == [(1,), (2,), (1, 1), (3,), (2, 1), (1, 1, 1)]


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unsorted, too short, not positive, too regular, stopped short."""
    with pytest.raises(InvalidModel, match="entry 2 is before entry 1"):
        split_log([0.0, 2.0, 1.0])
    with pytest.raises(InvalidModel, match="0 are left of 0 arrivals"):
        split_log([])
    with pytest.raises(InvalidModel, match=r"3 are left of 6 arrivals \(2 gaps merged"):
        split_log([0, 0, 1, 2, 2, 3])
    with pytest.raises(InvalidModel, match="stop must exceed merge, got 1 and 2"):
        split_log([0, 1], stop=1.0, merge=2.0)
    with pytest.raises(InvalidModel, match="squared variation above 1"):
        fit_order_two(1.0, 0.8, [0.0])
    with pytest.raises(InvalidModel, match="at least 2 times"):
        fit_branches([1.0], (1,))
    with pytest.raises(InvalidModel, match="entry 1 is -2"):
        fit_branches([1.0, -2.0], (1,))
    monkeypatch.setattr(ascent, "_MOST_STEPS", 2)
    samples = PhaseType.hyperexponential([0.5, 0.5], [1, 9]).sample(200, np.random.default_rng(1))
    with pytest.raises(NotConverged, match="Erlang mixture"):
        fit_branches(samples, (1, 1))
    with pytest.raises(NotConverged, match="dependent branches"):
        fit_dependent_branches(samples, np.array([0, 200]), (1, 1))
