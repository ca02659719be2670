"""The control that learns: prices, limits, no starving, and the index that it goes by."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from tests.oracles.crawl_value import (
    believed_crawl_value,
    crawl_value,
    signalled_crawl_value,
)

from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.crawler.control.worth.order import curvatures
from recrawl.errors import InvalidModel
from recrawl.freshness import Pages, solve_even_freshness


def told(control: RevisitControl, rates: np.ndarray, n_visits: int, seed: int = 1) -> float:
    """Let the control see visits of all pages at uneven intervals; return the last instant."""
    random = np.random.default_rng(seed)
    n = rates.size
    control.observe(np.arange(n), np.zeros(n), np.zeros(n, np.bool_))
    for _ in range(n_visits):
        elapsed = random.exponential(1.0, n) / rates
        changed = random.random(n) < -np.expm1(-rates * elapsed)
        control.beliefs.observe(np.arange(n), elapsed, changed)
    control.last[:] = random.uniform(0.0, 1.0, n) * 0.1
    return 0.1


def test_known_rates_lead_to_the_optimal_intervals() -> None:
    """After 400 visits a page the intervals at the control's price are those of the exact plan.

    The demand of one very long span is the sum of the rates, whatever the phases.
    """
    rates = np.random.default_rng(2).gamma(0.7, 1.0, 300) + 0.02
    control = RevisitControl(np.ones(300), 150.0, half_lives=(np.inf,))
    now = told(control, rates, 400)

    decided = control.decide(now, 2_000.0)

    plan = solve_even_freshness(Pages(rates), 150.0)
    assert decided.price == pytest.approx(plan.price, rel=0.05)
    busy = plan.crawl_rates > 0.2
    ratio = decided.intervals[busy] * plan.crawl_rates[busy]
    assert np.median(np.abs(ratio - 1.0)) < 0.1


def test_pages_that_fade_are_visited_as_the_exact_plan_says() -> None:
    """Half of 300 pages fade: the intervals of all are those of one plan, at one price."""
    random = np.random.default_rng(5)
    rates, lives = random.gamma(0.7, 1.0, 300) + 0.05, np.exp(random.normal(0.0, 1.0, 300))
    fades = np.arange(300) % 2 == 0
    control = RevisitControl(np.ones(300), 150.0, half_lives=(np.inf,))
    control.fade(np.flatnonzero(fades), lives[fades])
    now = told(control, rates, 400)

    decided = control.decide(now, 2_000.0)

    decay = np.log(2.0) / lives
    believed, _ = control.beliefs.rates(np.arange(300))
    same = Pages(np.where(fades, decay, rates), np.where(fades, believed / decay, 1.0))
    plan = solve_even_freshness(same, 150.0)
    assert decided.price == pytest.approx(plan.price, rel=0.03)
    busy = (plan.crawl_rates > 0.2) & fades
    np.testing.assert_allclose(decided.intervals[busy] * plan.crawl_rates[busy], 1.0, atol=0.1)


@settings(max_examples=15)
@given(
    budget=st.floats(0.5, 200.0),
    shortest=st.floats(0.01, 1.0),
    spread=st.floats(1.0, 1e4),
    n_visits=st.integers(0, 6),
    heavy=st.booleans(),
)
def test_due_times_keep_their_bounds_and_demand_the_budget(
    budget: float, shortest: float, spread: float, n_visits: int, heavy: bool
) -> None:
    """Whatever has been seen; below the budget only where every page is at its shortest."""
    rates = np.random.default_rng(3).gamma(0.5, 1.0, 60) + 1e-3
    weights = np.random.default_rng(4).pareto(1.2, 60) + 1.0 if heavy else np.ones(60)
    control = RevisitControl(weights, budget, bounds=(shortest, shortest * spread))
    now = told(control, rates, n_visits)

    span = 400.0 / budget
    decided = control.decide(now, span)

    least, most = control.bounds[1:3]
    assert np.all(decided.intervals >= least / (1 + 1e-9))
    assert np.all(decided.intervals <= most * (1 + 1e-9))
    waits = np.maximum(decided.due - now, 0.0)
    demand = np.where(waits < span, 1 + np.floor((span - waits) / decided.intervals), 0).sum()
    if not np.all(decided.intervals <= 1.01 * least):
        assert demand == pytest.approx(400.0, rel=0.25)
    assert np.all(decided.due >= control.last + shortest * (1 - 1e-9))


def test_no_page_starves() -> None:
    """A page found changed at each of a hundred visits is looked at again in the end."""
    control = RevisitControl(np.ones(50), 10.0)
    now = told(control, np.full(50, 0.1), 30)
    control.beliefs.observe(np.zeros(100, np.int64), np.full(100, 5.0), np.ones(100, np.bool_))

    decided = control.decide(now)

    assert decided.due[0] <= control.last[0] + control.bounds[2]
    assert np.isfinite(decided.due).all()


@pytest.mark.parametrize("most", [2.0, 10.0])
def test_a_host_over_its_limit_pays_a_price_of_its_own(most: float) -> None:
    """Thirty pages of a host that allows so many visits a unit of time; the others get the rest.

    Without a limit it would get fifteen.
    """
    rates = np.full(60, 0.5)
    hosts = np.repeat([0, 1], 30)
    control = RevisitControl(np.ones(60), 30.0, half_lives=(np.inf,))
    now = told(control, rates, 50)

    decided = control.decide(now, 500.0, hosts=hosts, host_caps=np.array([most, np.inf]))

    crawl_rates = 1.0 / decided.intervals
    assert crawl_rates[:30].sum() == pytest.approx(most, rel=0.2)  # all start at once
    assert crawl_rates[30:].sum() == pytest.approx(30.0 - most, rel=0.1)
    assert decided.host_prices[0] > decided.host_prices[1] == decided.price


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    """A host that would get fifteen visits a unit of time, and allows thirty."""
    rates, hosts = np.full(60, 0.5), np.repeat([0, 1], 30)
    found = []
    for most in (30.0, np.inf):
        control = RevisitControl(np.ones(60), 30.0, half_lives=(np.inf,))
        now = told(control, rates, 50)
        found.append(control.decide(now, 500.0, hosts=hosts, host_caps=np.array([most, np.inf])))

    assert found[0].host_prices.tolist() == [found[1].price] * 2
    assert found[0].intervals == pytest.approx(found[1].intervals)


@pytest.mark.parametrize(
    ("given", "grain", "n", "budget", "shortest", "longest"),
    [
        ((0.1, 50.0), 0.0, 10, 1.0, 0.1, 50.0),
        ((0.1, 5.0), 0.0, 10, 1.0, 0.1, 20.0),  # half of the budget is enough for all at that
        ((0.1, 5.0), 3.0, 10, 10.0, 1.5, 5.0),
        ((0.1, 5.0), 14.0, 10, 10.0, 7.0, 7.0),
        (None, 0.0, 10, 2.0, 5e-6, 250.0),  # a millionth and fifty times of a round
    ],
)
def test_intervals_have_bounds_that_the_budget_and_the_grain_widen(
    given: tuple[float, float] | None,
    grain: float,
    n: int,
    budget: float,
    shortest: float,
    longest: float,
) -> None:
    """Whatever was given: looks are half a grain apart, and half of the budget reaches all."""
    control = RevisitControl(np.ones(n), budget, bounds=given, grain=grain)

    assert control.bounds[:3] == pytest.approx([grain, shortest, longest])


def test_a_visit_clears_what_was_announced_of_its_page_alone() -> None:
    """And one that was known already clears nothing."""
    control = RevisitControl(np.ones(3), 1.0)
    rows, yes = np.arange(3), np.ones(3, np.bool_)
    control.observe(rows, np.full(3, 5.0), yes)
    control.rely_on(rows, np.full(3, 0.5), np.full(3, 0.6))
    control.observe_signals(rows)
    assert np.all(control.signals > 0.0)

    control.observe(rows[:2], np.array([6.0, 5.0]), yes[:2])

    assert (control.signals > 0.0).tolist() == [False, True, True]


def test_more_budget_lowers_the_price_and_a_change_shortens_the_interval() -> None:
    """And weight shortens it too."""
    rates = np.full(40, 0.3)
    control = RevisitControl(np.ones(40), 10.0)
    now = told(control, rates, 10)
    before = control.decide(now)
    dear, quiet = before.price, before.intervals[0]
    control.beliefs.observe(np.zeros(5, np.int64), np.full(5, 0.2), np.ones(5, np.bool_))
    assert control.decide(now, learn=False).intervals[0] < quiet

    control.budget = 40.0
    assert control.decide(now).price < dear


def test_signals_bring_a_visit_forward_by_what_they_are_worth() -> None:
    """Until the page is visited."""
    control = RevisitControl(np.ones(40), 10.0)
    now = told(control, np.full(40, 0.3), 10)
    due = control.decide(now, learn=False).due[7]
    control.rely_on(np.array([7]), np.array([0.5]), np.array([0.6]))
    control.observe_signals(np.array([7]))

    assert control.decide(now, learn=False).due[7] < due

    control.observe(np.array([7]), np.array([1.0]), np.array([True]))
    assert control.decide(1.0, learn=False).due[7] > 1.0


def test_what_is_promised_counts_on_announcements() -> None:
    """Half of the changes are told, and fetched at once; the others wait for even visits."""
    rng, every, silent = np.random.default_rng(5), 4.0, 0.5
    control = RevisitControl(np.ones(1), 1.0)
    row = np.zeros(1, np.int64)
    control.observe(np.repeat(row, 400), np.arange(1, 401.0), rng.random(400) > np.exp(-0.3))
    rate = float(control.beliefs.rates(row)[0][0])
    control.rely_on(row, np.array([40.0]), np.array([silent]))

    def promised(unheard: float) -> float:
        return float(control.kept_fresh(row, np.array([1 / every]), np.array([unheard]))[0][0])

    hidden = rng.exponential(1 / (silent * rate), 200_000)
    told = rng.exponential(1 / ((1 - silent) * rate), 200_000)
    fresh = np.minimum(np.minimum(hidden, told), every)
    for unheard in (0.0, 0.5, 2.0, 9.0):
        until = np.minimum(told + unheard, every)  # the next visit, for one reason or the other
        assert promised(unheard) == pytest.approx(fresh.mean() / until.mean(), abs=0.01)
    assert promised(np.nan) == pytest.approx(promised(9.0))
    at_once = promised(0.0)
    control.observe_signals(row)
    assert promised(0.0) < 1e-9

    control.see_waits(row, np.array([400.0]), 500.0)
    control.last[row] = 501.0  # it waited for a tenth of the time to the next plan
    control.see_waits(row, np.array([400.0]), 510.0)
    assert promised(0.0) == pytest.approx((1.0 - 0.6) * at_once), "half of it before the plan"
    control.see_waits(row, np.array([900.0]), 520.0)  # and then until that one
    assert promised(0.0) == pytest.approx((1.0 - (0.5 * 0.6 + 1.0) / 1.5) * at_once)
    control.last[row] = 525.0
    control.see_waits(row, np.array([900.0]), 530.0)
    assert promised(0.0) == pytest.approx((1.0 - (0.5 * 0.6 + 1.0) / 1.5) * at_once), "none waited"


def test_pages_that_wait_for_a_visit_count_without_one() -> None:
    """And what leaves no budget for them stretches the others' intervals until all is paid for."""
    control, rows = RevisitControl(np.ones(2), 1.0), np.arange(2)
    control.observe(np.repeat(rows, 30), np.tile(np.arange(1, 31.0), 2), np.arange(60) % 3 == 0)
    control.rely_on(rows, np.full(2, 5.0), np.full(2, 0.5))
    control.observe_signals(rows[:1])
    crawl_rates, heard = np.full(2, 0.25), np.zeros(2)

    _, visits = control.kept_fresh(rows, crawl_rates, heard)
    share = control.paid_for(rows, crawl_rates, heard, 0.8 * visits[1])

    assert visits[0] == 0.0
    assert visits[1] > 0.25
    assert 0.0 < share < 0.8
    assert control.kept_fresh(rows, share * crawl_rates, heard)[1].sum() <= 0.81 * visits[1]
    assert control.paid_for(rows, crawl_rates, heard, visits[1]) == 1.0


