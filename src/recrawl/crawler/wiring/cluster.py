"""One process of a crawl that several processes share: its shards, its part of the budget.

While the shards of a process stay the same it crawls as one machine does. When shards are to be
taken or given back, the crawl of these shards ends in order, and one of the new ones begins on the
same copy: that takes seconds, and happens when a process comes or goes. A process that owns many
pages begins with those of some shards, and brings the others beside the crawl of these.

Longer than most modules because one process is one object, with all that its loop awaits.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from math import ceil
from typing import Final

import numpy as np

from recrawl.crawler.control.dispatching.budget import GrantedBudget
from recrawl.crawler.control.dispatching.demand import Told, demand_at_prices, parts_of_budget
from recrawl.crawler.control.dispatching.host_queue import n_by_ip_address
from recrawl.crawler.control.dispatching.ip_addresses import IpAddressState
from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.database.ip_addresses import exchange_ip_addresses, share_ip_addresses
from recrawl.crawler.database.membership import Membership, Standing
from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.crawler.fetch.reading.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.reading.isolation.reader import Limits
from recrawl.crawler.fetch.reading.signature import signature
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.ports import EventSink, Fetcher, Frontier
from recrawl.crawler.runtime.clock import WallClock
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.runtime.parts import World
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.archives import archiving, check_archive, folder_of
from recrawl.crawler.wiring.fetchers import (
    browser_fetcher,
    check_browser,
    check_seeds,
    http_fetcher,
)
from recrawl.crawler.wiring.reading import reading_rules
from recrawl.crawler.wiring.rules import (
    crawl_plan,
    crawl_rules,
    seeds_of,
    settings_mark,
    with_policies,
)
from recrawl.crawler.wiring.stores import open_steps, open_subscriptions
from recrawl.crawler.wiring.threads import OnThread
from recrawl.errors import DatabaseAway, DatabaseReadOnly, OwnershipLost, StateError
from recrawl.terms import Database, PageState
from recrawl.uptime import monotonic_s

_LOOK_S: Final = 0.25  # between two draws from the budget
_TELL_S: Final = 20.0  # between two demands that are told: each looks at every page
_AGAIN_S: Final = 1.0  # between two tries to reach a database that is away
_MOST_AGAIN_S: Final = 30.0  # the same, where one crawl after the other ends in trouble
_CALM_S: Final = 60.0  # of a crawl, after which trouble is another one


def _held(member: Membership) -> Callable[[], Awaitable[None]]:
    """Return what waits until the lease is held.

    It is asked right before a request is sent: a process may be stopped for as long as anybody
    likes between the decision to ask a host and the request.
    """

    async def wait() -> None:
        # Until the lease is renewed, or the crawl ends. Nothing tells when it lapses.
        while not member.is_held:  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    return wait


class Cluster:
    """The part of one process. Made by :func:`open_cluster`.

    Parameters
    ----------
    settings : the same on every machine
    once : a single pass, which all processes make together
    member : of this process, which has joined
    client : asks hubs
    fetcher : makes all other requests
    events : hears what happens
    revisit, activation : in the place of the policies of the settings
    """

    def __init__(
        self,
        settings: Settings,
        member: Membership,
        client: HttpFetcher,
        fetcher: Fetcher,
        events: EventSink,
        *,
        once: bool = False,
        revisit: RevisitPolicy | None = None,
        activation: ActivationPolicy | None = None,
    ) -> None:
        self.settings = settings
        self._policies = revisit, activation
        self.changed = asyncio.Event()  # the shards of this process are to be others
        self.is_over = False  # the single pass
        self.is_alone = True  # no other process takes part
        self._once, self._pass_s = once, float("-inf")
        self._member, self._client, self._fetcher, self._events = member, client, fetcher, events
        self._on_member, self._on_state, self._on_work, self._on_plan = (
            OnThread(name) for name in ("member", "state", "work", "plan")
        )
        self._frontier: PostgresFrontier | None = None
        self._index: PostgresIndex | None = None
        self._crawl: Crawl | None = None
        self._budget = GrantedBudget(settings.budget_per_s)
        # Of the requests that may follow each other at once half wait in the database, and half are
        # held by processes.
        self._half_burst = max(min(settings.budget_per_s * settings.burst_s, 1_000.0) / 2.0, 1.0)
        self._told_s = float("-inf")
        # IP addresses that this process asks no more, each with the instant of what it tells.
        self._given: dict[str, tuple[float, IpAddressState]] = {}
        self._asked_for: list[IpAddressState] = []  # that others want
        self._parts: dict[str, float] = {}  # of IP addresses: that plans may count on
        self._failed: BaseException | None = None
        # When this process made its last request at the latest, by the clock that nobody sets: each
        # crawl's own is behind the database's by however long the answer took that it begins with.
        self._asked_s = float("-inf")
        self._again_s, self._troubled_s = _AGAIN_S, float("-inf")

    # -- crawls of shards, one after the other --

    @contextlib.asynccontextmanager
    async def shards(self, stop: asyncio.Event) -> AsyncIterator[Crawl | None]:
        """Own what is this process's to own, and crawl it; None: it was stopped, or all is done.

        Raises
        ------
        StateError
            The database is away; or others own the shards by now.
        """
        await self._arrange(stop)
        if not self._member.owned or stop.is_set() or self.is_over:
            yield None
            return
        crawl = await self._prepared()
        self._crawl = crawl
        try:
            yield crawl
        finally:
            self._crawl = None
            crawl.world.extractor.close()
            self._asked_s = monotonic_s()
            if crawl.dispatcher.ips is not None:
                self._give(crawl.dispatcher.ips.give_all(crawl.now_s))

    async def _arrange(self, stop: asyncio.Event) -> None:
        """Take and give back shards, until this process has some."""
        while not stop.is_set():
            if self._failed is not None:
                raise self._failed
            standing = await self._on_member(self._member.renew)
            self.is_over, self.is_alone = standing.is_over, standing.processes == 1
            if standing.is_over:
                return
            if standing.to_release:
                await self._give_back(standing.to_release)
            if standing.to_take:
                await self._on_member(self._member.take, standing.to_take)
            if self._member.owned:
                break
            await asyncio.sleep(_LOOK_S)
        if self._failed is None:
            self.changed.clear()  # what was seen beside this, before the shards were taken, is old
        await self._share_budget()

    async def _give_back(self, number: int) -> None:
        owned, awaited = self._member.owned, self._member.awaited
        given = sorted(owned, key=lambda shard: (shard in awaited, shard))[-number:]
        await self._settle()
        await self._on_member(self._member.release, given)

    async def _settle(self) -> None:
        """Have the database hold all that the next owners of shards are to know."""
        if self._frontier is not None:
            await self._on_state(self._frontier.settle)
        if self._index is not None:
            await self._on_work(self._index.settle)

    async def _prepared(self) -> Crawl:
        settings, member = self.settings, self._member
        if self._once and self._pass_s < 0:
            self._pass_s = await self._on_member(member.pass_since_s)
        if self._frontier is None:
            memory = settings.memory_bytes
            self._frontier = await self._on_state(
                lambda: PostgresFrontier(member, memory_bytes=memory)
            )
            language = settings.language
            self._index = await self._on_work(
                lambda: PostgresIndex(member.database, member, language=language, mark=signature)
            )
        else:
            await self._on_state(self._frontier.own, member.owned)
        assert self._index is not None
        rules, plan = crawl_rules(settings), with_policies(crawl_plan(settings), *self._policies)
        limits = Limits(settings.reading_cpu_s, settings.reading_memory_bytes)
        crawl = Crawl(
            World(
                clock=WallClock(epoch_s=await self._on_member(member.now_s)),
                frontier=self._frontier,
                fetcher=self._fetcher,
                extractor=IsolatedExtractor(settings.name, limits, reading_rules(settings)),
                index=self._index,
                events=self._events,
                on_state=self._on_state,
                on_work=self._on_work,
                prepare=open_steps(settings),
                hubs=self._client,
                subscriptions=open_subscriptions(settings.state) if settings.callback else None,
                resolver=self._client,
            ),
            rules,
            replace(plan, budget=self._budget, shares_addresses=True),
            seeds=seeds_of(settings, rules),
            on_plan=self._on_plan,
            once=self._once,
            since_s=self._pass_s if self._once else None,
        )
        if crawl.dispatcher.ips is not None:
            crawl.dispatcher.ips.share(self._parts)
        found = await crawl.prepare()
        crawl.mended = found.words
        asked_s = crawl.now_s - (monotonic_s() - self._asked_s)
        for queue in crawl.dispatcher.hosts():
            before_s = member.owned[queue.host_id % member.shards]
            crawl.dispatcher.observe_rest(queue.host_id, max(before_s, asked_s))
        return crawl

    async def until_over(self) -> None:
        """Wait until every process has visited every page of the pass that it can."""
        crawl = self._crawl
        assert crawl is not None
        while not self.is_over:
            await crawl.until_done()
            if self._member.awaited:  # the crawl is to begin anew with those
                await asyncio.sleep(_LOOK_S)
                continue
            assert self._frontier is not None
            await self._on_state(self._frontier.settle)
            await self._on_member(self._member.tell_done)
            if crawl.is_done():  # nothing was taken out of the inbox before the others were told
                self.is_over = await self._on_member(self._member.end_pass)
            if not self.is_over:
                await asyncio.sleep(_LOOK_S)

    # -- beside them --

    async def look_after(self) -> None:
        """Renew the lease, share the budget, and see whether shards are to move, until cancelled.

        The crawl makes requests only while the lease is held, whatever happens here.
        """
        renewed_s = float("-inf")
        while True:
            try:
                if monotonic_s() - renewed_s >= self._member.renew_every_s:
                    renewed_s = monotonic_s()
                    self._observe(await self._on_member(self._member.renew))
                    await self._share_budget()
                await self._draw()
                if self.settings.per_address:
                    await self._exchange_addresses()
            except (OwnershipLost, DatabaseReadOnly):
                self.changed.set()
            except StateError:
                with contextlib.suppress(StateError):
                    await self._on_member(self._member.reconnect)
            await asyncio.sleep(_LOOK_S)

    async def tell_demands(self) -> None:
        """Tell what the pages of this process would take, until cancelled.

        It waits for the crawl's thread, which may itself wait for the database's disk: the lease is
        renewed beside that.
        """
        while True:
            with contextlib.suppress(StateError):  # which the crawl is told as well
                await self._tell_demand()
            await asyncio.sleep(_LOOK_S)

    @property
    def lacks(self) -> str:
        """Words of the database to whatever waits for room on its disk; "": nothing does."""
        return self._member.room.lacks

    def hurry(self) -> None:
        """Wait for no room: this process is to end."""
        self._member.room.hurry()

    async def bring_all(self) -> None:
        """Bring the pages of all shards beside a crawl that began with the first, until cancelled.

        It begins anew with them each time that there are some times more.
        """
        begun: Crawl | None = None
        while True:
            await asyncio.sleep(_LOOK_S)
            crawl, frontier = self._crawl, self._frontier
            if crawl is None or crawl is begun or frontier is None or not self._member.awaited:
                continue
            begun = crawl
            with contextlib.suppress(StateError):  # which the crawl is told as well
                while crawl is self._crawl:
                    sent_s = monotonic_s()
                    if await self._on_state(frontier.bring):
                        self.changed.set()
                        break
                    await asyncio.sleep(monotonic_s() - sent_s)  # half of the time is the crawl's

    def unwatched(self, looking: asyncio.Task[None]) -> None:
        """Crawl no more where nobody renews the lease: what ended that is raised."""
        if not looking.cancelled():
            self._failed = looking.exception()
            self.changed.set()

    def _observe(self, standing: Standing) -> None:
        self._budget.burst = max(self._half_burst / standing.processes, 1.0)
        self.is_over, self.is_alone = standing.is_over, standing.processes == 1
        if standing.to_take or standing.to_release or standing.is_over:
            self.changed.set()

    async def _draw(self) -> None:
        wanted = self._budget.wanted(monotonic_s())
        if wanted:
            settings = self.settings
            granted = await self._on_member(
                lambda: self._member.draw(
                    wanted, rate_per_s=settings.budget_per_s, burst=self._half_burst
                )
            )
            self._budget.grant(granted)

    def _give(self, states: list[IpAddressState]) -> None:
        self._given |= {state.text: (monotonic_s(), state) for state in states}

    async def _exchange_addresses(self) -> None:
        """Hand IP addresses over that others want, and take those that hosts wait for.

        What was given up is asked no more from before the database is told, and what is taken from
        when it has answered.
        """
        crawl = self._crawl
        if crawl is None and not self._given:
            return
        ips = None if crawl is None else crawl.dispatcher.ips
        wanted: list[IpAddressState] = []
        if crawl is not None and ips is not None:
            self._give(ips.give(self._asked_for, crawl.now_s))
            wanted = ips.wanted(crawl.now_s)
        given, self._given = self._given, {}
        try:
            taken, self._asked_for = await self._on_member(
                exchange_ip_addresses, self._member, wanted, _aged(given)
            )
        except OwnershipLost:  # whoever ended this process has made them free
            self._asked_for = []
            raise
        except StateError:
            self._given = given | self._given
            raise
        if crawl is None or ips is None or crawl is not self._crawl:
            self._give(taken)  # the crawl that waited for them has ended meanwhile
            return
        for state in taken:
            # Of a crawl before this one, whose end the database may not have been told.
            ended_s = min(state.ended_s, monotonic_s() - self._asked_s)
            ips.take(replace(state, ended_s=ended_s), crawl.now_s)
        if taken:
            crawl.tasks.wake()

    async def _tell_demand(self) -> None:
        """Tell the others what the pages of this process would take at each price.

        And how many there are of each IP address, where hosts of one are asked as one.
        """
        crawl = self._crawl
        if crawl is None or self._frontier is None:
            return
        if monotonic_s() < self._told_s + _TELL_S:
            return
        self._told_s = monotonic_s()
        frontier: Frontier = self._frontier
        pages = await self._on_state(frontier.planned_pages)
        backlog = (await self._on_state(frontier.n_pages_by_state)).get(PageState.DISCOVERED, 0)
        known = np.where(
            np.isnan(pages.change_rates_per_s),
            self.settings.prior_rate_per_s,
            pages.change_rates_per_s,
        )
        useful = pages.weights > 0
        demand = await self._on_plan(demand_at_prices, known[useful], pages.weights[useful])
        await self._on_member(self._member.tell_demand, demand.tolist(), len(known), backlog)
        if crawl.dispatcher.ips is not None:
            served = await self._on_plan(n_by_ip_address, crawl.dispatcher.hosts(), pages.host_ids)
            self._parts = await self._on_member(share_ip_addresses, self._member, served)
            crawl.dispatcher.ips.share(self._parts)

    async def _share_budget(self) -> None:
        told = {
            number: Told(None if demand is None else np.array(demand), pages, backlog, shards)
            for number, (demand, pages, backlog, shards) in (
                await self._on_member(self._member.demands)
            ).items()
        }
        part = parts_of_budget(told, self.settings.budget_per_s).get(self._member.number, 0.0)
        self._budget.rate_per_s = max(part, 1e-9)

    # -- after trouble --

    async def begin_anew(self, stop: asyncio.Event) -> None:
        """Drop the copy, whose last transaction may or may not have been written, and go on.

        Waits for the database to answer. Where this process was ended meanwhile it joins under
        another number.
        """
        await self._close_copy()
        # A server that lets this process join may still refuse the connections that its crawl
        # needs, or have no room for what it finds: what was fetched until then is fetched again.
        is_other = monotonic_s() > self._troubled_s + _CALM_S
        self._again_s = _AGAIN_S if is_other else min(2.0 * self._again_s, _MOST_AGAIN_S)
        await _pause(self._again_s, stop)
        while not stop.is_set():
            with contextlib.suppress(DatabaseAway):
                await self._on_member(self._member.rejoin, _seeds(self.settings))
                break
            await _pause(_AGAIN_S, stop)
        self._troubled_s = monotonic_s()

    async def _close_copy(self) -> None:
        frontier, self._frontier = self._frontier, None
        index, self._index = self._index, None
        if frontier is not None:
            await self._on_state(frontier.close)
        if index is not None:
            await self._on_work(index.close)

    async def leave(self) -> None:
        """Give everything back, if the database answers."""
        with contextlib.suppress(StateError):
            await self._settle()
            await self._exchange_addresses()
            await self._on_member(self._member.leave)
        await self._close_copy()
        await self._on_member(self._member.close)
        for thread in (self._on_member, self._on_state, self._on_work, self._on_plan):
            thread.close()


async def _pause(seconds: float, stop: asyncio.Event) -> None:
    """Wait for so long, or until this process is stopped."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


