"""Phase-type laws and access times: moments, transforms, samples, refusals."""

import numpy as np
import pytest
from scipy import integrate, stats

from recrawl.errors import InvalidModel
from recrawl.processes.access_times import AccessTime, ConstantTime, ObservedTimes
from recrawl.processes.phase_type import PhaseType

COXIAN = PhaseType([0.7, 0.3], [[-3.0, 2.0], [0.5, -1.0]])


def test_common_families() -> None:
    """Means and variations by their closed forms."""
    assert PhaseType.exponential(2.0).mean == pytest.approx(2.0)
    assert PhaseType.exponential(2.0).squared_variation == pytest.approx(1.0)
    assert PhaseType.erlang(4, 3.0).mean == pytest.approx(3.0)
    assert PhaseType.erlang(4, 3.0).squared_variation == pytest.approx(0.25)
    mixed = PhaseType.hyperexponential([0.9, 0.1], [0.5, 5.5])
    assert mixed.mean == pytest.approx(1.0)
    assert mixed.squared_variation == pytest.approx(2 * (0.9 * 0.25 + 0.1 * 5.5**2) - 1)


def test_transforms_by_closed_form() -> None:
    """Erlang: 1 - (1 + s m / k)^-k, to full precision even for s = 1e-12."""
    s = np.array([1e-12, 1e-3, 1.0, 50.0])

    short = PhaseType.erlang(3, 2.0).shortfall(s)

    np.testing.assert_allclose(short, -np.expm1(-3 * np.log1p(s * 2 / 3)), rtol=1e-13)
    np.testing.assert_allclose(ConstantTime(2.0).shortfall(s), -np.expm1(-2 * s), rtol=1e-14)
    np.testing.assert_allclose(
        ObservedTimes([1.0, 3.0]).shortfall(s), -(np.expm1(-s) + np.expm1(-3 * s)) / 2, rtol=1e-13
    )


@pytest.mark.parametrize("law", [COXIAN, PhaseType.erlang(3, 2.0)], ids=["coxian", "erlang"])
def test_density_gives_the_transform_and_the_moments(law: PhaseType) -> None:
    """Quadrature over the density, by eigenvectors or by uniformisation."""
    mass, _ = integrate.quad(lambda t: float(law.density(t)), 0, 80, limit=200)
    mean, _ = integrate.quad(lambda t: t * float(law.density(t)), 0, 80, limit=200)
    h, _ = integrate.quad(lambda t: np.exp(-0.7 * t) * float(law.density(t)), 0, 80, limit=200)

    assert mass == pytest.approx(1.0, rel=1e-8)
    assert mean == pytest.approx(law.mean, rel=1e-8)
    assert h == pytest.approx(1 - float(law.shortfall(0.7)), rel=1e-8)


def test_erlang_density_is_gamma() -> None:
    """Three stages of mean 2/3 each."""
    t = np.linspace(0.01, 9, 50)

    expected = stats.gamma(3, scale=2 / 3).pdf(t)

    np.testing.assert_allclose(PhaseType.erlang(3, 2.0).density(t), expected, rtol=1e-10)


def test_samples_have_the_law() -> None:
    """Mean within 4 standard errors over 40,000 draws, seed 3."""
    rng = np.random.default_rng(3)

    drawn = COXIAN.sample(40_000, rng)

    error = np.sqrt(COXIAN.squared_variation) * COXIAN.mean / 200
    assert abs(drawn.mean() - COXIAN.mean) < 4 * error
    assert np.all(ConstantTime(2.0).sample(3, rng) == 2.0)
    assert set(ObservedTimes([1.0, 3.0]).sample(50, rng)) == {1.0, 3.0}


@pytest.mark.parametrize(
    ("initial", "generator", "message"),
    [
        ([1.0], [[1.0, 2.0]], "square matrix"),
        ([0.5], [[-1.0]], "sum to 1"),
        ([0.5, 0.5], [[-1.0, -0.5], [0.0, -1.0]], ">= 0 off the diagonal"),
        ([0.5, 0.5], [[-1.0, 2.0], [0.0, -1.0]], "each row must sum to 0 or less"),
        ([0.5, 0.5], [[-1.0, 1.0], [1.0, -1.0]], "absorption must be certain"),
    ],
)
def test_bad_phase_types_are_refused(
    initial: list[float], generator: list[list[float]], message: str
) -> None:
    """Each with what is wrong."""
    with pytest.raises(InvalidModel, match=message):
        PhaseType(initial, generator)


