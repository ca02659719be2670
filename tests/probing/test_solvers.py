"""The optimum on a grid and in continuous time: certificates, brute force, other ways to it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.probing.strategies import brute_costs, sources

from recrawl.errors import InvalidModel
from recrawl.kernels.probe_grid import price_once
from recrawl.probing import (
    DBWORLD,
    ProbedSource,
    Profile,
    cost_by_count,
    cost_matrix,
    improve_blocks,
    improve_schedule,
    schedule_first_arrival,
    schedule_threshold,
    schedule_uniform,
    solve_at_most,
    solve_at_price,
    solve_continuous,
    solve_continuous_with_gap,
    solve_exactly,
    solve_general,
    solve_layered,
    solve_published,
    work_hours,
)

EVEN = ProbedSource(Profile.constant(2.0, 12.0), Profile.constant(3.0, 12.0))
# With a gap of 0.3 two probes see everything in time, three cannot.
ODD = ProbedSource(
    Profile.steps([0, 0.45, 0.5, 1], [0, 20, 0]), Profile.steps([0, 0.5, 0.55, 1], [0, 20, 0]), 0.3
)


@given(sources(gaps=True, linear=True))
def test_every_way_finds_what_brute_force_finds(drawn) -> None:
    """By price, by layers, by the published programme; exactly n and at most n; uneven grids."""
    source, times = drawn
    brute = brute_costs(source, times)
    for n, expected in brute.items():
        found = solve_exactly(source, n, times)
        assert found.cost == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found.count == n
        assert found.residual < 1e-12
        assert source.cost(found.probes) == found.cost
        assert solve_layered(source, n, times).cost == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert solve_published(source, n, times)[1] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        fewer = min(cost for m, cost in brute.items() if m <= n)
        assert solve_at_most(source, n, times).cost == pytest.approx(fewer, rel=1e-9, abs=1e-9)
        at_most = solve_published(source, n, times, at_most=True)[1]
        assert at_most == pytest.approx(fewer, rel=1e-9, abs=1e-9)


@given(sources(gaps=True, linear=True))
def test_the_least_cost_is_convex_in_the_number(drawn) -> None:
    """Also with a gap, where it may rise; without one it falls."""
    source, times = drawn
    n = max(brute_costs(source, times))

    costs = cost_by_count(source, n, times)

    assert np.all(np.diff(costs, 2) >= -1e-9 * costs[0] - 1e-9)
    if source.gap == 0:
        assert np.all(np.diff(costs) <= 1e-9)


def test_with_a_gap_more_probes_can_cost_more() -> None:
    """D(1), D(2), D(3) = 1, 0, 1: exactly three needs a negative price, at most three uses two."""
    costs = [solve_exactly(ODD, n, 20) for n in (1, 2, 3)]

    assert [found.cost for found in costs] == pytest.approx([1.0, 0.0, 1.0], abs=1e-12)
    assert costs[2].price < 0
    assert solve_at_most(ODD, 3, 20).count == 2
    assert solve_published(ODD, 3, 20, at_most=True)[1] == pytest.approx(0.0, abs=1e-12)


@given(sources(), st.floats(0.01, 30))
def test_a_price_bounds_every_number_from_below(drawn, price: float) -> None:
    """Duality: no number of probes beats the priced optimum at that price."""
    source, times = drawn

    found = solve_at_price(source, price, times)

    for n, cost in brute_costs(source, times).items():
        assert found.cost + price * found.count <= cost + price * n + 1e-9


def test_ties_are_spliced() -> None:
    """Four equal weeks: the least cost is linear between multiples of four, so no price gives n."""
    source = ProbedSource(DBWORLD.repeat(4), work_hours(9, 18, 3).repeat(4))
    L, A = source.integrals(np.arange(673) / 24)
    last = np.arange(-1, 672, dtype=np.int32)
    tied = [n for n in range(20, 60) if n not in _counts_at_prices(L, A, last)]
    layers = cost_by_count(source, 60, 672)

    assert len(tied) > 10
    for n in tied:
        found = solve_exactly(source, n, 672)
        assert found.count == n
        assert found.cost == pytest.approx(layers[n - 1], rel=1e-12)
        assert found.residual < 1e-12


def _counts_at_prices(L, A, last) -> set[int]:
    return {price_once(L, A, last, price)[1] for price in np.geomspace(0.3, 8, 400)}


def test_even_functions_want_even_probes() -> None:
    """No arithmetic needed: constant intensity and importance, any solver."""
    expected = schedule_uniform(EVEN, 6)

    assert solve_exactly(EVEN, 6, 24).probes == pytest.approx(expected)
    assert solve_continuous(EVEN, 6).probes == pytest.approx(expected)
    assert schedule_threshold(EVEN, 6) == pytest.approx(expected)
    assert schedule_first_arrival(EVEN, 6) == pytest.approx(expected)
    assert improve_schedule(EVEN, expected).moves == 0


@given(sources(most=5), st.integers(1, 6))
def test_the_continuous_optimum_is_below_any_grid_and_close_to_a_fine_one(drawn, n: int) -> None:
    """Within the proved bound of a fine grid that holds all breaks, zeros included."""
    source, times = drawn
    cells = 60 * int(times[-1])

    best, fine = solve_continuous(source, n), solve_exactly(source, n, cells)

    assert np.isfinite(fine.sharper_bound)
    assert best.cost <= fine.cost + 1e-9 * source.cost([source.period]) + 1e-12
    assert fine.cost <= best.cost + fine.sharper_bound + 1e-9
    assert fine.sharper_bound <= fine.published_bound
    assert np.all(np.diff(best.costs, 2) >= -1e-9 * best.costs[0] - 1e-9)


@given(sources(most=5), st.integers(2, 5))
def test_the_continuous_optimum_is_stationary(drawn, n: int) -> None:
    """lambda(p) A(p, p+) = a(p) Lambda(p-, p) at every probe inside a piece."""
    source, _ = drawn
    best = solve_continuous(source, n)
    path = np.concatenate([[0.0], best.probes])
    updates, worth = source.integrals(path)
    for i in range(1, n):
        if np.min(np.abs(source.cell_starts - path[i])) > 1e-6:
            left = source.importance(path[i]) * (updates[i] - updates[i - 1])
            right = source.intensity(path[i]) * (worth[i + 1] - worth[i])
            assert left == pytest.approx(right, rel=1e-5, abs=1e-6)


@given(sources(gaps=True, linear=True), st.integers(1, 4))
def test_improvement_only_improves_and_keeps_the_gap(drawn, n: int) -> None:
    """From any schedule, Algorithm 10 never costs more and never breaks the gap."""
    source, _ = drawn
    n = int(min(n, source.max_probes))
    start = schedule_uniform(source, n)

    found = improve_schedule(source, start)

    assert found.cost <= source.cost(start) + 1e-12
    assert np.all(np.diff(found.probes, prepend=0.0) >= source.gap - 1e-9)
    assert found.probes[-1] == source.period


@pytest.mark.parametrize("seed", range(12))
def test_blocks_that_the_gap_holds_together_move(seed: int) -> None:
    """From a schedule as tight as may be: never dearer than single moves, which jam."""
    random = np.random.default_rng(seed)
    hours = np.arange(11.0)
    source = ProbedSource(
        Profile.steps(hours, random.gamma(0.5, 1.0, 10)),
        Profile.steps(hours, random.uniform(0.1, 1.0, 10)),
        gap=1.0,
    )
    start = np.append(random.uniform(0.0, 4.0) + np.arange(1.0, 6.0), 10.0)

    single, blocks = improve_schedule(source, start), improve_blocks(source, start)

    assert blocks.cost <= single.cost
    assert blocks.cost == pytest.approx(source.cost(blocks.probes), rel=1e-12)
    assert np.all(np.diff(blocks.probes, prepend=0.0) >= 1.0 - 1e-9)
    assert blocks.probes[-1] == source.period
    if seed == 3:
        assert blocks.cost < 0.95 * single.cost
    free = source.with_gap(0.0)
    assert improve_blocks(free, start).cost == improve_schedule(free, start).cost


def test_with_a_gap_the_distance_to_the_best_is_bounded() -> None:
    """Between the optimum without the gap and the grid's; the bound holds for a finer grid."""
    source = ProbedSource(DBWORLD, work_hours(9, 18, 3), 0.5)

    found = solve_continuous_with_gap(source, 10)

    finer = solve_exactly(source, 10, 7 * 1440)
    assert found.lower_bound <= finer.cost + 1e-12
    assert found.cost <= finer.cost + 1e-6
    assert found.gap_to_bound < 0.2 * found.cost
    assert np.diff(found.probes, prepend=0.0).min() >= 0.5 - 1e-9
    with pytest.raises(InvalidModel, match="with_gap"):
        solve_continuous(source, 10)


