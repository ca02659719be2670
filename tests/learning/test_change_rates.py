"""Change rates from visits: against direct maximisation, and against the truth by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

from recrawl.errors import InvalidModel
from recrawl.learning.change_rates import (
    ChangeRates,
    bound_change_rates,
    estimate_change_rates,
)

Vector = NDArray[np.float64]


def estimated(
    intervals: list[float], changed: list[bool], *, mean: float = 0.1, shape: float = 0.5
) -> ChangeRates:
    """Estimate the rate of one page."""
    return estimate_change_rates(
        1,
        np.zeros(len(intervals), np.int64),
        np.array(intervals, float),
        np.array(changed, bool),
        prior_rate=mean,
        prior_shape=shape,
    )


def objective(
    theta: float, intervals: Vector, changed: NDArray[np.bool_], mean: float, shape: float
) -> float:
    """Log posterior density of ln(rate) up to a constant, written down directly."""
    rate = np.exp(theta)
    prior = shape * theta - shape / mean * rate
    return float(
        prior
        + np.sum(np.log(-np.expm1(-rate * intervals[changed])))
        - rate * intervals[~changed].sum()
    )


@given(
    visits=st.lists(
        st.tuples(st.floats(-3, 3).map(lambda x: 10.0**x), st.booleans()), min_size=1, max_size=25
    ),
    mean=st.floats(-3, 2).map(lambda x: 10.0**x),
    shape=st.floats(0.1, 5.0),
)
def test_it_agrees_with_direct_maximisation(
    visits: list[tuple[float, bool]], mean: float, shape: float
) -> None:
    """Of the same objective by a method that knows no derivative; errors by its curvature."""
    intervals = np.array([visit[0] for visit in visits])
    changed = np.array([visit[1] for visit in visits])
    best = optimize.minimize_scalar(
        lambda theta: -objective(theta, intervals, changed, mean, shape),
        bounds=(-25.0, 15.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    found = estimated(list(intervals), list(changed), mean=mean, shape=shape)
    theta, h = float(np.log(found.rates[0])), 1e-3
    around = [objective(theta + k * h, intervals, changed, mean, shape) for k in (-1, 0, 1)]
    curvature = (around[0] - 2 * around[1] + around[2]) / h**2

    assert theta == pytest.approx(best.x, abs=1e-5)
    assert found.log_errors[0] == pytest.approx(1 / np.sqrt(-curvature), rel=1e-2)
    assert found.residual < 1e-9


@given(
    visits=st.lists(
        st.tuples(st.floats(-9, 12).map(lambda x: 10.0**x), st.booleans()), max_size=20
    ),
    mean=st.floats(-12, 6).map(lambda x: 10.0**x),
    shape=st.floats(-3, 2).map(lambda x: 10.0**x),
)
def test_it_converges_from_any_visits(
    visits: list[tuple[float, bool]], mean: float, shape: float
) -> None:
    """Microseconds beside ages: finite, positive, in few steps."""
    found = estimated(
        [visit[0] for visit in visits], [visit[1] for visit in visits], mean=mean, shape=shape
    )

    assert 0 < found.rates[0] < np.inf
    assert 0 < found.log_errors[0] < np.inf
    assert found.iterations <= 60


def test_without_visits_a_page_gets_the_prior() -> None:
    """Mean m, and the error of a gamma of shape a: 1 / sqrt(a)."""
    found = estimated([], [], mean=0.25, shape=4.0)

    assert found.rates == pytest.approx([0.25])
    assert found.log_errors == pytest.approx([0.5])


def test_a_page_never_seen_to_change_has_a_closed_form() -> None:
    """Its rate is a / (a / m + time observed)."""
    found = estimated([10.0, 20.0, 70.0], [False] * 3, mean=0.1, shape=0.5)

    assert found.rates == pytest.approx([0.5 / (5.0 + 100.0)])


def test_a_page_always_seen_to_change_stays_finite() -> None:
    """The likelihood alone would say infinite; the prior bounds it, and more changes raise it."""
    rates = [estimated([1.0] * n, [True] * n).rates[0] for n in (1, 5, 50, 5000)]

    assert rates == sorted(rates)
    assert 0.1 < rates[0] < rates[-1] < 100.0


def test_time_observed_counts_not_the_number_of_visits() -> None:
    """Ten quiet visits of 1 s tell what one of 10 s tells."""
    many, one = estimated([1.0] * 10, [False] * 10), estimated([10.0], [False])

    assert many.rates == pytest.approx(one.rates)


@pytest.mark.parametrize("scale", [1e-6, 60.0, 86_400.0])
def test_the_unit_of_time_does_not_matter(scale: float) -> None:
    """Rates rescale, errors stay."""
    intervals, changed = [1.0, 5.0, 2.0, 9.0], [True, False, True, True]
    once = estimated(intervals, changed, mean=0.3)
    again = estimated([scale * t for t in intervals], changed, mean=0.3 / scale)

    assert again.rates * scale == pytest.approx(once.rates)
    assert again.log_errors == pytest.approx(once.log_errors)


def test_pages_do_not_influence_each_other() -> None:
    """All at once is each alone, in any order of visits."""
    page = np.array([2, 0, 2, 0, 2])
    intervals, changed = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 0, 0, 1, 1], bool)

    together = estimate_change_rates(
        3, page, intervals, changed, prior_rate=0.1, prior_shape=0.5
    ).rates

    alone = [
        estimated(list(intervals[page == n]), list(changed[page == n])).rates[0] for n in range(3)
    ]
    assert together == pytest.approx(alone)


def simulated(
    rates: Vector, n_visits: int, random: np.random.Generator, prior_shape: float = 0.5
) -> ChangeRates:
    """Visit every page at uneven intervals and estimate from what was seen."""
    page = np.repeat(np.arange(len(rates)), n_visits)
    intervals = random.exponential(1.0, page.size) / rates[page]
    changed = random.random(page.size) < -np.expm1(-rates[page] * intervals)
    return estimate_change_rates(
        len(rates),
        page,
        intervals,
        changed,
        prior_rate=float(rates.mean()),
        prior_shape=prior_shape,
    )


def test_known_rates_are_recovered_within_their_stated_errors() -> None:
    """2,000 pages, 100 visits each: scaled errors have mean 0 and variance 1, within 5 errors."""
    random = np.random.default_rng(21)
    rates = random.gamma(0.5, 2.0, 2000) + 1e-3

    found = simulated(rates, 100, random)

    z = (np.log(found.rates) - np.log(rates)) / found.log_errors
    assert abs(z.mean()) < 5 / np.sqrt(2000) + 0.05  # the bias of 100 visits is below 0.05 errors
    assert np.var(z) == pytest.approx(1.0, abs=5 * np.sqrt(2 / 2000))
    assert found.log_errors.mean() < 0.2


@pytest.mark.parametrize("n_visits", [0, 1, 3, 10])
@pytest.mark.parametrize("level", [0.68, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(n_visits: int, level: float) -> None:
    """When rates come from the prior; by the curvature they hold 60 and 84 to 91 %."""
    random, n = np.random.default_rng(22), 3000
    rates = random.gamma(0.7, 1.0 / 0.7, n)
    page = np.repeat(np.arange(n), n_visits)
    intervals = random.exponential(1.0, page.size)
    changed = random.random(page.size) < -np.expm1(-rates[page] * intervals)
    prior = {"prior_rate": 1.0, "prior_shape": 0.7}
    found = estimate_change_rates(n, page, intervals, changed, **prior)

    low, high = bound_change_rates(found, page, intervals, changed, level=level, **prior)

    held = int(np.sum((low <= rates) & (rates <= high)))
    least, most = stats.binom.ppf((1e-4, 1 - 1e-4), n, level)
    assert least <= held <= most
    below = int(np.sum(rates < low))
    assert below <= stats.binom.ppf(1 - 1e-4, n, (1 - level) / 2)


def test_intervals_of_one_page_by_integration() -> None:
    """Against the posterior integrated; in whatever parts it is computed."""
    page, intervals = np.array([0, 2, 2, 2, 0]), np.array([1.0, 0.5, 2.0, 1.0, 3.0])
    changed = np.array([True, True, False, True, False])
    prior = {"prior_rate": 0.8, "prior_shape": 1.5}
    found = estimate_change_rates(3, page, intervals, changed, **prior)

    def density(rate: float) -> float:
        seen = -np.expm1(-0.5 * rate) * -np.expm1(-rate) * np.exp(-2.0 * rate)
        return float(stats.gamma.pdf(rate, 1.5, scale=0.8 / 1.5) * seen)

    low, high = bound_change_rates(found, page, intervals, changed, **prior)

    whole = integrate.quad(density, 0.0, np.inf)[0]
    assert integrate.quad(density, 0.0, low[2])[0] / whole == pytest.approx(0.025, abs=3e-4)
    assert integrate.quad(density, 0.0, high[2])[0] / whole == pytest.approx(0.975, abs=3e-4)
    assert stats.gamma.cdf(low[1], 1.5, scale=0.8 / 1.5) == pytest.approx(0.025, abs=3e-4)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("recrawl.learning.change_rates._AT_ONCE", 1)
        again = bound_change_rates(found, page, intervals, changed, **prior)
    np.testing.assert_allclose(again, (low, high), rtol=1e-12)
    with pytest.raises(InvalidModel, match="level must lie in"):
        bound_change_rates(found, page, intervals, changed, level=1.0, **prior)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("intervals must be finite and > 0", {"intervals": np.array([0.0])}),
        ("intervals must be finite and > 0", {"intervals": np.array([np.nan])}),
        ("prior_rate must be finite and > 0, got 0", {"prior_rate": 0.0}),
        ("prior_shape must be finite and > 0, got inf", {"prior_shape": np.inf}),
        ("page must lie in 0 .. 0", {"page": np.array([1])}),
        ("page must lie in 0 .. 0", {"page": np.array([-1])}),
    ],
)
def test_numbers_outside_the_domain_are_named(message: str, change: dict[str, object]) -> None:
    """Rather than estimated from."""
    good: dict[str, object] = {
        "n_pages": 1,
        "page": np.array([0]),
        "intervals": np.array([1.0]),
        "changed": np.array([True]),
        "prior_rate": 1.0,
        "prior_shape": 1.0,
    }

    with pytest.raises(InvalidModel, match=message):
        estimate_change_rates(**(good | change))  # type: ignore[arg-type]
