"""The engine: puts the parts of a crawl together, starts them, and stops them in order.

Longer than most modules because every part of a crawl is named here.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from random import Random

from recrawl.crawler.control.addresses.intake import LOW_YIELD
from recrawl.crawler.control.addresses.reach import Reach, reach_of
from recrawl.crawler.control.addresses.scope import why_outside
from recrawl.crawler.control.answers.logins import LAPSED
from recrawl.crawler.control.dispatching.budget import FetchBudget
from recrawl.crawler.control.dispatching.dispatch import Dispatcher
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.dispatching.robots_txt import robots_from_answer
from recrawl.crawler.control.fleet.activation import ActivationPolicy, TargetRobots
from recrawl.crawler.control.fleet.capacity import Capacity
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.control.revisiting.timetables import Timetables
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.crawler.control.worth.returns import Returns
from recrawl.crawler.facts import SettingsFacts
from recrawl.crawler.ports import Offload
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER, Mended, recover
from recrawl.crawler.runtime.asked import AskedVisits
from recrawl.crawler.runtime.buffer import Buffer
from recrawl.crawler.runtime.fleet_control import FleetControl
from recrawl.crawler.runtime.importance import ImportanceKeeper
from recrawl.crawler.runtime.indexer import Indexer
from recrawl.crawler.runtime.name_reader import NameReader, checked_resolver
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.planner import Planner
from recrawl.crawler.runtime.reading import SlowReading
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.crawler.runtime.robots import RobotFleet
from recrawl.crawler.runtime.robots_reader import RobotsReader
from recrawl.crawler.runtime.stopping import cancelled, wait_until
from recrawl.crawler.runtime.subscriptions import Subscriber
from recrawl.crawler.runtime.tasks import TaskSource
from recrawl.crawler.runtime.visits import Visitor
from recrawl.terms import Discovery

_READ_AGAIN_SHARE = 0.5  # of the budget, for pages that other rules read now
# Of a host's requests, while first visits cost nothing: each brings a page that the index does not
# have, which hardly any other visit is worth; but those that are due would wait for all of them.
_FIRST_SHARE = 0.95
_PATIENCE_S = 120.0  # a single pass waits no longer for a host


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """Budget, politeness and policies of a crawl.

    Parameters
    ----------
    budget_per_s : requests per second
    burst_s : so many seconds' worth of the budget may be spent at once after a pause
    politeness : how hosts are treated
    revisit : the revisit policy, or the name of one
    budget : what requests are counted in, where others share it; default: one of its own
    shares_addresses : others ask the same IP addresses; each is asked only while it is held
    policy : which robots run; default: as many as there are, while the buffer has room for what
        they will bring
    starvation_weight : makes the control follow measured rates: what an idle indexer costs, in lost
        pages for each page that it could have indexed meanwhile; None: the policy stays
    seed : of the jitter
    """

    budget_per_s: float
    politeness: PolitenessRules
    burst_s: float = 10.0
    revisit: RevisitPolicy | str = "foresight"
    budget: FetchBudget | None = None
    shares_addresses: bool = False
    policy: ActivationPolicy | None = None
    starvation_weight: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Tasks:
    recorder: asyncio.Task[None]
    planner: asyncio.Task[None]
    indexer: asyncio.Task[None]
    fleet: asyncio.Task[None]
    control: asyncio.Task[None] | None
    asked: asyncio.Task[None] | None
    subscriber: asyncio.Task[None] | None


def robots_with_room(n_robots: int, capacity: int) -> TargetRobots:
    """Return the control that keeps ``n_robots`` active but never loses a page.

    Every active robot brings at most one page, so with no more robots than free places nothing
    finds the buffer full.
    """
    return TargetRobots(tuple(min(n_robots, capacity - length) for length in range(capacity + 1)))


class Crawl:
    """One crawl, inside one event loop.

    Use :meth:`running` as a context: everything runs while the block does, and the end of the
    block stops it in order. Nothing that was acknowledged is lost when it is cut short instead.

    Parameters
    ----------
    world : the adapters
    rules : the rules in force
    plan : budget, politeness, robots
    seeds : where it starts, in normal form and in scope
    on_plan : runs the solver
    once : a single pass: every page once, and what is found on the way
    since_s : when that pass began, if not now: what was visited since is not visited again
    """

    def __init__(
        self,
        world: World,
        rules: Rules,
        plan: CrawlPlan,
        *,
        seeds: Sequence[Discovery],
        on_plan: Offload,
        once: bool = False,
        since_s: float | None = None,
    ) -> None:
        self.world = world
        self.rules = rules
        self._per_address = plan.politeness.per_address
        if self._per_address:
            checked_resolver(world)
        self._began = world.instant()
        self.started_s = world.clock.now_s()
        self.seeds = seeds
        self.mended: list[str] = []  # what the start found to mend, for people
        self._once, self._since_s = once, since_s
        self._delay_s = plan.politeness.delay_s
        self._budget_per_s = plan.budget_per_s
        self.price = OnePrice(1.0 / rules.prior_rate_per_s)
        share = rules.discovery_share
        if share is None and rules.first_free:
            share = _FIRST_SHARE
        burst = max(1.0, min(plan.budget_per_s * plan.burst_s, 1_000.0))
        self.dispatcher = Dispatcher(
            politeness=plan.politeness,
            budget=plan.budget or FetchBudget(plan.budget_per_s, burst=burst),
            random=Random(plan.seed),
            lease_s=rules.lease_s,
            horizon_s=inf if not once else self.started_s if since_s is None else since_s,
            first_free=rules.first_free,
            discovery_share=share,
            least_share=inf if rules.least_worth == inf else 0.0,
            root_of=self.price.root_urgency,
            worth_of=self.price.share,
            shares_addresses=plan.shares_addresses,
            takes=rules.admission.scope.has_host,
        )
        self.capacity = Capacity(rules.n_robots, rules.n_servers)
        self.buffer = Buffer(rules.buffer_capacity, world.clock.now_s)
        self.timetables = Timetables(rules.sources)
        self.returns = Returns()
        self.believed = Believed(
            rules.revisit,
            budget_per_s=plan.budget_per_s,
            prior_rate_per_s=rules.prior_rate_per_s,
            half_lives=rules.half_lives,
        )
        revisit = plan.revisit
        if isinstance(revisit, str):
            revisit = revisit_policy(revisit, rules.revisit, self.believed)
        self.due_times = DueTimes(rules.revisit, revisit, self.timetables, self.returns, self.price)
        self.recorder = Recorder(world, rules, self.dispatcher, self.due_times)
        self.tasks = TaskSource(world, rules, self.dispatcher, self.recorder)
        self.reading = SlowReading(world, rules.revisit, rules.patience_s)
        self.indexer = Indexer(
            world,
            rules,
            self.buffer,
            self.recorder,
            self.reading,
            on_departure=self._departure,
        )
        self.recorder.on_removal(self.indexer.remove)
        self.buffer.on_obsolete(self.indexer.drop)
        self.subscriber = (
            None
            if not rules.callback or world.subscriptions is None or once
            else Subscriber(
                world,
                rules.callback,
                is_ours=lambda url: bool(rules.admission.of([url])),
                every_s=rules.subscribe_every_s,
            )
        )
        self.visitor = Visitor(
            world,
            rules,
            dispatcher=self.dispatcher,
            buffer=self.buffer,
            recorder=self.recorder,
            reading=self.reading,
            on_feed=self.subscriber.look_at if self.subscriber is not None else None,
        )
        policy = plan.policy or robots_with_room(rules.n_robots, rules.buffer_capacity)
        self.control = (
            None
            if plan.starvation_weight is None
            else FleetControl(
                world,
                self.buffer,
                n_robots=rules.n_robots,
                n_servers=rules.n_servers,
                starvation_weight=plan.starvation_weight,
                commit_pages=rules.commit_pages,
                before=policy,
                on_plan=on_plan,
            )
        )
        self.fleet = RobotFleet(
            policy=self.control or policy,
            buffer=self.buffer,
            tasks=self.tasks,
            visitor=self.visitor,
            robots_reader=RobotsReader(world, rules, self.dispatcher, self.recorder),
            name_reader=NameReader(world, self.dispatcher),
            capacity=self.capacity,
            now_s=world.clock.now_s,
            control=self.control,
        )
        self.asked = AskedVisits(
            world,
            rules,
            self.dispatcher,
            every_s=rules.asked_every_s,
            on_news=self.tasks.wake,
        )
        self.planner = Planner(
            world,
            rules,
            self.dispatcher,
            self.due_times,
            self.believed,
            on_plan=on_plan,
            capacity=self.capacity,
            on_news=self.tasks.wake,
            importance=ImportanceKeeper(world, rules, self.recorder.expected, on_plan=on_plan),
        )

    def gauges(self) -> dict[str, float]:
        """Return the gauges of the crawl by name."""
        now_s, hosts = self.now_s, self.dispatcher.hosts()
        return {
            "robots_active": self.fleet.active,
            "robots": self.fleet.n_robots,
            "buffer_pages": self.buffer.length,
            "buffer_capacity": self.buffer.capacity,
            "buffer_lost": self.buffer.lost,
            "buffer_arrivals": self.buffer.arrivals,
            "indexed": self.indexer.served,
            "obsolete": self.indexer.obsolete,
            "starved_seconds": self.buffer.starved_s,
            "hosts": len(hosts),
            "hosts_blocked": sum(host.politeness.blocked_until_s > now_s for host in hosts),
            "budget_per_second": self.dispatcher.budget.rate_per_s,
        }

    @property
    def now_s(self) -> float:
        """The crawl's time."""
        return self.world.clock.now_s()

    def _departure(self, service_s: float) -> None:
        self.capacity.observe_service(service_s)
        if self.control is not None:
            self.control.observe_index(service_s)
        self.fleet.departure()

    async def prepare(self) -> Mended:
        """Make index and state agree, learn the hosts, admit the seeds; return what was mended."""
        world = self.world
        if self.rules.feed_importance:
            world.frontier.feed.say_importance()
        mended = await world.on_state(recover, world.frontier, world.index, self.started_s)
        if self._once:
            make_due = partial(world.frontier.make_due, visited_before_s=self._since_s)
            await world.on_state(make_due, self.dispatcher.horizon_s)
        frontier, limits = self.world.frontier, self.rules.limits
        before = await self.world.on_state(frontier.facts)
        self.returns.returned = before.plan.returned
        mark, own = before.settings.settings_mark, self.rules.settings_mark
        if mark != own:  # of a million pages it takes seconds
            await self.world.on_state(frontier.reweigh, self.rules.admission.weights.of)
        hosts = await self.world.on_state(frontier.hosts)
        if mark not in (None, own) or any(host.blocked_why == LAPSED for host in hosts):
            # Settings were mended, or a login is new: no old block outlives its reason.
            await self.world.on_state(frontier.forgive, self.started_s)
        # One of each host tells whether what was denied is so still: a secret may be right by now.
        denying = await self.world.on_state(frontier.ask_leave, self.started_s)
        self.recorder.denying.update(denying)
        await self.world.on_state(frontier.save_facts, self._began, self.facts())
        longest_s = self.rules.revisit.max_interval_s
        await self.world.on_state(frontier.make_due_by, self.started_s, longest_s)
        await self.world.on_state(frontier.make_found_due, self.started_s)
        mended = await self._widened(await self._read_again(mended))
        due_s = min(self.started_s, self.dispatcher.horizon_s)  # a pass may be older than this part
        await self.world.on_state(frontier.admit, self.seeds, due_s, limits)
        await self.recorder.recall()
        blocked_by_s = self.started_s + self.dispatcher.longest_block_s
        for kept in await self.world.on_state(frontier.hosts):
            # No block outlasts what the rules allow, whatever the clock said when it was made.
            record = replace(
                kept,
                blocked_until_s=min(kept.blocked_until_s, blocked_by_s),
                ip_blocked_until_s=min(kept.ip_blocked_until_s, blocked_by_s),
            )
            known = record.robots_until_s > self.started_s and record.robots_status is not None
            rules = (
                robots_from_answer(
                    self.rules.agent, record.robots_status, record.robots_body or b""
                )
                if known
                else None
            )
            # Rules that could not be read are asked for again: it may have been our own fault.
            robots = rules if rules is not None and rules.reachable else None
            self.dispatcher.observe_host(record, robots)
        return mended

    async def _read_again(self, mended: Mended) -> Mended:
        """Have pages visited soon that were read by other rules than those in force."""
        per_s = _READ_AGAIN_SHARE * self.dispatcher.budget.rate_per_s
        again = self.world.frontier.read_again
        n = await self.world.on_state(again, self.rules.mark_of, self.started_s, per_s)
        return replace(mended, read_again=n, read_again_s=n / per_s)

    async def _widened(self, mended: Mended) -> Mended:
        """Have pages visited soon that may lead to what the settings take now, and did not."""
        frontier, limits = self.world.frontier, self.rules.limits
        numbers = (
            *(limits.max_pages, limits.max_pages_per_host, limits.max_hosts_per_domain),
            *(limits.max_listings_per_host, limits.max_query_variants),
        )
        kept = await self.world.on_state(frontier.reach)
        refused = await self.world.on_state(frontier.refused)
        reach = reach_of(self.rules.admission, numbers).after(
            Reach.of_text(kept),
            [found.url for found in self.seeds],
            self.started_s,
            has_refused=any(why != LOW_YIELD for _, why, _ in refused),
        )
        n, per_s = 0, _READ_AGAIN_SHARE * max(self.dispatcher.budget.rate_per_s, 1e-6)
        if reach.widened_s is not None:
            widen = partial(frontier.widen, self._takes, reach.widened_s)
            n = await self.world.on_state(widen, self.started_s, per_s)
        if reach.as_text() != kept:  # afterwards: else a process that ends now would forget it
            await self.world.on_state(frontier.save_reach, reach.as_text())
        return replace(mended, widened=n, widened_s=n / per_s)

    def _takes(self, url: str) -> bool:
        return why_outside(self.rules.admission.scope, url) is None

    def facts(self) -> SettingsFacts:
        """Return the settings in force, for readers of the state."""
        rules = self.rules
        return SettingsFacts(
            budget_per_s=self._budget_per_s,
            delay_s=self._delay_s,
            min_interval_s=rules.revisit.min_interval_s,
            max_interval_s=rules.revisit.max_interval_s,
            prior_rate_per_s=rules.prior_rate_per_s,
            robots=rules.n_robots,
            buffer_capacity=rules.buffer_capacity,
            servers=rules.n_servers,
            buffer_deadline_s=rules.buffer_deadline_s,
            starvation_weight=self.control.starvation_weight if self.control else 0.0,
            least_worth=0.0 if rules.least_worth == inf else rules.least_worth,
            first_free=rules.first_free,
            per_address=self._per_address,
            settings_mark=rules.settings_mark,
        )

    @contextlib.asynccontextmanager
    async def running(self, *, grace_s: float = 4.0) -> AsyncIterator[None]:
        """Run robots, indexer, recorder and planner while the block does.

        Parameters
        ----------
        grace_s : seconds of the loop that stopping may take
        """
        async with asyncio.TaskGroup() as group:
            self.reading.begin(group)
            begin = group.create_task
            tasks = _Tasks(
                recorder=begin(self.recorder.run(), name="recorder"),
                planner=begin(self.planner.run(), name="planner"),
                indexer=begin(self.indexer.run(), name="indexer"),
                fleet=begin(self.fleet.run(), name="fleet"),
                control=begin(self.control.run(), name="control") if self.control else None,
                asked=begin(self.asked.run(), name="asked")
                if self.rules.asked_every_s < inf
                else None,
                subscriber=begin(self.subscriber.run(), name="subscriber")
                if self.subscriber is not None
                else None,
            )
            try:
                yield
            finally:
                await self._stop(tasks, grace_s)

    async def _stop(self, tasks: _Tasks, grace_s: float) -> None:
        """Robots first; then what they brought is indexed, as far as time allows; then the rest.

        Whoever writes is never cut off in the middle: it is asked to stop, and waited for.
        """
        loop = asyncio.get_running_loop()
        until_s = loop.time() + grace_s
        self.tasks.stop()
        await wait_until(lambda: not self.tasks.in_flight, until_s - 0.6 * grace_s)
        aside = (tasks.control, tasks.asked, tasks.subscriber)
        await cancelled(*filter(None, (tasks.fleet, tasks.planner, *aside)))
        await self.tasks.settled()
        await wait_until(
            lambda: not self.buffer.length or tasks.indexer.done(), until_s - 0.3 * grace_s
        )
        self.indexer.stop()
        await wait_until(lambda: tasks.indexer.done() and self.reading.is_idle, until_s)
        self.world.extractor.close()  # what is not read by now is for another time
        await asyncio.wait([tasks.indexer])
        await self.reading.ended()
        leftover = [page.lease for page in self.buffer.drain()]
        await self.indexer.commit()
        self.recorder.stop()
        await asyncio.wait([tasks.recorder])
        given_back = [*leftover, *self.visitor.abandoned, *self.indexer.abandoned]
        given_back += self.dispatcher.give_back()
        await self.world.on_state(self.world.frontier.release, given_back)
        save = self.world.frontier.save_facts
        await self.world.on_state(save, self.world.instant(), ENDED_IN_ORDER)

    async def until_done(self) -> None:
        """Wait until a single pass has visited every page that it can.

        Hosts that will not be ready within two minutes (blocked, say) are left for another time.
        """
        while True:
            # Looking is cheap, and nothing hangs on noticing the end a moment later.
            await asyncio.sleep(0.2)
            if not self.is_done():
                continue
            if not self.indexer.has_staged:
                return
            await self.indexer.commit()  # there is nothing to wait for that could join it

    def is_done(self) -> bool:
        """Tell whether a single pass has no page left, on its way or to be visited soon."""
        if self.tasks.in_flight or self.buffer.length or not self.recorder.is_empty:
            return False
        if not self.reading.is_idle or self.asked.is_looking:
            return False
        now_s = self.now_s
        return self.dispatcher.next_ready_s(now_s) > now_s + _PATIENCE_S