def test_bad_parameters_are_refused() -> None:
    """Families and other access times."""
    with pytest.raises(InvalidModel, match="mean must be finite and > 0, got 0"):
        PhaseType.exponential(0.0)
    with pytest.raises(InvalidModel, match="stages must be >= 1"):
        PhaseType.erlang(0, 1.0)
    with pytest.raises(InvalidModel, match="means must be"):
        PhaseType.hyperexponential([1.0], [0.0])
    with pytest.raises(InvalidModel, match="mean must be finite"):
        ConstantTime(np.inf)
    with pytest.raises(InvalidModel, match="at least one"):
        ObservedTimes([])
    with pytest.raises(InvalidModel, match="some > 0"):
        ObservedTimes([0.0])


@pytest.mark.parametrize(
    "law", [COXIAN, PhaseType.erlang(3, 2.0), PhaseType.coxian([2.0, 1.0, 0.5], [0.6, 0.3])]
)
def test_distribution_density_and_transform_belong_together(law: PhaseType) -> None:
    """The distribution integrates the density, its median halves it, the transform is E e^-sX."""
    t = np.array([0.3, 1.0, 4.0])
    masses = [integrate.quad(lambda x: float(law.density(x)), 0, end)[0] for end in t]

    np.testing.assert_allclose(law.distribution(t), masses, rtol=1e-8)
    np.testing.assert_allclose(law.distribution(law.quantiles([0.1, 0.5, 0.99])), [0.1, 0.5, 0.99])
    assert law.laplace(0.7).real == pytest.approx(1 - float(law.shortfall(0.7)))
    assert law.variance == pytest.approx(law.squared_variation * law.mean**2)
    assert law.scaled(3.0).moment(3) == pytest.approx(27 * law.moment(3))


@pytest.mark.slow
def test_a_long_erlang_time_does_not_underflow() -> None:
    """Nine hundred stages: weights are kept as logarithms."""
    law = PhaseType.erlang(900, 1.0)

    assert float(law.distribution(1.0)) == pytest.approx(stats.gamma(900, scale=1 / 900).cdf(1.0))


def test_mixtures_and_stages_that_are_never_visited() -> None:
    """A mixture of Erlang laws has the moments of the mixture; idle phases are found."""
    law = PhaseType.erlang_mixture([0.3, 0.7], [2, 3], [1.0, 5.0])

    assert law.mean == pytest.approx(0.3 * 2 + 0.7 * 3 / 5)
    assert law.moment(2) == pytest.approx(0.3 * 6 + 0.7 * 12 / 25)
    assert law.idle_phases == ()
    assert PhaseType([1, 0], [[-1, 0], [1, -2]]).idle_phases == (1,)
    with pytest.raises(InvalidModel, match="2 rates need 1 chances"):
        PhaseType.coxian([1.0, 2.0], [])
    with pytest.raises(InvalidModel, match="chances to go on between 0 and 1"):
        PhaseType.coxian([1.0, 2.0], [1.5])


LOADS = np.array([1e-9, 1e-3, 0.7, 5.0, 29.0, 38.0, 710.0, 1e4, 1e6])


@pytest.mark.parametrize(
    ("law", "decay"),
    [
        (ConstantTime(2.0), 2 * LOADS),
        (PhaseType.exponential(2.0), np.log1p(2 * LOADS)),
        (PhaseType.erlang(400, 2.0), 400 * np.log1p(2 * LOADS / 400)),
        (
            PhaseType.hyperexponential([0.3, 0.7], [1.0, 5.0]),
            np.where(
                LOADS < 0.1,
                -np.log1p(-0.3 * LOADS / (1 + LOADS) - 0.7 * 5 * LOADS / (1 + 5 * LOADS)),
                -np.log(0.3 / (1 + LOADS) + 0.7 / (1 + 5 * LOADS)),
            ),
        ),
        (ObservedTimes([3.0, 3.0]), 3 * LOADS),
        (
            ObservedTimes([1.0, 3.0]),
            LOADS - np.log1p(np.expm1(-2 * LOADS) / 2),
        ),
    ],
    ids=["constant", "exponential", "erlang", "hyper", "one value", "two values"],
)
def test_decays_keep_their_digits_at_any_load(law: AccessTime, decay: np.ndarray) -> None:
    """Closed forms to 1e-12, where the transform itself is 10**-800,000."""
    np.testing.assert_allclose(law.decay(LOADS), decay, rtol=1e-12)


def test_the_decay_of_phases_that_return() -> None:
    """By elimination in logarithms as by solving, while that can be told."""
    generator = np.array([[-3.0, 1.0, 1.5], [2.0, -4.0, 1.0], [0.2, 0.3, -0.6]])
    law = PhaseType([0.2, 0.3, 0.5], generator)

    found = law.decay(LOADS[2:7])

    np.testing.assert_allclose(found, -np.log(law.laplace(LOADS[2:7]).real), rtol=1e-12)
    assert law.decay([1e8]) == pytest.approx(-np.log((0.2 * 0.5 + 0.3 + 0.05) / 1e8), abs=1e-7)