def _aged(given: dict[str, tuple[float, IpAddressState]]) -> list[IpAddressState]:
    """Return what is told of IP addresses, as it is now."""
    now_s = monotonic_s()
    return [
        replace(
            state,
            ended_s=state.ended_s + now_s - at_s,
            blocked_s=state.blocked_s - (now_s - at_s),
        )
        for at_s, state in given.values()
    ]


def _seeds(settings: Settings) -> str:
    return " ".join(settings.seeds)


def check_parts(settings: Settings) -> None:
    """See that what the configuration names is there; the database is not asked.

    Raises
    ------
    InvalidSettings
        It is not: the message says what.
    """
    check_archive(settings)
    http_fetcher(settings)
    check_seeds(settings)
    reading_rules(settings)
    check_browser(settings)


class Joining:
    """Makes one process one of those that crawl into a database; can be tried again.

    Parameters
    ----------
    settings : the same on every machine
    once : a single pass, of which all processes have their part
    """

    def __init__(self, settings: Settings, *, once: bool = False) -> None:
        self._settings, self._once = settings, once
        self._member: Membership | None = None

    def __call__(self) -> Membership:
        """Join, going on with what an earlier try has brought about.

        Raises
        ------
        DatabaseAway
            The database does not answer: it may do so later.
        StateError
            It cannot be used: the message says why.
        """
        settings = self._settings
        assert isinstance(settings.state, Database)
        if self._member is None:
            self._member = Membership(
                settings.state,
                shards=settings.shards,
                lease_s=settings.lease_s,
                timeout_s=ceil(settings.timeout_s),
                settings_mark=settings_mark(settings) + (0.5 if self._once else 0.0),
            )
        self._member.rejoin(_seeds(settings))
        return self._member

    def give_up(self) -> None:
        """Leave, where a try came so far."""
        if self._member is not None:
            with contextlib.suppress(StateError):
                self._member.leave()
            self._member.close()


