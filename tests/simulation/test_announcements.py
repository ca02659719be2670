"""Listings that announce changes, beside histories that are replayed."""

from dataclasses import replace

import numpy as np
import pytest

import recrawl
from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.errors import InputError, InvalidModel
from recrawl.learning.companions import companions_of
from recrawl.simulation.announcements import (
    Announcements,
    Hearing,
    SignalRates,
    draw_announcements,
)
from recrawl.simulation.backtest import Backtest, _Replay, run_policy
from recrawl.simulation.history import ChangeHistory
from recrawl.tables.announced import announcements_of, parse_signals


def poisson(
    n: int = 300, changes: float = 40.0, hosts: int = 1, seed: int = 0, spread: float = 0.0
) -> ChangeHistory:
    """Pages with a change in a unit of time on average, in directories of ten."""
    random = np.random.default_rng(seed)
    rates = np.exp(spread * random.standard_normal(n)) if spread else np.ones(n)
    page = np.repeat(np.arange(n), random.poisson(changes * rates / rates.mean(), n))
    at = random.uniform(0.0, changes, page.size)
    order = np.lexsort((at, page))
    names = tuple(("", f"{row // 10}/{row}") for row in range(n))
    return ChangeHistory(
        page,
        at[order],
        np.zeros(n),
        np.full(n, changes),
        np.zeros(n, np.bool_),
        np.ones(n),
        np.arange(n) % hosts,
        np.zeros(n, np.int64),
        np.zeros(0),
        companions_of(list(names)),
        names,
    )


def fresh(test: Backtest, policy: str) -> float:
    found = run_policy(test, policy)
    return float(found.fresh.sum() / found.lifetimes.sum())


def test_what_is_drawn_has_the_recall_and_precision_asked_for() -> None:
    history = poisson()
    told = draw_announcements(history, SignalRates(0.6, 0.75, delay=0.5), seed=3)
    known = set(zip(history.page.tolist(), history.changed_at.tolist(), strict=True))
    true = [one in known for one in zip(told.page.tolist(), told.changed_at.tolist(), strict=True)]
    n = history.page.size
    assert abs(sum(true) / n - 0.6) < 4.0 * np.sqrt(0.24 / n)
    assert np.mean(true) == pytest.approx(0.75, abs=1e-3)
    np.testing.assert_array_equal(told.shown_at, told.changed_at + 0.5)
    assert np.all(np.diff(told.shown_at) >= 0.0)
    assert 0.0 <= told.changed_at.min() <= told.changed_at.max() <= history.end


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"recall": 1.1}, "recall must lie"),
        ({"recall": 0.5, "precision": 0.0}, "precision must lie"),
        ({"recall": 0.5, "delay": -1.0}, "delay must be"),
        ({"recall": 0.5, "every": 0.0}, "every must be"),
        ({"recall": float("nan")}, "recall must lie"),
    ],
)
def test_shares_are_checked(rates: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidModel, match=message):
        SignalRates(**rates)


@pytest.mark.parametrize(("hosts", "every"), [(1, 0.5), (3, 0.5), (1, None), (4, 1e-6)])
def test_each_reading_of_a_listing_costs_a_visit(hosts: int, every: float | None) -> None:
    history = poisson(60, hosts=hosts)
    told = draw_announcements(history, SignalRates(0.5, every=every))
    ticks = Backtest(history, 60.0).ticks()
    hearing = Hearing(told, history, ticks, RevisitControl(history.weights, 60.0))
    spent = ticks.size - hearing.ticks.size
    assert spent == hosts * len(hearing.readings) <= 0.5 * ticks.size
    assert set(hearing.ticks) < set(ticks)
    if every == 0.5:
        assert len(hearing.readings) == pytest.approx(history.end / every, abs=1)
    for place, at in hearing.readings.items():  # what follows a reading is later
        assert place == hearing.ticks.size or hearing.ticks[place] > at
        assert place == 0 or hearing.ticks[place - 1] < at
    test = Backtest(history, 60.0, told=told)
    assert run_policy(test, "recrawl").instants.size <= hearing.ticks.size
    assert run_policy(test, "recrawl").fetches == run_policy(test, "uniform").fetches


