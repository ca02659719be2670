"""The best control: published sets, exhaustive search, limits with prices, fronts, studies."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.fleet.bursty.instances import INSTANCES, instance, random_model

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty import (
    BurstyBuffer,
    best_by_subset,
    evaluate_closed,
    evaluate_map,
    improve_map,
    independent_robots,
    list_maps,
    list_thresholds,
    marked_robots,
    robots_from_thresholds,
    solve_bursty,
    solve_constrained,
    solve_full_information,
    study_buffer,
    thinned_robots,
    trade_off_front,
    vary,
)
from recrawl.fleet.bursty.optimum import count_maps
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType


@pytest.mark.parametrize("name", ["paper", "A", "C"])
def test_all_subsets_and_thresholds(name: str) -> None:
    """As Table 1, and the benchmark's values to 1e-8."""
    table = list_thresholds(instance(name))

    found = {tuple(sorted(one.robots)): one for one in best_by_subset(table)}

    known = INSTANCES[name]["table1"]
    assert len(found) == len(known) == 15
    for row in known:
        ours = found[tuple(row["robots"])]
        assert ours.cost == pytest.approx(row["J"], rel=1e-8)
        rule = robots_from_thresholds(table.model, ours.robots, ours.thresholds)
        assert evaluate_map(table.model, rule).cost == pytest.approx(ours.cost, rel=1e-10)


def test_all_thresholds_of_a_hundred_levels() -> None:
    """Instance B: one block operation for each different suffix."""
    table = list_thresholds(instance("B"))

    best = int(np.argmin(table.costs()))

    assert (table.sums.shape[0], table.blocks) == (5253, 182_103)
    assert table.costs()[best] == pytest.approx(INSTANCES["B"]["best_threshold_map"]["J"], rel=1e-8)
    assert table.robots_by_length(best) == (3,) * 25 + (2,) * 4 + (1,) * 72


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_enumeration_against_one_by_one(seed: int) -> None:
    """Every map of a small random model, all measures."""
    model = random_model(seed, stale_phases=1)
    table = list_maps(model)

    assert table.sums.shape[0] == 2**model.levels
    for number in range(table.sums.shape[0]):
        alone = evaluate_map(model, table.robots_by_length(number))
        for name in ("cost", "loss", "obsolescence", "starvation", "sojourn_served"):
            ours = table.measure(name)[number]
            assert ours == pytest.approx(getattr(alone, name), rel=1e-10), name
    listed = {table.robots_by_length(k) for k in range(table.sums.shape[0])}
    assert listed == set(product(model.robots, repeat=model.levels))


def test_enumeration_with_phases_of_obsolescence() -> None:
    """Solved one by one, in the same order."""
    model = replace(instance("A", 3), robots=())
    table = list_thresholds(model, (0, 2))

    for number in range(table.sums.shape[0]):
        robots = table.robots_by_length(number)
        assert list(robots) == sorted(robots, reverse=True)
        alone = evaluate_map(model, robots)
        assert table.measure("cost")[number] == pytest.approx(alone.cost, rel=1e-9)


def test_thresholds_are_not_always_best() -> None:
    """The paper's example with service three times as fast: a map that goes up again wins."""
    base = instance("paper")
    fast = replace(base, service=base.service.scaled(1 / 3))

    found = solve_bursty(fast)

    assert found.all_thresholds
    assert found.all_maps
    assert found.thresholds.robots_by_length == (4, 4, 3, 3, 1, 1)
    assert found.thresholds.cost == pytest.approx(160.488, abs=5e-4)
    assert found.best.robots_by_length == (4, 4, 1, 3, 1, 1)
    assert found.best.cost == pytest.approx(159.471, abs=5e-4)


@pytest.mark.parametrize("name", ["paper", "A", "C"])
def test_full_information(name: str) -> None:
    """What a control could reach that sees every phase."""
    found = solve_full_information(instance(name))

    assert found.cost == pytest.approx(INSTANCES[name]["full_information_value"], rel=1e-8)
    assert not found.is_bound


