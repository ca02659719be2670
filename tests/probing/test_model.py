"""The cost model: closed forms, measures, what recorded events cost, and every refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.probing.strategies import quadrature_cost, sources

from recrawl.errors import InvalidModel
from recrawl.probing import (
    ProbedSource,
    Profile,
    evaluate_events,
    evaluate_schedule,
    schedule_uniform,
    work_hours,
)
from recrawl.probing.bounds import bound_interval, bound_shift

EVEN = ProbedSource(Profile.constant(2.0, 10.0), Profile.constant(3.0, 10.0))


def test_constant_functions_have_the_textbook_cost() -> None:
    """C(s, f) = a lambda (f - s)^2 / 2, so n even probes cost a lambda T^2 / 2n."""
    assert EVEN.interval_cost(2.0, 7.0) == pytest.approx(3.0 * 2.0 * 25 / 2, rel=1e-14)
    assert EVEN.cost(schedule_uniform(EVEN, 5)) == pytest.approx(600 / 10, rel=1e-14)


@given(sources(linear=True), st.floats(0, 1), st.floats(0, 1))
def test_interval_costs_are_equation_5(drawn, one: float, other: float) -> None:
    """The closed form equals the double integral, for constant and linear pieces."""
    source, times = drawn
    start, end = sorted([one * times[-1], other * times[-1]])

    expected = quadrature_cost(source, start, end)

    assert source.interval_cost(start, end) == pytest.approx(expected, rel=2e-3, abs=1e-3)


@given(sources(linear=True), st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_lemma_3_and_the_monge_inequality(drawn, shares: list[float]) -> None:
    """C(a,d) + C(b,c) - C(a,c) - C(b,d) = Lambda(a,b) A(c,d), which is never negative."""
    source, times = drawn
    a, b, c, d = sorted(share * times[-1] for share in shares)
    cost = source.interval_cost
    updates, worth = source.integrals([a, b, c, d])

    product = (updates[1] - updates[0]) * (worth[3] - worth[2])

    excess = cost(a, d) + cost(b, c) - cost(a, c) - cost(b, d)
    assert excess == pytest.approx(product, rel=1e-9, abs=1e-9)
    split = cost(a, b) + (updates[1] - updates[0]) * (worth[3] - worth[1]) + cost(b, d)
    assert cost(a, d) == pytest.approx(split, rel=1e-9, abs=1e-9)


def test_short_intervals_keep_their_accuracy() -> None:
    """Only positive terms are added: a microsecond late in a long period costs exactly so much."""
    late = ProbedSource(Profile.constant(1.0, 1e6), Profile.constant(1.0, 1e6))
    start, width = 999_999.0, 2.0**-20

    assert late.interval_cost(start, start + width) == pytest.approx(width**2 / 2, rel=1e-12)


def test_delay_and_share_seen_of_uniform_probes() -> None:
    """Evenly spread updates wait half an interval on average; within d, the share d / interval."""
    found = evaluate_schedule(EVEN, schedule_uniform(EVEN, 5), [0.5, 1.0, 2.0, 5.0])

    assert found.delay == pytest.approx(1.0)
    assert list(found.seen_within.values()) == pytest.approx([0.25, 0.5, 1.0, 1.0])
    assert found.updates == 20.0


def test_events_cost_what_they_waited() -> None:
    """By hand: weight 1 until 5, then 3; events in several periods; one at a probe's very time."""
    source = ProbedSource(Profile.constant(1, 10), Profile.steps([0, 5, 10], [1, 3]))

    found = evaluate_events(source, [4.0, 10.0], [1.0, 4.0, 4.5, 21.0, 9.0, 20.0])

    assert found.delays == pytest.approx([3, 0, 5.5, 3, 1, 4])
    assert found.costs == pytest.approx([3, 0, 0.5 + 15, 3, 3, 4])
    assert found.total == pytest.approx(28.5)


