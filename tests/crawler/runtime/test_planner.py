"""What a plan is asked for, and what follows from the answer."""

import asyncio
import json
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from typing_extensions import override

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.estimate import estimate_freshness
from recrawl.crawler.control.revisiting.revisit_policy import (
    FastClock,
    NextVisit,
    PageVisit,
    Replan,
    Schedule,
)
from recrawl.crawler.control.revisiting.timetables import ProbedBy
from recrawl.crawler.control.worth.announced import UNPROVED
from recrawl.crawler.control.worth.returns import Returns
from recrawl.crawler.control.worth.tiers import worth_share
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.frontier.worths import SqliteWorths
from recrawl.crawler.ports import AdmissionLimits, EventSink, Offload
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.crawler.runtime.importance import ImportanceKeeper
from recrawl.crawler.runtime.planner import Planner
from recrawl.errors import NotConverged
from recrawl.processes.local_clock import HOUR_S, LocalClock
from recrawl.terms import (
    Announcer,
    Birth,
    Discovery,
    Kind,
    Lease,
    PageDetails,
    PageState,
    PlanRecord,
)
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S, TimedWork

DAY_S = 86_400.0
SOURCE = "http://a.test/feed"
BUDGET = 0.002


class Policy:
    """Answers plans as it is told, and keeps what it was asked."""

    name = "told"

    def __init__(self) -> None:
        self.asked: list[Replan] = []
        self.answer: Callable[[Replan], Schedule | None] = lambda question: None

    def after_visit(self, visit: PageVisit) -> NextVisit:
        return NextVisit(visit.at_s + DAY_S, "told")

    def replan(self, question: Replan) -> Schedule | None:
        self.asked.append(question)
        return self.answer(question)


class Held(MemoryFrontier):
    """A state of which a test says what it holds."""

    def __init__(self, n: int = 10, waiting: int = 0, indexed: int = 0) -> None:
        super().__init__()
        self.weights, self.waiting, self.indexed = np.ones(n), waiting, indexed
        self.dates_s = np.full(n, np.nan)
        self.crawl_rate = np.nan  # of each page, by the plan before; nan: there was none
        self.same: list[int] = []
        self.visits = dict[str, int]()
        self.away_s = 0.0
        self.looked: list[object] = []
        self.read: list[Mapping[int, float]] = []
        hosts = [f"http://h{number}.test" for number in range(1, n + 1)]
        self.admit([Discovery(f"{host}/a/b.1", host) for host in hosts], 0.0, AdmissionLimits())

    @override
    def planned_pages(self) -> PlannedPages:
        n = len(self.weights)
        ids, none, at = np.arange(1, n + 1), np.full(n, np.nan), np.full(n, EPOCH_S - DAY_S)
        rates = np.full(n, self.crawl_rate)
        return PlannedPages(ids, ids, self.weights, none, none, rates, at, at, self.dates_s)

    @override
    def gone_s(self, now_s: float) -> float:
        return self.away_s

    @override
    def look_at_gone(self, by_s: float) -> int:
        self.looked.append(by_s)
        return 0

    @override
    def read_within(self, intervals_s: Mapping[int, float]) -> int:
        self.read.append(intervals_s)
        return 0

    @override
    def look_again(self, now_s: float, host_ids: Sequence[int]) -> int:
        self.looked.append((now_s, *host_ids))
        return 0

    @override
    def n_pages_by_state(self) -> dict[PageState, int]:
        return {PageState.DISCOVERED: self.waiting} if self.waiting else {}

    @override
    def n_indexed(self) -> int:
        return self.indexed

    @override
    def copies(self, most: int) -> list[int]:
        return self.same

    @override
    def details(self, url: str, *, recent: int = 50) -> PageDetails | None:
        found = super().details(url, recent=recent)
        return found and replace(found, visits=self.visits.get(url, 0))


class Heard(EventSink):
    """Keeps what is told of plans."""

    def __init__(self, told: list[Mapping[str, object]]) -> None:
        self.told = told

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event == "plan":
            self.told.append(fields)


def planning(frontier: Held, policy: Policy, **rules: Any) -> VirtualCrawl:
    """Return a crawl that is planned by a policy, whose budget and pace are known."""
    plan = CrawlPlan(BUDGET, Setup().politeness, revisit=policy)
    return virtual_crawl(Setup(rules={"replan_s": 1e4} | rules), frontier=frontier, plan=plan)


