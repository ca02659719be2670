"""What the robots' control goes by: told what happens page by page, without a crawl around it.

A rate is measured with a memory of 300 durations, so after n of them 300 (1 - (299/300)^n) count:
49.5 after 54 and 50.3 after 55; 99.7 after 121 and 100.4 after 122.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import asdict
from math import floor
from typing import Any

import pytest

from recrawl.crawler.control.fleet import drift, regularity
from recrawl.crawler.control.fleet.activation import FixedRobots
from recrawl.crawler.facts import (
    ControlFacts,
    FactRecord,
    FleetFacts,
    MeasuredFacts,
    PredictedFacts,
    SafeFacts,
    SolvedFacts,
)
from recrawl.crawler.runtime import fleet_control
from recrawl.crawler.runtime.buffer import Buffer
from recrawl.crawler.runtime.fleet_control import FleetControl
from recrawl.errors import NotConverged
from recrawl.fleet import ControlledBuffer
from recrawl.terms import BufferedPage, FetchResponse, Lease
from recrawl.testing import run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

ROBOTS, PLACES = 16, 5  # the example of Talim et al.: far more is brought than can be indexed
BELIEVED, JUDGED = 55, 122  # durations until rates are believed, and how regular they are
A_PAGE = BufferedPage(
    Lease(1, "http://a.test/", 1, 1, 0.0), FetchResponse("http://a.test/", 200, b""), 0.0, 1e12, b""
)


class Told:
    """A control that nobody but the test tells anything. Make it inside a running loop."""

    def __init__(self, *, n_servers: int = 1, places: int = PLACES, commit_pages: int = 1) -> None:
        virtual = virtual_crawl()
        self.events, self.clock = virtual.counts.events, virtual.clock
        self.buffer = Buffer(places, self.clock.now_s)
        self.control = FleetControl(
            virtual.crawl.world,
            self.buffer,
            n_robots=ROBOTS,
            n_servers=n_servers,
            starvation_weight=1.4,
            before=FixedRobots(3),
            on_plan=virtual.crawl.world.on_state,
            commit_pages=commit_pages,
        )

    async def at(self, seconds: float) -> None:
        """Wait until so long after the start."""
        await self.clock.sleep_until(EPOCH_S + seconds)

    def measure(
        self, n_fetched: int, n_indexed: int, robot_s: float = 10.0, service_s: float = 1.0
    ) -> None:
        """Tell of so many fetches, and of so many pages indexed, that took so long each."""
        for _ in range(n_fetched):
            self.control.robot_seconds += robot_s
            self.control.observe_fetch()
        for _ in range(n_indexed):
            self.control.observe_index(service_s)

    async def bring(self, n_kept: int, n_lost: int) -> None:
        """Bring so many pages that find room, and then as many to a full buffer as are lost."""
        for _ in range(n_kept):
            assert self.buffer.offer(A_PAGE)
            await self.buffer.take()
            self.buffer.finish()
        while self.buffer.length < self.buffer.capacity and n_lost:
            assert self.buffer.offer(A_PAGE)
        for _ in range(n_lost):
            assert not self.buffer.offer(A_PAGE)

    @contextlib.asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """Follow what is measured: it is looked at every second."""
        running = asyncio.ensure_future(self.control.run())
        yield
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    def fact(self, kind: type[FactRecord]) -> Any:
        """Return what the control says of a kind."""
        (found,) = (one for one in self.control.facts() if type(one) is kind)
        return found


def played(play: Callable[[], Awaitable[None]]) -> None:
    """Play a scene in virtual time."""

    async def main() -> None:
        await play()

    run_virtually(main())


def recorded(monkeypatch: pytest.MonkeyPatch, name: str, answer: float) -> list[tuple[Any, ...]]:
    """Have a question of the control answered; return what is asked with it."""
    asked: list[tuple[Any, ...]] = []

    def ask(*given: Any) -> float:
        asked.append(given)
        return answer

    monkeypatch.setattr(fleet_control if name == "most_to_win" else regularity, name, ask)
    return asked


def planned(monkeypatch: pytest.MonkeyPatch) -> list[ControlledBuffer]:
    """Return the models that are planned for, as they come."""
    models: list[ControlledBuffer] = []
    plan = regularity.plan_robots

    def noted(model: ControlledBuffer, *rest: Any, **more: Any) -> Any:
        models.append(model)
        return plan(model, *rest, **more)

    monkeypatch.setattr(drift, "plan_robots", noted)
    return models


def unsolvable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no control be found, whatever is asked for."""

    def fails(*_: object, **__: object) -> None:
        raise NotConverged("law by lengths", iterations=1, residual=0.9)

    monkeypatch.setattr(drift, "plan_robots", fails)


