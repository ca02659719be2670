"""Due times from estimates: within the budget, the hosts' limits and the bounds on intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.planning import (
    MEASURES,
    PlanInputs,
    even_freshness,
    plan_visits,
)
from recrawl.crawler.control.revisiting.revisit_policy import Schedule
from recrawl.errors import InvalidModel

HOUR = 3600.0
WIDE = RevisitRules(min_interval_s=1.0, max_interval_s=1e9)


def inputs(
    change_rates: list[float],
    weights: list[float] | None = None,
    hosts: list[int] | None = None,
    caps: list[float] | None = None,
) -> PlanInputs:
    n = len(change_rates)
    return PlanInputs(
        change_rates=np.array(change_rates, float),
        weights=np.ones(n) if weights is None else np.array(weights, float),
        hosts=np.zeros(n, np.int64) if hosts is None else np.array(hosts, np.int64),
        last_visits=np.full(n, 1000.0),
        host_caps=np.array([np.inf] if caps is None else caps, float),
    )


def demanded(plan: Schedule) -> float:
    """Visits per time that the due times ask for."""
    return float(np.sum(1.0 / (plan.due - 1000.0)))


def test_one_page_gets_the_whole_budget() -> None:
    """One page, one visit per ten seconds: fresh (1 - exp(-y)) / y of the time, y = 0.1 * 10."""
    plan = plan_visits(inputs([0.1]), 0.1, WIDE)

    assert plan.crawl_rates == pytest.approx([0.1])
    assert plan.due == pytest.approx([1010.0])
    assert plan.freshness == pytest.approx(1 - np.exp(-1))
    # d/dr of r/d (1 - exp(-d/r)) at r = d = 0.1, by hand.
    assert plan.price == pytest.approx((1 - 2 * np.exp(-1)) / 0.1)


def test_equal_pages_share_alike() -> None:
    """By symmetry."""
    plan = plan_visits(inputs([0.2] * 5), 1.0, WIDE)

    assert plan.crawl_rates == pytest.approx([0.2] * 5)
    assert plan.n_never_visited == 0


def test_worth_moves_visits_and_the_order_of_pages_does_not() -> None:
    """The dearer of two pages that change alike is visited more often."""
    plan = plan_visits(inputs([0.1, 0.1, 0.3], [1.0, 5.0, 1.0]), 0.3, WIDE)
    mirrored = plan_visits(inputs([0.3, 0.1, 0.1], [1.0, 5.0, 1.0]), 0.3, WIDE)

    assert plan.crawl_rates[1] > plan.crawl_rates[0]
    assert plan.crawl_rates == pytest.approx(mirrored.crawl_rates[::-1])


def test_no_page_is_visited_more_often_than_the_shortest_interval_allows() -> None:
    """What is left of the budget stays unspent, and is worth nothing."""
    rules = RevisitRules(min_interval_s=100.0, max_interval_s=1e6)
    plan = plan_visits(inputs([0.5, 0.001]), 10.0, rules)

    assert plan.crawl_rates == pytest.approx([0.01, 0.01])
    assert plan.due == pytest.approx([1100.0, 1100.0])
    assert plan.price == 0.0


def test_hopeless_pages_are_still_visited_once_per_longest_interval() -> None:
    """The optimum would give them up; nothing may starve."""
    rules = RevisitRules(min_interval_s=1.0, max_interval_s=1000.0)
    plan = plan_visits(inputs([1e4] + [0.01] * 20), 0.2, rules)

    assert plan.crawl_rates[0] == pytest.approx(1e-3)
    assert plan.due[0] == pytest.approx(2000.0)
    assert plan.n_never_visited == 0


def test_a_page_that_never_changes_is_visited_once_per_longest_interval() -> None:
    """It might."""
    rules = RevisitRules(min_interval_s=1.0, max_interval_s=1000.0)
    plan = plan_visits(inputs([0.0, 0.01]), 0.2, rules)

    assert plan.due[0] == pytest.approx(2000.0)


def test_the_longest_interval_gives_way_where_the_budget_is_too_small() -> None:
    """A thousand pages, one visit a second, 100 s at most: half of the budget keeps what it can."""
    rules = RevisitRules(min_interval_s=1.0, max_interval_s=100.0)
    rates = list(np.random.default_rng(5).gamma(0.3, 0.01, 1000))
    plan = plan_visits(inputs(rates), 1.0, rules)

    assert plan.crawl_rates.min() == pytest.approx(0.5 / 1000)
    assert plan.crawl_rates.sum() == pytest.approx(1.0)
    assert demanded(plan) <= 1.0 + 1e-9, "more is due than is paid for"


def test_the_longest_interval_gives_way_where_a_host_is_too_slow() -> None:
    """A page that is hopeless keeps its part of half of the host's limit, the other the rest."""
    rules = RevisitRules(min_interval_s=1.0, max_interval_s=1000.0)

    plan = plan_visits(inputs([1e4, 1e-4], caps=[1e-3]), 1.0, rules)
    alone = plan_visits(inputs([1e4, 0.01], hosts=[0, 1], caps=[1e-3, np.inf]), 1.0, rules)

    assert plan.crawl_rates == pytest.approx([0.25e-3, 0.75e-3])
    assert alone.crawl_rates[0] == pytest.approx(0.5e-3)


