"""Coffman, Liu & Weber 1998, sections 2 to 4: every claim about how often, on numbers.

The expected values were computed independently (double precision, other code).
"""

from itertools import product
from math import e

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.freshness import (
    bound_obsolescence,
    evaluate_distances,
    evaluate_random_access,
    evaluate_sequence,
    solve_even_accesses,
    solve_random_accesses,
)
from recrawl.processes.access_times import AccessTime, ConstantTime, ObservedTimes
from recrawl.processes.phase_type import PhaseType

RATES = np.array([0.1, 0.2, 0.3, 0.4])
LAWS: dict[str, AccessTime] = {
    "constant": ConstantTime(1.0),
    "erlang": PhaseType.erlang(2, 1.0),
    "exponential": PhaseType.exponential(1.0),
    "hyper": PhaseType.hyperexponential([0.9, 0.1], [0.5, 5.5]),
}
EVEN = {
    "constant": (0.36787944117144233, [0.1, 0.2, 0.3, 0.4]),
    "erlang": (
        0.3936206360121449,
        [0.1046586338996725, 0.20444762555856186, 0.29980005620299066, 0.39109368433877495],
    ),
    "exponential": (
        0.41625041625041626,
        [0.10874344979785036, 0.20801844146127274, 0.2993425810385045, 0.3838955277023725],
    ),
    "hyper": (
        0.5114163429319389,
        [0.12165744631793758, 0.21489191783043468, 0.29531663894640764, 0.36813399690522003],
    ),
}
RANDOM = {
    "constant": (
        0.46119990218588114,
        [0.09002377194449165, 0.18951542663301824, 0.2994707099860024, 0.420990091436488],
    ),
    "erlang": (
        0.4819277108433734,
        [0.09534883720930235, 0.19534883720930238, 0.3, 0.40930232558139545],
    ),
    "exponential": (0.5, [0.1, 0.2, 0.3, 0.4]),
    "hyper": (
        0.5750431282346176,
        [0.11502029769959403, 0.20974289580514205, 0.2963464140730717, 0.3788903924221921],
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_theorem_3_4_bound_and_frequencies(law: str) -> None:
    """Weights proportional to the rates: C* = mu - (1 - product of h) / EX, x ~ ln(1/h)."""
    cost, frequencies = EVEN[law]

    plan = solve_even_accesses(RATES, RATES, LAWS[law])

    assert plan.cost == pytest.approx(cost, rel=1e-9)
    np.testing.assert_allclose(plan.frequencies, frequencies, rtol=1e-9)
    h = 1 - LAWS[law].shortfall(RATES)
    assert plan.cost == pytest.approx(RATES.sum() - (1 - h.prod()), rel=1e-12)
    np.testing.assert_allclose(plan.frequencies, np.log(h) / np.log(h).sum(), rtol=1e-10)
    assert plan.cost > 0


@pytest.mark.parametrize("law", LAWS)
def test_theorem_4_1_randomised_optimum(law: str) -> None:
    """Independent draws: x proportional to 1/h - 1, and the cost of (11) is attained."""
    cost, frequencies = RANDOM[law]

    plan = solve_random_accesses(RATES, RATES, LAWS[law])

    assert plan.cost == pytest.approx(cost, rel=1e-9)
    np.testing.assert_allclose(plan.frequencies, frequencies, rtol=1e-9)
    odds = 1 / (1 - LAWS[law].shortfall(RATES)) - 1
    assert plan.cost == pytest.approx(RATES.sum() - odds.sum() / (1 + odds.sum()), rel=1e-12)


@pytest.mark.parametrize("load", [20.0, 37.0, 40.0, 709.0, 1e4, 1e6])
def test_any_load_is_solved(load: float) -> None:
    """Where h underflows: even x ~ ell and C* = mu - 1/EX; random x ~ 1/h - 1, here 1 : e."""
    rates, law = np.array([load, load + 1]), ConstantTime(1.0)

    even = solve_even_accesses(rates, rates, law)
    random = solve_random_accesses(rates, rates, law)

    np.testing.assert_allclose(even.frequencies, rates / rates.sum(), rtol=1e-12)
    assert even.cost == pytest.approx(rates.sum() - 1, rel=1e-12)
    np.testing.assert_allclose(
        random.frequencies, np.array([1, e]) / (1 + e), rtol=1e-8 if load < 1e6 else 1e-6
    )
    assert random.cost == pytest.approx(rates.sum() - 1, rel=1e-8 if load < 30 else 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_randomised_optimum_meets_its_conditions(seed: int) -> None:
    """General weights, loads of 0.01 to 300: used pages of one marginal gain, others below it."""
    rng = np.random.default_rng(seed)
    rates, weights = np.exp(rng.uniform(-4.6, 5.7, 12)), rng.uniform(0.1, 1, 12)
    weights[::3] *= rates[::3]  # some of nearly equal worth
    law = ConstantTime(1.0)

    plan = solve_random_accesses(rates, weights, law)

    short, kept = -np.expm1(-rates), np.exp(-rates)
    gain = weights / rates * short**2 / (short + plan.frequencies * kept) ** 2
    used = plan.frequencies > 0
    assert plan.frequencies.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(gain[used], plan.price, rtol=1e-10)
    assert np.all(gain[~used] <= plan.price * (1 + 1e-10))


def test_frequencies_are_not_proportional_to_rates_when_access_times_vary() -> None:
    """They are for constant X only; the more X varies the more even the frequencies get."""
    ratios = [
        plan.frequencies[3] / plan.frequencies[0]
        for plan in (solve_even_accesses(RATES, RATES, law) for law in LAWS.values())
    ]

    assert ratios[0] == pytest.approx(4.0, rel=1e-12)
    assert np.all(np.diff(ratios) < 0)


def test_general_weights_leave_pages_out() -> None:
    """Equal weights: the two fastest of four pages are best never accessed."""
    rates, law = np.array([1.0, 2.0, 3.0, 4.0]), PhaseType.exponential(1.0)

    even = solve_even_accesses(rates, np.ones(4), law)
    random = solve_random_accesses(rates, np.ones(4), law)

    np.testing.assert_allclose(
        even.frequencies, [0.5563404008085567, 0.4436595991914434, 0, 0], rtol=1e-9
    )
    assert even.price == pytest.approx(0.353896993931274, rel=1e-9)
    assert even.cost == pytest.approx(3.400524609099076, rel=1e-9)
    assert even.n_never_accessed == 2
    np.testing.assert_allclose(
        random.frequencies, [0.6568542494923799, 0.3431457505076199, 0, 0], rtol=1e-9
    )
    assert random.price == pytest.approx(0.364276695296637, rel=1e-9)
    assert random.cost == pytest.approx(3.4571067811865475, rel=1e-9)


def test_theorem_3_1_on_an_ordered_pair() -> None:
    """Constant <= Erlang <= exponential <= hyper-exponential in convex order, at one mean.

    Then every page is staler under any policy, here one written down at random.
    """
    sequence = np.array([3, 1, 3, 0, 2, 3, 1, 2, 3, 2])
    laws: list[AccessTime] = [
        ConstantTime(1.0),
        PhaseType.erlang(3, 1.0),
        LAWS["exponential"],
        LAWS["hyper"],
    ]

    stale = np.array([evaluate_sequence(RATES, sequence, law) for law in laws])

    assert np.all(np.diff(stale, axis=0) > 0)


def test_theorem_3_2_even_distances_are_best() -> None:
    """Among all ways to place three accesses in twelve slots the even one is least stale."""
    law = PhaseType.erlang(2, 1.0)
    options = [gaps for gaps in product(range(1, 11), repeat=3) if sum(gaps) == 12]

    stale = [evaluate_distances([0.3], [gaps], law)[0] for gaps in options]

    assert options[int(np.argmin(stale))] == (4, 4, 4)
    assert max(stale) == pytest.approx(evaluate_distances([0.3], [(1, 1, 10)], law)[0])


def test_theorem_3_3_is_attained_by_a_cycle_when_frequencies_are_equal() -> None:
    """Round robin meets the lower bound exactly."""
    law = LAWS["hyper"]

    cycle = evaluate_sequence(RATES, [0, 1, 2, 3], law)

    np.testing.assert_allclose(cycle, bound_obsolescence(RATES, np.full(4, 0.25), law), rtol=1e-12)


@pytest.mark.slow
def test_theorem_3_3_bounds_every_cycle() -> None:
    """No sequence of length 8 over three pages beats the bound at its own frequencies."""
    law, rates = LAWS["exponential"], np.array([0.2, 0.5, 1.0])

    for sequence in product(range(3), repeat=8):
        counts = np.bincount(sequence, minlength=3)
        if counts.min() > 0:
            stale = evaluate_sequence(rates, np.array(sequence), law)
            assert np.all(stale >= bound_obsolescence(rates, counts / 8, law) - 1e-12)


def test_lemma_3_1_against_simulation() -> None:
    """A robot that runs a cycle of random access times: out-of-date share within 4 errors.

    20 batches, seed 5.
    """
    rng = np.random.default_rng(5)
    sequence = np.array([0, 1, 0, 2, 1, 0])
    rates, law = np.array([0.3, 0.6, 0.2]), PhaseType.erlang(2, 0.7)
    expected = evaluate_sequence(rates, sequence, law)

    for page in range(3):
        shares = []
        for _ in range(20):
            ends = np.cumsum(law.sample(6 * 3000, rng))
            visits = ends[np.tile(sequence, 3000) == page]
            gaps = np.diff(visits)
            stale = np.maximum(gaps - rng.exponential(1 / rates[page], gaps.size), 0)
            shares.append(stale.sum() / gaps.sum())
        error = np.std(shares, ddof=1) / np.sqrt(20)
        assert abs(np.mean(shares) - expected[page]) < 4 * error


def test_lemma_4_1_is_the_mixture_over_geometric_distances() -> None:
    """Summing Lemma 3.1 over P(d = n) = f (1 - f)^(n - 1) gives the closed form."""
    law, rate, share = LAWS["erlang"], 0.7, 0.15
    h = 1 - float(law.shortfall([rate])[0])
    n = np.arange(1, 2000)
    weights = share * (1 - share) ** (n - 1)

    stale = 1 - (weights * (1 - h**n)).sum() / (rate * (weights * n).sum())

    assert evaluate_random_access([rate], [share], law)[0] == pytest.approx(stale, rel=1e-10)


def test_expansion_of_the_randomised_excess() -> None:
    """Near f = 0 the excess over the bound is h/(1 - h) f^2 / (mu EX), not the printed h."""
    law, rate, f = LAWS["exponential"], 0.63, 1e-5
    h = 1 - float(law.shortfall([rate])[0])

    excess = evaluate_random_access([rate], [f], law) - bound_obsolescence([rate], [f], law)

    assert excess[0] * rate / f**2 == pytest.approx(h / (1 - h), rel=1e-3)
    assert h / (1 - h) == pytest.approx(1.5873015873015874)


def test_expansion_of_the_randomised_excess_near_one() -> None:
    """Near f = 1 its slope is h (1 - h + ln h) / (mu EX), not the printed h (1 + ln h)."""
    law, rate, rest = LAWS["exponential"], 0.63, 1e-5
    h = 1 - float(law.shortfall([rate])[0])

    excess = evaluate_random_access([rate], [1 - rest], law) - bound_obsolescence(
        [rate], [1 - rest], law
    )

    assert -excess[0] * rate / rest == pytest.approx(h * (1 - h + np.log(h)), rel=1e-3)
    assert h * (1 - h + np.log(h)) == pytest.approx(-0.06262389406994381, rel=1e-9)


def test_constant_access_times_are_even_freshness() -> None:
    """The obsolescence rate at the bound is one minus the freshness at crawl rate f / EX."""
    stale = bound_obsolescence(RATES, [0.1, 0.2, 0.3, 0.4], ConstantTime(2.0))

    y = RATES / (np.array([0.1, 0.2, 0.3, 0.4]) / 2.0)
    np.testing.assert_allclose(stale, 1 - (1 - np.exp(-y)) / y, rtol=1e-12)


def test_observed_times_converge_to_their_law() -> None:
    """A sample of 100,000 exponential times plans like the exponential law, within 1 %."""
    sample = np.random.default_rng(1).exponential(1.0, 100_000)

    seen = solve_even_accesses(RATES, RATES, ObservedTimes(sample))

    np.testing.assert_allclose(seen.frequencies, EVEN["exponential"][1], rtol=0.01)
    assert seen.accesses_per_time == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(
    ("rates", "weights", "message"),
    [
        ([], [], "at least one"),
        ([0.0], [1.0], "finite and > 0"),
        ([1.0], [1.0, 2.0], "same length"),
        ([1.0], [0.0], "some > 0"),
    ],
)
def test_bad_models_are_refused(rates: list[float], weights: list[float], message: str) -> None:
    """Rates must be positive here: a page that never changes needs no access."""
    with pytest.raises(InvalidModel, match=message):
        solve_even_accesses(rates, weights, ConstantTime(1.0))


def test_bad_sequences_are_refused() -> None:
    """Page numbers must exist, distances be positive, and one list be given for each page."""
    law = ConstantTime(1.0)

    with pytest.raises(InvalidModel, match=r"page numbers in 0 \.\. 1"):
        evaluate_sequence([1.0, 2.0], [0, 2], law)
    with pytest.raises(InvalidModel, match="distances of page 0 must be > 0"):
        evaluate_distances([1.0], [[0]], law)
    with pytest.raises(InvalidModel, match="distances of 2 pages for 1"):
        evaluate_distances([1.0], [[1], [1]], law)
    assert evaluate_sequence([1.0, 2.0], [0], law)[1] == 1.0