def test_what_happens_under_the_safe_control_is_counted_by_hand() -> None:
    """Three robots for ten seconds; pages after 4, 6 and 8 s, one is served after 9 s."""

    async def play() -> None:
        told = Told(places=2)
        await told.at(0.0)
        told.control.observe_active(3)
        for second in (4.0, 6.0, 8.0):
            await told.at(second)
            told.control.observe_fetch()
            told.buffer.offer(A_PAGE)
        await told.at(9.0)
        await told.buffer.take()
        told.buffer.finish()
        told.control.observe_index(3.0)
        await told.at(10.0)

        safe, fleet = told.fact(SafeFacts), told.fact(FleetFacts)
        assert safe.seconds == pytest.approx(10.0)
        assert safe.starvation == pytest.approx(0.4)
        assert safe.loss_rate == pytest.approx(0.1)
        assert safe.throughput == pytest.approx(0.1)
        assert safe.buffer_mean == pytest.approx((2 * 1 + 3 * 2 + 1) / 10)
        assert safe.robots_mean == pytest.approx(3.0)
        assert safe.pages == 1.0
        assert safe.fetch_rate == pytest.approx(3 / (12 + 6 + 6), rel=0.01)
        assert safe.index_rate == pytest.approx(1 / 3)
        assert (fleet.robots_active, fleet.buffer_length) == (3, 1)
        assert not told.fact(ControlFacts).known

    played(play)


def test_before_anything_happens_all_is_nothing() -> None:
    """No robot, no page, no rate; only the buffer was empty all the time."""

    async def play() -> None:
        told = Told()
        await told.at(10.0)
        safe = asdict(told.fact(SafeFacts))

        assert safe.pop("seconds") == pytest.approx(10.0)
        assert safe.pop("starvation") == pytest.approx(1.0)
        assert set(safe.values()) == {0.0}
        assert told.fact(FleetFacts).robots_active == 0

    played(play)


@pytest.mark.parametrize(
    ("n_fetched", "n_indexed", "is_solved"),
    [(54, 99, False), (99, 54, False), (BELIEVED, BELIEVED, True)],
)
def test_nothing_is_solved_until_fifty_of_each_count(
    n_fetched: int, n_indexed: int, is_solved: bool
) -> None:
    """And what is solved is said and followed."""

    async def play() -> None:
        told = Told()
        told.measure(n_fetched, n_indexed)
        async with told.followed():
            await told.at(3.5)

        assert told.events["control"] == is_solved
        assert told.fact(ControlFacts).known == is_solved
        by_three = [told.control.activate_on_arrival(0, n) == (n < 3) for n in range(ROBOTS)]
        assert all(by_three) != is_solved

    played(play)


