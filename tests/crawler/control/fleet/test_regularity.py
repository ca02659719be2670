"""Which model fits, and what is planned by it."""

import numpy as np
import pytest

from recrawl.crawler.control.fleet import TargetRobots
from recrawl.crawler.control.fleet.drift import AdaptiveRobots, measured_regularity
from recrawl.crawler.control.fleet.forgetting_rate import ForgettingRate
from recrawl.crawler.control.fleet.regularity import Regularity, plan_robots, starvation_to_win
from recrawl.crawler.control.fleet.room import most_to_win
from recrawl.fleet import ControlledBuffer, evaluate_irregular, solve_robots
from recrawl.learning.order_two import fit_order_two

MODEL = ControlledBuffer(16, 5, 0.1, 1.0, 1.4)
HEAVY = Regularity(service_variation=8.0, service_third=200.0)


def watched(durations: np.ndarray) -> ForgettingRate:
    """Return what is known after these durations."""
    rate = ForgettingRate(300)
    for duration in durations:
        rate.observe(float(duration))
    return rate


def test_moments_are_those_of_the_durations() -> None:
    """With a memory far longer than the sample nothing is forgotten."""
    durations = np.random.default_rng(1).lognormal(0.0, 0.8, 5_000)
    rate = ForgettingRate(1e9)
    for duration in durations:
        rate.observe(float(duration))

    assert rate.squared_variation == pytest.approx(durations.var() / durations.mean() ** 2)
    assert rate.third_ratio == pytest.approx(np.mean(durations**3) / durations.mean() ** 3)
    neighbours = np.corrcoef(durations[1:], durations[:-1])[0, 1]
    assert rate.correlation == pytest.approx(neighbours, abs=1e-3)


def test_exponential_times_pass_for_exponential() -> None:
    """In each of two hundred samples of 150: nothing is made of chance."""
    random = np.random.default_rng(2)
    for _ in range(200):
        fetches = watched(random.exponential(10.0, 150))
        services = watched(random.exponential(1.0, 150))
        assert measured_regularity(fetches, services).is_exponential


def test_too_few_times_tell_nothing_of_their_regularity() -> None:
    """Ninety-nine of them, however irregular."""
    few = watched(np.random.default_rng(3).pareto(1.1, 99))

    assert measured_regularity(few, few) == Regularity()


@pytest.mark.parametrize(
    ("durations", "exponential"),
    [
        (np.full(300, 2.0), False),
        (np.random.default_rng(4).gamma(5.0, 1.0, 300), False),
        (np.random.default_rng(4).lognormal(0.0, 1.5, 300), False),
        (np.random.default_rng(4).uniform(0.0, 5.0, 300), False),
        (np.random.default_rng(4).gamma(1.2, 1.0, 300), True),
    ],
    ids=["constant", "regular", "heavy", "uniform", "nearly exponential"],
)
def test_other_indexing_times_are_told_apart(durations: np.ndarray, exponential: bool) -> None:
    """Far from exponential on either side."""
    nothing = ForgettingRate(300)

    assert measured_regularity(nothing, watched(durations)).is_exponential is exponential


def test_bursts_are_told_from_a_poisson_process() -> None:
    """By the variation of the robots' work between pages, and the correlation of neighbours."""
    bursty = fit_order_two(10.0, 4.0, [0.3]).process
    intervals = bursty.sample(2_000, np.random.default_rng(5))

    seen = measured_regularity(watched(intervals), ForgettingRate(300))

    assert not seen.has_poisson_arrivals
    assert seen.has_exponential_service


def test_a_little_variation_counts_where_neighbours_are_alike() -> None:
    """Bursts show in the order of the times before they show in their variation."""
    assert Regularity(arrival_variation=1.3).has_poisson_arrivals
    assert Regularity(arrival_variation=1.05, arrival_correlation=0.4).has_poisson_arrivals
    assert not Regularity(arrival_variation=1.3, arrival_correlation=0.4).has_poisson_arrivals
    assert not Regularity(arrival_variation=1.6).has_poisson_arrivals


def test_the_fitted_model_has_the_measured_moments() -> None:
    """Mean, variation and, where two phases can have it, the third moment."""
    fleet = HEAVY.fleet(MODEL)

    assert fleet.service.mean == pytest.approx(1.0)
    assert fleet.service.squared_variation == pytest.approx(8.0)
    assert fleet.service.moment(3) == pytest.approx(200.0)
    assert fleet.arrivals.rate == pytest.approx(0.1)
    regular = Regularity(service_variation=0.0).fleet(MODEL)
    assert regular.service.squared_variation == pytest.approx(0.1)


