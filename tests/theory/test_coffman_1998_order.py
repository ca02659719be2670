"""Coffman, Liu & Weber 1998, section 5: the golden ratio policy, its limit, and the false bound.

The expected values were computed independently (double precision, other code).
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.processes.access_times import AccessTime, ConstantTime
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import (
    AgeingCosts,
    bound_even_gaps,
    evaluate_cycle,
    evaluate_random,
    fibonacci,
    golden_cycle,
    golden_limit,
    golden_ratio,
    golden_second_moment,
    round_to_cycle,
)

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "scheduling.json").read_text())
GOLDEN, EXAMPLES = DATA["golden"], DATA["examples"]
RATES = np.array([0.1, 0.2, 0.3, 0.4])
PHI = (1 + 5**0.5) / 2
LAWS: dict[str, AccessTime] = {
    "ex_const": ConstantTime(1.0),
    "ex_exp": PhaseType.exponential(1.0),
    "ex_erlang2": PhaseType.erlang(2, 1.0),
    "ex_hyper_.9/.5_.1/5.5": PhaseType.hyperexponential([0.9, 0.1], [0.5, 5.5]),
}


def test_the_printed_example() -> None:
    """Thirteen slots for 2/13, 3/13, 3/13, 5/13, in the printed order."""
    assert (golden_cycle([2, 3, 3, 5], 7) + 1).tolist() == [4, 2, 4, 1, 3, 4, 2, 4, 1, 3, 4, 2, 3]


@pytest.mark.parametrize("k", range(4, 18))
def test_stepping_is_the_order_of_the_points(k: int) -> None:
    """Adding F_{k-1} or F_{k-2} visits the multiples of 1/phi in the order of their fractions."""
    shares = np.array([0.3, 0.3, 0.4])
    points = np.arange(1, fibonacci(k) + 1) / PHI % 1
    ends = np.cumsum(round_to_cycle(shares, fibonacci(k)))

    owners = np.searchsorted(ends, np.argsort(points), side="right")

    np.testing.assert_array_equal(owners, golden_cycle(shares, k))


@pytest.mark.parametrize("law", LAWS)
def test_costs_of_the_example_for_four_laws(law: str) -> None:
    """The bound, the randomised optimum, the cycle of 13 and its limit."""
    costs, expected = AgeingCosts.obsolescence(RATES, RATES, LAWS[law]), EXAMPLES[law]
    best = bound_even_gaps(costs)
    distances, rates = golden_limit(best.frequencies)

    limit = (rates * costs.at(np.arange(4)[:, None], distances)).sum()

    assert expected["C_star"] == pytest.approx(best.cost, abs=1e-9)
    assert expected["C_golden_limit"] == pytest.approx(limit, abs=1e-9)
    cycle = golden_cycle([2, 3, 3, 5], 7)
    assert expected["C_golden_13"] == pytest.approx(evaluate_cycle(costs, cycle).cost, abs=1e-9)
    drawn = evaluate_random(costs, expected["f_random"])
    assert expected["C_random"] == pytest.approx(drawn.cost, abs=1e-9)


def test_long_cycles_approach_the_limit() -> None:
    """Distances are three Fibonacci numbers whose shares converge."""
    costs = AgeingCosts.obsolescence(RATES, RATES, ConstantTime(1.0))

    long = evaluate_cycle(costs, golden_cycle(RATES, 27)).cost

    assert EXAMPLES["ex_const"]["C_golden_limit"] == pytest.approx(long, abs=1e-4)


def test_the_printed_bound_is_false() -> None:
    """Corollary 5.1 claims a ratio below 1.05; 1042 equal pages have 1.108, slot by slot."""
    rates = np.full(1042, 0.01 / 1042)
    costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
    expected = GOLDEN["golden_counterexample_N=1042_equal_q=.01_k=33"]

    cost = evaluate_cycle(costs, golden_cycle(np.ones(1042), 33)).cost
    bound = bound_even_gaps(costs).cost

    assert expected["C_star"] == pytest.approx(bound, rel=1e-9)
    assert expected["ratio"] == pytest.approx(cost / bound, abs=1e-9)
    assert cost / bound > 1.05


def test_the_true_supremum() -> None:
    """The limiting second moment is a parabola with phi^5/10 at its top; the print has its ends."""
    x = np.linspace(1, PHI, 2001)
    moments = golden_second_moment(x)

    assert GOLDEN["golden_true_sup_ratio_phi^5/10"] == pytest.approx(
        float(golden_second_moment(PHI**2 / 2)), abs=1e-12
    )
    assert moments.max() <= PHI**5 / 10 + 1e-12
    assert GOLDEN["golden_sup_ratio"] == pytest.approx(moments[0], abs=1e-12)
    assert GOLDEN["golden_sup_ratio"] == pytest.approx(moments[-1], abs=1e-12)
    assert moments.min() >= moments[0] - 1e-12
    logs = np.log(x)
    mean = np.trapezoid(moments, logs) / logs[-1]
    expected = GOLDEN["golden_loguniform_mean_ratio_q0_phi^2/(5 ln phi)"]
    assert expected == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("load", [0.1, 0.5, 1, 2, 5, 10])
def test_equation_18_is_the_best_case(load: float) -> None:
    """What is printed as an upper bound is the least value over all positions between powers."""
    ratios = golden_ratio(load, np.linspace(1, PHI, 1001))

    assert GOLDEN[f"golden_H_q={load:g}"] == pytest.approx(ratios[0], abs=1e-9)
    assert ratios.min() >= ratios[0] - 1e-12


@pytest.mark.parametrize("load", [0.05, 1, 5])
def test_best_mean_and_worst_limit(load: float) -> None:
    """Over all positions, uniformly on the logarithm of the frequency."""
    logs = np.linspace(0, np.log(PHI), 20_001)
    ratios = golden_ratio(load, np.exp(logs))

    mean = np.trapezoid(ratios, logs) / logs[-1]

    best, average, worst = GOLDEN[f"golden_limit_ratio_best_mean_worst_q={load:g}"]
    assert best == pytest.approx(ratios.min(), abs=1e-9)
    assert average == pytest.approx(mean, abs=1e-4)
    assert worst == pytest.approx(ratios.max(), abs=1e-6)


def test_from_which_load_the_printed_bound_holds() -> None:
    """At q = 1.0696 the worst limiting ratio falls to 1.05."""
    load = GOLDEN["golden_q_where_worst_limit_ratio_is_1.05"]

    assert golden_ratio(load, np.linspace(1, PHI, 20_001)).max() == pytest.approx(1.05, abs=1e-8)


def test_as_pages_hardly_change_every_cycle_is_as_good_as_the_best() -> None:
    """Section 5: C - C* is of the second order in the total rate, for any cycle of all pages."""
    random = np.random.default_rng(4)
    cycle = np.concatenate([np.arange(4), random.integers(4, size=9)])
    excess = []
    for scale in (1e-1, 1e-2, 1e-3, 1e-4):
        costs = AgeingCosts.obsolescence(
            scale * RATES, scale * RATES, LAWS["ex_hyper_.9/.5_.1/5.5"]
        )
        excess.append(evaluate_cycle(costs, cycle).cost - bound_even_gaps(costs).cost)

    assert np.all(np.array(excess) > 0)
    np.testing.assert_allclose(np.diff(np.log10(excess[1:])), -2.0, atol=0.02)