@given(sources(), st.integers(2, 6))
def test_policies_are_what_they_say(drawn, n: int) -> None:
    """Threshold: equal costs; first arrival: equal expected updates; both end at T."""
    source, times = drawn

    by_cost, by_update = schedule_threshold(source, n), schedule_first_arrival(source, n)

    costs = source.interval_costs(by_cost)[:-1]
    assert np.ptp(costs) <= 1e-6 * source.cost([source.period]) + 1e-9
    updates = np.diff(source.integrals(by_update)[0], prepend=0.0)
    assert updates == pytest.approx(np.full(n, source.updates / n), rel=1e-9)
    assert by_cost[-1] == by_update[-1] == times[-1]


def test_any_additive_cost_monge_or_not() -> None:
    """A deadline penalty is no Monge cost, squared delay is: both optimal against brute force."""
    times = np.arange(9.0)
    rate = np.array([3, 1, 0, 2, 5, 1, 1, 4.0])

    def squared(start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return np.array([sum(rate[int(a) : int(b)] * (b - np.arange(a, b)) ** 2)
                         for a, b in zip(start, end, strict=True)])  # fmt: skip

    def late(start: np.ndarray, end: np.ndarray) -> np.ndarray:
        waited = np.sqrt(end - start)
        return np.asarray(np.where(end - start > 2.0, 10.0, 0.0) + rate[start.astype(int)] * waited)

    for cost, is_monge in ((squared, True), (late, False)):
        for n in (1, 3, 5):
            found = solve_general(cost, times, n)
            best = min(
                float(np.sum(cost(np.array([0.0, *some]), np.array([*some, 8.0]))))
                for some in itertools.combinations(times[1:-1], n - 1)
            )
            assert found.cost == pytest.approx(best)
            assert found.is_monge is is_monge
            assert (found.excess > 0) is not is_monge


@given(sources(gaps=True))
def test_the_general_programme_solves_the_model_too(drawn) -> None:
    """The model's own cost passes the check, with forbidden intervals as well."""
    source, times = drawn
    matrix = cost_matrix(source, times)

    def cost(start, end):
        rows, columns = np.searchsorted(times, start), np.searchsorted(times, end)
        return matrix[rows, columns]

    for n, expected in brute_costs(source, times).items():
        found = solve_general(cost, times, n, gap=source.gap)
        assert found.is_monge
        assert found.cost == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: solve_exactly(EVEN, 0, 24), "probes must be at least 1"),
        (lambda: solve_exactly(EVEN, 25, 24), "of 24 cells: the largest possible number is 24"),
        (lambda: solve_exactly(EVEN.with_gap(1), 13, 24), "largest possible number is 12"),
        (lambda: solve_exactly(EVEN.with_gap(0.7), 17, 12), "largest possible number is 12"),
        (lambda: solve_exactly(EVEN, 2, 0), "at least 1 cell"),
        (lambda: solve_exactly(EVEN, 2, [0, 5, 3, 12]), "must increase from 0"),
        (lambda: solve_at_price(EVEN, np.nan, 12), "price must be finite"),
        (lambda: solve_at_most(EVEN.with_gap(1), 0, 12), "at least 1"),
        (lambda: improve_schedule(EVEN, [12.0], first=2.0), "first <= 1"),
        (lambda: solve_continuous(ProbedSource(Profile.polygon([0, 1], [1, 2]),
                                               Profile.constant(1, 1)), 2), "piecewise constant"),
        (lambda: solve_general(lambda a, b: b - a, [0, 1], 2), "do not fit"),
        (lambda: solve_general(lambda a, b: b * np.nan, [0, 1], 1), "not NaN"),
        (lambda: solve_general(lambda a, b: b - a, [1, 0], 1), "increasing times"),
        (lambda: solve_general(lambda a, b: b - a, [0, 1], 0), "at least 1"),
        (lambda: cost_matrix(EVEN, 30_000), "at most 20000 points"),
        (lambda: solve_published(EVEN, 30, 12), "do not fit on this grid"),
    ],
)  # fmt: skip
def test_refusals(call, said: str) -> None:
    """Impossible requests name the largest that is possible."""
    with pytest.raises(InvalidModel, match=said):
        call()