@contextlib.asynccontextmanager
async def open_cluster(
    settings: Settings,
    member: Membership | None = None,
    *,
    events: EventSink,
    once: bool = False,
    revisit: RevisitPolicy | None = None,
    activation: ActivationPolicy | None = None,
) -> AsyncIterator[Cluster]:
    """Join the processes that crawl into a database, and leave them in order.

    Parameters
    ----------
    settings : the same on every machine
    member : of this process, where it has joined already
    events : hears what happens
    once : a single pass, of which all processes have their part
    revisit, activation : in the place of the policies of the settings

    Raises
    ------
    StateError
        The database cannot be used: the message says why.
    """
    if member is None:
        check_parts(settings)  # before this process joins
        joining = Joining(settings, once=once)
        try:
            member = joining()
        except BaseException:
            joining.give_up()
            raise
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(http_fetcher(settings, ready=_held(member)))
        fetcher: Fetcher = client
        if settings.warc is not None:
            folder, clock = folder_of(settings.warc, member), WallClock(epoch_s=member.reckoned_s())
            fetcher = archiving(stack, settings, folder, fetcher, clock)
        if settings.render:
            fetcher = await stack.enter_async_context(
                await browser_fetcher(stack, settings, fetcher, ready=_held(member))
            )
        cluster = Cluster(
            settings,
            member,
            client,
            fetcher,
            events,
            once=once,
            revisit=revisit,
            activation=activation,
        )
        beside = [
            asyncio.create_task(cluster.look_after(), name="cluster"),
            asyncio.create_task(cluster.bring_all(), name="shards"),
            asyncio.create_task(cluster.tell_demands(), name="demands"),
        ]
        for task in beside:
            task.add_done_callback(cluster.unwatched)
        try:
            yield cluster
        finally:
            for task in beside:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            await cluster.leave()