def test_only_what_is_newer_than_the_copy_is_news() -> None:
    history = poisson(3)
    told = Announcements(
        np.array([0, 1, 1, 2]),
        np.array([1.0, 5.0, 6.0, 30.0]),
        np.array([6.5, 6.5, 6.5, 39.0]),
        8.0,
    )
    control = RevisitControl(history.weights, 30.0)
    control.last[:] = 4.0
    control.rely_on(np.arange(3), np.full(3, 2.0), np.full(3, 0.5))
    hearing = Hearing(told, history, Backtest(history, 30.0).ticks(), control)
    rows, sooner = hearing.listen(min(hearing.readings))
    assert rows.tolist() == [1]
    assert control.signals.tolist() == [0.0, 2.0, 0.0]
    rate = control.beliefs.rates(np.array([1]))[0]
    np.testing.assert_allclose(sooner, 2.0 * 2.0 / (0.5 * rate))


@pytest.mark.parametrize("policy", ["recrawl", "foresight"])
def test_pages_alike_come_near_what_a_threshold_achieves(policy: str) -> None:
    """Of rate 1 and with a visit each: of changes half are told, at 0.9.

    A page is visited when it is told of, and after T: visits at rate g / (1 - exp(-g T)) = 1 with
    g = 0.5 / 0.9; a copy of age u < T that nobody told of is fresh with exp(-u / 2).
    """
    history = poisson()
    told = draw_announcements(history, SignalRates(0.5, 0.9))
    test = Backtest(history, 1.0 * history.n_pages, told=told)
    g = 0.5 / 0.9
    longest = -np.log1p(-g) / g
    best = -np.expm1(-(0.5 + g) * longest) / (0.5 + g)
    achieved = fresh(test, policy)
    assert best == pytest.approx(0.744, abs=1e-3)
    assert best - 0.05 < achieved < best + 0.02
    assert achieved > fresh(test, "uniform") + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["recrawl", "foresight"])
@pytest.mark.parametrize("rates", [SignalRates(0.0), SignalRates(0.5, 0.05)])
def test_what_says_nothing_costs_little_more_than_its_readings(
    policy: str, rates: SignalRates
) -> None:
    history = poisson()
    test = Backtest(history, 1.0 * history.n_pages)
    told = draw_announcements(history, rates)
    assert fresh(replace(test, told=told), policy) > fresh(test, policy) - 0.015


@pytest.mark.parametrize("budget", [0.25, 0.5, 1.0])
def test_between_plans_pages_are_due_by_the_same_rule(budget: float) -> None:
    """The page that was visited last, at the price that the replay has come to."""
    history = poisson(60, spread=0.5)
    told = draw_announcements(history, SignalRates(0.6, 0.95))
    replay = _Replay(Backtest(history, budget * history.n_pages, told=told), "recrawl")
    replay.run(lambda _: None)
    control, page = replay._control, np.array([np.argmax(replay._control.last)])
    assert control.silent[page] < 0.8
    due_after = control.intervals[page].copy()

    assert control._fill(page, control.price[0]) == pytest.approx(due_after, rel=0.01)


@pytest.mark.slow
def test_clocks_of_directories_do_not_slow_down_as_changes_are_announced() -> None:
    """A visit that nothing announced is to find only what nothing announces."""
    history = poisson(150, seed=1, spread=1.2)
    told = draw_announcements(history, SignalRates(0.8))
    replay = _Replay(Backtest(history, 1.0 * history.n_pages, told=told), "foresight")
    replay.run(lambda _: None)
    control, rows = replay._control, np.arange(history.n_pages)
    passed = history.end - control.last
    paces = control.clocked(rows, history.end)[passed > 0.0] / passed[passed > 0.0]
    assert np.median(paces) > 0.9  # 0.6 to 0.7 where they are told of all changes


@pytest.mark.parametrize("policy", ["recrawl", "foresight"])
@pytest.mark.parametrize(
    ("rates", "gain"), [(SignalRates(0.5, 0.9), 0.015), (SignalRates(1.0), 0.085)]
)
def test_where_a_budget_pays_few_visits_it_helps_to_know_what_changed(
    policy: str, rates: SignalRates, gain: float
) -> None:
    """A visit for each four changes, of pages some of which change ten times as fast as others."""
    history = poisson(150, seed=1, spread=1.2)
    test = Backtest(history, 0.25 * history.n_pages)
    told = draw_announcements(history, rates)
    assert fresh(replace(test, told=told), policy) > fresh(test, policy) + gain