def planner_of(
    virtual: VirtualCrawl, on_plan: Offload, on_news: Callable[[], None] = lambda: None
) -> Planner:
    """Return a planner of a crawl whose steps are made, and whose news are told, as a test says."""
    crawl = virtual.crawl
    importance = ImportanceKeeper(
        crawl.world, crawl.rules, crawl.recorder.expected, on_plan=on_plan
    )
    return Planner(
        crawl.world, crawl.rules, crawl.dispatcher, crawl.due_times, crawl.believed,
        on_plan=on_plan, capacity=crawl.capacity, on_news=on_news, importance=importance,
    )  # fmt: skip


def asked(frontier: Held, **rules: Any) -> tuple[Replan, VirtualCrawl]:
    """Return what a policy is asked at a plan."""
    policy = Policy()

    async def main() -> VirtualCrawl:
        virtual = planning(frontier, policy, **rules)
        assert await virtual.crawl.planner.replan() is None
        return virtual

    virtual = run_virtually(main())
    (question,) = policy.asked
    return question, virtual


def probed(n_probes: int) -> ProbedBy:
    return ProbedBy(SOURCE, Kind.FEED, n_probes, HOUR_S, np.ones(168), LocalClock.utc())


@pytest.mark.parametrize(
    ("n", "waiting", "rules", "budget", "span_s"),
    [
        (10, 0, {}, BUDGET, 2e4),
        (10, 10, {}, BUDGET - 10 / 2e4, 2e4),
        (10, 100, {}, 0.35 * BUDGET, 2e4),
        (200, 10, {}, BUDGET - 10 / 25e3, 0.25 * 200 / (BUDGET - 10 / 25e3)),
        (10, 100, {"first_free": True}, BUDGET, 2e4),
        (100, 1, {"discovery_share": 0.25}, BUDGET, 2e4),
        (100, 2, {"discovery_share": 0.25}, 0.75 * BUDGET, 2e4),
        (100, 2, {"discovery_share": 1.0}, 0.01 * BUDGET, max(2e4, 2_500 / BUDGET)),
        (10, 0, {"sources": (probed(600),)}, BUDGET - 600 / (7 * DAY_S), 2e4),
        (10, 0, {"sources": (probed(1_200),)}, 0.1 * BUDGET, 2e4),
    ],
)
def test_a_plan_has_of_the_budget_what_first_visits_and_timetables_leave(
    n: int, waiting: int, rules: dict[str, Any], budget: float, span_s: float
) -> None:
    """Of what falls due between two plans, or in a quarter of a round of visits."""
    question, _ = asked(Held(n, waiting), **rules)

    assert question.budget_per_s == pytest.approx(budget)
    assert question.span_s == pytest.approx(span_s)


@pytest.mark.parametrize(("n", "budget"), [(10, BUDGET - 10 / (2 * DAY_S)), (200, 0.5 * BUDGET)])
def test_a_plan_leaves_robots_txt_its_requests(n: int, budget: float) -> None:
    """Of hosts visited daily every other day, as it holds for one; half of the budget at most."""
    frontier = Held(n)
    frontier.crawl_rate = 1.0 / DAY_S

    assert asked(frontier)[0].budget_per_s == pytest.approx(budget)