def test_for_a_fiftieth_of_the_time_of_the_indexer_nothing_is_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes more than that."""
    recorded(monkeypatch, "most_to_win", 0.02)

    async def play() -> None:
        told = Told()
        told.measure(60, 60)
        async with told.followed():
            await told.at(3.5)
        assert not told.fact(ControlFacts).known

    played(play)


def test_what_exponential_times_leave_to_be_won_is_not_asked_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Times of nothing and of twice the mean, in turn, vary as exponential ones do."""
    recorded(monkeypatch, "most_to_win", 0.0)
    asked = recorded(monkeypatch, "starvation_to_win", 0.5)

    async def play() -> None:
        told = Told()
        for _ in range(100):
            told.measure(2, 1, robot_s=10.0, service_s=0.0)
            told.measure(0, 1, service_s=2.0)
        async with told.followed():
            await told.at(3.5)
        assert not told.fact(ControlFacts).known
        assert told.events["control-failed"] == 0

    played(play)
    assert asked == []


@pytest.mark.parametrize("n_servers", [1, 3])
def test_what_can_be_won_is_asked_for_the_load_as_measured(
    monkeypatch: pytest.MonkeyPatch, n_servers: int
) -> None:
    """Ten seconds of a robot and four of a server make a load of 0.4."""
    asked = recorded(monkeypatch, "most_to_win", 0.0)

    async def play() -> None:
        told = Told(n_servers=n_servers)
        told.measure(60, 60, robot_s=10.0, service_s=4.0)
        async with told.followed():
            await told.at(1.5)
        assert told.events["control"] == 0

    played(play)
    assert asked == [(ROBOTS, PLACES, pytest.approx(0.4), n_servers)]


@pytest.mark.parametrize(("robot_s", "service_s"), [(10.0, 0.0), (0.0, 1.0)])
def test_what_takes_no_time_has_no_rate_to_solve_for(robot_s: float, service_s: float) -> None:
    """However much of it was seen: nobody takes it for a second a page."""

    async def play() -> None:
        told = Told()
        told.measure(200, 200, robot_s, service_s)
        async with told.followed():
            await told.at(3.5)
        assert told.events["control"] == told.events["control-failed"] == 0
        assert not told.fact(ControlFacts).known

    played(play)


@pytest.mark.parametrize("n_servers", [1, 2])
def test_an_idle_indexer_costs_what_all_its_servers_could_have_indexed(
    monkeypatch: pytest.MonkeyPatch, n_servers: int
) -> None:
    """1.4 lost pages for each; anew where the rates have drifted, and what happens counts anew."""
    models = planned(monkeypatch)

    async def play() -> None:
        told = Told(n_servers=n_servers)
        told.measure(60, 60, robot_s=10.0, service_s=2.0)
        async with told.followed():
            await told.at(7.5)
            assert told.fact(MeasuredFacts).seconds == pytest.approx(6.5)
            told.measure(200, 200, robot_s=40.0, service_s=4.0)
            await told.at(9.75)
        assert told.events["control"] == 2
        assert told.fact(MeasuredFacts).seconds == pytest.approx(1.75)
        solved = told.fact(SolvedFacts)
        assert (solved.fetch_rate, solved.index_rate) == pytest.approx((0.025, 0.25))

    played(play)
    rates = [(float(one.fetch_rate), float(one.index_rate)) for one in models]  # type: ignore[arg-type]
    assert rates == [pytest.approx((0.1, 0.5)), pytest.approx((0.025, 0.25))]
    weights = [one.starvation_weight for one in models]
    assert weights == pytest.approx([1.4 * n_servers * 0.5, 1.4 * n_servers * 0.25])
    assert {(one.robots, one.buffer) for one in models} == {(ROBOTS, PLACES)}