@pytest.mark.parametrize("variation", [0.25, 2.5, 8.0])
@pytest.mark.parametrize("third", [None, 0.01])
def test_where_the_third_moment_is_not_told_or_cannot_be_the_first_two_are_met(
    variation: float, third: float | None
) -> None:
    """Of times more or less regular than exponential ones."""
    service = Regularity(variation, third).fleet(MODEL).service

    assert service.mean == pytest.approx(1.0)
    assert service.squared_variation == pytest.approx(variation)


def test_the_fitted_model_has_the_third_moment_at_any_pace() -> None:
    """Moments are told over powers of the mean, which is a quarter here."""
    service = HEAVY.fleet(ControlledBuffer(16, 5, 0.1, 4.0, 1.4)).service

    assert service.mean == pytest.approx(0.25)
    assert service.squared_variation == pytest.approx(8.0)
    assert service.moment(3) == pytest.approx(200.0 / 64.0)


def test_exponential_times_are_planned_by_the_exact_policy() -> None:
    """As in the papers' example."""
    plan = plan_robots(MODEL)

    assert isinstance(plan.policy, TargetRobots)
    assert plan.policy.targets == solve_robots(MODEL).targets
    assert plan.measures.cost == solve_robots(MODEL).cost


def test_irregular_times_are_planned_by_the_general_model() -> None:
    """And the promise is that of the curve that is followed."""
    plan = plan_robots(MODEL, HEAVY)

    assert isinstance(plan.policy, TargetRobots)
    fleet = HEAVY.fleet(MODEL)
    assert plan.measures == evaluate_irregular(fleet, plan.policy.targets)
    exact = evaluate_irregular(fleet, solve_robots(MODEL).targets)
    assert plan.measures.cost <= 1.01 * exact.cost


@pytest.mark.parametrize(("loses", "loss_weight"), [(True, 0.38), (False, 0.40)])
def test_a_control_that_loses_nothing_is_followed_where_it_costs_a_hundredth_more(
    *, loses: bool, loss_weight: float
) -> None:
    """1.1 and 0.9 % more than the best, under which robots are kept where there is no room."""
    model = ControlledBuffer(3, 4, 0.3, 1.0, 1.0, loss_weight)
    bursty = Regularity(service_variation=4.0, arrival_variation=3.0)

    plan = plan_robots(model, bursty)

    assert isinstance(plan.policy, TargetRobots)
    assert plan.measures == evaluate_irregular(bursty.fleet(model), plan.policy.targets)
    assert plan.policy.targets == ((3, 3, 3, 2, 0) if loses else (3, 3, 2, 1, 0))
    assert (plan.measures.loss_rate > 0.0) == loses


def test_what_can_be_won_is_that_of_the_simple_model_where_times_are_exponential() -> None:
    """Two ways to one bound."""
    assert starvation_to_win(MODEL, Regularity()) == pytest.approx(most_to_win(16, 5, 0.1))


def test_times_that_become_irregular_are_planned_anew_once() -> None:
    """Then the plan fits what is measured, and stays."""
    robots, random = AdaptiveRobots(MODEL), np.random.default_rng(6)
    for service in random.lognormal(-1.125, 1.5, 2_000):  # of mean 1
        robots.observe_index(float(service))
        robots.observe_fetch(float(random.exponential(10.0)))

    assert robots.has_drifted()
    robots.adopt(robots.solve())

    assert not robots.plan.regularity.is_exponential
    assert not robots.has_drifted()


def test_a_variation_at_the_border_does_not_change_the_model_to_and_fro() -> None:
    """It takes twice as much, or half."""
    just_below, just_above = Regularity(service_variation=1.95), Regularity(service_variation=2.05)

    assert just_below.is_exponential
    assert not just_above.is_exponential
    assert not just_above.differs_from(just_below)
    assert not just_below.differs_from(just_above)
    assert just_above.differs_from(Regularity())


@pytest.mark.parametrize("durations", [[], [0.0], [0.0, 0.0, 0.0], [2.0], [2.0, 2.0]])
def test_where_no_time_passes_or_none_differs_no_neighbours_are_alike(
    durations: list[float],
) -> None:
    """Nothing is divided by nothing."""
    assert watched(np.array(durations)).correlation == 0.0


def test_a_correlation_of_few_durations_is_one() -> None:
    """Though their pairs have neither the mean nor the variation of all."""
    assert watched(np.array([1.0, 0.0, 1.0])).correlation == -1.0
    assert watched(np.array([1.0, 2.0, 2.0, 1.0])).correlation == 1.0