def test_a_plan_says_for_how_long_hosts_stay_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its price, and less where more is born; not those of sources probed by the clock."""
    policy, frontier = Policy(), Held(5)
    policy.answer = lambda question: replace(answer(question), price=3.0 * DAY_S)
    born = [
        Birth(3, 3, Kind.PAGE, n=5.0, exposure_s=9 * DAY_S),
        Birth(90, 4, Kind.SITEMAP, n=5.0, exposure_s=9 * DAY_S),
    ]
    monkeypatch.setattr(SqliteWorths, "births", lambda _: born)
    source = replace(probed(1), url="http://h2.test/f")

    def gaps_s(longest_s: float) -> list[float]:
        revisit = RevisitRules(60.0, longest_s, DAY_S)

        async def main() -> VirtualCrawl:
            virtual = planning(frontier, policy, sources=(source,), revisit=revisit)
            await virtual.crawl.planner.replan()
            await virtual.crawl.planner.replan()
            return virtual

        return [one.gap_s for one in run_virtually(main()).crawl.dispatcher.hosts()]

    _, second, third, fourth, fifth = gaps_s(300.0 * DAY_S)

    assert second == 0.0
    assert DAY_S < third < fifth
    assert DAY_S < fourth < fifth
    assert gaps_s(DAY_S) == [0.5 * DAY_S, 0.0, *[0.5 * DAY_S] * 3]


def test_a_plan_leaves_what_is_born_its_first_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What appears on a page is worth what pages usually are, and so is what it leads to."""
    born = [Birth(1, 1, Kind.PAGE, n=5.0, exposure_s=5e4)]
    monkeypatch.setattr(SqliteWorths, "births", lambda _: born)
    monkeypatch.setattr(SqliteWorths, "depths", lambda _: [(1, 0, 1, 1, 0.0), (1, 1, 6, 0, 6.0)])
    frontier = Held(4)
    frontier.weights = np.array([1.0, 2.0, 3.0, 10.0])

    question, virtual = asked(frontier)

    new = virtual.crawl.price.new_pages[1]
    assert new.n_per_s == pytest.approx(1e-4, rel=0.5)
    assert new.flow_per_s == pytest.approx(4.0 * new.n_per_s)
    assert question.budget_per_s == pytest.approx(BUDGET - new.n_per_s)
    assert virtual.crawl.price.leads[1, 0] == pytest.approx(4.0 * 6 / (1 + 2))