def test_what_a_control_has_come_to_counts_from_when_it_was_adopted() -> None:
    """Ten seconds of much, then adopted; in the ten seconds after it the same by hand."""

    async def play() -> None:
        told = Told()
        told.control.observe_active(7)
        await told.at(2.0)
        await told.bring(3, 4)
        await told.at(10.0)
        for _ in range(PLACES):
            await told.buffer.take()
            told.buffer.finish()
        told.measure(60, 60)
        async with told.followed():
            await told.at(11.0)  # is adopted
            told.control.observe_active(4)
            await told.at(15.0)
            told.buffer.offer(A_PAGE)
            await told.at(18.0)
            await told.bring(0, 2)
            for _ in range(5):
                told.control.observe_index(1.0)
            await told.at(21.0)
            seen = told.fact(MeasuredFacts)

        assert seen.seconds == pytest.approx(10.0)
        assert seen.starvation == pytest.approx(0.4)
        assert seen.loss_rate == pytest.approx(0.2)
        assert seen.throughput == pytest.approx(0.5)
        assert seen.buffer_mean == pytest.approx((3 * 1 + 3 * 5) / 10)
        assert seen.robots_mean == pytest.approx(4.0)

    played(play)


def test_a_control_that_cannot_be_solved_is_tried_again_after_twice_the_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At sixty pages, at 120, and not before; every failure is said."""
    unsolvable(monkeypatch)

    async def play() -> None:
        told, failed = Told(), []
        told.measure(60, 60)
        async with told.followed():
            for second, more in ((2.5, 59), (4.5, 1), (6.5, 119), (8.5, 1), (10.5, 0)):
                await told.at(second)
                failed.append(told.events["control-failed"])
                told.measure(0, more)
        assert failed == [1, 1, 2, 2, 3]

    played(play)


def test_how_regular_times_are_is_asked_again_after_twice_the_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where exponential times leave nothing to be won: at 130 pages, and at 260."""
    recorded(monkeypatch, "most_to_win", 0.0)
    asked = recorded(monkeypatch, "starvation_to_win", 0.0)

    async def play() -> None:
        told, times = Told(), []
        told.measure(130, 130)
        async with told.followed():
            for second, more in ((2.5, 129), (4.5, 1), (6.5, 0)):
                await told.at(second)
                times.append(len(asked))
                told.measure(0, more)
        assert times == [1, 1, 2]

    played(play)


@pytest.mark.parametrize(
    ("n_servers", "n_fetched", "won", "is_asked"),
    [(1, 121, 0.5, False), (1, JUDGED, 0.5, True), (1, JUDGED, 0.02, True), (2, 300, 0.5, False)],
)
def test_irregular_times_are_worth_a_control_where_they_are_known(
    monkeypatch: pytest.MonkeyPatch, n_servers: int, n_fetched: int, won: float, is_asked: bool
) -> None:
    """From a hundred that count, for a single server; and for more than a fiftieth of its time."""
    recorded(monkeypatch, "most_to_win", 0.0)
    asked = recorded(monkeypatch, "starvation_to_win", won)
    unsolvable(monkeypatch)  # which is told at once, and says that it was tried

    async def play() -> None:
        told = Told(n_servers=n_servers)
        told.measure(n_fetched, 300)
        async with told.followed():
            await told.at(1.5)
        assert bool(asked) == is_asked
        assert told.events["control-failed"] == (is_asked and won > 0.02)

    played(play)