def test_a_slow_host_gets_what_its_politeness_allows() -> None:
    """Ten pages of a host that answers once per 50 s; the others get the rest."""
    plan = plan_visits(
        inputs([0.01] * 20, hosts=[0] * 10 + [1] * 10, caps=[0.02, np.inf]), 1.0, WIDE
    )

    assert plan.crawl_rates[:10].sum() == pytest.approx(0.02)
    assert plan.crawl_rates[10:].sum() == pytest.approx(0.98)


@settings(max_examples=50)
@given(
    rates=st.lists(st.just(0.0) | st.floats(1e-9, 10), min_size=1, max_size=30),
    budget=st.floats(1e-4, 100),
    shortest=st.floats(0.1, 10),
    spread=st.floats(1, 1e5),
    delay=st.floats(0.05, 100),
    measure=st.sampled_from(MEASURES),
)
def test_every_plan_keeps_budget_bounds_and_limits(
    rates: list[float], budget: float, shortest: float, spread: float, delay: float, measure: str
) -> None:
    """Whatever the pages; only the control arms know nothing of limits."""
    rules = RevisitRules(min_interval_s=shortest, max_interval_s=shortest * spread)
    hosts = [number % 2 for number in range(len(rates))]
    given_to = inputs(rates, hosts=hosts, caps=[1.0 / delay, np.inf])

    plan = plan_visits(given_to, budget, rules, measure=measure)

    slack = 1 + 1e-9
    assert np.all(np.isfinite(plan.due))
    assert np.all(plan.due >= 1000.0 + shortest / slack)
    assert plan.crawl_rates.sum() <= budget * slack
    assert -1e-12 <= plan.freshness <= 1 + 1e-12
    if measure == "even-freshness":
        assert np.all(plan.crawl_rates <= slack / shortest)
        assert plan.crawl_rates[::2].sum() <= slack / delay
        assert demanded(plan) <= budget * slack
        assert plan.price >= 0.0


@pytest.mark.parametrize("measure", MEASURES)
def test_the_expected_freshness_is_that_of_the_rates(measure: str) -> None:
    """(1 - exp(-y)) / y for each page, y changes per visit, weighted."""
    rates, weights = [0.5, 0.02, 0.3], [1.0, 2.0, 4.0]
    plan = plan_visits(inputs(rates, weights), 0.4, WIDE, measure=measure)
    y = np.array(rates) / plan.crawl_rates

    assert plan.freshness == pytest.approx(np.average(-np.expm1(-y) / y, weights=weights), rel=1e-6)


@pytest.mark.parametrize("measure", ["uniform", "proportional"])
def test_of_a_plan_that_is_no_optimum_nothing_has_a_price(measure: str) -> None:
    """By proportion a page that never changes gets nothing: due after the longest interval."""
    plan = plan_visits(inputs([0.5, 0.0]), 0.4, WIDE, measure=measure)

    n_never = 1 if measure == "proportional" else 0
    assert (plan.price, plan.worth, plan.n_never_visited) == (0.0, 0.0, n_never)
    assert plan.due[1] - 1000.0 == (WIDE.max_interval_s if n_never else 1 / 0.2)


@pytest.mark.parametrize(
    ("expected", "change_rate", "crawl_rate"),
    [(1.0, 0.0, 0.0), (1.0, 0.0, 2.0), (0.0, 2.0, 0.0), (1.0 - np.exp(-1.0), 2.0, 2.0)],
)
def test_how_fresh_evenly_spaced_visits_keep_a_page(
    expected: float, change_rate: float, crawl_rate: float
) -> None:
    """Always where it never changes, never where it does and nobody looks."""
    assert even_freshness(np.array([change_rate]), np.array([crawl_rate])) == [
        pytest.approx(expected)
    ]


def test_worths_count_beside_each_other_alone() -> None:
    rates, weights = [0.1, 0.1, 0.3], [1.0, 5.0, 1.0]
    plan = plan_visits(inputs(rates, weights), 0.3, WIDE)
    small = plan_visits(inputs(rates, [weight / 8.0 for weight in weights]), 0.3, WIDE)

    assert small.crawl_rates == pytest.approx(plan.crawl_rates)


def test_no_plan_beats_the_optimal_one() -> None:
    """Than uniform, and uniform than proportional (Cho and Garcia-Molina 2003)."""
    rates = list(np.random.default_rng(6).gamma(0.3, 1.0, 200) + 1e-4)
    even, uniform, proportional = (
        plan_visits(inputs(rates), 40.0, WIDE, measure=measure).freshness for measure in MEASURES
    )

    assert even > uniform > proportional


def test_pages_of_no_worth_are_planned_alike() -> None:
    """All weights zero is no reason to stop."""
    plan = plan_visits(inputs([0.1, 0.1], [0.0, 0.0]), 1.0, WIDE)

    assert plan.crawl_rates == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("rates", "budget", "message"),
    [
        ([], 1.0, "0 pages, at least 1"),
        ([0.1], 0.0, "budget"),
        ([0.1], -1.0, "budget|min_rates"),
        ([0.1], float("nan"), "budget|min_rates"),
        ([-0.1], 1.0, "change_rates"),
        ([float("inf")], 1.0, "change_rates"),
    ],
)
def test_numbers_outside_the_domain_are_named(
    rates: list[float], budget: float, message: str
) -> None:
    """Rather than planned with."""
    with pytest.raises(InvalidModel, match=message):
        plan_visits(inputs(rates), budget, WIDE)