def test_while_a_plan_is_solved_nothing_is_held_of_what_pages_brought(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Objects for all pages take more memory than the plan does."""

    class Rows(list[Birth]):
        pass

    told = list[weakref.ref[Rows]]()
    n_held = list[int]()

    def births(_: SqliteWorths) -> Rows:
        rows = Rows([Birth(1, 1, Kind.PAGE, n=5.0, exposure_s=5e4)])
        told.append(weakref.ref(rows))
        return rows

    def ask(*_: object) -> None:
        n_held.append(sum(one() is not None for one in told))

    monkeypatch.setattr(SqliteWorths, "births", births)
    monkeypatch.setattr("recrawl.crawler.runtime.planner.ask_for_plan", ask)

    async def main() -> VirtualCrawl:
        virtual = planning(Held(4), Policy())
        await virtual.crawl.planner.replan()
        return virtual

    virtual = run_virtually(main())

    assert virtual.crawl.price.new_pages
    assert n_held == [0]


@pytest.mark.parametrize(
    ("weights", "same", "asked_for"),
    [
        ([1.0, 2.0, 4.0], [3], [1.0, 2.0, 0.2]),
        ([0.0, 0.5, 0.0], [], [0.0, 0.5, 0.0]),
        ([0.0, 0.0, 0.0], [2], [1.0, 0.05, 1.0]),
    ],
)
def test_a_page_that_says_what_another_says_is_worth_a_twentieth(
    weights: list[float], same: list[int], asked_for: list[float]
) -> None:
    """Where no page is worth anything, all are worth the same."""
    frontier = Held()
    frontier.weights, frontier.same = np.array(weights), same

    question, _ = asked(frontier)

    assert question.pages.weights.tolist() == pytest.approx(asked_for)
    assert question.pages.page_ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("least", "price"), [(np.inf, 0.0), (0.0, 0.0), (0.01, 0.01 * DAY_S * 8)])
def test_the_least_worth_is_a_share_of_the_index_kept_for_a_day(least: float, price: float) -> None:
    """In the unit of the price: weight times seconds."""
    frontier = Held(2)
    frontier.weights = np.array([3.0, 5.0])

    question, _ = asked(frontier, least_worth=least)

    assert question.least_price == pytest.approx(price)


def test_a_timetable_is_learned_anew_when_a_quarter_more_is_known() -> None:
    """From ten visits on, whatever is known of others; its source is no page of the plan."""
    policy, frontier, url = Policy(), Held(3), "http://h2.test/a/b.1"
    learned = dict[int, int]()

    async def main() -> None:
        urls = ("http://h0.test/not-found-yet", "http://h1.test/a/b.1", url)
        sources = tuple(replace(probed(21), url=one) for one in urls)
        virtual = planning(frontier, policy, sources=sources)
        for visits in (9, 10, 12, 13, 16, 17):
            frontier.visits[url] = visits
            before = virtual.counts.events["timetable"]
            await virtual.crawl.planner.replan()
            learned[visits] = virtual.counts.events["timetable"] - before

    run_virtually(main())

    assert learned == {9: 0, 10: 1, 12: 0, 13: 1, 16: 0, 17: 1}
    assert policy.asked[-1].pages.page_ids.tolist() == [3]


def answer(question: Replan, **more: Any) -> Schedule:
    """Return a plan of half a visit a day, of which the first page has one as before."""
    n = len(question.pages.page_ids)
    rates = np.full(n, 0.5 / DAY_S)
    rates[0] = 1.0 / DAY_S
    due = question.now_s + np.arange(1.0, n + 1)
    return Schedule(rates, due, 50.0, 0.8, 3, worth=7.0, **more)


@pytest.mark.parametrize(
    ("busy_s", "served_s", "bound", "by"),
    [
        (1.0, 1.0, BUDGET, (False, False)),
        (8_000.0, 1.0, 1 / 1_000, (True, False)),
        (1.0, 1_000.0, 1 / 1_000, (False, True)),
        (8_000.0, 2_000.0, 1 / 2_000, (False, True)),
        (16_000.0, 1_000.0, 1 / 2_000, (True, False)),
    ],
)
def test_what_a_plan_says_is_in_force_afterwards(
    busy_s: float, served_s: float, bound: float, by: tuple[bool, bool]
) -> None:
    """Where robots or the indexer can do less than the budget, it counts on that."""
    policy, frontier, news = Policy(), Held(4), list[bool]()
    policy.answer = answer

    async def main() -> VirtualCrawl:
        virtual = planning(frontier, policy)
        for _ in range(100):
            virtual.crawl.capacity.observe_request(busy_s, brought=True)
            virtual.crawl.capacity.observe_service(served_s)
        virtual.crawl.returns.returned = 5.0
        planner = planner_of(virtual, TimedWork(virtual.clock, 0.0), lambda: news.append(True))
        assert await planner.replan() == frontier.last_plan()
        return virtual

    virtual = run_virtually(main())

    plan, facts, price = frontier.last_plan(), frontier.facts().plan, virtual.crawl.price
    assert news == [True]
    assert [queue.next_due_s for queue in virtual.crawl.dispatcher.hosts()] == [0.0] * 4
    assert plan is not None
    assert plan == PlanRecord(EPOCH_S, 4, plan.budget_per_s, 50.0, 0.8, 3, "told")
    assert plan.budget_per_s == pytest.approx(bound, rel=0.01)
    assert facts.plan_bound_per_s == plan.budget_per_s
    assert (facts.plan_bound_by_robots, facts.plan_bound_by_indexer) == by
    assert (facts.fetch_worth, facts.visit_price, facts.returned) == (7.0, 50.0, 5.0)
    assert (price.price, virtual.crawl.returns.price) == (50.0, 50.0)
    assert price.fresh_s == pytest.approx(0.8 * 4 / plan.budget_per_s)
    known = frontier.details("http://h2.test/a/b.1")
    assert known is not None
    assert known.change_rate_per_s is not None
    kept = np.exp(-known.change_rate_per_s * DAY_S * np.array([1.0, 2.0, 2.0, 2.0]))
    assert price.lasting == pytest.approx(kept.mean())


def test_what_is_found_while_others_wait_counts_whole() -> None:
    """A first visit competes with first visits then, none of which has been kept fresh."""
    policy, frontier = Policy(), Held(4, waiting=10**6)
    policy.answer = answer

    async def main() -> VirtualCrawl:
        virtual = planning(frontier, policy)
        virtual.crawl.price.least_first = 5.0
        await virtual.crawl.planner.replan()
        return virtual

    virtual = run_virtually(main())

    assert policy.asked[0].least_price == 5.0
    assert virtual.crawl.price.lasting == 1.0


def test_only_rates_that_moved_are_written() -> None:
    policy, frontier = Policy(), Held(4)
    policy.answer, frontier.crawl_rate = answer, 1.0 / DAY_S

    async def main() -> None:
        await planning(frontier, policy).crawl.planner.replan()

    run_virtually(main())

    told = [frontier.details(f"http://h{n}.test/a/b.1") for n in (1, 2, 3, 4)]
    assert [one and one.crawl_rate_per_s for one in told] == [None, *[0.5 / DAY_S] * 3]


@pytest.mark.parametrize(("away_s", "lightest"), [(0.0, 1.0), (1e6, 1.0), (1e6, 0.01)])
def test_pages_that_are_gone_are_looked_at_when_that_is_worth_the_price(
    away_s: float, lightest: float
) -> None:
    """Where the price is that of kinds that never change, they are worth no more than these."""
    policy, frontier = Policy(), Held(4)
    policy.answer, frontier.away_s = partial(answer, lightest=lightest), away_s

    async def main() -> VirtualCrawl:
        virtual = planning(frontier, policy, revisit=RevisitRules(1.0, 1e9, 1.0))
        await virtual.crawl.planner.replan()
        return virtual

    returns = run_virtually(main()).crawl.returns

    assert returns.interval_s(1.0) == Returns(0.0, away_s, 50.0 / lightest).interval_s(1.0)
    assert frontier.looked == ([EPOCH_S + returns.interval_s(1.0)] if away_s else [])


@pytest.mark.parametrize(("n_gone", "share"), [(10, 0.9), (500, 0.5)])
def test_a_plan_leaves_what_is_gone_its_visits(
    n_gone: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the price of the last plan, half of the budget at most."""
    frontier, policy = Held(4), Policy()
    monkeypatch.setattr(frontier, "n_pages_by_state", lambda: {PageState.GONE: n_gone})

    async def main() -> None:
        crawl = planning(frontier, policy, revisit=RevisitRules(100.0 / BUDGET, 1e9, 1.0)).crawl
        crawl.returns.price = 1e-9  # less than the shortest interval is worth
        await crawl.planner.replan()

    run_virtually(main())

    assert policy.asked[0].budget_per_s == pytest.approx(share * BUDGET)


def test_dates_that_proved_true_have_pages_looked_at_again_that_were_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the second host nothing is known yet; what the others announce is kept for readers."""
    policy, frontier = Policy(), Held(3)
    policy.answer, frontier.dates_s = answer, np.full(3, EPOCH_S - 2 * DAY_S)
    frontier.crawl_rate = 1.0 / DAY_S
    proved = {1: Announcer(0.5, 0.9, EPOCH_S)}
    read = [Birth(9, 1, Kind.SITEMAP, n=0.0, exposure_s=DAY_S, last_visit_s=EPOCH_S)]
    read += [Birth(9 + n, 1 + n, Kind.SITEMAP, n=0.0, exposure_s=DAY_S) for n in (1, 2)]
    monkeypatch.setattr(SqliteWorths, "births", lambda _: read)

    async def main() -> VirtualCrawl:
        virtual = planning(frontier, policy)
        believed = virtual.crawl.believed
        monkeypatch.setattr(believed, "trust_in_dates", lambda _: np.array([0.9, np.nan, 0.9]))
        monkeypatch.setattr(believed, "recalls", lambda _: np.full(3, 0.5))
        monkeypatch.setattr(believed, "announcers", lambda *_: proved)
        await virtual.crawl.planner.replan()
        return virtual

    virtual = run_virtually(main())

    assert set(virtual.crawl.price.announced) == {9, 10, 11}
    assert virtual.crawl.price.announced[10] is UNPROVED
    assert frontier.looked == [(EPOCH_S, 1, 3)]
    assert [*frontier.read[0]] == [9, 11], "what it announces says when it is read again"
    assert frontier.announcers() == proved
    assert policy.asked[0].heard_s.tolist() == pytest.approx([EPOCH_S, np.nan, np.nan], nan_ok=True)


def test_groups_that_change_fast_are_called_by_their_address() -> None:
    policy, frontier = Policy(), Held(4)
    fast = (FastClock(2, 2, 3.0, 9.0, 3.0, 60.0), FastClock(3, 0, 2.0, 4.0, 1.0, 30.0))
    policy.answer = lambda question: answer(question, fast=fast)

    async def main() -> PlanRecord | None:
        await planning(frontier, policy).crawl.planner.replan()
        return frontier.last_plan()

    plan = run_virtually(main())

    assert plan is not None
    names = ("group", "factor", "found", "expected", "for_s")
    assert json.loads(plan.clocks) == [
        dict(zip(names, ("http://h2.test/a/", 3.0, 9.0, 3.0, 60.0), strict=True)),
        dict(zip(names, ("http://h3.test/a/b.*", 2.0, 4.0, 1.0, 30.0), strict=True)),
    ]


@pytest.mark.parametrize(("step_s", "every_s"), [(1.0, 103.0), (10.0, 630.0)])
def test_the_first_plan_comes_soon_and_planning_takes_at_most_a_twentieth_of_the_time(
    step_s: float, every_s: float
) -> None:
    """Each has three steps; one that cannot be made is told of, and the next comes all the same."""
    policy, frontier = Policy(), Held(4)

    def fails(_: Replan) -> None:
        raise NotConverged("the price", iterations=1, residual=1.0)

    async def main() -> VirtualCrawl:
        virtual = planning(frontier, policy, replan_s=100.0)
        policy.answer = fails
        planner = planner_of(virtual, TimedWork(virtual.clock, step_s))
        running = asyncio.create_task(planner.run())
        await asyncio.sleep(60.0 + 2.5 * every_s)
        running.cancel()
        return virtual

    virtual = run_virtually(main())

    at_s = [question.now_s - EPOCH_S for question in policy.asked]
    assert at_s == pytest.approx([60.0 + 2.0 * step_s + n * every_s for n in range(3)])
    assert virtual.counts.events["plan-failed"] == len(at_s)


@pytest.mark.parametrize(
    ("before_s", "after_s"), [(None, 5.0), (500.0, 5.0), (90.0, 10.0), (5.0, 60.0), (-900.0, 60.0)]
)
def test_a_start_plans_when_the_plan_of_the_crawl_before_is_due(
    before_s: float | None, after_s: float
) -> None:
    """And within a minute in any case: of short runs, again and again, none would plan."""
    policy, frontier = Policy(), Held(4, indexed=4)
    if before_s is not None:
        frontier.save_plan(PlanRecord(EPOCH_S - before_s, 4, 1.0, 0.0, 1.0, 0, "it"))

    async def main() -> None:
        virtual = planning(frontier, policy, replan_s=100.0)
        planner = planner_of(virtual, TimedWork(virtual.clock, 0.0))
        running = asyncio.create_task(planner.run())
        await asyncio.sleep(80.0)
        running.cancel()

    run_virtually(main())

    assert policy.asked[0].now_s - EPOCH_S == pytest.approx(after_s)


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_what_waits_is_told_of_a_plan(weight: float) -> None:
    """So are its freshness, and how fresh the index seems by now; not at all where none counts."""
    policy, frontier = Policy(), Held(4, waiting=7)
    policy.answer, frontier.weights = answer, np.full(4, weight)
    told = list[Mapping[str, object]]()

    async def main() -> None:
        virtual = planning(frontier, policy)
        virtual.counts.then = Heard(told)
        await virtual.crawl.planner.replan()

    run_virtually(main())

    known = frontier.details("http://h2.test/a/b.1")
    assert known is not None
    assert known.change_rate_per_s is not None
    assert known.change_rate_factor is not None
    estimate = estimate_freshness(
        np.array([known.change_rate_per_s]),
        np.log([known.change_rate_factor]),
        np.ones(1),
        np.array([DAY_S]),
    )
    assert estimate is not None
    assert told == [
        {
            "at_s": EPOCH_S,
            "pages": 4,
            "freshness": 0.8,
            "estimate": pytest.approx(estimate.value) if weight else 0.0,
            "waiting": 7,
            "share": 4 * weight / (4 * weight + 4.0),  # four addresses wait, of weight 1
        }
    ]


@pytest.mark.parametrize(("price", "least"), [(40.0, 0.5), (0.5, 40.0), (0.0, 0.0)])
def test_nothing_is_visited_ahead_of_its_time_that_is_worth_less_than_the_least(
    price: float, least: float
) -> None:
    """Of the price, where there is one."""
    policy, frontier = Policy(), Held(4)
    policy.answer = lambda question: replace(answer(question), price=price)
    page = Lease(
        1, "http://h1.test/a/b.1", 1, 1, due_s=EPOCH_S + DAY_S, last_visit_s=EPOCH_S - DAY_S,
        change_rate_per_s=1.0 / DAY_S,
    )  # fmt: skip

    async def main() -> dict[float, float]:
        virtual = planning(frontier, policy, least_worth=20.0 / (4 * DAY_S) if price else 1.0)
        await virtual.crawl.planner.replan()
        worth = virtual.crawl.dispatcher.worth_ahead
        return {worth_share(page, at_s): worth(page, at_s) for at_s in EPOCH_S + np.arange(9) * 1e4}

    for share, worth in run_virtually(main()).items():
        assert worth == (share if share > least else 0.0)
