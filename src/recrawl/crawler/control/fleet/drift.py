"""The number of robots under rates that are measured while the crawler runs.

:class:`AdaptiveRobots` answers every question by lookup. It watches how long robots and indexer
take, and how regularly, and says when what it measured no longer fits what it was planned for.
Solving anew takes milliseconds for small buffers and up to seconds for the largest, so the runtime
calls :meth:`AdaptiveRobots.solve` off its event loop and hands the result to
:meth:`AdaptiveRobots.adopt`.
"""

import math
from dataclasses import replace
from typing import Final

from recrawl.crawler.control.fleet.forgetting_rate import ForgettingRate
from recrawl.crawler.control.fleet.regularity import Regularity, RobotsPlan, plan_robots
from recrawl.errors import InvalidModel
from recrawl.fleet import ControlledBuffer

_LEAST_SEEN: Final = 100.0  # durations, before their regularity is believed


def measured_regularity(
    fetches: ForgettingRate, services: ForgettingRate, before: Regularity | None = None
) -> Regularity:
    """Return how regular arrivals and services are, as far as enough of them were seen.

    Parameters
    ----------
    fetches : robots' work between two pages brought, s
    services : indexing times, s
    before : what holds until then; default: the regularity of exponential times
    """
    seen = before or Regularity()
    if services.count >= _LEAST_SEEN:
        variation, third = services.squared_variation, services.third_ratio
        seen = replace(seen, service_variation=variation, service_third=third)
    if fetches.count >= _LEAST_SEEN:
        variation, correlation = fetches.squared_variation, fetches.correlation
        seen = replace(seen, arrival_variation=variation, arrival_correlation=correlation)
    return seen


class AdaptiveRobots:
    """An optimal activation policy that knows when it is out of date.

    Parameters
    ----------
    model : buffer, robots, weights and first guesses of the two rates, which must be numbers
    tolerance : how far a measured rate may be from the planned one, relative, > 0
    memory : how many of the latest pages the measurement remembers, > 1
    regularity : of times, by which it is planned first
    servers : pages that are indexed at a time, >= 1
    """

    def __init__(
        self,
        model: ControlledBuffer,
        *,
        tolerance: float = 0.15,
        memory: float = 300.0,
        regularity: Regularity | None = None,
        servers: int = 1,
    ) -> None:
        self._planned = _rates_of(model)
        if not (math.isfinite(tolerance) and tolerance > 0):
            raise InvalidModel(f"tolerance must be finite and > 0, got {tolerance!r}")
        self._model = model
        self._tolerance = tolerance
        self._fetches = ForgettingRate(memory)
        self._indexed = ForgettingRate(memory)
        self._servers = servers
        self._plan = plan_robots(model, regularity, servers=servers)

    @property
    def plan(self) -> RobotsPlan:
        """Plan that is followed, with what it promises: to be held against what happens."""
        return self._plan

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Look the answer up."""
        return self._plan.policy.activate_on_arrival(buffered, active)

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Look the answer up."""
        return self._plan.policy.activate_on_departure(buffered, active)

    def observe_fetch(self, robot_s: float) -> None:
        """Note that a page was brought after so much time of active robots since the last one."""
        self._fetches.observe(robot_s)

    def observe_index(self, service_s: float) -> None:
        """Note that the indexer took so long over a page."""
        self._indexed.observe(service_s)

    def has_drifted(self) -> bool:
        """Whether a rate has left its tolerance by more than chance (two standard errors).

        Or times have become far more, or far less, regular than was planned for.
        """
        for watched, planned in zip((self._fetches, self._indexed), self._planned, strict=True):
            if watched.rate is None:
                continue
            away = abs(math.log(watched.rate / planned))
            if away > math.log1p(self._tolerance) + 2 * watched.relative_error:
                return True
        return self.measured_regularity().differs_from(self._plan.regularity)

    def measured_model(self) -> ControlledBuffer:
        """Return the model with the rates as measured, where something was measured."""
        fetch, index = (
            watched.rate or planned
            for watched, planned in zip((self._fetches, self._indexed), self._planned, strict=True)
        )
        return replace(self._model, fetch_rate=fetch, index_rate=index)

    def measured_regularity(self) -> Regularity:
        """Return how regular times were, as planned for until enough were seen.

        With several servers they pass for exponential.
        """
        if self._servers > 1:
            return Regularity()
        return measured_regularity(self._fetches, self._indexed, self._plan.regularity)

    def solve(self, model: ControlledBuffer | None = None) -> RobotsPlan:
        """Plan for what was measured; changes nothing, so it may run in another thread.

        Parameters
        ----------
        model : default: the one with the rates as measured
        """
        return plan_robots(
            model or self.measured_model(), self.measured_regularity(), servers=self._servers
        )

    def adopt(self, plan: RobotsPlan) -> None:
        """Follow a new plan from now on, and watch for drift from its rates."""
        self._planned, self._plan = _rates_of(plan.model), plan


def _rates_of(model: ControlledBuffer) -> tuple[float, float]:
    fetch, index = model.fetch_rate, model.index_rate
    if isinstance(fetch, int | float) and isinstance(index, int | float):
        return float(fetch), float(index)
    raise InvalidModel("fetch_rate and index_rate must be numbers to be watched")
