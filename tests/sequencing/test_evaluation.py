"""What an order costs: against other code, simulation, and by hand; and what no order can beat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sequencing.strategies import ageing, shares

from recrawl.errors import InvalidModel
from recrawl.freshness import evaluate_sequence
from recrawl.processes.access_times import ConstantTime
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import (
    KEEPERS,
    POLICIES,
    AgeingCosts,
    CycleStream,
    RandomStream,
    TabulatedCosts,
    best_bound,
    bound_even_gaps,
    bound_frequencies,
    bound_table_gaps,
    bound_whole_gaps,
    check_frequencies,
    evaluate_cycle,
    evaluate_random,
    find_distances,
    judge_policy,
    measure_stream,
    round_to_cycle,
)

RATES = np.array([0.1, 0.2, 0.4])
WEIGHTS = np.array([1.0, 3.0, 2.0])


def costs_of_three(exponential: bool = False) -> AgeingCosts:
    law = PhaseType.exponential(1.5) if exponential else ConstantTime(1.5)
    return AgeingCosts.obsolescence(RATES, WEIGHTS, law)


@pytest.mark.parametrize("exponential", [False, True])
def test_a_cycle_costs_what_lemma_3_1_says(exponential: bool) -> None:
    """The same as the weighted obsolescence rates of the package freshness."""
    law = PhaseType.exponential(1.5) if exponential else ConstantTime(1.5)
    order = [0, 1, 2, 1, 2, 2, 1]

    stale = evaluate_sequence(RATES, order, law)

    assert WEIGHTS @ stale == pytest.approx(evaluate_cycle(costs_of_three(exponential), order).cost)


def test_a_page_left_out_is_always_stale() -> None:
    """It costs its weight in each slot."""
    cost = evaluate_cycle(costs_of_three(), [0, 1]).cost
    stale = evaluate_sequence(RATES, [0, 1], ConstantTime(1.5))

    assert WEIGHTS @ stale == pytest.approx(cost)
    assert stale[2] == 1


def test_spacing_by_hand() -> None:
    """Page 0 at distances 1 and 3, page 1 at 2 and 2."""
    found = evaluate_cycle(AgeingCosts.losses([1, 1], 1.0), [0, 0, 1, 1])

    assert find_distances([0, 0, 1, 1], 2).tolist() == [3, 1, 3, 1]
    assert found.worst_spacing == 1.5
    assert found.unevenness == 0.25
    assert found.cost == pytest.approx((0.5 + 0.125) / 2)
    assert found.frequencies.tolist() == [0.5, 0.5]


def test_random_draws_cost_what_lemma_4_1_says() -> None:
    """Two hundred thousand draws, within four standard errors of blocks (seed 3)."""
    costs, frequencies = costs_of_three(), np.array([0.2, 0.3, 0.5])
    order = RandomStream(frequencies, seed=3).take(200_000)
    blocks = [evaluate_cycle(costs, block).cost for block in order.reshape(20, -1)]

    exact = evaluate_random(costs, frequencies)

    assert exact.cost == pytest.approx(np.mean(blocks), abs=float(4 * np.std(blocks) / 20**0.5))
    assert exact.unevenness == pytest.approx(0.2 * 0.8 + 0.3 * 0.7 + 0.5 * 0.5)


@given(ageing(), st.lists(st.integers(0, 7), min_size=8, max_size=30))
def test_no_cycle_beats_the_bounds(costs: AgeingCosts, draws: list[int]) -> None:
    """C* <= C** <= any cycle; and the bound for its frequencies is between."""
    order = np.array(draws) % costs.n_pages
    found = evaluate_cycle(costs, order)
    even, whole = bound_even_gaps(costs), bound_whole_gaps(costs)

    slack = 1e-9 * (abs(even.cost) + costs.worths.max())
    assert even.cost <= whole.cost + slack
    assert whole.cost <= found.cost + slack
    fixed = bound_frequencies(costs, found.frequencies)
    assert costs.even_cost(found.frequencies) <= fixed + slack
    assert fixed <= found.cost + slack


@given(ageing())
def test_whole_gaps_agree_with_the_table(costs: AgeingCosts) -> None:
    """The kernel and the plain search over a table find the same bound."""
    whole = bound_whole_gaps(costs)
    finite = whole.gaps[np.isfinite(whole.gaps)]
    if finite.size == costs.n_pages and finite.max() < 1000:
        table = bound_table_gaps(costs, 3000)
        assert whole.cost == pytest.approx(table.cost, rel=1e-8, abs=1e-10)


def test_equal_pages_attain_the_bound() -> None:
    """Taking turns is perfectly even."""
    costs = AgeingCosts.obsolescence(np.full(7, 0.1), np.ones(7), ConstantTime(1.0))

    assert bound_whole_gaps(costs).cost == pytest.approx(evaluate_cycle(costs, range(7)).cost)


@given(shares(), st.integers(0, 40))
def test_rounding_keeps_to_the_shares(frequencies: np.ndarray, more: int) -> None:
    """Counts sum to the length, each page is there, and none is a visit away but for the rarest."""
    length = frequencies.size + more
    counts = round_to_cycle(frequencies, length)

    assert counts.sum() == length
    assert counts.min() >= 1
    if np.all(frequencies * length >= 1):
        assert np.abs(counts - frequencies * length).max() < 1 + 1e-9


def test_a_stream_that_repeats_is_measured_as_its_cycle() -> None:
    """The regret over whole periods is the exact cost."""
    costs, cycle = costs_of_three(), np.array([0, 1, 2, 1, 2, 2])
    frequencies = np.bincount(cycle) / cycle.size

    found = measure_stream(CycleStream(cycle), costs, frequencies, slots=600, warm_up=60)

    assert evaluate_cycle(costs, cycle).cost == pytest.approx(found.cost, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: check_frequencies([0.5, -0.1]),
            "frequency of page 1 must be finite and >= 0: -0.1",
        ),
        (lambda: check_frequencies([0, 0]), "must sum to a positive number, they sum to 0"),
        (lambda: check_frequencies([]), "vector of at least one"),
        (lambda: round_to_cycle([1, 1, 1], 2), "a cycle of 2 is too short to hold each of 3 pages"),
        (lambda: evaluate_cycle(costs_of_three(), [0, 3]), "slot 1 of the sequence is page 3"),
        (lambda: evaluate_cycle(costs_of_three(), [0.5]), "at least one page number"),
        (
            lambda: TabulatedCosts(np.array([[1.0, 3.0, 4.0]]), np.ones(1), np.zeros(1)),
            "cost of page 0 is not convex: at distances 1, 2, 3 it is 1, 3, 4",
        ),
        (
            lambda: TabulatedCosts(np.array([[1.0, np.nan, 4.0]]), np.ones(1), np.zeros(1)),
            "cost of page 0 at distance 2 must be finite",
        ),
        (lambda: TabulatedCosts(np.ones((1, 2)), np.ones(1), np.zeros(1)), "3 distances or more"),
        (
            lambda: TabulatedCosts(np.ones((1, 3)), np.ones(1), np.full(1, np.inf)),
            "offset of page 0 is inf; with its table and its slope 1 it can be -2 at most",
        ),
        (
            lambda: TabulatedCosts(np.array([[1.0, 2.0, 3.0]]), np.zeros(1), np.zeros(1)),
            "slope of page 0 is 0; a convex cost that rises by 1 at the end",
        ),
        (
            lambda: TabulatedCosts(np.ones((1, 3)), np.ones(2), np.zeros(1)),
            "must have one value for each of 1 pages",
        ),
        (
            lambda: TabulatedCosts(np.ones((1, 3)), np.ones(1), np.full(1, -2.0)).at(
                np.array([0]), np.array([9])
            ),
            "distance 9 is beyond the table, which ends at 3",
        ),
        (
            lambda: AgeingCosts.losses([1, -2], 1.0),
            "service_rates must be a vector",
        ),
        (lambda: AgeingCosts.losses([1], 0.0), "arrival_rate must be finite and > 0, got 0"),
        (
            lambda: AgeingCosts.obsolescence([0.0], [1.0], ConstantTime(1)),
            "change_rates must be a vector of finite numbers > 0",
        ),
        (
            lambda: measure_stream(CycleStream([0]), costs_of_three(), [1, 1, 1], slots=0),
            "slots must be >= 1",
        ),
        (
            lambda: measure_stream(CycleStream([0, 1, 2]), costs_of_three(), [1, 1, 1], slots=2),
            "2 slots are too few",
        ),
        (
            lambda: bound_table_gaps(
                TabulatedCosts(costs_of_three().tabulate(4), WEIGHTS, costs_of_three().offsets), 9
            ),
            "wants a gap of 4 or more: the table must be longer",
        ),
    ],
)
def test_what_cannot_be_is_said(call: object, message: str) -> None:
    """Each message names the page or slot, the value and what would be right."""
    assert callable(call)
    with pytest.raises(InvalidModel, match=message):
        call()


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_below_its_bound(seed: int) -> None:
    """All policies at the best frequencies and at drawn ones, which some of them move."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    rates = np.exp(rng.normal(0, 1.5, n)) / n
    costs = AgeingCosts.obsolescence(rates, np.exp(rng.normal(0, 1, n)), ConstantTime(1.0))
    shares = bound_even_gaps(costs).frequencies if seed % 2 else rng.dirichlet(np.ones(n))

    for name in sorted(POLICIES.keys() - {"random", "optimal"}):
        judged = judge_policy(name, costs, shares, slots=4000)
        bound, free = best_bound(costs, shares, name)
        assert judged.cost >= bound - judged.error - 1e-9
        assert free or name in KEEPERS
        if name in KEEPERS:
            assert 0.5 * np.abs(judged.frequencies - shares).sum() < 0.01


def test_a_starved_page_is_not_free_of_cost() -> None:
    """A stream that never comes back to page 1 costs all that this page can lose."""
    costs = AgeingCosts.obsolescence([1.0, 1.0], [1.0, 1.0], ConstantTime(1.0))
    stream = CycleStream(np.array([0] * 50_000 + [1]))

    judged = measure_stream(stream, costs, [0.5, 0.5], slots=20_000)

    assert judged.cost == pytest.approx(np.exp(-1) + 1, rel=1e-3)