def test_local_search_reaches_the_optimum_of_the_benchmark() -> None:
    """From a poor start; joint shifts of boundaries are needed on the way."""
    model = instance("B")

    found = improve_map(model, (3,) * 15 + (2,) * 25 + (1,) * 61, monotone=True)

    assert found == (3,) * 25 + (2,) * 4 + (1,) * 72


def test_the_price_of_limits() -> None:
    """The linear program over mixtures of all 4,096 maps, against a library's."""
    table = list_maps(instance("paper"))
    limits = {"loss": 0.15, "robots_mean": 2.2}

    found = solve_constrained(table, limits)

    rows = np.stack([table.measure(name) for name in limits])
    known = linprog(
        table.costs(), A_ub=rows, b_ub=list(limits.values()), A_eq=np.ones((1, 4096)), b_eq=[1]
    )
    assert found.bound == pytest.approx(known.fun, rel=1e-9)
    prices = list(found.multipliers.values())
    np.testing.assert_allclose(prices, -known.ineqlin.marginals, rtol=1e-6, atol=1e-9)
    assert found.number is not None
    assert found.cost >= found.bound
    assert np.all(rows[:, found.number] <= list(limits.values()))
    assert sum(share for share, _ in found.mixture) == pytest.approx(1)


def test_limits_that_cannot_be_kept() -> None:
    """One alone, two together, none."""
    table = list_thresholds(instance("paper"))
    with pytest.raises(InvalidModel, match=r"loss <= 0.001: no map keeps it, the least is 0.1"):
        solve_constrained(table, {"loss": 0.001})
    with pytest.raises(InvalidModel, match="no map and no mixture of maps keeps all of them"):
        solve_constrained(table, {"loss": 0.16, "starvation": 0.06})
    with pytest.raises(InvalidModel, match="at least one"):
        solve_constrained(table, {})
    with pytest.raises(InvalidModel, match="'speed' is no measure; they are cost"):
        table.measure("speed")


def test_the_front_of_two_criteria() -> None:
    """No map beats one of the front in both, and every other map is beaten."""
    table = list_maps(instance("paper"))
    a, b = table.measure("loss"), table.measure("starvation")

    front = trade_off_front(table, "loss", "starvation")

    assert np.all(np.diff(a[front]) > 0)
    assert np.all(np.diff(b[front]) < 0)
    beaten = (a[front, None] <= a) & (b[front, None] <= b)
    assert np.all(beaten.any(axis=0))


def test_studies() -> None:
    """Table 2's column, a mean that keeps the law, a variation that keeps the mean."""
    model = instance("paper")

    points = list(study_buffer(model, "capacity", [1, 4]))

    assert [round(point.best.cost, 4) for point in points] == [147.4993, 68.3290]
    assert points[0].gain_percent == pytest.approx(21.2, abs=0.01)
    slow = vary(model, "service-mean", 2.0)
    assert slow.service.mean == pytest.approx(2)
    assert slow.service.squared_variation == pytest.approx(model.service.squared_variation)
    bursty = vary(model, "obsolescence-scv", 4.0)
    assert bursty.obsolescence is not None
    assert bursty.obsolescence.mean == pytest.approx(5)
    assert bursty.obsolescence.squared_variation == pytest.approx(4)
    with pytest.raises(InvalidModel, match=r"whole number, got 1.5"):
        vary(model, "capacity", 1.5)
    with pytest.raises(InvalidModel, match="'speed' cannot be varied"):
        vary(model, "speed", 1.0)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(InvalidModel, match="never go stale"):
        vary(replace(model, obsolescence=None), "obsolescence-mean", 1.0)


@pytest.mark.parametrize(
    "law", [None, PhaseType.erlang(2, 5.0), PhaseType.coxian([1.0, 0.2], [0.4])]
)
def test_window_closure(law: PhaseType | None) -> None:
    """A full window is exact; a shorter one is off by less than its estimate."""
    model = instance("A", 6)
    model = model if law is None else replace(model, obsolescence=law)
    robots = (3, 3, 1, 1, 1, 1, 1)
    exact = evaluate_map(model, robots)

    full, short = (evaluate_closed(model, robots, window=h) for h in (4, 2))

    for name, error in short.errors.items():
        assert getattr(full.measures, name) == pytest.approx(getattr(exact, name), rel=1e-9)
        assert abs(getattr(short.measures, name) - getattr(exact, name)) < error + 1e-12
    with pytest.raises(InvalidModel, match=r"window must be 1 .. 4, got 9"):
        evaluate_closed(model, robots, window=9)
    with pytest.raises(InvalidModel, match="the closed chain has"):
        evaluate_closed(model, robots, window=2, most_states=10)
    with pytest.raises(InvalidModel, match="exact solution is at hand"):
        evaluate_closed(instance("B"), (1,) * 101)


