"""How many robots run, as the control says, and never none where nothing else would happen."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from recrawl.crawler.control.dispatching.tasks import AskRobots, Fetch, Resolve
from recrawl.crawler.runtime.robots import RobotFleet
from recrawl.terms import Lease
from recrawl.testing import run_virtually

A = "http://a.test"
BRINGS, BRINGS_NOT = (Fetch(Lease(n, f"{A}/{n}", 1, 1, 0.0)) for n in (1, 0))


@dataclass
class Around:
    """All that robots deal with, and the control that they are under."""

    tasks: list[Any] = field(default_factory=list)
    wanted: int = 0  # active robots up to which a departure starts one more
    again: bool = False  # whether an arrival starts the robot again
    n_robots: int = 4
    length: int = 0  # pages in the buffer
    fill: int = 0
    n_done: int = 0
    told: list[tuple[Any, ...]] = field(default_factory=list)

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        self.told.append(("arrival", buffered, active))
        return self.again

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        return active < self.wanted

    async def next(self) -> Fetch | AskRobots | Resolve:
        if not self.tasks:
            await asyncio.get_running_loop().create_future()
        task: Fetch | AskRobots | Resolve = self.tasks.pop(0)
        return task

    def done(self) -> None:
        self.n_done += 1

    async def read(self, task: AskRobots | Resolve) -> None:
        await asyncio.sleep(2.0)

    async def visit(self, lease: Lease) -> bool:
        await asyncio.sleep(1.0)
        return bool(lease.page_id)

    def observe_request(self, busy_s: float, *, brought: bool) -> None:
        self.told.append((busy_s, brought))

    def observe_active(self, active: int) -> None:
        self.told.append(("active", active))

    def observe_fetch(self) -> None:
        self.told.append(("fetch",))


async def running(around: Any) -> tuple[RobotFleet, asyncio.Task[None]]:
    """Start the robots, and wait until nothing happens any more."""
    fleet = RobotFleet(
        policy=around, buffer=around, tasks=around, visitor=around, robots_reader=around,
        name_reader=around, capacity=around, control=around,
        now_s=asyncio.get_running_loop().time,
    )  # fmt: skip
    task = asyncio.create_task(fleet.run())
    await asyncio.sleep(100.0)
    return fleet, task


def active(around: Around, departures: Sequence[int] = ()) -> list[int]:
    """Return how many robots run at first, and after pages were indexed and so many were left."""

    async def main() -> list[int]:
        fleet, task = await running(around)
        seen = [fleet.active]
        for left in departures:
            around.length = left
            fleet.departure()
            await asyncio.sleep(100.0)
            seen.append(fleet.active)
        task.cancel()
        return seen

    return run_virtually(main())


@pytest.mark.parametrize(("wanted", "run"), [(3, 3), (9, 4), (0, 1)])
def test_as_many_robots_run_as_the_control_says_and_there_are(wanted: int, run: int) -> None:
    """One at least: else nothing would ever happen."""
    assert active(Around(wanted=wanted)) == [run]


def test_no_robot_rests_where_there_is_nothing_to_index() -> None:
    """Whatever the control says; a page that is left is indexed first."""
    assert active(Around([BRINGS]), [1, 0]) == [0, 0, 1]


def test_a_departure_starts_one_more() -> None:
    """As the control says, and as there are; it gets to work."""
    around = Around([BRINGS] * 5, wanted=3)

    assert active(around, [5, 5, 5, 5, 5, 5]) == [0, 0, 0, 1, 2, 3, 3]
    assert around.n_done == 5
    assert active(Around(wanted=9), [5]) == [4, 4]


def test_a_robot_goes_on_until_it_brings_a_page() -> None:
    """Then it stops, and is started again or not, by what is in the buffer and who else runs."""
    tasks = [Resolve(1, A), AskRobots(1, A), BRINGS_NOT, BRINGS, BRINGS]
    around = Around(tasks, fill=7)

    assert active(around) == [0]
    assert around.n_done == 4
    assert around.told == [
        ("active", 1), (2.0, False), (1.0, False), (1.0, True), ("fetch",), ("active", 0),
        ("arrival", 7, 0),
    ]  # fmt: skip


def test_a_robot_that_is_started_again_goes_on() -> None:
    around = Around([BRINGS] * 3, again=True)

    assert active(around) == [1]
    assert around.n_done == 3
