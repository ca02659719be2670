"""Source of robots' work: asks the dispatcher, waits when told to, and refills hosts."""

import asyncio
from math import inf

from recrawl.crawler.control.addresses.scope import is_unwanted
from recrawl.crawler.control.addresses.yields import LITTLE
from recrawl.crawler.control.dispatching.dispatch import (
    AskRobots,
    Dispatcher,
    Fetch,
    Refill,
    Resolve,
)
from recrawl.crawler.control.revisiting.due_times import OUTSIDE, RESTING
from recrawl.crawler.control.worth.tiers import NEW
from recrawl.crawler.runtime.outcomes import disallowed
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.terms import HostRecord, Kind, Lease

_LOOKED_AGAIN_S = 86_400.0  # whether the scope takes a page by now


class TaskSource:
    """Hands out one task at a time, in the dispatcher's order.

    Only one robot waits for the next due page at a time; the others queue behind it, so a wake-up
    never stirs the whole fleet.
    """

    def __init__(
        self, world: World, rules: Rules, dispatcher: Dispatcher, recorder: Recorder
    ) -> None:
        self.in_flight = 0
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self._recorder = recorder
        self._turn = asyncio.Lock()
        self._wake = asyncio.Event()
        self._stopped = False
        self._refilling: asyncio.Task[None] | None = None
        recorder.on_flush(self.wake)

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = True

    def wake(self) -> None:
        """Something has changed: whoever waits looks again."""
        self._wake.set()

    async def next(self) -> Fetch | AskRobots | Resolve:
        """Wait for a task and return it; its request, if it is one, has been counted."""
        async with self._turn:
            while True:
                if self._stopped:
                    await asyncio.get_running_loop().create_future()  # until cancelled
                task = self._dispatcher.pick(self._world.clock.now_s())
                if isinstance(task, Fetch | AskRobots | Resolve):
                    self.in_flight += 1
                    self._recorder.wait_for(is_idle=False)
                    if isinstance(task, Fetch) and task.lease.tier == NEW:
                        price = self._recorder.due_times.price
                        price.observe_first(task.lease, self._world.clock.now_s())
                    return task
                if isinstance(task, Refill):
                    # What it leases must arrive, or be given back, whoever is cancelled meanwhile.
                    self._refilling = asyncio.ensure_future(self._refill(task))
                    await asyncio.shield(self._refilling)
                else:
                    await self._wait(task.until_s)

    def done(self) -> None:
        """A task handed out by :meth:`next` is over."""
        self.in_flight -= 1
        self.wake()

    async def settled(self) -> None:
        """Wait, after the robots were stopped, until what was being leased has arrived."""
        if self._refilling is not None:
            await asyncio.gather(self._refilling, return_exceptions=True)

    async def _refill(self, task: Refill) -> None:
        now_s = self._world.clock.now_s()
        until_s = now_s + self._dispatcher.lease_s
        if task.is_ahead:
            leases, from_s = await self._world.on_state(self._lease_ahead, task, now_s, until_s)
            leases = await self._wanted(leases, now_s)
            forbidden = self._dispatcher.stock_ahead(
                task.host_id, leases, until_s=until_s, from_s=from_s, now_s=now_s
            )
        else:
            leases, record = await self._world.on_state(self._lease, task, now_s, until_s)
            leases, rested_s = await self._rested(task, leases, now_s)
            leases = await self._worth_trying(await self._wanted(leases, now_s), now_s)
            forbidden = self._dispatcher.stock(
                task.host_id,
                leases,
                until_s=until_s,
                next_due_s=min(record.next_due_s, rested_s),
                now_s=now_s,
            )
        if forbidden:
            updates = [
                disallowed(lease, self._world.clock.now_s(), self._recorder.due_times)
                for lease in forbidden
            ]
            self._recorder.add(updates)

    def _lease(self, task: Refill, now_s: float, until_s: float) -> tuple[list[Lease], HostRecord]:
        frontier = self._world.frontier
        leases = frontier.lease(
            task.host_id,
            limit=task.limit,
            due_by_s=min(now_s, self._dispatcher.horizon_s),
            now_s=now_s,
            until_s=until_s,
            discovery_share=task.new_share,
            worth=self._dispatcher.worth_of,
        )
        return leases, frontier.host(task.host_id, now_s=now_s)

    async def _rested(
        self, task: Refill, leases: list[Lease], now_s: float
    ) -> tuple[list[Lease], float]:
        """Put off pages that rest with their section; return the others, and until when."""
        leases, resting = self._dispatcher.parted_by_rest(task.host_id, leases, now_s)
        resting += task.resting
        if resting:
            await self._world.on_state(self._world.frontier.put_off, resting, RESTING)
        return leases, min((until_s for _, until_s in resting), default=inf)

    async def _wanted(self, leases: list[Lease], now_s: float) -> list[Lease]:
        """Put off pages that the scope takes no longer, which it did when they were found."""
        scope = self._rules.admission.scope
        if not (scope.include or scope.exclude or scope.signed_in):  # hosts are the dispatcher's
            return leases
        wanted, others = [], []
        for lease in leases:
            if lease.kind is Kind.PAGE and is_unwanted(scope, lease.url):
                others.append((lease, now_s + _LOOKED_AGAIN_S))
            else:
                wanted.append(lease)
        if others:
            await self._world.on_state(self._world.frontier.put_off, others, OUTSIDE)
        return wanted

    async def _worth_trying(self, leases: list[Lease], now_s: float) -> list[Lease]:
        """Put off pages never visited whose kind of address has brought nothing."""
        now_s = min(now_s, self._dispatcher.horizon_s)
        tried, later = [], []
        async with self._recorder.moving:
            for lease in leases:
                due_s = self._recorder.yields.due_s(lease, now_s) if lease.tier == NEW else now_s
                if due_s <= now_s:
                    tried.append(lease)
                else:
                    later.append((lease, due_s))
            if later:
                await self._world.on_state(self._world.frontier.put_off, later, LITTLE)
        return tried

    def _lease_ahead(self, task: Refill, now_s: float, until_s: float) -> tuple[list[Lease], float]:
        return self._world.frontier.lease_ahead(
            task.host_id,
            limit=task.limit,
            worth=self._dispatcher.worth_ahead,
            now_s=now_s,
            min_interval_s=self._rules.revisit.min_interval_s,
            until_s=until_s,
        )

    async def _wait(self, until_s: float) -> None:
        """Wait for an instant, or for news."""
        self._wake.clear()
        soon_s = self._world.clock.now_s() + self._rules.flush_s
        self._recorder.wait_for(is_idle=self.in_flight == 0 and until_s > soon_s)
        if until_s == inf:
            await self._wake.wait()
            return
        sleeper = asyncio.ensure_future(self._world.clock.sleep_until(until_s))
        news = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((sleeper, news), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeper.cancel()
            news.cancel()
