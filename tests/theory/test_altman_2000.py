"""Altman, Bhulai, Gaujal & Hordijk 2000: every result on numbers, and what does not hold.

The expected values were computed independently (double precision, other code).
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.processes.access_times import ConstantTime
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import (
    AgeingCosts,
    TabulatedCosts,
    bound_even_gaps,
    bound_table_gaps,
    bound_whole_gaps,
    check_conditions,
    density_cost,
    evaluate_cycle,
    loss_costs,
    obsolescence_costs,
    preemptive_loss_costs,
    regular_cycle,
    search_word,
    solve_cycle,
    solve_horizon,
    solve_two,
    switching_rate,
)

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "scheduling.json").read_text())
ALTMAN, EXACT = DATA["altman"], DATA["exact"]
MMPP = MarkovianArrivals.modulated([[-0.3, 0.3], [0.8, -0.8]], [0.5, 4])
MAP = MarkovianArrivals(np.array([[-3.0, 1.0], [0.5, -2.0]]), [[1.5, 0.5], [0.2, 1.3]])


def losses(*rates: float) -> AgeingCosts:
    """Poisson arrivals of rate 1."""
    return AgeingCosts.losses(rates, 1.0)


def robot(*rates: float, weights: tuple[float, ...] = (), exponential: bool = False) -> AgeingCosts:
    """Pages under a robot of mean access time 1; weights equal to change rates by default."""
    law = PhaseType.exponential(1.0) if exponential else ConstantTime(1.0)
    return AgeingCosts.obsolescence(rates, weights or rates, law)


INSTANCES = {
    "loss lam=1 mu=1,2,3": losses(1, 2, 3),
    "loss lam=1 mu=1,1,1": losses(1, 1, 1),
    "loss lam=1 mu=.2,.5,2": losses(0.2, 0.5, 2),
    "loss lam=1 mu=1,2,3,4": losses(1, 2, 3, 4),
    "robot c=mu mu=.1,.2,.3,.4 X=1": robot(0.1, 0.2, 0.3, 0.4),
    "robot c=mu mu=.05,.1,.3,.8 X=exp": robot(0.05, 0.1, 0.3, 0.8, exponential=True),
    "loss lam=1 mu=1..5": losses(1, 2, 3, 4, 5),
    "robot c=mu mu=(1..5)/15 X=1": robot(*(np.arange(1, 6) / 15)),
    "robot c=1 mu=.1,.2,.4 X=1": robot(0.1, 0.2, 0.4, weights=(1, 1, 1)),
    "robot c=1 mu=.2,.3,.4,.6 X=1": robot(0.2, 0.3, 0.4, 0.6, weights=(1, 1, 1, 1)),
}
SIX = "robot c=mu mu=(1..6)/21 X=1"


@pytest.mark.parametrize("name", INSTANCES)
def test_exact_optima_with_their_certificates(name: str) -> None:
    """The least cost over all policies, attained by a cycle that no cap binds."""
    costs, expected = INSTANCES[name], EXACT[name]

    best = solve_cycle(costs)

    assert best.is_exact
    assert expected["opt"] == pytest.approx(best.cost, abs=1e-12)
    printed = np.array([int(server) - 1 for server in expected["cycle"]])
    assert expected["opt"] == pytest.approx(evaluate_cycle(costs, printed).cost, abs=1e-12)
    assert best.least_reduced_cost > -1e-12
    assert expected["C*"] == pytest.approx(bound_even_gaps(costs).cost, abs=1e-9)
    assert expected["C**"] == pytest.approx(bound_whole_gaps(costs).cost, abs=1e-9)
    assert expected["C**"] == pytest.approx(bound_table_gaps(costs, 400).cost, abs=1e-9)


@pytest.mark.slow
def test_six_pages_are_certified() -> None:
    """Two million states, some eight seconds."""
    best = solve_cycle(robot(*(np.arange(1, 7) / 21)))

    assert best.is_exact
    assert EXACT[SIX]["opt"] == pytest.approx(best.cost, abs=1e-12)
    assert len(EXACT[SIX]["cycle"]) == best.sequence.size


@pytest.mark.slow
def test_no_short_cycle_of_three_beats_the_optimum() -> None:
    """Every word of up to nine slots, by brute force."""
    costs = losses(1, 2, 3)
    words = (np.array(word) for n in range(1, 10) for word in product(range(3), repeat=n - 1))

    least = min(evaluate_cycle(costs, np.append(word, 2).astype(int)).cost for word in words)

    assert solve_cycle(costs).cost == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize(("period", "speed"), sorted(
    (int(n), mu) for n, mu in ALTMAN[
        "switch_points_n->n+1_mu2_closed_form_(1+s)/K-1_K=(n+2)2^-(n+1)_s=sqrt(1-K)"
    ].items()
))  # fmt: skip
def test_switching_points_of_figure_1(period: int, speed: float) -> None:
    """The closed form, and the optimum changes exactly there."""
    assert speed == pytest.approx(switching_rate(period), rel=1e-9)
    assert period == solve_two(losses(1, speed * (1 - 1e-9))).period
    assert period + 1 == solve_two(losses(1, speed * (1 + 1e-9))).period


def test_two_servers_in_closed_form() -> None:
    """Periods and losses; the same as the minimum mean cycle."""
    for name, (period, loss) in ALTMAN["two_server_loss_lambda=mu1=1"].items():
        costs = losses(1, float(name.partition("=")[2]))
        best = solve_two(costs)
        assert period == best.period
        assert loss == pytest.approx(best.cost, abs=1e-12)
        assert loss == pytest.approx(evaluate_cycle(costs, best.sequence).cost, abs=1e-12)
        assert loss == pytest.approx(solve_cycle(costs).cost, abs=1e-12)


def test_two_servers_under_bursts() -> None:
    """One period is optimal for MMPP arrivals too."""
    period, loss = ALTMAN["two_server_MMPP_mu=(1,4)"]
    costs = loss_costs([1, 4], MMPP)

    best = solve_two(costs)

    assert period == best.period
    assert loss == pytest.approx(best.cost, abs=1e-12)
    assert loss == pytest.approx(solve_cycle(costs).cost, abs=1e-9)


def test_balanced_words_are_best_at_every_density() -> None:
    """The bound by Jensen on whole gaps is attained by the balanced word."""
    costs = losses(1, 3)
    for count, expected in enumerate(ALTMAN["sturmian_cost_mu1=1_mu2=3_density_k/60"], start=1):
        assert expected == pytest.approx(density_cost(costs, count, 60), abs=1e-12)
        word = regular_cycle(count, 60)
        assert expected == pytest.approx(evaluate_cycle(costs, word).cost, abs=1e-12)


@pytest.mark.parametrize("count", range(1, 9))
def test_no_word_of_a_density_beats_the_balanced_one(count: int) -> None:
    """All words of nine slots with so many zeros."""
    costs = robot(0.3, 0.5)
    words = [np.array(word) for word in product((0, 1), repeat=9) if word.count(0) == count]

    least = min(evaluate_cycle(costs, word).cost for word in words)

    assert density_cost(costs, count, 9) == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize(
    ("arrivals", "rate", "name"),
    [
        (MMPP, 1.0, "MMPP_Q=[[-.3,.3],[.8,-.8]]_rates(.5,4)_mu=1_f(1..6)"),
        (MAP, 0.7, "MAP_C=[[-3,1],[.5,-2]]_D=[[1.5,.5],[.2,1.3]]_mu=.7_f(1..6)"),
    ],
)
def test_lemma_5_2(arrivals: MarkovianArrivals, rate: float, name: str) -> None:
    """The matrix formula, and a simulation within four standard errors (seed 7)."""
    exact = arrivals.discounts(rate, 6)
    np.testing.assert_allclose(exact, ALTMAN[name], rtol=0, atol=1e-12)

    times = np.concatenate([[0], np.cumsum(arrivals.sample(40_000, np.random.default_rng(7)))])
    for n in range(1, 7):
        kept = np.exp(-rate * (times[n:] - times[:-n]))
        blocks = kept[: kept.size // 50 * 50].reshape(50, -1).mean(axis=1)
        error = blocks.std() / 50**0.5
        assert exact[n - 1] == pytest.approx(kept.mean(), abs=4 * error)


def test_lemma_4_3_fails_as_printed() -> None:
    """On (1, 2, 1, 1) with d_2 and e_4 inequality (5) would need f(1) + f(3) <= 2 f(2)."""
    f = 0.5 ** np.arange(1, 5)
    left = (f[0] + f[0] + f[1]) + (f[1] + f[1])  # after one move, and after the other
    right = (f[1] + f[0] + f[0]) + (f[0] + f[2])  # before, and after both

    assert ALTMAN["lemma43_counterexample_lhs-rhs_f=(1/2)^d"] == pytest.approx((left - right) / 4)


@pytest.mark.parametrize("seed", range(6))
def test_local_search_finds_the_best_word_all_the_same(seed: int) -> None:
    """From a random word; the best by trying all of them."""
    rng = np.random.default_rng(seed)
    costs, n = losses(*rng.uniform(0.3, 5, 2)), int(rng.integers(3, 8))
    words = [np.array(word) for word in product((0, 1), repeat=n)]

    found = search_word(costs, rng.integers(0, 2, n))

    least = min(evaluate_cycle(costs, word).cost for word in words)
    assert found.cost == pytest.approx(least, abs=1e-12)


def test_a_page_that_is_never_worth_a_visit() -> None:
    """Remark 6.1 with the inequality the right way round: small weight over change rate."""
    costs = robot(0.2, 3.0, weights=(1.0, 0.3))

    best, two, found = solve_cycle(costs), solve_two(costs), check_conditions(costs)

    assert two.period is None
    assert best.never_visited.tolist() == [1]
    assert best.cost == pytest.approx(two.cost, abs=1e-9)
    assert (found.met, found.at_risk.tolist()) == ("none", [1])
    assert "pages 1 gain less" in found.explanation


def test_conditions_2_to_4_are_told_apart() -> None:
    """Squares, exponentials, lines."""
    d = np.arange(1, 65.0)
    none, infinite = np.zeros(2), np.full(2, np.inf)
    squares = TabulatedCosts(d**2 * np.array([[1], [2]]), infinite, -infinite)
    lines = TabulatedCosts(d * np.array([[1], [2]]), np.array([1.0, 2.0]), none)

    assert check_conditions(squares).met == "(2)"
    assert check_conditions(losses(1, 2)).met == "(3)"
    assert check_conditions(lines).met == "(4)"
    assert check_conditions(robot(0.1, 0.2)).met == "(3)"


def test_terminal_cost_matters() -> None:
    """Example 3.5: without it always using server 1 is optimal, with it the servers alternate."""
    d = np.arange(1, 65.0)
    infinite = np.full(2, np.inf)
    squares = TabulatedCosts(d**2 * np.array([[1], [2]]), infinite, -infinite)

    assert solve_horizon(squares, [1, 1], 6, terminal=False).sequence.tolist() == [0] * 6
    assert set(solve_horizon(squares, [1, 1], 6).sequence.tolist()) == {0, 1}


def test_a_horizon_by_brute_force() -> None:
    """Every order of six accesses to three servers."""
    costs, best = losses(1, 2, 3), np.inf
    table = costs.tabulate(12)
    for order in product(range(3), repeat=6):
        ages, paid = [1, 2, 3], 0.0
        for server in order:
            paid += table[server, ages[server] - 1]
            ages = [1 if m == server else age + 1 for m, age in enumerate(ages)]
        best = min(best, paid + sum(table[m, age - 1] for m, age in enumerate(ages)))

    assert solve_horizon(costs, [1, 2, 3], 6).cost == pytest.approx(best, abs=1e-12)


def test_example_3_4_with_its_averages_the_right_way_round() -> None:
    """Costs a x and exp(-d x): always server 1 costs a in the long run, always 2 a + exp(-d)."""
    a, d = 0.3, 0.7
    x = np.arange(1, 400.0)
    costs = TabulatedCosts(np.array([a * x, np.exp(-d * x)]), np.array([a, 0.0]), np.zeros(2))

    assert evaluate_cycle(costs, [0]).cost == pytest.approx(a)
    assert evaluate_cycle(costs, [1]).cost == pytest.approx(a + np.exp(-d))


def test_phase_type_service_agrees_with_exponential_service() -> None:
    """One phase is the exponential law; preemptive losses are the same matrix formula."""
    services = [PhaseType.exponential(1.0), PhaseType.exponential(0.25)]

    np.testing.assert_allclose(
        preemptive_loss_costs(services, MMPP).table[:, :50],
        loss_costs([1, 4], MMPP, longest=50).table,
        atol=1e-14,
    )


def test_obsolescence_at_the_instants_of_a_poisson_process() -> None:
    """A Poisson process of accesses is a robot with exponential access times."""
    ours = obsolescence_costs([0.5, 1], [1, 2], MarkovianArrivals.poisson(2.0), longest=30)
    law = AgeingCosts.obsolescence([0.5, 1], [1, 2], PhaseType.exponential(0.5))

    np.testing.assert_allclose(ours.table, law.tabulate(30), rtol=1e-12)
