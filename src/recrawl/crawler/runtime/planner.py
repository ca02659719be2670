"""The planner: estimates change rates anew, solves the plan, and moves due times.

It runs beside the crawl, on a thread of its own; reading and writing the frontier go through the
frontier's thread in between. The module is longer than most, as it is told of all that plans go by.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.dispatching.dispatch import Dispatcher
from recrawl.crawler.control.dispatching.host_queue import by_server
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.fleet.capacity import Capacity
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.estimate import FreshnessEstimate, estimate_freshness
from recrawl.crawler.control.revisiting.plan_budget import budget_for_pages, budget_for_revisits
from recrawl.crawler.control.revisiting.revisit_policy import FastClock, Replan, ask_for_plan
from recrawl.crawler.control.revisiting.timetables import learn_timetable
from recrawl.crawler.control.revisiting.told_clocks import clocks_text
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.announced import (
    announced_changes,
    heard_until,
    unannounced,
)
from recrawl.crawler.control.worth.births import lasting_share
from recrawl.crawler.control.worth.openings import Openings, plan_openings
from recrawl.crawler.control.worth.removal_hazards import REMEMBERED_S
from recrawl.crawler.facts import PlanFacts
from recrawl.crawler.ports import Offload
from recrawl.crawler.runtime.importance import ImportanceKeeper
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.visit_learner import VisitLearner, parts_of
from recrawl.errors import NotConverged
from recrawl.kernels.arrays import is_among
from recrawl.terms import Announcer, Birth, HostRecord, Kind, PageState, PlanRecord

_LONGEST_GAP: Final = 0.5  # of the longest interval, for which a host stays closed
_SETTLES_S: Final = 5.0  # of a start: its first requests wait for no plan
_DAY_S: Final = 86_400.0
_FOR_LISTINGS: Final = 0.25  # of the budget, for all of which nobody knows what they bring
_RECENT_PROBES: Final = 2_000
_MOST_COPIES: Final = 8  # pages that say the same; more of them have nothing to say yet
_COPY: Final = 0.05  # of its weight, for a page that says what another one says
_Rows: TypeAlias = list[tuple[int, ...]]
_Depths: TypeAlias = list[tuple[int, int, int, int, float]]
_Went: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class SolvedPlan:
    """A plan, and the rows that it changes."""

    record: PlanRecord
    gone_price: float  # of a look at a page that is gone, which changes as seldom as any
    least_price: float
    worth: float
    lasting: float
    page_ids: NDArray[np.int64]
    crawl_rates_per_s: NDArray[np.float64]
    due_s: NDArray[np.float64]
    own_due_s: NDArray[np.float64] | None
    last_visit_s: NDArray[np.float64]
    why: str
    fast: tuple[FastClock, ...]
    announcers: Mapping[int, Announcer]
    openings: Openings
    estimate: FreshnessEstimate | None
    relearned: tuple[NDArray[Any], ...]  # pages, rates, factors of those whose rate has moved


class Planner:
    """Re-plans every ``rules.replan_s``, and less often where planning takes long.

    Parameters
    ----------
    world, rules, dispatcher, due_times : of the crawl; its policy is asked for each plan
    believed : learns the pages from their visits
    on_plan : runs the solver
    capacity : what robots and indexer can bring, where that is less than the budget
    on_news : called when due times have moved
    importance : looked after before each plan
    """

    def __init__(  # noqa: PLR0913 - each is said once, when a crawl is put together
        self,
        world: World,
        rules: Rules,
        dispatcher: Dispatcher,
        due_times: DueTimes,
        believed: Believed,
        *,
        on_plan: Offload,
        capacity: Capacity,
        on_news: Callable[[], None],
        importance: ImportanceKeeper,
    ) -> None:
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self._due_times = due_times
        self._timetables = due_times.timetables
        self._returns = due_times.returns
        self._believed = believed
        self._on_plan = on_plan
        self._capacity = capacity
        self._on_news = on_news
        self._importance = importance
        self._copies: list[int] = []
        self._learner = VisitLearner(believed, world.on_state, on_plan)
        self._listings: list[tuple[int, int]] = []  # pages and hosts
        self._learned_at: dict[str, int] = {}  # visits of a source when its pattern was learned

    async def run(self) -> None:
        """Plan, wait, plan again, until cancelled."""
        clock = self._world.clock
        pause_s = await self._world.on_state(self._first_pause_s, clock.now_s())
        while True:
            await clock.sleep_until(clock.now_s() + pause_s)
            started_s = clock.now_s()
            try:
                await self.replan()
            except NotConverged as error:  # the last plan stays in force
                self._world.events.emit("plan-failed", {"why": str(error)})
            # Planning may take at most a twentieth of the time.
            pause_s = max(self._rules.replan_s, 20.0 * (clock.now_s() - started_s))

    async def replan(self) -> PlanRecord | None:
        """Estimate, solve and put in force; None while there is nothing to plan."""
        world = self._world
        await self._learn_timetables()
        await self._importance.refresh()
        await self._importance.tell()
        await self._learner.learn(world.frontier)
        pages, backlog = await world.on_state(self._pages)
        if not len(pages.page_ids):
            return None
        told = await world.on_state(self._brought)
        heard_s = await self._on_plan(self._learn_births, *told, pages)
        weighs, waits = float(pages.weights.sum()), sum(row[4] for row in told[2])
        del told  # objects for all pages: solving takes memory of its own
        solved = await self._on_plan(self._solve, pages, backlog, heard_s, world.clock.now_s())
        if solved is None:  # a policy that knows no plan: due times stay as its visits set them
            return None
        await self._move_due(solved)
        for record in await world.on_state(self._put_in_force, solved):
            self._dispatcher.observe_host(record, None)
        probed = {host_of(table.rules.url) for table in self._timetables.all()}
        self._dispatcher.observe_openings(solved.openings.gaps_s, probed)
        price = solved.record.price
        self._dispatcher.observe_plan(solved.least_price / price if price > 0 else 0.0)
        self._on_news()
        world.events.emit(
            "plan",
            {
                "at_s": world.clock.now_s(),
                "pages": solved.record.n_pages,
                "freshness": solved.record.freshness,
                "estimate": solved.estimate.value if solved.estimate else 0.0,
                "waiting": backlog,
                "share": weighs / (weighs + waits) if weighs else 0.0,  # of all known addresses
            },
        )
        return solved.record

    def _first_pause_s(self, now_s: float) -> float:
        """Return the seconds to the first plan, which short runs would never come to otherwise."""
        soon_s, frontier = min(self._rules.replan_s, 60.0), self._world.frontier
        if not frontier.n_indexed():
            return soon_s
        last = frontier.last_plan()
        due_s = now_s if last is None else last.solved_at_s + self._rules.replan_s
        return min(max(due_s - now_s, _SETTLES_S), soon_s)

    async def _learn_timetables(self) -> None:
        """Learn a source's pattern anew when a quarter more is known of it."""
        for table in self._timetables.all():
            url = table.rules.url
            look = partial(self._world.frontier.details, url, recent=_RECENT_PROBES)
            details = await self._world.on_state(look)
            if details is None:
                continue
            self._timetables.page_ids[url] = details.page_id
            if details.visits < max(1.25 * self._learned_at.get(url, 0), 10):
                continue
            self._learned_at[url] = details.visits
            told = [visit for visit in reversed(details.recent) if visit.changed is not None]
            learned = await self._on_plan(
                learn_timetable,
                table.rules,
                [visit.visited_at_s for visit in told],
                [bool(visit.changed) for visit in told],
            )
            self._timetables.put(learned)
            self._world.events.emit(
                "timetable",
                {"url": url, "pattern": learned.pattern, "probes": learned.n_results},
            )

    def _pages(self) -> tuple[PlannedPages, int]:
        frontier = self._world.frontier
        counts = Counter(frontier.n_pages_by_state())
        backlog, self._returns.n_away = counts[PageState.DISCOVERED], counts[PageState.GONE]
        pages = frontier.planned_pages()
        self._copies = frontier.copies(_MOST_COPIES)
        return pages.without(list(self._timetables.page_ids.values())), backlog

    def _solve(
        self, pages: PlannedPages, backlog: int, heard_s: NDArray[np.float64], now_s: float
    ) -> SolvedPlan | None:
        budget = min(self._dispatcher.budget.rate_per_s, self._capacity.per_s)
        whole, price = budget, self._due_times.price.price
        budget = budget_for_pages(
            budget,
            timetables_per_s=self._timetables.rate_per_s,
            openings_per_s=self._openings(pages, pages.crawl_rates_per_s, price, whole).per_s,
            gone_per_s=self._returns.looks_per_s(self._rules.revisit.clamp),
        )
        n = len(pages.page_ids)
        span_s = max(2.0 * self._rules.replan_s, 0.25 * n / budget)
        budget = self._for_revisits(budget, backlog, n, span_s)
        hosts, caps = by_server(self._dispatcher.hosts(), pages.host_ids)
        least_price = self._least_price(pages)
        is_priced = self._rules.discovery_share is None and not self._rules.first_free
        first_price = self._due_times.price.of_first(is_priced * backlog, budget * span_s)
        question = Replan(
            replace(pages, weights=self._weights(pages)),
            hosts,
            caps,
            budget,
            now_s,
            span_s=max(span_s, 0.25 * n / budget),
            least_price=max(least_price, first_price),
            prior_rate_per_s=self._rules.prior_rate_per_s,
            heard_s=heard_s,
        )
        schedule = ask_for_plan(self._due_times.policy, question)
        if schedule is None:
            return None
        moved = schedule.moved(pages)
        pass_s = self._dispatcher.horizon_s
        if pass_s < inf:  # a single pass visits every page before any is due again
            moved &= pages.last_visit_s >= pass_s
        record = PlanRecord(
            solved_at_s=now_s,
            n_pages=n,
            budget_per_s=budget,
            price=schedule.price,
            freshness=schedule.freshness,
            n_never_visited=schedule.n_never_visited,
            measure=self._due_times.policy.name,
        )
        pages, relearned = self._believed.relearn(pages)
        columns = (pages.page_ids, pages.change_rates_per_s, pages.change_rate_factors)
        announcers = self._believed.announcers(pages, heard_s)
        told = unannounced(pages, announcers, pages.seen_s, now_s)
        return SolvedPlan(
            record,
            schedule.price / schedule.lightest,
            least_price,
            schedule.worth,
            1.0  # what is found while others wait is worth what they are
            if first_price > 0.0
            else lasting_share(pages.weights, pages.change_rates_per_s, schedule.crawl_rates),
            pages.page_ids[moved],
            schedule.crawl_rates[moved],
            schedule.due[moved],
            None if schedule.own_due is None else schedule.own_due[moved],
            pages.last_visit_s[moved],
            schedule.why,
            schedule.fast,
            announcers,
            self._openings(pages, schedule.crawl_rates, schedule.price, whole),
            estimate_freshness(
                pages.change_rates_per_s, np.log(pages.change_rate_factors), pages.weights, *told
            ),
            tuple(column[relearned] for column in columns),
        )

    def _for_revisits(self, budget: float, backlog: int, n: int, span_s: float) -> float:
        """Return what is left of the budget for known pages when first visits are paid for.

        Parameters
        ----------
        budget : requests per second
        backlog : addresses that wait for their first visit
        n : pages
        span_s : within which they are to be visited, if they can be
        """
        share = self._rules.discovery_share
        if self._rules.first_free if share is None else backlog <= 0.01 * n:
            return budget
        born = sum(new.n_per_s for new in self._due_times.price.new_pages.values())
        return budget_for_revisits(budget, born + backlog / span_s, share)

    def _openings(
        self, pages: PlannedPages, rates: NDArray[np.float64], price: float, budget: float
    ) -> Openings:
        one_price = self._due_times.price
        return plan_openings(
            pages,
            rates,
            price,
            budget,
            new_pages=one_price.new_pages,
            announced=one_price.announced,
            listings=self._listings,
            longest_s=_LONGEST_GAP * self._due_times.rules.max_interval_s,
        )

    def _brought(self) -> tuple[_Went, list[Birth], _Depths, _Rows]:
        worths, since_s = self._world.frontier.worths, self._world.clock.now_s() - REMEMBERED_S
        went = self._world.frontier.went(since_s)
        return went, worths.births(), [*worths.depths()], [*worths.entries()]

    def _learn_births(
        self, went: _Went, births: list[Birth], depths: _Depths, entries: _Rows, pages: PlannedPages
    ) -> NDArray[np.float64]:
        """Learn what comes and goes, and what is announced; return until when that is heard."""
        price = self._due_times.price
        listings = [one for one in births if one.kind is not Kind.PAGE]
        self._listings = [(one.page_id, one.host_id) for one in listings]
        usual = float(pages.weights.mean())
        brought = price.observe_births(births, entries, usual)
        price.observe_depths(depths, usual)
        trust = self._believed.trust_in_dates(pages.page_ids)
        recalls = self._believed.recalls(pages.page_ids)
        prior_per_s = self._rules.prior_rate_per_s
        price.announced = announced_changes(pages, trust, recalls, births, prior_per_s, price.price)
        self._believed.expect_births(brought)
        self._believed.expect_removals(pages, *went)
        return heard_until(pages, self._due_times.dates.heard(births, self._world.clock.now_s()))

    def _weights(self, pages: PlannedPages) -> NDArray[np.float64]:
        """Return what a fresh copy of each page is worth; little where another says the same.

        A page that says something else again at its next visit, or whose other does, has its whole
        weight from the next plan on.
        """
        weights = pages.weights if np.any(pages.weights > 0) else np.ones(len(pages.weights))
        return np.where(is_among(pages.page_ids, self._copies), _COPY * weights, weights)

    def _least_price(self, pages: PlannedPages) -> float:
        """Return the least worth in the unit of the price: weight times seconds."""
        least = self._rules.least_worth
        return 0.0 if least == inf else least * _DAY_S * float(pages.weights.sum())

    async def _move_due(self, solved: SolvedPlan) -> None:
        """Write down what the plan moves, part by part as it was learned."""
        frontier = self._world.frontier
        page_ids, rates, factors = solved.relearned
        for part in parts_of(page_ids.size):
            columns = page_ids[part], rates[part], factors[part]
            await self._world.on_state(frontier.save_change_rates, *columns)
        own_due_s = solved.own_due_s
        for part in parts_of(solved.page_ids.size):
            await self._world.on_state(
                frontier.save_crawl_rates,
                solved.record,
                solved.page_ids[part],
                solved.crawl_rates_per_s[part],
                solved.due_s[part],
                why=solved.why,
                own_due_s=None if own_due_s is None else own_due_s[part],
                last_visit_s=solved.last_visit_s[part],
            )

    def _put_in_force(self, solved: SolvedPlan) -> list[HostRecord]:
        frontier = self._world.frontier
        urls: dict[int, str] = {}
        if solved.fast:
            named = frontier.evidence([one.page_id for one in solved.fast], limit_per_page=1)
            urls = dict(zip(named.page_ids.tolist(), named.urls, strict=True))
        frontier.save_plan(replace(solved.record, clocks=clocks_text(solved.fast, urls)))
        if solved.announcers:
            frontier.save_announcers(solved.announcers)
        capacity, budget = self._capacity, self._dispatcher.budget.rate_per_s
        by_robots = capacity.by_robots_per_s < min(budget, capacity.by_indexer_per_s)
        by_indexer = not by_robots and capacity.by_indexer_per_s < budget
        frontier.save_facts(
            PlanFacts(
                plan_bound_per_s=min(budget, capacity.per_s),
                fetch_worth=solved.worth,
                plan_bound_by_robots=by_robots,
                plan_bound_by_indexer=by_indexer,
                returned=self._returns.returned,
                visit_price=solved.record.price,
                fresh_s=self._due_times.price.fresh_s,
                lasting=self._due_times.price.lasting,
            )
        )
        self._returns.price = solved.gone_price
        record = solved.record
        fresh_s = record.freshness * record.n_pages / record.budget_per_s
        self._due_times.price.observe_plan(record.price, fresh_s, solved.lasting)
        now_s = solved.record.solved_at_s
        self._returns.away_s = frontier.gone_s(now_s)
        if self._returns.away_s:
            longest_s = self._rules.revisit.clamp(self._returns.interval_s(1.0))
            frontier.look_at_gone(now_s + longest_s)
        listings = [page for page, _ in self._listings]
        self._due_times.least_listing_s = len(listings) / (_FOR_LISTINGS * record.budget_per_s)
        frontier.read_within(self._due_times.listing_intervals(listings, now_s))
        told = self._due_times.price.announced
        true = {host for page, host in self._listings if page in told and told[page].flow_per_s > 0}
        if true:
            frontier.look_again(now_s, sorted(true))
        return frontier.hosts()
