"""The robots: each fetches one page at a time, and runs only while the control lets it.

When a robot brings a page it stops (an arrival) and the control starts it again or not; when the
indexer finishes a page (a departure) the control may start one more.
"""

import asyncio
from collections.abc import Callable

from recrawl.crawler.control.dispatching.dispatch import AskRobots, Resolve
from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.fleet.capacity import Capacity
from recrawl.crawler.runtime.buffer import Buffer
from recrawl.crawler.runtime.fleet_control import FleetControl
from recrawl.crawler.runtime.name_reader import NameReader
from recrawl.crawler.runtime.robots_reader import RobotsReader
from recrawl.crawler.runtime.tasks import TaskSource
from recrawl.crawler.runtime.visits import Visitor


class RobotFleet:
    """Robots under a control.

    Parameters
    ----------
    policy : which of them run, asked at every arrival and departure
    buffer : where they bring pages
    tasks : where they get work
    visitor, robots_reader, name_reader : what they do with it
    capacity, now_s : knows how many robots there are, and hears how long requests take
    control : hears how long robots take, and how many there are; None: nobody asks
    """

    def __init__(  # noqa: PLR0913 - each is said once, when a crawl is put together
        self,
        *,
        policy: ActivationPolicy,
        buffer: Buffer,
        tasks: TaskSource,
        visitor: Visitor,
        robots_reader: RobotsReader,
        name_reader: NameReader,
        capacity: Capacity,
        now_s: Callable[[], float],
        control: FleetControl | None = None,
    ) -> None:
        self.n_robots = capacity.n_robots
        self.active = 0
        self._policy = policy
        self._buffer = buffer
        self._tasks = tasks
        self._visitor = visitor
        self._robots_reader = robots_reader
        self._name_reader = name_reader
        self._capacity = capacity
        self._now_s = now_s
        self._control = control
        self._idle: list[asyncio.Future[None]] = []
        self._permits = 0

    async def run(self) -> None:
        """Run until cancelled."""
        self._start_more()
        async with asyncio.TaskGroup() as group:
            for number in range(self.n_robots):
                group.create_task(self._robot(), name=f"robot-{number}")

    def departure(self) -> None:
        """The indexer has finished a page."""
        if self.active < self.n_robots and self._policy.activate_on_departure(
            self._buffer.fill, self.active
        ):
            self._activate()
        if not self.active and not self._buffer.length:
            self._start_more()  # whatever the control says, nothing would ever happen again

    def _start_more(self) -> None:
        while self.active < self.n_robots and self._policy.activate_on_departure(
            self._buffer.fill, self.active
        ):
            self._activate()
        if not self.active:
            self._activate()

    def _activate(self) -> None:
        self._count(+1)
        self._permits += 1
        while self._idle:
            waiter = self._idle.pop()
            if not waiter.done():
                waiter.set_result(None)
                return

    async def _robot(self) -> None:
        while True:
            while not self._permits:
                waiter = asyncio.get_running_loop().create_future()
                self._idle.append(waiter)
                await waiter
            self._permits -= 1
            while not await self._bring_one():
                pass
            if self._control is not None:
                self._control.observe_fetch()
            self._arrived()

    def _arrived(self) -> None:
        self._count(-1)
        if self._policy.activate_on_arrival(self._buffer.fill, self.active):
            self._activate()

    def _count(self, step: int) -> None:
        self.active += step
        if self._control is not None:
            self._control.observe_active(self.active)

    async def _bring_one(self) -> bool:
        """Do one task; True if it brought a page to the buffer (or lost it there)."""
        task = await self._tasks.next()
        if isinstance(task, Resolve):
            try:
                await self._name_reader.read(task)
            finally:
                self._tasks.done()
            return False
        started_s, brought = self._now_s(), False
        try:
            if isinstance(task, AskRobots):
                await self._robots_reader.read(task)
            else:
                brought = await self._visitor.visit(task.lease)
        finally:
            self._tasks.done()
            self._capacity.observe_request(self._now_s() - started_s, brought=brought)
        return brought