def adopted(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a control adopted at the next second, that no drift replaces."""
    monkeypatch.setattr(drift.AdaptiveRobots, "has_drifted", lambda _: False)
    told.measure(60, 60)


@pytest.mark.parametrize("more", [0, 1])
def test_a_control_is_dropped_for_twice_its_losses_and_a_twentieth_of_the_pages(
    monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """Of four hundred within twenty seconds; what it had come to is kept as it was."""

    async def play() -> None:
        told = Told()
        adopted(told, monkeypatch)
        await told.bring(0, 9)  # before it: not its matter
        for _ in range(PLACES):
            await told.buffer.take()
            told.buffer.finish()
        async with told.followed():
            await told.at(20.5)
            foreseen = 2.0 * told.fact(PredictedFacts).loss_rate * 20.0
            lost = floor(foreseen + 0.05 * 400) + more
            await told.bring(400 - lost - PLACES, lost)
            await told.at(21.5)
            assert told.events["control-dropped"] == more
            assert told.fact(ControlFacts).dropped == bool(more)
            await told.at(25.0)
            seconds = 20.0 if more else 24.0
            assert told.fact(MeasuredFacts).seconds == pytest.approx(seconds)
        by_three = [told.control.activate_on_arrival(0, n) == (n < 3) for n in range(ROBOTS)]
        assert all(by_three) == bool(more)

    played(play)


def times_of(one_in: int) -> Iterable[float]:
    """Return times of mean 1, of which one in so many is not nothing: of variation one less."""
    return [float(one_in) if not n % one_in else 0.0 for n in range(max(40 * one_in, 200))]


@pytest.mark.parametrize(
    ("one_in", "kind", "enough", "too_few"),
    [
        (1, "both", 200, 199),  # however regular they are
        (5, "index", 850, 750),
        (5, "fetch", 850, 750),
        (21, "index", 2000, 1999),
        (21, "fetch", 2000, 1999),
    ],
)
def test_the_more_irregular_times_are_the_more_pages_it_takes_to_drop_a_control(
    monkeypatch: pytest.MonkeyPatch, one_in: int, kind: str, enough: int, too_few: int
) -> None:
    """Two hundred, times the variation of services or arrivals, which is four of one in five."""

    async def play() -> None:
        told = Told()
        adopted(told, monkeypatch)
        async with told.followed():
            await told.at(1.5)
            for seconds in times_of(one_in):
                told.measure(kind != "index", kind != "fetch", seconds, seconds)
            await told.bring(0, too_few - PLACES)
            await told.at(2.5)
            assert told.events["control-dropped"] == 0
            await told.bring(0, enough - too_few)
            await told.at(3.5)
            assert told.events["control-dropped"] == 1

    played(play)


@pytest.mark.parametrize(("n_pages", "is_solved"), [(250, False), (400, True)])
def test_rates_are_known_once_a_long_commit_of_the_index_was_seen(
    n_pages: int, is_solved: bool
) -> None:
    """It holds up the page in service: what is seen before is quicker than what is to come."""

    async def play() -> None:
        told = Told(commit_pages=256)
        told.measure(n_pages, n_pages)
        async with told.followed():
            await told.at(1.5)
        assert told.events["control"] == is_solved

    played(play)


@pytest.mark.parametrize("is_idle", [False, True])
def test_no_control_is_followed_that_costs_more_than_the_safe_one_does(*, is_idle: bool) -> None:
    """An indexer that is never idle starves under none, whatever the model says of it."""

    async def play() -> None:
        told = Told()
        if not is_idle:
            told.buffer.offer(A_PAGE)
        told.measure(60, 60)
        async with told.followed():
            await told.at(3.5)
        assert told.events["control"] == is_idle
        by_three = [told.control.activate_on_arrival(0, n) == (n < 3) for n in range(ROBOTS)]
        assert all(by_three) != is_idle

    played(play)


@pytest.mark.parametrize(("work", "is_given_up"), [("the same", False), ("shared", True)])
def test_a_control_is_given_up_where_more_robots_bring_no_more(
    work: str, *, is_given_up: bool
) -> None:
    """Robots that share a processor each take as much longer as there are more of them."""

    async def play() -> None:
        told = Told()
        told.measure(60, 60)
        async with told.followed():
            await told.at(1.5)
            assert told.fact(ControlFacts).known
            for number in range(240):
                told.control.observe_active(4 + 8 * (number % 2))
                # The work up to a page goes by the robots there were as the one before came.
                robots = 12 - 8 * (number % 2)
                told.measure(1, 0, robot_s=10.0 if work == "the same" else 1.25 * robots)
            await told.at(3.5)
            assert told.events["control-dropped"] == is_given_up
            facts = told.fact(ControlFacts)
            assert (facts.known, facts.dropped) == (not is_given_up, False)

    played(play)