def test_two_thousand_pages() -> None:
    """Beyond enumeration: linear in the buffer, and the optimum of a hundred pages again."""
    model = instance("B", 2000)
    rule = (3,) * 25 + (2,) * 4 + (1,) * 1972

    found = evaluate_map(model, rule)

    assert found.cost == pytest.approx(INSTANCES["B"]["best_threshold_map"]["J"], rel=1e-8)
    with pytest.raises(InvalidModel, match=r"maps of 2001 numbers of pages to 3 modes would take"):
        list_maps(model)


def test_counting_maps() -> None:
    """Monotone ones by a binomial coefficient."""
    assert count_maps(instance("paper")) == (84, 4096)


TWO = BatchArrivals([[[-2.0, 0.5], [0.2, -1.0]], [[1.0, 0.5], [0.1, 0.7]]])
ONE = BatchArrivals([[[-0.7]], [[0.3]], [[0.4]]])


def test_independent_robots() -> None:
    """Rates add up, phases go on while a robot is idle, and the law of one is its own."""
    modes = independent_robots([TWO, ONE, TWO])

    assert [mode.phases for mode in modes] == [4, 4, 4]
    rates = [TWO.rate, TWO.rate + ONE.rate, 2 * TWO.rate + ONE.rate]
    assert [mode.rate for mode in modes] == pytest.approx(rates)
    assert modes[0].interval_variance == pytest.approx(TWO.interval_variance)
    np.testing.assert_allclose(modes[0].correlations(3), TWO.correlations(3), atol=1e-12)
    with pytest.raises(InvalidModel, match=r"with 1 robots active, idle = frozen: .*reducible"):
        independent_robots([TWO, TWO], idle="frozen")
    frozen = independent_robots([ONE, ONE], idle="frozen")
    assert [mode.rate for mode in frozen] == pytest.approx([1.1, 2.2])


def test_thinned_and_marked_robots() -> None:
    """Marks drawn independently are thinning."""
    thinned = thinned_robots(ONE, [0.25, 1.0])
    marked = marked_robots([[-0.7]], [[[[0.075]], [[0.1]]], [[[0.225]], [[0.3]]]])

    for one, other in zip(thinned, marked, strict=True):
        np.testing.assert_allclose(one.matrices, other.matrices)
    model = BurstyBuffer(3, thinned, PhaseType.exponential(1.0))
    assert evaluate_map(model, (2, 2, 1, 1)).loss < evaluate_map(model, (2, 2, 2, 2)).loss
    with pytest.raises(InvalidModel, match="does not decrease"):
        thinned_robots(ONE, [0.5, 0.2])
    with pytest.raises(InvalidModel, match=r"marked robot 1: each D must be of shape \(1, 1\)"):
        marked_robots([[-1.0]], [[[[1.0, 2.0]]]])
    with pytest.raises(InvalidModel, match="same number of batch sizes"):
        marked_robots([[-1.0]], [[[[0.5]]], [[[0.25]], [[0.25]]]])


@pytest.mark.parametrize(
    ("used", "thresholds", "message"),
    [
        ((3, 1), (), "2 numbers of robots need 1 thresholds"),
        ((1, 3), (2,), "must decrease"),
        ((4, 3, 1), (3, 1), "must not decrease"),
        ((3, 1), (5,), "0 .. 4, got 5"),
    ],
)
def test_thresholds_out_of_order(
    used: tuple[int, ...], thresholds: tuple[int, ...], message: str
) -> None:
    """Said, with what would be right."""
    with pytest.raises(InvalidModel, match=message):
        robots_from_thresholds(instance("paper"), used, thresholds)
