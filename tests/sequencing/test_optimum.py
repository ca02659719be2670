"""Optimal cycles beyond the paper's examples: random instances, short caps, refusals."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.processes.access_times import ConstantTime
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import (
    AgeingCosts,
    bound_even_gaps,
    bound_whole_gaps,
    density_cost,
    evaluate_cycle,
    judge_policy,
    loss_costs,
    obsolescence_costs,
    preemptive_loss_costs,
    search_word,
    solve_cycle,
    solve_horizon,
    solve_two,
    switching_rate,
)


def random_losses(seed: int, servers: int) -> AgeingCosts:
    return AgeingCosts.losses(np.random.default_rng(seed).uniform(0.5, 4, servers), 1.0)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("servers", [3, 4])
def test_random_instances_are_certified(seed: int, servers: int) -> None:
    """Nothing that is tried is below the optimum, and the bounds are not above it."""
    costs = random_losses(seed, servers)
    best = solve_cycle(costs)

    assert best.is_exact
    assert best.never_visited.size == 0
    assert bound_whole_gaps(costs).cost <= best.cost + 1e-12
    frequencies = bound_even_gaps(costs).frequencies
    for name in ("index", "whittle", "deadline"):
        assert judge_policy(name, costs, frequencies, slots=3000).cost >= best.cost - 1e-5


def test_short_caps_are_raised() -> None:
    """Ages that the optimal cycle passes are told apart in the end."""
    costs = AgeingCosts.losses([0.2, 0.5, 2], 1.0)

    best = solve_cycle(costs, caps=np.array([3, 3, 3]))

    assert best.is_exact
    assert best.caps.max() > 3
    assert best.cost == pytest.approx(solve_cycle(costs).cost, abs=1e-12)


def test_where_the_graph_is_too_large_the_bound_says_how_far() -> None:
    """Short caps give a bound below and a cycle above."""
    costs = AgeingCosts.losses([0.2, 0.5, 2], 1.0)
    exact = solve_cycle(costs).cost

    found = solve_cycle(costs, caps=np.array([3, 3, 3]), max_states=30)

    assert not found.is_exact
    assert found.bound <= exact + 1e-12 <= found.cost + 2e-12
    assert found.cost == evaluate_cycle(costs, found.sequence).cost


@pytest.mark.parametrize(
    "rates",
    [
        (0.03255481945164782, 3.5176887699594857, 0.10767448905014217),
        (3.70455532, 0.14652036, 0.34314501, 2.53838177),
        (0.5, 0.5, 0.5, 2.0),  # ties
    ],
)
def test_many_equally_good_cycles_are_no_obstacle(rates: tuple[float, ...]) -> None:
    """Policies whose cycles tie: solved, exact, and above the bound."""
    costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))

    best = solve_cycle(costs)

    assert best.is_exact
    assert best.rounds < 200
    assert bound_whole_gaps(costs).cost <= best.cost + 1e-12
    assert best.cost == evaluate_cycle(costs, best.sequence).cost


def test_when_its_work_is_done_it_says_how_far() -> None:
    """A limit on moves: a cycle, and a bound that is at least that of whole gaps."""
    costs = random_losses(3, 4)
    exact = solve_cycle(costs).cost

    found = solve_cycle(costs, max_moves=1.0)

    assert bound_whole_gaps(costs).cost - 1e-12 <= found.bound <= exact + 1e-12
    assert found.cost >= exact - 1e-12


def test_the_order_of_servers_does_not_matter() -> None:
    """Permuted servers cost the same."""
    one = solve_cycle(AgeingCosts.losses([1, 2, 3.5], 1.0))
    two = solve_cycle(AgeingCosts.losses([3.5, 1, 2], 1.0))

    assert one.cost == pytest.approx(two.cost, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve_cycle(random_losses(0, 1)), "an order needs at least 2 pages"),
        (lambda: solve_cycle(random_losses(0, 12)), "is over|over max_states"),
        (lambda: solve_two(random_losses(0, 3)), "two servers are needed, got 3"),
        (lambda: density_cost(random_losses(0, 2), 0, 5), "count must be in 1 .. 4, got 0"),
        (lambda: switching_rate(1), "period must be >= 2, got 1"),
        (lambda: search_word(random_losses(0, 2), [0, 2]), "words of 0 and 1"),
        (lambda: search_word(random_losses(0, 2), [0] * 17), "1 to 16 slots, got 17"),
        (lambda: solve_horizon(random_losses(0, 2), [1], 3), "ages must be 2 whole numbers >= 1"),
        (lambda: solve_horizon(random_losses(0, 2), [1, 1], -1), "accesses must be >= 0, got -1"),
        (
            lambda: solve_horizon(random_losses(0, 4), [1, 2, 3, 4], 30, max_states=1000),
            "reach over 1,000 states; take fewer",
        ),
        (
            lambda: loss_costs([0.0], MarkovianArrivals.poisson(1)),
            "service_rates must be a vector of finite numbers > 0",
        ),
        (
            lambda: obsolescence_costs([1, 2], [1], MarkovianArrivals.poisson(1)),
            r"change_rates \(2,\) and weights \(1,\) differ in length",
        ),
        (
            lambda: preemptive_loss_costs([PhaseType.erlang(5, 1)], MarkovianArrivals.poisson(4)),
            "cost of page 0 is not convex: at distances 1, 2, 3",
        ),
    ],
)
def test_what_cannot_be_is_said(call: object, message: str) -> None:
    """Each message names what is wrong and what would be right."""
    assert callable(call)
    with pytest.raises(InvalidModel, match=message):
        call()
