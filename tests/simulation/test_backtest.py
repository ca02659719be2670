"""Replays of histories: exact accounts, fair budgets, and what learning is worth."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES
from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.errors import InvalidModel
from recrawl.learning.companions import Companions, companions_of
from recrawl.learning.group_clocks import GroupClocks
from recrawl.simulation import backtest
from recrawl.simulation.backtest import POLICIES, Backtest, average, bound_by_foresight, run_policy
from recrawl.simulation.comparison import resample_pages, score_policy
from recrawl.simulation.history import ChangeHistory


def history(
    rates: np.ndarray, end: float, seed: int = 0, polls: np.ndarray | None = None
) -> ChangeHistory:
    """Poisson changes of pages that are always there."""
    random = np.random.default_rng(seed)
    n = rates.size
    page = np.repeat(np.arange(n), random.poisson(rates * end))
    at = random.uniform(0.0, end, page.size)
    order = np.lexsort((at, page))
    return ChangeHistory(
        page,
        at[order],
        np.zeros(n),
        np.full(n, end),
        np.zeros(n, np.bool_),
        np.ones(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(0) if polls is None else polls,
    )


def few(changes: list[list[float]], until: list[float], end: float) -> ChangeHistory:
    """Given changes of a few pages, gone where they end before the history."""
    n = len(changes)
    return ChangeHistory(
        np.repeat(np.arange(n), [len(one) for one in changes]),
        np.array([at for one in changes for at in one]),
        np.zeros(n),
        np.array(until),
        np.array(until) < end,
        np.ones(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(0),
    )


def freshness(test: Backtest, policy: str) -> float:
    found = bound_by_foresight(test) if policy == "clairvoyant" else run_policy(test, policy)
    weights = test.history.weights
    return float(weights @ found.fresh / (weights @ found.lifetimes))


def test_fresh_time_age_and_penalty_are_exact() -> None:
    """One page, a visit every 10 from 5 on, changes at 51, 52, 58, 90; judged from 50 to 100.

    Fresh until 51, from 55 to 58, from 65 to 90, from 95 on: 1 + 3 + 25 + 5. Stale 51-55 (two
    changes from 52 on), 58-65 and 90-95: ages 8 + 24.5 + 12.5, penalties 1 + 3 * 1.5 + 7 + 5.
    """
    test = Backtest(few([[51.0, 52.0, 58.0, 90.0]], [100.0], 100.0), 0.1)

    found = run_policy(test, "uniform")

    assert found.fresh[0] == pytest.approx(34.0)
    assert found.age[0] == pytest.approx(8.0 + 24.5 + 12.5)
    assert found.penalty[0] == pytest.approx(1 + 4.5 + 7 + 5)
    assert (found.fetches, found.wasted, found.seen[0]) == (5, 2, 3.0)
    assert found.instants.tolist() == list(np.arange(5.0, 100.0, 10.0))


def test_a_page_that_is_gone_is_found_so_once_and_counts_no_more() -> None:
    """Gone at 60: the visit at 65 finds nothing and is wasted; later visits go to the other."""
    test = Backtest(few([[10.0], [20.0]], [60.0, 100.0], 100.0), 0.2)

    found = run_policy(test, "uniform")

    assert found.lifetimes.tolist() == [10.0, 50.0]
    assert found.fresh.tolist() == [10.0, 50.0]
    assert found.fetches == 10
    assert found.visits.tolist()[1] >= 8


def test_pages_found_after_the_last_visit_keep_what_their_first_copy_was_worth() -> None:
    """One visit in all, at 10; the second page is found at 60 and never changes."""
    made = replace(few([[5.0], [99.0]], [100.0, 100.0], 100.0), observed_from=np.array([0.0, 60.0]))
    test = Backtest(made, 0.01, instants=np.array([10.0]))

    for policy in ("uniform", "recrawl"):
        assert run_policy(test, policy).fresh.tolist() == pytest.approx([50.0, 39.0])


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_keeps_the_budget_and_its_accounts(policy: str) -> None:
    """Fresh and stale time add up, nothing beats foresight, and no more is spent than is paid."""
    made = history(np.random.default_rng(1).gamma(0.5, 0.2, 60), 60.0)
    test = Backtest(made, 12.0, unit_s=86_400.0)

    found = bound_by_foresight(test) if policy == "clairvoyant" else run_policy(test, policy)

    assert np.all(found.fresh >= -1e-9)
    assert np.all(found.fresh <= found.lifetimes + 1e-9)
    assert found.fetches <= 0.5 * test.n_ticks + 1
    assert freshness(test, policy) <= freshness(test, "clairvoyant") + 1e-9
    counts = resample_pages(made, 50, 0)
    score = score_policy(test, found, counts)
    assert score.low <= score.freshness <= score.high
    if policy not in ("clairvoyant", *SHIPPED_RULES):
        assert found.instants.size == test.n_ticks


def test_uniform_visits_are_as_fresh_as_the_formula_says() -> None:
    """(1 - exp(-y)) / y for one change rate; 400 pages over 100 intervals: within 5 errors."""
    test = Backtest(history(np.full(400, 0.5), 200.0, 3), 200.0)

    found = freshness(test, "uniform")

    assert found == pytest.approx(1 - np.exp(-1), abs=5 * 0.35 / np.sqrt(400 * 50))


def test_what_a_rule_spent_is_given_to_us_at_the_same_instants() -> None:
    """Fair: as many visits, at the very times."""
    test = Backtest(history(np.full(50, 0.01), 2_000.0, 4), 5.0, unit_s=86_400.0)
    rule = run_policy(test, "nutch")
    assert 0 < rule.instants.size < 0.99 * test.n_ticks

    less = test.spent_like(rule)

    assert run_policy(less, "recrawl").fetches == rule.fetches


def test_where_only_polls_can_see_visits_happen_at_polls() -> None:
    """And no page twice at one poll."""
    polls = np.arange(1.0, 200.0)
    test = Backtest(history(np.full(10, 0.3), 200.0, 5, polls), 40.0)

    found = run_policy(test, "recrawl")

    assert found.instants.size == 10 * polls.size, "every page at every poll, and no more"
    assert np.isin(found.instants, polls).all()


def test_rates_that_jump_are_followed() -> None:
    """Half of the pages fall asleep and the other half wakes: ahead of constant true averages."""
    random = np.random.default_rng(6)
    n, end = 80, 600.0
    rate = np.where(np.arange(n) % 2 == 0, 1.0, 0.002)
    early = [random.uniform(0, 350, random.poisson(350 * one)) for one in rate]
    late = [random.uniform(350, end, random.poisson(250 * one)) for one in rate[::-1]]
    made = few([sorted([*a, *b]) for a, b in zip(early, late, strict=True)], [end] * n, end)
    test = Backtest(made, 0.5 * made.change_rate, learning=0.6)

    assert freshness(test, "recrawl") > freshness(test, "oracle") + 0.02


@pytest.mark.parametrize("policy", POLICIES[:-1])
def test_no_host_is_asked_more_than_it_allows_whatever_the_policy(policy: str) -> None:
    """Two hosts of ten pages; one allows 2 visits a unit of time, the other any number."""
    made = history(np.random.default_rng(1).gamma(0.5, 1.0, 20), 200.0)
    hosts = np.repeat([0, 1], 10)
    made = replace(made, hosts=hosts, paths=hosts)
    free = run_policy(Backtest(made, 20.0, unit_s=86_400.0), policy)
    capped = run_policy(
        Backtest(made, 20.0, unit_s=86_400.0, host_caps=np.array([2.0, np.inf])), policy
    )

    assert capped.visits[:10].sum() <= 2.0 * 100 + 1
    assert capped.visits[10:].sum() >= 0.9 * free.visits[10:].sum()


@pytest.mark.slow
@pytest.mark.parametrize("law", ["log-normal", "gamma"])
@pytest.mark.parametrize("budget", [0.25, 1.0, 4.0])
def test_after_twenty_visits_a_page_we_are_within_one_percent_of_known_rates(
    budget: float, law: str
) -> None:
    """Heavy tails: log-normal rates of spread 1.5, and gamma rates of shape one half.

    Twenty visits a page to learn, twenty to be judged.
    """
    random = np.random.default_rng(0)
    rates = (
        np.exp(1.5 * random.standard_normal(1500))
        if law == "log-normal"
        else random.gamma(0.5, 1.0, 1500) + 1e-9
    )
    made = history(rates / rates.mean(), 40.0 / budget)
    made.__dict__["true_rates"] = rates / rates.mean()
    test = Backtest(made, budget * made.n_pages)

    assert freshness(test, "recrawl") > freshness(test, "oracle") - 0.01
    assert freshness(test, "recrawl") > freshness(test, "uniform") + 0.01


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("holds no change", lambda: few([[]], [1.0], 1.0)),
        ("budget must be finite and > 0, got 0", lambda: Backtest(few([[1.0]], [2.0], 2.0), 0.0)),
        (r"learning must lie in \(0, 1\)", lambda: Backtest(few([[1.0]], [2.0], 2.0), 1.0, 1.0)),
        ("in order of page and time", lambda: few([[2.0, 1.0]], [3.0], 3.0)),
        ("lasts no time", lambda: few([[0.0]], [0.0], 0.0)),
        ("must not be before", lambda: few([[1.0]], [-1.0], 3.0)),
    ],
)
def test_what_cannot_be_replayed_is_named(message: str, call) -> None:
    """Before any work."""
    with pytest.raises(InvalidModel, match=message):
        call()


def test_an_order_moves_what_is_tied_and_nothing_else() -> None:
    """Page by page the results stand where the pages do; rows of the table decide nothing."""
    made = history(np.random.default_rng(2).gamma(0.5, 0.2, 40), 60.0)
    test = Backtest(made, 6.0, unit_s=86_400.0)
    turned = np.arange(40)[::-1].copy()

    drawn = [run_policy(replace(test, order=seed), "uniform") for seed in range(3)]

    assert len({one.fresh.sum() for one in drawn}) == 3
    other = replace(test, history=made.renumbered(turned))
    mine, theirs = run_policy(test, "oracle"), run_policy(other, "oracle").in_order(turned)
    assert mine.lifetimes.tolist() == theirs.lifetimes.tolist()
    assert (
        made.renumbered(turned).renumbered(turned).changed_at.tolist() == made.changed_at.tolist()
    )
    mean = average(drawn)
    np.testing.assert_allclose(mean.fresh, np.mean([one.fresh for one in drawn], axis=0))
    assert mean.fetches == drawn[0].fetches


def test_resamples_draw_whole_directories() -> None:
    """Where there are twenty; pages of fewer are drawn one by one."""
    made = history(np.full(80, 0.5), 60.0)
    many = companions_of([("", f"{row // 4}/{row}") for row in range(80)])
    few_groups = companions_of([("", f"{row // 8}/{row}") for row in range(80)])

    together = resample_pages(replace(made, companions=many), 30, 0)
    alone = resample_pages(replace(made, companions=few_groups), 30, 0)

    assert np.all(together.reshape(30, 20, 4) == together.reshape(30, 20, 4)[:, :, :1])
    assert np.any(alone.reshape(30, 10, 8) != alone.reshape(30, 10, 8)[:, :, :1])


def together(seed: int, *, scattered: bool) -> ChangeHistory:
    """Thirty directories of ten pages; all of one change at once, or each on its own."""
    random = np.random.default_rng(seed)
    end, n = 100.0, 300
    changes: list[list[float]] = []
    for _ in range(30):
        at = np.sort(random.uniform(0.0, end, random.poisson(0.1 * end)))
        for _ in range(10):
            own = random.uniform(0.0, end, at.size) if scattered else at
            changes.append(sorted(own.tolist()))
    made = few(changes, [end] * n, end)
    names = [("", f"{row // 10}/{row}") for row in range(n)]
    return replace(made, companions=companions_of(names))


def test_foresight_is_far_ahead_where_directories_change_at_once() -> None:
    """A visit that finds a change says that nine more are due: four to six points are won."""
    test = Backtest(together(0, scattered=False), 30.0, order=0)

    assert freshness(test, "foresight") > freshness(test, "recrawl") + 0.03


@pytest.mark.slow
def test_clocks_that_are_relied_on_are_looked_at_more_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What nobody relies on needs no second look."""
    real, looks = RevisitControl.look, {False: 0, True: 0}

    def look(self: RevisitControl, now: float, span: float, *asked: np.ndarray) -> np.ndarray:
        looks[scattered] += 1
        return real(self, now, span, *asked)

    monkeypatch.setattr(RevisitControl, "look", look)
    for scattered in looks:
        run_policy(Backtest(together(3, scattered=scattered), 100.0, order=0), "foresight")

    assert looks[False] > 1.5 * looks[True] > 0


