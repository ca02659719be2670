"""The planner: estimates change rates anew, solves the plan, and moves due times.

It runs beside the crawl, on a thread of its own; reading and writing the frontier go through the
frontier's thread in between.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.capacity import Capacity
from recrawl.crawler.control.dispatch import Dispatcher
from recrawl.crawler.control.returns import Returns
from recrawl.crawler.control.signal_sources import SignalSources
from recrawl.crawler.control.timetables import Timetables, learn_timetable
from recrawl.crawler.control.urls import folder_of, host_of
from recrawl.crawler.ports import Evidence, Offload, PlannedPages
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.errors import NotConverged
from recrawl.learning.change_rates import ChangeRates
from recrawl.terms import HostRecord, PageDetails, PageState, PlanRecord

if TYPE_CHECKING:
    from recrawl.crawler.control.planning import Schedule
    from recrawl.crawler.control.revisits import RevisitControl

__all__ = ["Planner"]

# A little more falls due than is paid for: the order of what is late is the best there is.
_LEAD: Final = 1.1
_OCTAVES: Final = (-11, 13)  # of a prior of once in two weeks: from once in 80 years to 5 minutes
_DAY_S: Final = 86_400.0
_RECENT_PROBES: Final = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class SolvedPlan:
    """A plan, and the rows that it changes."""

    record: PlanRecord
    least_price: float
    page_ids: NDArray[np.int64]
    crawl_rates_per_s: NDArray[np.float64]
    due_s: NDArray[np.float64]


class Planner:
    """Re-plans every ``rules.replan_s``, and less often where planning takes long.

    Parameters
    ----------
    world, rules, dispatcher, timetables : of the crawl
    on_plan : runs the solver
    measure : a name in ``control.planning.MEASURES``
    capacity : what robots and indexer can bring, where that is less than the budget
    returns : told the price, and how long pages have been gone
    on_news : called when due times have moved
    """

    def __init__(  # noqa: PLR0913 - each is said once, when a crawl is put together
        self,
        world: World,
        rules: Rules,
        dispatcher: Dispatcher,
        timetables: Timetables,
        *,
        on_plan: Offload,
        measure: str,
        capacity: Capacity,
        returns: Returns,
        on_news: Callable[[], None],
    ) -> None:
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self._timetables = timetables
        self._on_plan = on_plan
        self._measure = measure
        self._capacity = capacity
        self._returns = returns
        self._on_news = on_news
        self._since_visit = 0
        self._learned_at: dict[str, int] = {}  # visits of a source when its pattern was learned
        self._control: RevisitControl | None = None
        self._rows: dict[int, int] = {}
        self._groups = np.zeros((2, 0), np.int64)  # host and folder of each row of the control
        self._signals = SignalSources()
        self._names: tuple[dict[str, int], dict[str, int]] = ({}, {})

    async def run(self) -> None:
        """Plan, wait, plan again, until cancelled."""
        clock = self._world.clock
        pause_s = min(self._rules.replan_s, 60.0)  # the first plan comes soon
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
        evidence, last = await world.on_state(self._evidence)
        rates = await self._on_plan(self._estimate, evidence)
        pages, backlog = await world.on_state(self._keep_rates, evidence, rates)
        self._since_visit = last
        if not len(pages.page_ids):
            return None
        solved = await self._on_plan(self._solve, pages, backlog, world.clock.now_s())
        hosts = await world.on_state(self._put_in_force, solved)
        for record in hosts:
            self._dispatcher.observe_host(record, None)
        price = solved.record.price
        self._dispatcher.observe_plan(solved.least_price / price if price > 0 else 0.0)
        self._on_news()
        world.events.emit(
            "plan", {"pages": solved.record.n_pages, "freshness": solved.record.freshness}
        )
        return solved.record

    async def _learn_timetables(self) -> None:
        """Learn a source's pattern anew when a quarter more is known of it."""
        for table in self._timetables.all():
            url = table.rules.url
            details = await self._world.on_state(self._details, url)
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

    def _details(self, url: str) -> PageDetails | None:
        return self._world.frontier.details(url, recent=_RECENT_PROBES)

    def _evidence(self) -> tuple[Evidence, int]:
        return self._world.frontier.evidence(since_visit=self._since_visit)

    def _estimate(self, evidence: Evidence) -> ChangeRates:
        control, rows = self._control_of(evidence.page_ids)
        for level, (names, name_of) in enumerate(
            zip(self._names, (host_of, folder_of), strict=True)
        ):
            self._groups[level, rows] = [
                names.setdefault(name_of(url), len(names)) for url in evidence.urls
            ]
        control.recall(rows, rows[evidence.page], evidence.intervals_s, evidence.changed)
        judged = self._signals.observe(
            rows,
            evidence.page,
            self._groups[0, rows],
            evidence.intervals_s,
            evidence.signalled,
            evidence.changed,
        )
        for host, found in judged:
            of_host = np.flatnonzero(self._groups[0] == host)
            control.rely_on(of_host, found.log_odds, 1.0 - found.recall)
        return ChangeRates(*control.beliefs.rates(rows), iterations=0, residual=0.0)

    def _control_of(
        self, page_ids: NDArray[np.int64]
    ) -> "tuple[RevisitControl, NDArray[np.int64]]":
        """Return what decides, grown by pages that are new to it, and the rows of these pages."""
        # Compiled loops take a second to import: paid here, beside the crawl, not at its start.
        from recrawl.crawler.control.revisits import RevisitControl

        revisit = self._rules.revisit
        if self._control is None:
            self._control = RevisitControl(
                np.zeros(0),
                self._dispatcher.budget.rate_per_s,
                prior_rate=self._rules.prior_rate_per_s,
                prior_shape=self._rules.prior_shape,
                bounds=(revisit.min_interval_s, revisit.max_interval_s),
                octaves=_OCTAVES,
            )
        known = self._rows
        rows = [known.setdefault(page_id, len(known)) for page_id in page_ids.tolist()]
        kept = self._control.weights
        self._control.grow(np.append(kept, np.ones(len(known) - kept.size)))
        fresh = np.zeros((2, len(known) - self._groups.shape[1]), np.int64)
        self._groups = np.concatenate([self._groups, fresh], axis=1)
        return self._control, np.array(rows, np.int64)

    def _keep_rates(self, evidence: Evidence, rates: ChangeRates) -> tuple[PlannedPages, int]:
        frontier = self._world.frontier
        frontier.save_change_rates(evidence.page_ids, rates.rates, np.exp(rates.log_errors))
        backlog = frontier.n_pages_by_state().get(PageState.DISCOVERED, 0)
        pages = frontier.planned_pages()
        return _without(pages, list(self._timetables.page_ids.values())), backlog

    def _solve(self, pages: PlannedPages, backlog: int, now_s: float) -> SolvedPlan:
        budget = min(self._dispatcher.budget.rate_per_s, self._capacity.per_s)
        # What the timetables take is not for the plan to give; settings see that enough is left.
        budget = max(budget - self._timetables.rate_per_s, 0.1 * budget)
        n = len(pages.page_ids)
        if backlog > 0.01 * n and not self._rules.first_free:
            budget *= 1.0 - self._rules.discovery_share
        delays_s = {queue.host_id: queue.politeness.delay_s for queue in self._dispatcher.hosts()}
        host_ids, hosts = np.unique(pages.host_ids, return_inverse=True)
        caps = [
            1.0 / delay if (delay := delays_s.get(host)) else np.inf for host in host_ids.tolist()
        ]
        decide = self._decide if self._measure == "even-freshness" else self._allocate
        schedule = decide(pages, hosts.astype(np.int64), np.array(caps, np.float64), budget, now_s)
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = ~(np.abs(schedule.crawl_rates / pages.crawl_rates_per_s - 1.0) <= 0.05)
        record = PlanRecord(
            solved_at_s=now_s,
            n_pages=n,
            budget_per_s=budget,
            price=schedule.price,
            freshness=schedule.freshness,
            n_never_visited=schedule.n_never_visited,
            measure=self._measure,
        )
        rates_moved = schedule.crawl_rates[moved]
        least_price = self._least_price(pages)
        return SolvedPlan(
            record, least_price, pages.page_ids[moved], rates_moved, schedule.due[moved]
        )

    def _decide(
        self,
        pages: PlannedPages,
        hosts: NDArray[np.int64],
        caps: NDArray[np.float64],
        budget: float,
        now_s: float,
    ) -> "Schedule":
        """Decide by the worth of each visit, as the replay of histories does."""
        from recrawl.crawler.control.planning import Schedule

        control, rows = self._control_of(pages.page_ids)
        weights = np.ones(len(control))
        weights[rows] = pages.weights if np.any(pages.weights > 0) else 1.0
        control.grow(weights)
        # A visit by a clock that was ahead counts as of now, or its page would wait till then.
        last_visits = np.minimum(pages.last_visit_s, now_s)
        control.budget, control.last[rows] = _LEAD * budget, last_visits
        control.groups = list(self._groups)
        control.set_signals(rows, (pages.lastmod_s > pages.last_visit_s).astype(np.float64))
        span_s = max(2.0 * self._rules.replan_s, 0.25 * rows.size / budget)
        decision = control.decide(
            now_s,
            span_s,
            rows=rows,
            hosts=hosts,
            host_caps=caps,
            least_price=self._least_price(pages),
        )
        crawl_rates = 1.0 / decision.intervals[rows]
        # More falls due than is paid for: what is promised is what the budget brings of it.
        brought = crawl_rates * min(1.0, budget / max(float(crawl_rates.sum()), 1e-300))
        fresh = control.beliefs.freshness(rows, brought)
        return Schedule(
            crawl_rates,
            decision.due[rows],
            decision.price,
            float(np.average(fresh, weights=weights[rows])),
            int(np.sum(decision.intervals[rows] >= 0.999 * control.bounds[2])),
        )

    def _least_price(self, pages: PlannedPages) -> float:
        """Return the least worth in the unit of the price: weight times seconds."""
        least = self._rules.least_worth
        return 0.0 if least == inf else least * _DAY_S * float(pages.weights.sum())

    def _allocate(
        self,
        pages: PlannedPages,
        hosts: NDArray[np.int64],
        caps: NDArray[np.float64],
        budget: float,
        now_s: float,
    ) -> "Schedule":
        """Allocate rates once and for all: the control arms."""
        from recrawl.crawler.control.planning import PlanInputs, plan_visits

        rates = pages.change_rates_per_s
        inputs = PlanInputs(
            change_rates=np.where(np.isnan(rates), self._rules.prior_rate_per_s, rates),
            weights=pages.weights,
            hosts=hosts,
            last_visits=np.minimum(pages.last_visit_s, now_s),
            host_caps=caps,
        )
        return plan_visits(inputs, budget, self._rules.revisit, measure=self._measure)

    def _put_in_force(self, solved: SolvedPlan) -> list[HostRecord]:
        frontier = self._world.frontier
        frontier.save_plan(solved.record, solved.page_ids, solved.crawl_rates_per_s, solved.due_s)
        capacity, budget = self._capacity, self._dispatcher.budget.rate_per_s
        by_robots = capacity.by_robots_per_s < min(budget, capacity.by_indexer_per_s)
        by_indexer = not by_robots and capacity.by_indexer_per_s < budget
        frontier.save_facts(
            {
                "plan_bound_per_s": min(budget, capacity.per_s),
                "plan_bound_by_robots": float(by_robots),
                "plan_bound_by_indexer": float(by_indexer),
                "returned": self._returns.returned,
            }
        )
        self._returns.price = solved.record.price
        now_s = solved.record.solved_at_s
        self._returns.away_s = frontier.gone_s(now_s)
        if self._returns.away_s:
            longest_s = self._rules.revisit.clamp(self._returns.interval_s(1.0))
            frontier.look_at_gone(now_s + longest_s)
        return frontier.hosts()


def _without(pages: PlannedPages, page_ids: list[int]) -> PlannedPages:
    """Leave out pages that a timetable keeps."""
    if not page_ids:
        return pages
    kept = ~np.isin(pages.page_ids, page_ids)
    columns = (getattr(pages, item.name)[kept] for item in fields(PlannedPages))
    return PlannedPages(*columns)