def test_who_does_not_listen_hears_and_pays_nothing() -> None:
    history = poisson(50)
    test = Backtest(history, 50.0)
    told = draw_announcements(history, SignalRates(1.0))
    for policy in ("uniform", "nutch", "lambdacrawl"):
        assert fresh(replace(test, told=told), policy) == fresh(test, policy)


def test_the_order_of_pages_does_not_matter_to_what_is_announced() -> None:
    history = poisson(50)
    told = draw_announcements(history, SignalRates(1.0))
    test = Backtest(history, 50.0, told=told)
    turned, order = replace(test, order=5).shuffled()
    assert turned.told is not None
    np.testing.assert_array_equal(order[turned.told.page], told.page)


def table(**columns: list[object]) -> dict[str, list[object]]:
    return columns


def test_a_table_of_announcements_is_read() -> None:
    history = poisson(20)
    told = announcements_of(
        table(page=["1/11", "0/3"], announced_at=[30.0, 20.0], changed_at=[25.0, 20.0]),
        history,
        every=3.0,
    )
    assert told.page.tolist() == [3, 11]
    assert told.changed_at.tolist() == [20.0, 25.0]
    assert told.shown_at.tolist() == [20.0, 30.0]
    assert told.every == 3.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (table(page=["0/3"]), "column announced_at is missing"),
        (table(announced_at=[1.0]), "page or url"),
        (table(page=["0/99"], announced_at=[1.0]), "'0/99' is not in the history"),
        (
            table(page=["0/3"], announced_at=[1.0], changed_at=[2.0]),
            "row 1: the change is after it was announced_at",
        ),
        (table(page=["0/3"], announced_at=["monday"]), "announced_at, row 1"),
    ],
)
def test_tables_that_do_not_fit_are_refused(given: dict[str, list[object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        announcements_of(given, poisson(20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recall=2", "recall must lie in"),
        ("recall=half", "'half' is no number"),
        ("recall=0.5,precision=0", "precision must lie in"),
        ("precision=0.5", "recall is missing"),
        ("recall=0.5,recall=0.6", "'recall=0.6' does not belong there"),
        ("recall=0.5,color=red", "'color=red' does not belong there"),
        ("recall=0.5,delay=soon", "'soon' is not a duration"),
        ("recall=0.5,every=0s", "must be > 0"),
        ("", "'' does not belong there"),
        ("nowhere.csv,recall=1", "'recall=1' does not belong there"),
        ("nowhere.csv", "nowhere.csv"),
    ],
)
def test_words_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_signals(text, poisson(20), called="--signals", seed=0)


def test_words_are_read() -> None:
    history = poisson(20)
    read = parse_signals(
        "recall=0.5, precision=0.9, delay=1m, every=2h", history, called="x", seed=1
    )
    drawn = draw_announcements(history, SignalRates(0.5, 0.9, delay=60.0, every=7200.0), 1)
    np.testing.assert_array_equal(read.page, drawn.page)
    np.testing.assert_array_equal(read.shown_at, drawn.shown_at)
    assert read.every == 7200.0


def changes(n_pages: int = 40, days: int = 200) -> dict[str, list[object]]:
    random = np.random.default_rng(0)
    rows = [
        (f"http://a.test/{page // 10}/{page}", float(86_400.0 * day))
        for page in range(n_pages)
        for day in np.sort(random.uniform(1.0, days, days // 10))
    ]
    return table(url=[url for url, _ in rows], changed_at=[at for _, at in rows])


def test_the_front_door_takes_signals() -> None:
    given = changes()

    def replayed(signals: object = None) -> recrawl.BacktestReport:
        policies = ["uniform", "foresight", "recrawl"]
        return recrawl.backtest(
            given, budgets=["1x"], policies=policies, resamples=20, signals=signals
        )

    without, drawn = replayed(), replayed("recall=1,every=1d")
    told = table(page=given["url"], announced_at=given["changed_at"])
    told["url"] = told.pop("page")
    brought = replayed(told)

    def of(report: recrawl.BacktestReport, policy: str) -> float:
        rows = report.table.to_pylist()
        return next(float(row["freshness"]) for row in rows if row["policy"] == policy)

    assert of(drawn, "uniform") == of(without, "uniform")
    for policy in ("foresight", "recrawl"):
        assert of(drawn, policy) > of(without, policy) + 0.05
        assert of(brought, policy) > of(without, policy)  # read every two weeks
    with pytest.raises(InputError, match="read them less often"):
        replayed("recall=1,every=1h")
