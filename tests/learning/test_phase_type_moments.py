"""Laws with given moments: the moments come back, and what cannot be matched is said."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidModel
from recrawl.learning.phase_type_moments import (
    InfeasibleMoments,
    fit_three_moments,
    fit_two_moments,
)
from recrawl.processes.phase_type import PhaseType


@given(st.floats(1e-6, 1e6), st.floats(0.02, 500.0))
@settings(max_examples=30)
def test_two_moments_come_back(mean: float, scv: float) -> None:
    """At any variation that 200 stages can have, in any unit."""
    law = fit_two_moments(mean, scv)

    assert law.mean == pytest.approx(mean, rel=1e-9)
    assert law.squared_variation == pytest.approx(scv, rel=1e-6)


@given(st.floats(0.05, 0.95), st.floats(1.1, 50.0), st.integers(1, 6), st.floats(1e-3, 1e3))
def test_three_moments_come_back(share: float, ratio: float, stages: int, unit: float) -> None:
    """Those of any mixture of two Erlang laws of common order."""
    given_law = PhaseType.erlang_mixture([share, 1 - share], [stages] * 2, [1 / unit, ratio / unit])

    law = fit_three_moments(*(given_law.moment(k) for k in (1, 2, 3)))

    for k in (1, 2, 3):
        assert law.moment(k) == pytest.approx(given_law.moment(k), rel=1e-6)
    assert law.initial.size <= 2 * stages


def test_the_content_sizes_of_the_paper() -> None:
    """Three moments of 65,000 pages: hyper-exponential of two phases, squared variation 83.776."""
    law = fit_three_moments(49207.0356, 2.0527e11, 2.5773e18)

    assert law.initial.size == 2
    assert law.squared_variation == pytest.approx(83.776, abs=5e-4)
    scaled = law.scaled(8.2 / law.mean)
    assert sorted(scaled.initial) == pytest.approx([0.0057530488785, 0.994246951121], rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    mean=st.floats(1e-3, 1e3),
    variation=st.floats(0.03, 100.0),
    above=st.floats(1e-4, 1e3),
)
@example(mean=1.0, variation=0.0370437912423955, above=18.479080489)
def test_what_is_accepted_is_exact_and_what_is_not_has_a_neighbour_that_is(
    mean: float, variation: float, above: float
) -> None:
    """To 1e-10 of each moment; the nearest third moment is one that can be had."""
    second = mean**2 * (1.0 + variation)
    third = second**2 / mean * (1.0 + above)
    try:
        law = fit_three_moments(mean, second, third)
    except InfeasibleMoments as error:
        law, third = fit_three_moments(mean, second, error.nearest), error.nearest

    for order, moment in enumerate((mean, second, third), start=1):
        assert law.moment(order) == pytest.approx(moment, rel=1e-9)


def test_what_cannot_be_matched_is_said() -> None:
    """Negative, impossible, too regular."""
    with pytest.raises(InvalidModel, match="mean must be finite and > 0, got -1"):
        fit_two_moments(-1.0, 1.0)
    with pytest.raises(InvalidModel, match="at least 1/200"):
        fit_two_moments(1.0, 0.001)
    with pytest.raises(InvalidModel, match="moments must be finite and > 0"):
        fit_three_moments(1.0, -2.0, 3.0)
    with pytest.raises(InvalidModel, match="no positive random time: the second must exceed 4"):
        fit_three_moments(2.0, 3.0, 9.0)
    with pytest.raises(InvalidModel, match="need more than 100 stages"):
        fit_three_moments(1.0, 1.001, 1.0031)