@pytest.mark.parametrize(("precision", "learns"), [(0.4, False), (0.6, True)])
def test_what_is_mostly_false_of_a_page_teaches_nothing_before_a_visit(
    precision: float, learns: bool
) -> None:
    control = RevisitControl(np.ones(1), 1.0)
    before = control.beliefs.evidence.copy()

    control.hear_changes(np.zeros(1, np.int64), np.array([precision]), np.ones(1))

    assert np.array_equal(control.beliefs.evidence, before) is not learns


@pytest.mark.parametrize("worth", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("every", [4.0, 12.0])
def test_what_is_promised_counts_visits_that_wait_for_more_announcements(
    worth: float, every: float
) -> None:
    """Simulated, of one page: one announcement may not be worth a visit, and half are false."""
    rng, silent, n = np.random.default_rng(6), 0.4, 40_000
    control = RevisitControl(np.ones(1), 1.0)
    row = np.zeros(1, np.int64)
    control.observe(np.repeat(row, 800), np.arange(1, 801.0), rng.random(800) > np.exp(-0.3))
    rate = float(control.beliefs.rates(row)[0][0])
    odds = worth * silent * rate * 4.0
    control.rely_on(row, np.array([odds]), np.array([silent]))
    older, true = odds / (silent * rate), -np.expm1(-odds)
    told = rng.exponential(true / ((1.0 - silent) * rate), (n, 60)).cumsum(axis=1)
    counts = np.arange(60)
    due = np.minimum(np.maximum(told, every - older * (counts + 1)).min(axis=1), every)
    is_true = (rng.random(told.shape) < true) & (told < due[:, None])
    found = np.where(is_true, told, np.inf).min(axis=1)
    fresh = np.minimum(np.minimum(found, rng.exponential(1.0 / (silent * rate), n)), due)

    kept, visits = control.kept_fresh(row, np.array([1.0 / every]), np.zeros(1))

    assert visits[0] == pytest.approx(1.0 / due.mean(), rel=0.05)
    assert kept[0] == pytest.approx(fresh.mean() / due.mean(), abs=0.04)


def test_visits_that_are_known_already_are_ignored() -> None:
    """Told twice, or out of order."""
    control = RevisitControl(np.ones(1), 1.0)
    page, yes = np.zeros(1, np.int64), np.ones(1, np.bool_)
    control.observe(page, np.array([1.0]), yes)
    control.observe(page, np.array([2.0]), yes)
    known = control.beliefs.evidence.copy()
    control.observe(page, np.array([2.0]), yes)
    control.observe(page, np.array([1.5]), yes)

    assert np.array_equal(control.beliefs.evidence, known)
    assert control.last.tolist() == [2.0]


def test_pages_of_no_worth_are_decided_alike_and_budgets_are_checked() -> None:
    """All weights zero is no reason to stop; a budget of nothing is."""
    control = RevisitControl(np.zeros(4), 1.0)
    assert control.weights.tolist() == [1.0] * 4
    assert control.decide(0.0).due.tolist() == [np.inf] * 4, "never visited: nothing to revisit"
    with pytest.raises(InvalidModel, match="budget must be finite and > 0, got 0"):
        RevisitControl(np.ones(1), 0.0)
    with pytest.raises(InvalidModel, match="weights must be"):
        RevisitControl(np.array([-1.0]), 1.0)


def test_the_index_is_the_integral_that_defines_it() -> None:
    """Worth of a visit: w times the integral of S(u) - S(t); and the limit of a sure belief."""
    for shape, time, age in ((0.4, 2.0, 3.0), (1.0, 5.0, 0.3), (7.0, 1.0, 10.0)):

        def fresh(u: float, a: float = shape, b: float = time) -> float:
            return float((1 + u / b) ** -a)

        exact = integrate.quad(lambda u, t=age, f=fresh: f(u) - f(t), 0, age)[0]
        found = believed_crawl_value(2.0, shape, time, age)
        assert float(found) == pytest.approx(2 * exact, rel=1e-7)
    assert believed_crawl_value(1.0, 1e7, 2e7, 1.3) == pytest.approx(
        crawl_value(1.0, 0.5, 1.3), rel=1e-5
    )


@pytest.mark.parametrize(
    ("recall", "false_rate", "n_signals"), [(0.5, 0.4, 0), (0.5, 0.4, 2), (0.8, 0.05, 1)]
)
def test_the_index_with_signals_is_the_derivative_of_freshness(
    recall: float, false_rate: float, n_signals: int
) -> None:
    """Visits when effective age reaches a threshold, simulated: d fresh / d rate at it.

    Freshness f and rate r of the threshold policy at x and 1.05 x from 400,000 cycles each with
    common random numbers: df/dr is the value between them, within 6 %.
    """
    rate, age = 0.6, 1.4
    signals, silent = recall * rate + false_rate, (1 - recall) * rate
    step = -np.log(false_rate / signals) / silent

    def policy(x: float) -> tuple[float, float]:
        random = np.random.default_rng(5)
        n = 400_000
        clock, effective = np.zeros(n), np.zeros(n)
        changed, on = random.exponential(1 / silent, n), np.ones(n, np.bool_)
        for _ in range(60):
            gap = random.exponential(1 / signals, n)
            real = random.random(n) < recall * rate / signals
            reach = clock + (x - effective)
            on_next = on & (clock + gap < reach)
            clock = np.where(on_next, clock + gap, np.where(on, reach, clock))
            effective = np.where(on_next, effective + gap + step, effective)
            changed = np.where(on_next & real, np.minimum(changed, clock), changed)
            on = on_next & (effective < x)
            if not on.any():
                break
        return float(np.minimum(changed, clock).sum() / clock.sum()), float(n / clock.sum())

    x = age + step * n_signals
    (f0, r0), (f1, r1) = policy(0.975 * x), policy(1.025 * x)
    value = signalled_crawl_value(1.0, rate, recall, false_rate, age, n_signals)

    assert value == pytest.approx((f0 - f1) / (r0 - r1), rel=0.06)


def test_signals_at_the_ends_of_their_quality() -> None:
    """None, pure noise, and never wrong."""
    plain = float(crawl_value(1.0, 0.6, 1.4))
    assert signalled_crawl_value(1.0, 0.6, 0.0, 0.0, 1.4, 0) == pytest.approx(plain)
    assert signalled_crawl_value(1.0, 0.6, 0.0, 3.0, 1.4, 5) == pytest.approx(plain)
    assert signalled_crawl_value(1.0, 0.6, 0.5, 0.0, 1.4, 1) == pytest.approx(1 / 0.6)
    nearly = signalled_crawl_value(1.0, 0.6, 0.5, 1e-9, 1.4, 0)
    exact = signalled_crawl_value(1.0, 0.6, 0.5, 0.0, 1.4, 0)
    assert nearly == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(
    ("rate", "recall", "false_rate"),
    [(0.6, 1.0, 0.0), (0.6, -0.1, 0.0), (0.0, 0.5, 1.0), (0.6, 0.5, -0.1)],
)
def test_signals_are_of_a_quality_that_there_can_be(
    rate: float, recall: float, false_rate: float
) -> None:
    with pytest.raises(InvalidModel, match="recall must lie"):
        signalled_crawl_value(1.0, rate, recall, false_rate, 1.0, 0)


def test_pages_change_once_between_two_visits_before_anything_is_known_of_them() -> None:
    """Ten pages that five visits an hour are for: once in two hours."""
    usual, said = (RevisitControl(np.ones(10), 5.0, prior_rate=rate) for rate in (None, 0.5))

    assert usual.beliefs.rates(np.arange(10))[0] == pytest.approx(
        said.beliefs.rates(np.arange(10))[0]
    )


def test_looks_keep_to_the_price_that_is_decided() -> None:
    """At once the same price and due times; from twice or half of it they come back, not past it.

    Some of the 200 pages are visited several times within the span.
    """
    rates = np.random.default_rng(9).gamma(0.5, 1.0, 200) + 0.02
    control = RevisitControl(np.ones(200), 100.0, half_lives=(np.inf,))
    now, rows = told(control, rates, 60), np.arange(200)
    decided = control.decide(now, 1.0)
    price, due = decided.price, decided.due.copy()
    assert np.sum(decided.intervals < 0.5) > 5

    seen = control.look(now, 1.0, rows, np.ones(200))

    assert control.price[0] == pytest.approx(price, rel=0.05)
    assert np.median(np.abs(seen - due)) < 0.05
    for factor in (0.5, 2.0):
        control.price[0] = factor * price
        control._fill(rows, control.price[0])
        control.look(now, 1.0, rows, np.ones(200))
        assert 0.0 < np.log(control.price[0] / price) / np.log(factor) < 0.5
        for _ in range(5):
            control.look(now, 1.0, rows, np.ones(200))
        assert control.price[0] == pytest.approx(price, rel=0.05)


@pytest.mark.parametrize("recall", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("price", [0.1, 0.4, 0.7])
def test_where_changes_are_announced_pages_are_due_at_the_exact_worth(
    recall: float, price: float
) -> None:
    """Within a quarter of the price; nine in ten announcements are true."""
    rate, precision = 0.5, 0.9
    control = RevisitControl(np.ones(1), 1.0, half_lives=(np.inf,), bounds=(1e-3, 1e3))
    found = np.random.default_rng(3).random(4_000) > np.exp(-rate)
    control.observe(np.zeros(4_000, np.int64), np.arange(1.0, 4_001.0), found)
    control.rely_on(np.array([0]), np.array([-np.log1p(-precision)]), np.array([1.0 - recall]))

    interval = control._fill(np.array([0]), np.array([price / rate]))[0]

    false_rate = recall * rate * (1.0 / precision - 1.0)
    exact = signalled_crawl_value(1.0, rate, recall, false_rate, interval, 0)
    assert exact == pytest.approx(price / rate, rel=0.25)


def test_what_changes_too_fast_is_not_visited_whatever_is_announced() -> None:
    """One page changes in twice the time that a visit costs, the other in half of it."""
    control = RevisitControl(np.ones(2), 1.0, half_lives=(np.inf,), bounds=(1e-3, 1e3))
    rows = np.arange(2)
    for row, rate in enumerate((0.25, 1.0)):
        found = np.random.default_rng(row).random(4_000) > np.exp(-rate)
        control.observe(np.full(4_000, row), np.arange(1.0, 4_001.0), found)
    control.rely_on(rows, np.full(2, 5.0), np.full(2, 0.1))

    intervals = control._fill(rows, np.full(2, 2.0))
    control.observe_signals(rows)

    assert intervals[1] == 1e3
    assert intervals[0] < control.advance(rows)[0]  # due at once


def announcing(rates: np.ndarray, budget: float, longest: float = 1e3) -> RevisitControl:
    """Pages of known rates, all of whose changes are announced, visited a moment ago."""
    n = rates.size
    control = RevisitControl(np.ones(n), budget, half_lives=(np.inf,), bounds=(1e-3, longest))
    for row, rate in enumerate(rates):
        found = np.random.default_rng(row).random(2_000) > np.exp(-1.0)
        control.observe(np.full(2_000, row), np.arange(1.0, 2_001.0) / rate, found)
    control.last[:] = 0.0
    control.rely_on(np.arange(n), np.full(n, 5.0), np.full(n, 0.05))
    return control


def test_stale_pages_are_due_by_what_a_visit_is_worth_and_not_for_their_longest_interval() -> None:
    """A change of each was announced; a fresh copy lasts for one over its rate."""
    rates = np.repeat([0.1, 0.5, 2.0, 8.0], 20)
    control = announcing(rates, budget=1.1, longest=50.0)
    control.expect_signals(np.arange(80), np.full(80, 1.0), now=10.0)
    control.observe_signals(np.arange(80))

    made = control.decide(now=10.0, span=20.0, learn=False)

    worths = np.repeat([10.0, 2.0, 0.5, 0.125], 20)
    is_due = made.due <= 10.0
    assert 2.0 < made.price < 10.0
    assert is_due.tolist() == (worths > made.price).tolist()
    assert np.all(made.due[40:] >= 45.0), "what is not worth a visit waits as long as it may"
    assert np.array_equal(made.due, made.own_due)


def test_what_is_worth_more_counts_as_late_by_more() -> None:
    """Late by d, a page is worth (1 + d (s / 2p)^(1/2))^2 of the price p, s being its urgency."""
    rates = np.repeat([0.05, 0.2], 10)
    control = announcing(rates, budget=20.0)
    control.expect_signals(np.arange(20), np.zeros(20), now=5.0)
    control.observe_signals(np.arange(20))

    made = control.decide(now=5.0, span=10.0, least_price=1.0, learn=False)

    late = 5.0 - made.due
    urgency = curvatures(np.ones(20), control.beliefs.rates(np.arange(20))[0], 1.0 / made.intervals)
    worth = (1.0 + late * np.sqrt(urgency / (2.0 * made.price))) ** 2 * made.price
    assert np.all(late > 0.0)
    assert worth == pytest.approx(1.0 / rates, rel=0.25)


def test_the_price_counts_on_what_will_be_announced() -> None:
    """The same just after a listing was read as just before, when all it told has been visited."""
    rows, visits = np.arange(50), []
    believed = announcing(np.full(50, 0.5), budget=20.0).beliefs.rates(rows)[0]
    n_told = round(float(-np.expm1(-0.95 * believed).sum()))  # between two readings
    for unheard, n_waiting in ((0.0, n_told), (1.0, 0)):
        control = announcing(np.full(50, 0.5), budget=20.0)
        control.expect_signals(
            rows, np.full(50, 0.5), now=1e-3
        )  # half of the time between readings
        control._unheard[:] = unheard
        control.observe_signals(rows[:n_waiting])
        control._ahead = control.advance(rows)
        visits.append(control._visits(rows, 1.9, 1e-3, 2.0)[0].sum())
    assert visits[0] == pytest.approx(visits[1], rel=0.1)
    assert visits[0] == pytest.approx(2.0 * n_told, rel=0.15)

    control.expect_signals(np.arange(50), np.full(50, np.nan), now=1e-3)
    control._late[:] = np.nan  # nothing is heard
    assert control._to_be_told(np.arange(50), 0.1, 2.0).tolist() == [0.0] * 50


@pytest.mark.parametrize("n_hosts", [1, 2])
def test_much_that_is_announced_at_once_leaves_the_price_to_what_the_budget_pays(
    n_hosts: int,
) -> None:
    """One reading tells of nine pages in ten, many times what is paid for until the next plan.

    They are visited in the order of their worth; a price at which no others were worth a visit
    would be one at which no page, and no listing, is. Where hosts have limits of their own, their
    prices likewise.
    """
    rows, random = np.arange(300), np.random.default_rng(0)
    rates = np.exp(1.5 * random.standard_normal(rows.size))
    rates *= 0.005 / rates.mean()
    page = np.repeat(rows, 40)
    elapsed, found = np.repeat(1.0 / rates, 40), random.random(page.size) > np.exp(-1.0)
    hosts = None if n_hosts == 1 else rows % n_hosts
    limits = None if n_hosts == 1 else np.full(n_hosts, 0.9 * 1.3 / n_hosts)
    prices = []
    for share in (0.0, 0.1, 0.3, 0.6, 0.9):
        control = RevisitControl(
            np.ones(rows.size), 1.3, half_lives=(np.inf,), prior_rate=0.005, bounds=(0.1, 1e5)
        )
        control.recall(rows, page, elapsed, found)
        control.last[:] = 0.0
        control.rely_on(rows, np.full(rows.size, 5.0), np.full(rows.size, 0.05))
        control.expect_signals(rows, np.full(rows.size, 20.0), now=60.0)
        told = random.permutation(rows)[: round(share * rows.size)]
        control.observe_signals(told)
        made = control.decide(60.0, 58.0, hosts=hosts, host_caps=limits, learn=False)
        assert np.all(made.due[told] <= 60.0)
        prices.append(float(made.host_prices.max()))

    assert max(prices) < 2.5 * prices[0]
    assert min(prices) > 0.4 * prices[0]


@pytest.mark.parametrize(
    ("n_told", "least", "most"), [(0, 0.0, 0.05), (8, 0.3, 0.6), (16, 0.8, 1.1)]
)
def test_changes_in_bursts_are_counted_on_by_how_many_pages_had_news(
    n_told: int, least: float, most: float
) -> None:
    """Of 50 pages some 16 are expected to have news each time that a listing is read."""
    rows = np.arange(50)
    control = announcing(np.full(50, 0.5), budget=20.0)
    control.expect_signals(rows, np.full(50, 0.5), now=0.5)
    control._visits(rows, 1.9, 0.5, 2.0)
    before = control._to_be_told(rows, 1.9, 2.0).sum()
    control.observe_signals(rows[:n_told])

    for now in range(2, 22):
        control._was_quiet[:] = True
        control.expect_signals(rows, np.full(50, 0.5), now=float(now))

    assert least < control._to_be_told(rows, 1.9, 2.0).sum() / before < most


def test_no_visits_are_promised_for_announcements_that_are_not_worth_one() -> None:
    """Half of the pages change ten times as fast as a visit would be paid back."""
    rows, seldom = np.arange(20), np.full(20, 0.02)
    control = announcing(np.repeat([10.0, 0.1], 10), budget=4.0)
    control.expect_signals(rows, np.zeros(20), now=1.0)
    control.decide(now=1.0, span=10.0, least_price=1.0, learn=False)

    kept, visits = control.kept_fresh(rows, seldom, np.zeros(20))

    assert visits[:10].tolist() == seldom[:10].tolist()
    assert kept[:10] == pytest.approx(control.beliefs.freshness(rows[:10], seldom[:10]))
    assert np.all(visits[10:] > 3.0 * seldom[10:])


def test_visits_that_signals_ask_for_are_not_counted_twice() -> None:
    """A price of the budget that is left for the others, whoever waits."""
    control = RevisitControl(np.ones(50), 25.0)
    now = told(control, np.full(50, 0.3), 10)
    control.rely_on(np.arange(50), np.full(50, 3.0), np.full(50, 0.5))
    control.asked = 0.4
    calm = control.decide(now, learn=False).price
    control.observe_signals(np.arange(10))

    waiting = control.decide(now, learn=False)

    assert waiting.price == pytest.approx(calm, rel=0.02)
    assert np.all(waiting.due[:10] < np.median(waiting.due[10:]))
    control.asked = 0.0
    assert control.decide(now, learn=False).price > calm


def test_few_pages_and_those_with_companions_are_not_left_in_doubt() -> None:
    """Fifty others may wait for two mean times between changes."""
    of_sizes = [RevisitControl(np.ones(n), 10.0) for n in (49, 50)]
    foreseen = RevisitControl(np.ones(50), 10.0, clocks=Clocks())  # type: ignore[arg-type]

    assert [control.bounds[3] for control in (*of_sizes, foreseen)] == [0.0, 2.0, 0.0]


class Clocks:
    """Say that six units of time have passed for every page, and that two will for each."""

    def read(
        self, rows: np.ndarray, since: np.ndarray, now: float
    ) -> tuple[np.ndarray, np.ndarray]:
        return np.full(rows.size, 6.0), np.full(rows.size, 2.0)


def test_a_copy_is_as_old_as_its_clock_says_however_fast_it_goes_on() -> None:
    """In time as its rate is for; in time as it will pass it is half as old."""
    control = RevisitControl(np.ones(3), 1.0, clocks=Clocks())  # type: ignore[arg-type]
    control.last[:] = [1.0, 2.0, 5.0]
    rows = np.arange(3)

    assert control.clocked(rows, 10.0).tolist() == [6.0] * 3
    assert control._foreseen(rows, 10.0).tolist() == [3.0 - 9.0, 3.0 - 8.0, 3.0 - 5.0]


def test_a_look_lets_dearer_visits_wait_until_they_are_worth_their_price() -> None:
    """As where a host's limit makes them dear."""
    control, rows = RevisitControl(np.ones(200), 100.0), np.arange(200)
    now, dearer = told(control, np.full(200, 0.5), 20), np.tile([1.0, 3.0], 100)
    before = control.decide(now, 1.0, learn=False).intervals.copy()

    control.look(now, 1.0, rows, dearer)

    after = control.intervals.copy()
    control._fill(rows, control.price[0] * dearer)
    assert np.all(after[1::2] > before[1::2])
    assert after[1::2] == pytest.approx(control.intervals[1::2])


def test_pages_that_clocks_make_due_soon_follow_the_price_at_once() -> None:
    """By less than a fiftieth too, for which all others wait."""
    ahead = np.tile([0.0, 3.0], 100)

    class Ahead:
        def read(self, rows: np.ndarray, since: np.ndarray, now: float) -> tuple[np.ndarray, ...]:
            return now - since + ahead[rows], np.ones(rows.size)

    control = RevisitControl(np.ones(200), 100.0, clocks=Ahead())  # type: ignore[arg-type]
    now, rows, span = told(control, np.full(200, 0.5), 20), np.arange(200), 0.2
    before = control.decide(now, span, learn=False).intervals.copy()
    price = control.price[0]

    due = control.look(now, span, rows, np.ones(200))

    after = control.intervals.copy()
    control._fill(rows, control.price[0])
    by_price = control.intervals
    is_soon = due - now < 2 * span
    assert 0.0 < abs(control.price[0] / price - 1.0) < 0.02
    assert (after[is_soon] == by_price[is_soon]).all()
    assert (after[~is_soon] == before[~is_soon]).all()


def test_so_many_pages_are_due_now_as_visits_are_paid_for_those_worth_most_first() -> None:
    """The price is the worth of the last of them; a page worth e times that was due a pace ago."""
    rates = np.random.default_rng(2).gamma(2.0, 0.3, 40) + 0.1
    weights = np.random.default_rng(3).uniform(0.5, 3.0, 40)
    control = RevisitControl(weights, 30.0, half_lives=(np.inf,))
    told(control, rates, 400)
    control.last[:] = np.random.default_rng(4).uniform(0.0, 2.5, 40)
    now, rows, pace = 3.0, np.arange(40), 40 / 30.0

    due = control.by_worth(rows, now, 7)

    worths = crawl_value(weights, rates, now - control.last)
    assert np.count_nonzero(due <= now) == 7
    assert control.price[0] == pytest.approx(np.sort(worths)[-7], rel=0.1)
    expected = now - pace * np.log(worths / control.price[0])
    assert np.median(np.abs(due - expected)) < 0.1 * pace
    assert due.max() > now + pace
    assert np.count_nonzero(control.by_worth(rows, now, 600) <= now) == 40
