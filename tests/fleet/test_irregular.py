"""Robots by length alone, under bursts and irregular indexing: against brute force and theory."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.control.fleet.regularity import Regularity
from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    IrregularFleet,
    evaluate_irregular,
    irregular,
    solve_irregular,
    starvation_and_loss,
)
from recrawl.fleet.curve import evaluate_targets
from recrawl.fleet.measures import FleetMeasures, measure_occupancy
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

BURSTS = MarkovianArrivals.modulated([[-0.02, 0.02], [0.06, -0.06]], [0.02, 0.3])
LONG = PhaseType.hyperexponential([0.9, 0.1], [0.4, 6.4])


def by_hand(  # noqa: C901 - event by event, as plainly as can be
    model: IrregularFleet, targets: list[int]
) -> tuple[float, float, float, float]:
    """Starvation, losses, served pages and mean robots from the generator, state by state."""
    n, k = model.robots, model.buffer
    z, m = model.phases
    states = [
        (q, r, a, s)
        for q, r, a, s in itertools.product(range(k + 1), range(n + 1), range(z), range(m))
        if not (q == 0 and (s > 0 or r == 0))
    ]
    number = {state: place for place, state in enumerate(states)}
    generator = np.zeros((len(states), len(states)))

    def go(here: tuple[int, int, int, int], there: tuple[int, int, int, int], rate: float) -> None:
        generator[number[here], number[there]] += rate

    for q, r, a, s in states:
        here = (q, r, a, s)
        for b in range(z):
            if a != b:
                go(here, (q, r, b, s), r * model.arrivals.hidden[a, b])
            after = min(q + 1, k)
            robots = r if r - 1 < targets[after] else r - 1
            rate = r * model.arrivals.visible[a, b]
            if q > 0:
                go(here, (after, robots, b, s), rate) if r else None
            else:
                for first, share in enumerate(model.service.initial):
                    go(here, (after, robots, b, first), rate * share)
        if q > 0:
            for t in range(m):
                if t != s:
                    go(here, (q, r, a, t), model.service.generator[s, t])
            more = r + 1 if r < targets[q - 1] else r
            end = model.service.exits[s]
            for first, share in enumerate(model.service.initial if q > 1 else [1.0]):
                go(here, (q - 1, more, a, first), end * share)
    generator -= np.diag(generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(len(states))])
    law = np.linalg.lstsq(system, np.eye(len(states) + 1)[-1], rcond=None)[0]
    rows = list(zip(states, law, strict=True))
    brought, exits = model.arrivals.visible.sum(axis=1), model.service.exits
    return (
        sum(p for (q, *_), p in rows if q == 0),
        sum(p * r * brought[a] for (q, r, a, _), p in rows if q == k),
        sum(p * exits[s] for (q, _, _, s), p in rows if q > 0),
        sum(p * r for (_, r, _, _), p in rows),
    )


@given(
    st.integers(1, 4),
    st.lists(st.integers(0, 4), min_size=2, max_size=5),
    st.sampled_from([MarkovianArrivals.poisson(0.3), BURSTS]),
    st.sampled_from([PhaseType.exponential(1.0), PhaseType.erlang(3, 0.8), LONG]),
)
@settings(max_examples=40, deadline=None)
def test_measures_are_those_of_the_chain(
    robots: int, curve: list[int], arrivals: MarkovianArrivals, service: PhaseType
) -> None:
    """Any curve, any laws: as by elimination of the whole generator."""
    targets = sorted((min(aim, robots) for aim in curve), reverse=True)
    targets[0] = max(targets[0], 1)
    model = IrregularFleet(robots, len(curve) - 1, arrivals, service, 1.0)
    starvation, loss_rate, served, active = by_hand(model, targets)

    found = evaluate_irregular(model, targets)

    assert found.starvation == pytest.approx(starvation, rel=1e-8)
    assert found.loss_rate == pytest.approx(loss_rate, rel=1e-8, abs=1e-12)
    assert found.throughput == pytest.approx(served, rel=1e-8)
    assert found.robots_mean == pytest.approx(active, rel=1e-8)
    assert found.throughput == pytest.approx((1 - found.starvation) / service.mean, rel=1e-8)
    assert starvation_and_loss(model, targets) == pytest.approx(
        (starvation, loss_rate), rel=1e-8, abs=1e-12
    )


def test_with_exponential_times_it_is_the_papers_model() -> None:
    """Another method, the same numbers, at a size that is used."""
    model = IrregularFleet(16, 40, MarkovianArrivals.poisson(0.1), PhaseType.exponential(1.0), 1.4)
    targets = solve_irregular(model).targets
    occupancy = evaluate_targets(model.exponential, targets)
    expected = measure_occupancy(model.exponential, occupancy)

    found = evaluate_irregular(model, targets)

    assert found.cost == pytest.approx(expected.cost, rel=1e-10)
    assert found.buffer_mean == pytest.approx(expected.buffer_mean, rel=1e-10)
    assert found.response_time == pytest.approx(expected.response_time, rel=1e-10)


@pytest.mark.parametrize("load", [1e-3, 0.5, 4.0, 1e3, 1e12])
@pytest.mark.parametrize("buffer", [32, 256])
def test_all_robots_always_are_the_queue_of_one_server(load: float, buffer: int) -> None:
    """M/M/1/K in closed form, digit by digit, however seldom it is empty or full."""
    model = IrregularFleet(
        8, buffer, MarkovianArrivals.poisson(load / 8), PhaseType.exponential(1.0), 1.0
    )
    weights = load ** (np.arange(buffer + 1.0) - (buffer if load > 1 else 0))

    found = evaluate_irregular(model, [8] * (buffer + 1))

    assert found.starvation == pytest.approx(weights[0] / weights.sum(), rel=1e-9, abs=1e-300)
    full = weights[-1] / weights.sum()
    assert found.loss_rate == pytest.approx(load * full, rel=1e-9, abs=1e-300)
    assert starvation_and_loss(model, [8] * (buffer + 1)) == pytest.approx(
        (found.starvation, found.loss_rate), rel=1e-9, abs=1e-300
    )


@given(
    st.floats(-2.0, 3.0),
    st.floats(-1.5, 3.0),
    st.floats(0.5, 6.0),
    st.floats(-1.0, 3.0),
    st.floats(-0.4, 0.99),
    st.sampled_from([1, 8]),
)
@settings(max_examples=40, deadline=None)
def test_whatever_a_crawl_measures_has_a_law(
    load: float, service: float, third: float, arrivals: float, correlation: float, robots: int
) -> None:
    """Robots a thousand times faster than the indexer, or slower; as irregular as it may be.

    That what comes is lost or goes out is a certificate that the law carries.
    """
    measured = Regularity(10.0**service, 10.0**third, 10.0**arrivals, correlation)
    model = measured.fleet(ControlledBuffer(robots, 32, 10.0**load, 1.0, 1.0))
    room = [min(robots, 32 - length) for length in range(33)]

    found = evaluate_irregular(model, room)

    assert found.loss_rate == 0.0
    assert found.throughput == pytest.approx((1.0 - found.starvation) / model.service.mean)
    always = evaluate_irregular(model, [robots] * 33)
    assert (always.robots_min, always.robots_max) == (robots, robots)
    if measured.has_poisson_arrivals:
        assert always.starvation <= found.starvation + 1e-12


def test_with_exponential_times_nothing_beats_the_optimum() -> None:
    """The search ends where the exact optimum is."""
    model = IrregularFleet(16, 5, MarkovianArrivals.poisson(0.1), PhaseType.exponential(1.0), 1.4)

    found = solve_irregular(model)

    assert found.targets == (16, 14, 12, 9, 7, 4)
    assert found.is_settled
    assert found.measures.cost == found.exponential_cost


@pytest.mark.parametrize(
    ("arrivals", "service"),
    [(MarkovianArrivals.poisson(0.3), LONG), (BURSTS, PhaseType.exponential(1.0)), (BURSTS, LONG)],
)
def test_the_search_finds_the_best_curve_of_a_small_buffer(
    arrivals: MarkovianArrivals, service: PhaseType
) -> None:
    """Against every curve that there is."""
    model = IrregularFleet(4, 4, arrivals, service, 1.2)
    curves = [
        curve
        for curve in itertools.product(range(4, -1, -1), repeat=5)
        if curve[0] >= 1 and list(curve) == sorted(curve, reverse=True)
    ]

    found = solve_irregular(model)

    assert found.measures.cost == pytest.approx(
        min(evaluate_irregular(model, curve).cost for curve in curves), rel=1e-9
    )
    assert found.measures.cost <= found.exponential_cost


def test_irregular_indexing_is_worth_knowing_of() -> None:
    """The best curve for exponential times costs more where indexing times are heavy-tailed."""
    model = IrregularFleet(
        16,
        20,
        MarkovianArrivals.poisson(0.1),
        PhaseType.hyperexponential([0.98, 0.02], [0.6, 20.6]),
        1.0,
    )

    found = solve_irregular(model)

    assert found.measures.cost < 0.95 * found.exponential_cost


def test_no_more_curves_are_compared_than_take_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by the robots that it spans: of 64 and a large buffer one curve alone takes seconds."""
    better = itertools.count(1.0, -1e-6)  # each than the one before: the search would go on

    def told(_: IrregularFleet, curve: Sequence[int]) -> tuple[float, float]:
        return next(better) - 0.5 * (curve[0] - curve[-1] >= 63), 0.0

    def measured(model: IrregularFleet, _: Sequence[int]) -> FleetMeasures:
        return replace(evaluate_irregular(model, (1,) * 129), cost=0.5)

    monkeypatch.setattr(irregular, "starvation_and_loss", told)
    monkeypatch.setattr(irregular, "evaluate_irregular", measured)

    found = solve_irregular(IrregularFleet(64, 128, BURSTS, LONG, 1.0))

    assert not found.is_settled
    assert found.evaluations <= 5


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ([1, 2], "targets must have 3 entries"),
        ([0, 1, 1], r"targets\[0\] must be 1..2 robots, got 0"),
        ([1, 2, 1], "targets must not increase, got 2 after 1"),
        ([3, 1, 1], r"targets\[0\] must be 1..2 robots, got 3"),
    ],
)
def test_a_curve_out_of_bounds_is_refused(targets: list[int], words: str) -> None:
    """What is wrong, and what would be right."""
    model = IrregularFleet(2, 2, MarkovianArrivals.poisson(1.0), PhaseType.exponential(1.0), 1.0)

    with pytest.raises(InvalidModel, match=words):
        evaluate_irregular(model, targets)


def test_the_model_checks_what_the_exponential_one_checks() -> None:
    """Sizes and weights."""
    with pytest.raises(InvalidModel, match="robots must be at least 1"):
        IrregularFleet(0, 2, MarkovianArrivals.poisson(1.0), PhaseType.exponential(1.0), 1.0)
    model = IrregularFleet(
        2, 3, MarkovianArrivals.poisson(0.5), PhaseType.exponential(4.0), 1.5, loss_weight=2.0
    )
    plain = ControlledBuffer(2, 3, 0.5, 0.25, starvation_weight=1.5, loss_weight=2.0)
    assert asdict(model.exponential) == pytest.approx(asdict(plain))
