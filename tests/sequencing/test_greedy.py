"""The greedy policy: what it costs at most, held against costs that are counted slot by slot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sequencing.strategies import ageing

from recrawl.errors import InvalidModel
from recrawl.freshness import solve_random_accesses
from recrawl.processes.access_times import AccessTime, ConstantTime
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import (
    AgeingCosts,
    GreedyStream,
    bound_even_gaps,
    bound_greedy,
    bound_whole_gaps,
    evaluate_cycle,
    evaluate_random,
    greedy_cycle,
    solve_cycle,
)

positive = st.floats(0.01, 10)


@st.composite
def losing(draw: st.DrawFn) -> AgeingCosts:
    """Servers of all kinds of speed."""
    rates = draw(st.lists(positive, min_size=2, max_size=6))
    return AgeingCosts.losses(rates, draw(positive))


@st.composite
def obsolete(draw: st.DrawFn) -> AgeingCosts:
    """Pages and any law of the access time."""
    rates = np.array(draw(st.lists(positive, min_size=1, max_size=8)))
    weights = draw(st.lists(positive, min_size=rates.size, max_size=rates.size))
    mean = draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
    laws: list[AccessTime] = [
        ConstantTime(mean),
        PhaseType.exponential(mean),
        PhaseType.erlang(4, mean),
        PhaseType.hyperexponential([0.1, 0.9], [9.1 * mean, 0.1 * mean]),
    ]
    law = draw(st.sampled_from(laws))
    return AgeingCosts.obsolescence(rates, weights, law)


def paid(costs: AgeingCosts, order: np.ndarray, ages: np.ndarray) -> float:
    """Count what an order costs as time passes, slot by slot and page by page, from these ages."""
    pages, age, total = np.arange(costs.n_pages), ages.copy(), 0.0
    for page in order:
        before = costs.at(pages, age)
        age += 1
        age[page] = 1
        after = costs.at(pages, age)
        total += float((after - before).sum() + before[page])
    return total


@given(st.one_of(ageing(), losing()), st.integers(1, 60))
@settings(max_examples=80)
def test_it_never_costs_more_than_draws_however_long_it_runs(
    costs: AgeingCosts, slots: int
) -> None:
    """From the first slot on, from the ages that it starts with and from those it comes to."""
    found, stream = bound_greedy(costs), GreedyStream(costs)

    for _ in range(2):
        ages = stream.checkpoint()["ages"]
        cost = paid(costs, stream.take(slots), ages)
        assert cost <= slots * found.most + found.start + 1e-9 * (1 + abs(found.most) * slots)


@given(obsolete())
@settings(max_examples=100)
def test_it_never_costs_twice_what_the_best_order_does(costs: AgeingCosts) -> None:
    """Whatever pages, weights and access times."""
    found = bound_greedy(costs)

    assert found.most <= 2 * bound_even_gaps(costs).cost * (1 + 1e-9)
    assert found.bound == min(bound_whole_gaps(costs).cost, found.most)
    assert 0 <= found.gap <= 1 + 1e-9


def test_twice_is_approached_and_no_less_would_do() -> None:
    """Many equal pages that hardly change: draws cost nearly twice what taking turns does."""
    costs = AgeingCosts.obsolescence(np.full(400, 1e-6), np.ones(400), ConstantTime(1.0))

    assert bound_greedy(costs).most / bound_even_gaps(costs).cost > 1.99
    assert greedy_cycle(costs, 400).gap == pytest.approx(0, abs=1e-9)


@given(ageing(), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_the_upper_bound_is_the_best_of_all_draws(costs: AgeingCosts, seed: int) -> None:
    """No frequencies drawn at random, nor shifts of the best, cost less."""
    random, most = np.random.default_rng(seed), bound_greedy(costs).most

    for shares in random.dirichlet(np.ones(costs.n_pages), 50):
        assert evaluate_random(costs, shares).cost >= most * (1 - 1e-12)


def test_the_upper_bound_is_that_of_theorem_4_1() -> None:
    """As the best randomised policy costs, pages that are never drawn included."""
    rates, weights = [0.1, 5.0, 0.3], [1.0, 0.01, 2.0]
    plan = solve_random_accesses(rates, weights, ConstantTime(0.5))
    costs = AgeingCosts.obsolescence(rates, weights, ConstantTime(0.5))

    assert plan.n_never_accessed == 1
    assert bound_greedy(costs).most == pytest.approx(plan.cost, rel=1e-12)


@given(ageing(most=4), st.integers(20, 200))
@settings(max_examples=40)
def test_the_gap_of_a_stretch_is_certified(costs: AgeingCosts, length: int) -> None:
    """Its cost counted slot by slot around the cycle, and no order at all below the bound."""
    found = greedy_cycle(costs, length)

    twice = np.concatenate([found.sequence, found.sequence])
    used = np.unique(found.sequence)
    ages = np.full(costs.n_pages, 10**6)  # of pages that are not in it
    ages[used] = [length - np.flatnonzero(found.sequence == page)[-1] for page in used]
    around = paid(costs, twice, ages) / twice.size
    assert found.cost == pytest.approx(around, rel=1e-7)
    assert found.gap >= -1e-12


@pytest.mark.parametrize("seed", range(5))
def test_beside_the_exact_optimum_of_three_pages(seed: int) -> None:
    """The bound below it, greed within 6 % above it."""
    random = np.random.default_rng(seed)
    costs = AgeingCosts.obsolescence(
        random.lognormal(size=3), random.lognormal(size=3), ConstantTime(0.3)
    )
    best, found = solve_cycle(costs), greedy_cycle(costs, 3000)

    assert best.is_exact
    assert found.bound <= best.cost * (1 + 1e-12)
    assert best.cost <= found.cost * (1 + 1e-12) <= 1.06 * best.cost


def test_greed_by_worth_itself_may_be_far_off() -> None:
    """The root matters: by what an access gains at once 100 pages cost a quarter more."""
    rates = np.random.default_rng(100).lognormal(size=100)
    costs = AgeingCosts.obsolescence(rates / rates.sum(), np.ones(100), ConstantTime(1.0))
    stream = GreedyStream(costs)
    state = stream.checkpoint() | {"scores": costs.worths}
    plain = evaluate_cycle(costs, GreedyStream.restore(state).take(20_000)[10_000:])

    assert greedy_cycle(costs, 10_000).gap < 0.012
    assert plain.cost / bound_whole_gaps(costs).cost > 1.2


def test_refusals() -> None:
    """A stretch has slots."""
    costs = AgeingCosts.losses([1.0, 2.0], 1.0)
    with pytest.raises(InvalidModel, match="length must be at least 1, got 0"):
        greedy_cycle(costs, 0)
