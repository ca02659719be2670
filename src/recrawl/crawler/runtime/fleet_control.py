"""The robots' control, kept optimal: rates are measured as the crawl runs, and solved for anew.

The crawl starts under a safe control, which loses no page. Another can only win by starving the
indexer less: nothing is solved where little could be won, and none is followed that promises to
cost more than the safe one was measured to. One under which more robots bring no more is given up,
one that loses far more than it predicts is dropped for good. Where what was measured has no
solution, the control in force stays. Solving happens beside the event loop, and what is in force is
judged meanwhile. The module is longer than most, as it decides what to follow and tells of it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, TypeVar

from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.fleet.crowding import Crowding
from recrawl.crawler.control.fleet.forgetting_rate import ForgettingRate
from recrawl.crawler.control.fleet.room import most_to_win
from recrawl.crawler.facts import (
    MEASURES,
    ControlFacts,
    FactRecord,
    FleetFacts,
    MeasuredFacts,
    PredictedFacts,
    SafeFacts,
    SolvedFacts,
    rows_of,
)
from recrawl.crawler.ports import Offload
from recrawl.crawler.runtime.buffer import Buffer
from recrawl.crawler.runtime.parts import World
from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.compile import seldom

if TYPE_CHECKING:
    from recrawl.crawler.control.fleet.drift import AdaptiveRobots
    from recrawl.crawler.control.fleet.regularity import RobotsPlan
    from recrawl.fleet import ControlledBuffer

_Answer = TypeVar("_Answer")
_LEAST_SEEN: Final = 50.0  # pages fetched, and pages indexed, before rates are believed
_LEAST_JUDGED: Final = 100.0  # of each, before it is believed how regular they are
_LEAST_WON: Final = 0.02  # of the indexer's time: for less, no control is solved
_LEAST_TRIED: Final = 200  # pages that robots brought under a control, before it is judged
_MOST_PATIENCE: Final = 10.0  # times as many, where times are irregular
_MORE_LOST: Final = 2.0  # times the losses predicted,
_LOST_ANYWAY: Final = 0.05  # and this share of what robots bring: what it takes to be dropped
_MOST_SOLVING: Final = 0.03  # of the time, for solving a control anew
_PAUSE_S: Final = 1.0  # of the loop, between two looks at the rates
_QUIET_S: Final = 10.0  # the same, between two notes while nothing moves
_MEMORY: Final = 300.0
_LONG_MEMORY: Final = 1_000.0  # of what only many pages tell
_COMMITS: Final = 2.0  # of the index, that rates are measured over at least


@dataclass(frozen=True, slots=True)
class _Mark:
    at_s: float
    starved_s: float
    arrivals: int
    lost: int
    served: int
    page_seconds: float
    robot_seconds: float


class FleetControl:
    """An activation policy that follows the crawl's own measurements.

    Parameters
    ----------
    world, buffer : of the crawl
    n_robots, n_servers : robots there are, and pages that are indexed at a time
    starvation_weight : what an idle indexer costs, in lost pages for each page that it could have
        indexed meanwhile; > 0
    before : the safe control that the crawl starts with
    on_plan : runs the solver
    commit_pages : pages that are committed together at most
    """

    def __init__(
        self,
        world: World,
        buffer: Buffer,
        *,
        n_robots: int,
        n_servers: int,
        starvation_weight: float,
        before: ActivationPolicy,
        on_plan: Offload,
        commit_pages: int = 1,
    ) -> None:
        self.robot_seconds = 0.0
        self._world, self._buffer = world, buffer
        self._n_robots, self._n_servers = n_robots, n_servers
        self.starvation_weight = starvation_weight
        self._safe = self._policy = before
        self._dropped: tuple[FactRecord, ...] = ()  # what a control that was dropped had come to
        self._on_plan = on_plan
        # A commit holds up the page in service: rates that forget one are others after each.
        self._memory = max(_MEMORY, _COMMITS * commit_pages)
        self._least_seen = _LEAST_SEEN if self._memory == _MEMORY else float(commit_pages)
        self._fetches, self._services = (ForgettingRate(self._memory) for _ in range(2))
        self._crowding = Crowding(_LONG_MEMORY)
        self._served = self._active = 0
        self._active_then = 0  # robots, when the last page was brought
        self._brought_at = 0.0  # seconds of robots, when the last page was brought
        self._since_s = world.clock.now_s()
        self._adaptive: AdaptiveRobots | None = None
        self._looked_at = 0  # pages served when it was last asked what could be won
        self._again_at = 0  # pages served, before which nothing is solved after a failure
        self._rests_until_s = -inf  # of the loop, before which nothing is solved anew
        self._mark = self._look()
        self._tried: _Mark | None = None  # when rates were known, or a control promised too little

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Ask the control in force."""
        return self._policy.activate_on_arrival(buffered, active)

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Ask the control in force."""
        return self._policy.activate_on_departure(buffered, active)

    # -- what is measured --

    def observe_active(self, active: int) -> None:
        """Note that so many robots are active from now on."""
        now_s = self._world.clock.now_s()
        self.robot_seconds += self._active * (now_s - self._since_s)
        self._active, self._since_s = active, now_s

    def observe_fetch(self) -> None:
        """Note that a robot has just brought a page."""
        self.observe_active(self._active)
        robot_s, self._brought_at = self.robot_seconds - self._brought_at, self.robot_seconds
        self._crowding.observe(self._active_then, robot_s)
        self._active_then = self._active
        (self._adaptive.observe_fetch if self._adaptive else self._fetches.observe)(robot_s)

    def observe_index(self, service_s: float) -> None:
        """Note that the indexer took so many seconds over a page."""
        self._served += 1
        (self._adaptive.observe_index if self._adaptive else self._services.observe)(service_s)

    def _seen(self) -> MeasuredFacts:
        """Return what happened since the control in force was adopted."""
        now, then = self._look(), self._mark
        seconds = max(now.at_s - then.at_s, 1e-9)
        return MeasuredFacts(
            seconds=seconds,
            starvation=(now.starved_s - then.starved_s) / seconds,
            loss_rate=(now.lost - then.lost) / seconds,
            throughput=(now.served - then.served) / seconds,
            buffer_mean=(now.page_seconds - then.page_seconds) / seconds,
            robots_mean=(now.robot_seconds - then.robot_seconds) / seconds,
        )

    # -- following it --

    async def run(self) -> None:
        """Follow the crawl until cancelled.

        It is solved when rates are first known, and whenever they have drifted; beside that, as it
        may take long, what is in force is judged. How things stand is noted while anything moves,
        and every ten seconds: each note is a transaction, which a crawl that has nothing to do
        would have its disk busy with for good.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_solved())
            group.create_task(self._keep_judged())

    async def _keep_solved(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE_S)
            if await self._follow():
                self._mark = self._look()
                assert self._adaptive is not None
                self._world.events.emit("control", rows_of(*_promised(self._adaptive)))

    async def _keep_judged(self) -> None:
        loop = asyncio.get_running_loop()
        noted, again_s = self._moves(), -inf
        while True:
            await asyncio.sleep(_PAUSE_S)
            self._judge()
            moves = self._moves()
            if moves != noted or loop.time() >= again_s:
                noted, again_s = moves, loop.time() + _QUIET_S
                await self._world.on_state(self._world.frontier.save_facts, *self.facts())

    def _judge(self) -> None:
        """Go back to the safe control where what the one in force rests on does not hold."""
        adaptive = self._adaptive
        if adaptive is None or self._dropped or self._policy is self._safe:
            return
        loses = self._loses_too_much(adaptive)
        if loses or self._crowding.is_shown:
            self._policy = self._safe
            self._dropped = self._followed(adaptive, dropped=True)
            self._world.events.emit("control-dropped", rows_of(*self.facts()))
            if not loses:  # another may do when robots no longer get in each other's way
                self._adaptive, self._dropped, self._mark = None, (), self._look()
                self._start_over()

    def _moves(self) -> tuple[object, ...]:
        """Return what is another whenever a page comes or goes, or what robots follow changes."""
        buffer = self._buffer
        return buffer.arrivals, self._served, self._active, buffer.length, self._mark.at_s

    def facts(self) -> tuple[FactRecord, ...]:
        """Return how things stand now, and prediction beside measurement."""
        live = FleetFacts(robots_active=self._active, buffer_length=self._buffer.length)
        if self._adaptive is None:
            told = self._under_the_safe_control()
        else:
            told = self._dropped or self._followed(self._adaptive, dropped=False)
        return self._world.instant(), live, *told

    def _followed(self, adaptive: "AdaptiveRobots", *, dropped: bool) -> tuple[FactRecord, ...]:
        return *_promised(adaptive), self._seen(), ControlFacts(dropped=dropped, known=True)

    def _under_the_safe_control(self) -> tuple[FactRecord, ...]:
        """Return what was measured while nothing has been solved."""
        safe = SafeFacts(
            **asdict(self._seen()),
            pages=min(self._fetches.count, self._services.count),
            fetch_rate=self._fetches.rate or 0.0,
            index_rate=self._services.rate or 0.0,
        )
        return safe, ControlFacts(known=False)

    async def _follow(self) -> bool:
        """Solve where that is due; tell whether another control is in force now."""
        adaptive = self._adaptive
        if self._dropped:
            return False
        if adaptive is None:
            if not await self._can_matter():
                return False
            adaptive = await self._solved(self._first)
            if adaptive is None or not self._is_worth_it(adaptive.plan):
                return False
            self._crowding = Crowding(_LONG_MEMORY)
        elif asyncio.get_running_loop().time() < self._rests_until_s or not adaptive.has_drifted():
            return False
        else:
            plan = await self._solved(partial(self._again, adaptive))
            if plan is None or self._policy is not adaptive:  # dropped meanwhile
                return False
            adaptive.adopt(plan)
        self._adaptive = self._policy = adaptive
        return True

    async def _solved(self, solve: Callable[[], _Answer]) -> _Answer | None:
        """Solve beside the event loop; None where there is no answer: what is in force stays.

        It is tried again when twice as many pages were served.
        """
        if self._served < self._again_at:
            return None
        loop = asyncio.get_running_loop()
        since_s = loop.time()
        try:
            return await self._on_plan(seldom()(solve))
        except (NotConverged, InvalidModel) as error:
            self._again_at = 2 * self._served
            self._world.events.emit("control-failed", {"why": str(error)})
            return None
        finally:
            self._rests_until_s = loop.time() + (loop.time() - since_s) / _MOST_SOLVING

    async def _can_matter(self) -> bool:
        """Tell whether rates are known, and another control could win something worth having."""
        fetch_rate, index_rate = self._fetches.rate, self._services.rate
        if fetch_rate is None or index_rate is None:
            return False  # what takes no time at all is no matter of robots
        seen = min(self._fetches.count, self._services.count)
        if seen >= _LEAST_SEEN and self._tried is None:  # what was before tells of the start
            self._tried = self._look()
        if seen < self._least_seen:
            return False
        load = fetch_rate / index_rate
        share = await self._on_plan(
            most_to_win, self._n_robots, self._buffer.capacity, load, self._n_servers
        )
        if share > _LEAST_WON:
            return True
        is_judged = self._n_servers == 1 and self._fetches.count >= _LEAST_JUDGED
        if not is_judged or self._looked_at > 0.5 * self._served:
            return False
        self._looked_at = self._served  # not every second: again when twice as much is known
        return (await self._solved(self._to_win) or 0.0) > _LEAST_WON

    def _start_over(self) -> None:
        """Measure the safe control from now on, and solve when twice as many pages were served."""
        self._tried, self._again_at = self._look(), 2 * self._served

    def _is_worth_it(self, plan: "RobotsPlan") -> bool:
        """Tell whether a control promises to cost less than the safe one was measured to.

        That one loses nothing, so that it costs what the indexer is idle for.
        """
        now, then = self._look(), self._tried
        if then is None or then.at_s == now.at_s:
            then = self._mark
        idle = (now.starved_s - then.starved_s) / max(now.at_s - then.at_s, 1e-9)
        is_worth = plan.measures.cost < plan.model.starvation_weight * idle
        if not is_worth:
            self._start_over()
        return is_worth

    def _loses_too_much(self, adaptive: "AdaptiveRobots") -> bool:
        """Tell whether arrivals or services are less regular than the model knows.

        Irregular times lose pages by the dozen, so it takes more of them to tell.
        """
        now, then = self._look(), self._mark
        seen = adaptive.measured_regularity()
        patience = min(max(seen.service_variation, seen.arrival_variation, 1.0), _MOST_PATIENCE)
        arrivals, seconds = now.arrivals - then.arrivals, now.at_s - then.at_s
        foreseen = _MORE_LOST * adaptive.plan.measures.loss_rate * seconds
        return (
            arrivals >= patience * _LEAST_TRIED
            and now.lost - then.lost > foreseen + _LOST_ANYWAY * arrivals
        )

    # The solvers are imported where they are called, beside the crawl, not at its start.

    def _to_win(self) -> float:
        from recrawl.crawler.control.fleet.drift import measured_regularity
        from recrawl.crawler.control.fleet.regularity import starvation_to_win

        regularity = measured_regularity(self._fetches, self._services)
        return 0.0 if regularity.is_exponential else starvation_to_win(self._model(), regularity)

    def _first(self) -> "AdaptiveRobots":
        from recrawl.crawler.control.fleet.drift import AdaptiveRobots, measured_regularity

        regularity = measured_regularity(self._fetches, self._services)
        return AdaptiveRobots(
            self._model(), memory=self._memory, regularity=regularity, servers=self._n_servers
        )

    def _model(self) -> "ControlledBuffer":
        from recrawl.fleet import ControlledBuffer

        fetch_rate, index_rate = self._fetches.rate, self._services.rate
        assert fetch_rate is not None
        assert index_rate is not None
        return ControlledBuffer(
            self._n_robots,
            self._buffer.capacity,
            fetch_rate,
            index_rate,
            starvation_weight=self._weight(index_rate),
        )

    def _again(self, adaptive: "AdaptiveRobots") -> "RobotsPlan":
        model = adaptive.measured_model()
        weight = self._weight(float(model.index_rate))  # type: ignore[arg-type]
        return adaptive.solve(replace(model, starvation_weight=weight))

    def _weight(self, index_rate: float) -> float:
        """Cost of an idle indexer per unit of time: what all its servers could have indexed."""
        return self.starvation_weight * self._n_servers * index_rate

    def _look(self) -> _Mark:
        self._buffer.account()
        self.observe_active(self._active)
        buffer = self._buffer
        return _Mark(
            self._world.clock.now_s(),
            buffer.starved_s,
            buffer.arrivals,
            buffer.lost,
            self._served,
            buffer.page_seconds,
            self.robot_seconds,
        )


def _promised(adaptive: "AdaptiveRobots") -> tuple[SolvedFacts, PredictedFacts]:
    plan = adaptive.plan
    measures, model, regularity = plan.measures, plan.model, plan.regularity
    solved = SolvedFacts(
        fetch_rate=float(model.fetch_rate),  # type: ignore[arg-type]
        index_rate=float(model.index_rate),  # type: ignore[arg-type]
        is_general=not regularity.is_exponential,
        service_variation=regularity.service_variation,
        service_third=regularity.service_third or 0.0,
        arrival_variation=regularity.arrival_variation,
        arrival_correlation=regularity.arrival_correlation,
    )
    return solved, PredictedFacts(**{name: getattr(measures, name) for name in MEASURES})