def test_simulated_events_cost_what_is_expected() -> None:
    """A Poisson process through many periods agrees within four standard errors (seed 5)."""
    rng = np.random.default_rng(5)
    source = ProbedSource(Profile.steps([0, 3, 10], [4, 1]), work_hours(9, 17, 3, day=10 / 7))
    probes = np.array([2.0, 3.5, 9.0, 10.0])
    periods = 4000
    counts = rng.poisson(source.updates, periods)
    levels = rng.uniform(0, source.updates, counts.sum())
    grid = np.linspace(0, 10, 5001)
    phases = np.interp(levels, source.integrals(grid)[0], grid)
    events = phases + np.repeat(np.arange(periods), counts) * 10.0

    found = evaluate_events(source, probes, events)

    per_period = np.bincount((events // 10).astype(int), found.costs, periods)
    error = per_period.std() / np.sqrt(periods)
    assert abs(per_period.mean() - source.cost(probes)) < 4 * error


@given(sources(), st.floats(0.1, 10))
def test_the_unit_of_time_changes_the_cost_by_its_factor(drawn, factor: float) -> None:
    """Updates a day over days, or a minute over minutes: the cost is update time."""
    source, times = drawn
    probes = times[1:]

    other = ProbedSource(
        source.intensity.scale_time(factor).scale(1 / factor),
        source.importance.scale_time(factor),
    )

    assert other.cost(factor * probes) == pytest.approx(factor * source.cost(probes), rel=1e-9)


def test_starting_elsewhere_rotates_the_functions() -> None:
    """The value at t from the new start is the old value at start + t, wherever the breaks are."""
    week = work_hours(9, 18, 3)
    for start in (0.0, 0.1, 2.5, 6.99, 9.0):
        moved = week.start_at(start)
        at = np.linspace(0.001, 6.999, 1000)
        assert moved(at) == pytest.approx(week(at + start))
        assert moved.total == pytest.approx(week.total)


def test_repeating_and_integrals_beyond_the_period() -> None:
    """Four weeks are four times one, and integrals go on."""
    week = work_hours(9, 18, 3)

    assert week.repeat(4).total == pytest.approx(4 * week.total)
    at = np.linspace(0, 27.9, 57)
    assert week.repeat(4).integral(at) == pytest.approx(week.integral(at))


def test_a_polygon_is_linear_between_its_heights() -> None:
    """Values and integrals of a triangle."""
    roof = Profile.polygon([0, 1, 3], [0, 2, 0])

    assert not roof.is_steps
    assert roof([0.5, 2.0]) == pytest.approx([1.0, 1.0])
    assert roof.integral([1.0, 2.0]) == pytest.approx([1.0, 2.5])
    assert roof.maximum == 2.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Profile.steps([0, 1, 2], [1, -1]), "value of piece 1 .* must be finite and >= 0"),
        (lambda: Profile.steps([0, 1], [np.nan]), "must be finite and >= 0, got nan"),
        (lambda: Profile.steps([0, 1, 1], [1, 1]), "breaks must be finite, start at 0"),
        (lambda: Profile.steps([1, 2], [1]), "start at 0"),
        (lambda: Profile.steps([0, 1], [1, 2]), "one value"),
        (lambda: Profile.constant(1, 7).repeat(0), "times must be at least 1"),
        (lambda: work_hours(18, 9, 2), "0 <= first < last <= 24"),
        (
            lambda: ProbedSource(Profile.constant(1, 2), Profile.constant(0, 2)),
            "importance is zero",
        ),
        (lambda: ProbedSource(Profile.constant(0, 2), Profile.constant(1, 2)), "intensity is zero"),
        (lambda: ProbedSource(Profile.constant(1, 2), Profile.constant(1, 3)), "must be equal"),
        (lambda: EVEN.with_gap(11), "gap must lie in 0 .. 10"),
        (lambda: EVEN.with_gap(-1), "gap must lie"),
        (lambda: EVEN.check_count(0), "probes must be at least 1, got 0"),
        (lambda: EVEN.with_gap(3).check_count(4), "the largest possible number is 3"),
        (lambda: evaluate_schedule(EVEN, [5.0]), "last probe must be at the end"),
        (lambda: evaluate_schedule(EVEN, []), "at least one finite time"),
        (lambda: evaluate_schedule(EVEN, [5.0, 4.0, 10.0]), "probe 2 at 4 comes -1 after"),
        (lambda: evaluate_events(EVEN, [10.0], [-1.0]), "events must be finite times >= 0"),
    ],
)
def test_refusals_say_what_would_be_right(make, said: str) -> None:
    """Each names the argument, the bound and the value."""
    with pytest.raises(InvalidModel, match=said):
        make()


@given(
    sources(linear=True),
    st.lists(st.floats(0, 1), min_size=2, max_size=2),
    st.lists(st.floats(-1, 1), min_size=2, max_size=2),
    st.floats(1e-3, 0.2),
)
def test_lemmas_6_and_7(drawn, shares: list[float], moves: list[float], largest: float) -> None:
    """What an interval costs at most, and by how much it changes as its ends move."""
    source, times = drawn
    start, end = sorted(share * times[-1] for share in shares)
    shift = largest * times[-1]
    other, later = sorted(
        np.clip(at + move * shift, 0, times[-1])
        for at, move in zip((start, end), moves, strict=True)
    )
    cost, length = source.interval_cost(start, end), end - start

    assert 0 <= cost <= bound_interval(source, length) * (1 + 1e-9) + 1e-12
    change = abs(source.interval_cost(other, later) - cost)
    assert change <= bound_shift(source, length, shift) * (1 + 1e-9) + 1e-12


def test_lemmas_6_and_7_are_attained() -> None:
    """By constant functions, where both ends move apart."""
    wide = EVEN.interval_cost(1.5, 7.5)

    assert EVEN.interval_cost(2.0, 7.0) == pytest.approx(bound_interval(EVEN, 5.0), rel=1e-14)
    assert wide - EVEN.interval_cost(2.0, 7.0) == pytest.approx(bound_shift(EVEN, 5.0, 0.5))