def test_clocks_go_by_the_pages_that_there_are_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twelve, four at a time: a round takes a third of what it would for all of them."""
    paces: list[float] = []

    class Noted(GroupClocks):
        def __init__(self, companions: Companions, pace: float, **given: Any) -> None:
            paces.append(pace)
            super().__init__(companions, pace, **given)

    monkeypatch.setattr(backtest, "GroupClocks", Noted)
    made = few([[15.0], [45.0], [75.0]] * 4, [30.0, 60.0, 90.0] * 4, 90.0)
    born = np.array([0.0, 30.0, 60.0] * 4)
    names = companions_of([("", f"a/{row}") for row in range(12)])
    run_policy(Backtest(replace(made, observed_from=born, companions=names), 2.0), "foresight")

    assert paces == [pytest.approx(4 / 2.0)]


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "most"), [(30.0, 0.01), (100.0, 0.005)])
def test_foresight_loses_nothing_where_pages_change_on_their_own(
    budget: float, most: float
) -> None:
    """Alike pages without companions in change, within a point of what is decided without.

    On average over six histories: at one visit a change it is hard to tell that they have none.
    """
    tests = [Backtest(together(seed, scattered=True), budget, order=0) for seed in range(1, 7)]
    lost = [freshness(test, "recrawl") - freshness(test, "foresight") for test in tests]
    alone = replace(tests[0], history=replace(tests[0].history, companions=None))

    assert np.mean(lost) < most
    assert freshness(alone, "foresight") == freshness(alone, "recrawl")


def test_foresight_loses_nothing_where_few_pages_are_worth_most_visits() -> None:
    """A page that is visited many times between two looks is paid for as often as it is visited.

    Thirty pages of very unequal weight and rate that change on their own. Were visits counted once
    for each page, the price would be too low, and the order of visits arbitrary: 17 points lost.
    """
    random = np.random.default_rng(4)
    made = history(np.exp(1.2 * random.standard_normal(30)), 150.0, 7)
    weights = random.pareto(1.0, 30) + 1.0
    names = companions_of([("", f"{row // 10}/{row}") for row in range(30)])
    test = Backtest(replace(made, weights=weights, companions=names), 10.0, order=0)

    assert freshness(test, "foresight") > freshness(test, "recrawl") - 0.01
