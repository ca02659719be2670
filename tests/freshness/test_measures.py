"""Measures: definitions by quadrature, both ends of the scale, slopes, cycles."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import integrate, special

from recrawl.errors import InvalidModel
from recrawl.freshness import (
    AGE,
    FRESHNESS,
    HARMONIC,
    OBJECTIVES,
    STALENESS,
    Measure,
    Objective,
    Pages,
)
from recrawl.kernels.gaps import add_demand

MEASURES = (FRESHNESS, STALENESS, AGE, HARMONIC)
measures = st.sampled_from(MEASURES)
exponents = st.floats(-12, 12)


def cost_at(measure: Measure, d: float, t: float) -> float:
    """Return the definition, by other means than the package."""
    if measure is FRESHNESS:
        return float(np.exp(-d * t))
    if measure is STALENESS:
        return float(-np.expm1(-d * t))
    if measure is AGE:
        return float(t + np.expm1(-d * t) / d)
    return float(special.exp1(d * t) + np.log(d * t) + np.euler_gamma)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
@pytest.mark.parametrize("d", [0.05, 0.9, 3.0, 40.0])
def test_even_and_random_are_means_over_the_age(measure: Measure, d: float) -> None:
    """Age since the visit is uniform under even visits, exponential under random ones."""
    r = 0.8

    even, _ = integrate.quad(lambda t: cost_at(measure, d, t) * r, 0, 1 / r, epsabs=1e-13)
    random, _ = integrate.quad(
        lambda t: cost_at(measure, d, t) * r * np.exp(-r * t), 0, 60 / r, epsabs=1e-13, limit=400
    )

    assert float(measure.even(d, r)) == pytest.approx(even, rel=1e-9)
    assert float(measure.random(d, r)) == pytest.approx(random, rel=1e-7)


@pytest.mark.parametrize(
    "y", [1e-12, 1e-6, 0.01, 0.4999, 0.5001, 3.99, 4.01, 44.0, 46.0, 1e6, 1e12]
)
def test_both_ends_of_the_scale(y: float) -> None:
    """The leading terms where they are exact, Taylor polynomials and asymptotes elsewhere."""
    stale = float(STALENESS.even(y, 1.0))
    age = float(AGE.even(y, 1.0))
    harmonic = float(HARMONIC.even(y, 1.0))

    if y <= 0.01:
        assert stale == pytest.approx(y / 2 - y**2 / 6 + y**3 / 24 - y**4 / 120, rel=1e-11)
        assert age == pytest.approx(y / 6 - y**2 / 24 + y**3 / 120 - y**4 / 720, rel=1e-11)
        assert harmonic == pytest.approx(y / 2 - y**2 / 12 + y**3 / 72 - y**4 / 480, rel=1e-11)
    else:
        fresh = -np.expm1(-y) / y
        assert stale == pytest.approx(1 - fresh, rel=1e-12)
        assert age == pytest.approx((y / 2 - 1 + fresh) / y, rel=1e-11)
        ein = special.exp1(y) + np.log(y) + np.euler_gamma
        assert harmonic == pytest.approx(ein - 1 + fresh, rel=1e-12)


@given(measures, exponents, exponents)
def test_slopes_are_derivatives(measure: Measure, log_d: float, log_r: float) -> None:
    """Central differences of the values, wherever those still resolve a difference."""
    d, r = 10**log_d, 10**log_r
    for value, slope in (
        (measure.even, measure.even_slope),
        (measure.random, measure.random_slope),
    ):
        step = 1e-5 * r
        rise = (float(value(d, r + step)) - float(value(d, r - step))) / (2 * step)
        noise = 1e-15 * abs(float(value(d, r))) / step
        assert abs(float(slope(d, r)) - rise) <= 1e-6 * abs(rise) + 4 * noise
        assert (float(slope(d, r)) >= 0) == (measure is FRESHNESS)


@pytest.mark.parametrize("y", [1e299, 1e301, np.inf])
def test_worth_of_random_visits_at_the_end_of_the_scale(y: float) -> None:
    """Nearly all that a page is worth, or its age, or the square of that."""
    far = np.array([y])
    expected = {"freshness": 1.0, "harmonic": y}

    for measure, value in expected.items():
        assert OBJECTIVES[measure, "random"].worth(far)[0] == value  # type: ignore[index]


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda one: str(one.power))
def test_an_objective_that_travels_is_the_same_one(objective: Objective) -> None:
    """Its law is built once in a process, however many parts bring it along."""
    assert pickle.loads(pickle.dumps(objective)) is objective


@given(st.sampled_from(sorted(OBJECTIVES)), st.floats(-30, 30) | st.floats(-1, 1))
@example(("freshness", "even"), -0.25)
def test_gap_inverts_worth(key: tuple[str, str], log_worth: float) -> None:
    """The slow inverse, on which the table of the kernel rests."""
    objective: Objective = OBJECTIVES[key]  # type: ignore[index]
    worth = np.array([10**log_worth])
    if objective.is_bounded:
        worth = worth / (1 + worth)
    if worth[0] < 1:
        back = objective.worth(objective.gap(worth))
        np.testing.assert_allclose(back, worth, rtol=2e-14 * max(1.0, 1.0))
    elif not objective.is_bounded:
        np.testing.assert_allclose(objective.worth(objective.gap(worth)), worth, rtol=1e-13)


def test_the_gap_of_pages_that_are_hardly_worth_it_has_all_its_digits() -> None:
    """What a visit at that age lacks of its greatest worth is (1 + y) exp(-y)."""
    lacking = 2.0 ** -np.arange(1.0, 54.0)

    y = OBJECTIVES["freshness", "even"].gap(1.0 - lacking)

    np.testing.assert_allclose((1.0 + y) * np.exp(-y), lacking, rtol=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda o: f"{o.measure}-{o.spacing}")
@pytest.mark.parametrize("octave", [-200, -161, -159, -1, 105, 109, 200])
def test_the_quick_inverse_is_the_slow_one_within_its_table_and_beyond(
    objective: Objective, octave: int
) -> None:
    """One page that changes once in a unit of time asks for one over its gap at a price."""
    worth, loads = np.array([2.0**octave]), np.zeros(1)
    leaf = np.zeros(1, np.int64)

    add_demand(objective.law, Pages([1.0]).columns(), leaf, worth, loads)

    is_reached = not objective.is_bounded or worth[0] < 1.0
    expected = 1.0 / objective.gap(worth) if is_reached else np.zeros(1)
    np.testing.assert_allclose(loads, expected, rtol=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
def test_cycle_of_equal_gaps_is_even_spacing(measure: Measure) -> None:
    """And an uneven cycle is worse for every measure, at the same rate."""
    even = float(measure.even(0.7, 0.5))

    assert measure.cycle(0.7, [2.0, 2.0, 2.0]) == pytest.approx(even, rel=1e-13)
    uneven = measure.cycle(0.7, [1.0, 3.0])
    assert uneven < even if measure is FRESHNESS else uneven > even


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
def test_cycle_is_the_integral_over_its_gaps(measure: Measure) -> None:
    """By quadrature, and the slopes by differences."""
    gaps, d = np.array([0.3, 1.7, 5.0]), 0.9
    area = sum(integrate.quad(lambda t: cost_at(measure, d, t), 0, gap)[0] for gap in gaps)

    assert measure.cycle(d, gaps) == pytest.approx(area / gaps.sum(), rel=1e-9)
    for j in range(3):
        step = np.eye(3)[j] * 1e-6
        rise = (measure.cycle(d, gaps + step) - measure.cycle(d, gaps - step)) / 2e-6
        assert measure.cycle_slopes(d, gaps)[j] == pytest.approx(rise, rel=1e-6)


def test_pages_that_never_change_and_pages_never_visited() -> None:
    """The corners of the domain."""
    assert float(FRESHNESS.even(0.0, 0.0)) == 1
    assert float(FRESHNESS.random(0.0, 5.0)) == 1
    assert float(FRESHNESS.even(2.0, 0.0)) == 0
    assert float(STALENESS.random(2.0, 0.0)) == 1
    assert float(AGE.even(0.0, 1.0)) == 0
    assert float(AGE.even(1.0, 0.0)) == np.inf
    assert float(HARMONIC.even(1.0, 0.0)) == np.inf
    assert float(FRESHNESS.even_slope(0.0, 1.0)) == 0
    assert FRESHNESS.cycle(0.0, [1.0]) == 1
    assert AGE.cycle(0.0, [1.0]) == 0


def test_bad_arguments_are_refused() -> None:
    """With the name of the argument and the value."""
    with pytest.raises(InvalidModel, match="change_rates must be >= 0, got -1"):
        FRESHNESS.even(-1.0, 1.0)
    with pytest.raises(InvalidModel, match="crawl_rates must be >= 0, got nan"):
        FRESHNESS.even(1.0, np.nan)
    with pytest.raises(InvalidModel, match="at least one"):
        FRESHNESS.cycle(1.0, [])
    with pytest.raises(InvalidModel, match="finite and > 0"):
        FRESHNESS.cycle(1.0, [0.0])
