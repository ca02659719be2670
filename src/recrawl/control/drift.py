"""The number of robots under rates that are measured while the crawler runs.

:class:`AdaptiveRobots` answers every question by lookup. It watches how long robots and indexer
take, and says when what it measured no longer fits what it was planned for. Solving anew takes
milliseconds for small buffers and up to a second for the largest, so the runtime calls
:meth:`AdaptiveRobots.solve` off its event loop and hands the result to
:meth:`AdaptiveRobots.adopt`.
"""

import math
from dataclasses import replace
from typing import Final

from recrawl.control.activation import ActivationPolicy, TableRobots, TargetRobots
from recrawl.control.forgetting_rate import ForgettingRate
from recrawl.errors import InvalidModel
from recrawl.fleet import ControlledBuffer, RobotOptimum, solve_robots
from recrawl.fleet.curve import evaluate_targets
from recrawl.fleet.measures import measure_occupancy

__all__ = ["AdaptiveRobots", "careful_policy", "lookup_policy"]

_CARE: Final = 0.01  # of the cost, that is given up for a control under which nothing is lost


def lookup_policy(optimum: RobotOptimum) -> TargetRobots | TableRobots:
    """Return an optimal policy as a lookup: one curve where there is one, two tables elsewhere."""
    if optimum.is_curve:
        return TargetRobots(optimum.targets)
    arrival, departure = optimum.policy.arrival, optimum.policy.departure
    # From the state before the event, as solved, to the state after it, as the runtime asks.
    after_arrival = [arrival[max(q - 1, 0), 1:] for q in range(optimum.model.buffer + 1)]
    after_departure = [*departure[1:], departure[-1]]
    return TableRobots(
        on_arrival=tuple(tuple(map(bool, row)) for row in after_arrival),
        on_departure=tuple(tuple(map(bool, row)) for row in after_departure),
    )


def careful_policy(optimum: RobotOptimum) -> TargetRobots | TableRobots:
    """Return the optimal policy, or one that loses no page where that costs at most 1 % more.

    No more robots than the buffer has room for bring no more than it holds, whatever the indexer
    does meanwhile. Where the model says that this hardly matters it is worth having: a real
    indexer may stop for a while, which no exponential time does.
    """
    model = optimum.model
    if not optimum.is_curve:
        return lookup_policy(optimum)
    room = range(model.buffer, -1, -1)
    targets = tuple(min(pair) for pair in zip(optimum.targets, room, strict=True))
    cost = measure_occupancy(model, evaluate_targets(model, targets)).cost
    if cost <= (1.0 + _CARE) * optimum.cost + 1e-12 * float(model.cost_rates.max()):
        return TargetRobots(targets)
    return lookup_policy(optimum)


class AdaptiveRobots:
    """An optimal activation policy that knows when it is out of date.

    Parameters
    ----------
    model : buffer, robots, weights and first guesses of the two rates, which must be numbers
    tolerance : how far a measured rate may be from the planned one, relative, > 0
    memory : how many of the latest pages the measurement remembers, > 1
    """

    def __init__(
        self, model: ControlledBuffer, *, tolerance: float = 0.15, memory: float = 300.0
    ) -> None:
        if isinstance(model.fetch_rate, (int, float)) and isinstance(
            model.index_rate, (int, float)
        ):
            self._planned = (float(model.fetch_rate), float(model.index_rate))
        else:
            raise InvalidModel("fetch_rate and index_rate must be numbers to be watched")
        if not (math.isfinite(tolerance) and tolerance > 0):
            raise InvalidModel(f"tolerance must be finite and > 0, got {tolerance!r}")
        self._model = model
        self._tolerance = tolerance
        self._fetches = ForgettingRate(memory)
        self._indexed = ForgettingRate(memory)
        self._optimum = solve_robots(model)
        self._policy: ActivationPolicy = careful_policy(self._optimum)

    @property
    def policy(self) -> ActivationPolicy:
        """The lookup in force."""
        return self._policy

    @property
    def optimum(self) -> RobotOptimum:
        """The optimum that is followed: what it predicts can be held against what happens."""
        return self._optimum

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Look the answer up."""
        return self._policy.activate_on_arrival(buffered, active)

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Look the answer up."""
        return self._policy.activate_on_departure(buffered, active)

    def observe_fetch(self, robot_s: float) -> None:
        """Note that a page was brought by a robot that had been active for so long."""
        self._fetches.observe(robot_s)

    def observe_index(self, service_s: float) -> None:
        """Note that the indexer took so long over a page."""
        self._indexed.observe(service_s)

    def has_drifted(self) -> bool:
        """Whether a rate has left its tolerance by more than chance (two standard errors)."""
        for watched, planned in zip((self._fetches, self._indexed), self._planned, strict=True):
            if watched.rate is None:
                continue
            away = abs(math.log(watched.rate / planned))
            if away > math.log1p(self._tolerance) + 2 * watched.relative_error:
                return True
        return False

    def measured_model(self) -> ControlledBuffer:
        """Return the model with the rates as measured, where something was measured."""
        fetch, index = (
            watched.rate or planned
            for watched, planned in zip((self._fetches, self._indexed), self._planned, strict=True)
        )
        return replace(self._model, fetch_rate=fetch, index_rate=index)

    def solve(self) -> RobotOptimum:
        """Solve the model as measured; changes nothing, so it may run in another thread."""
        return solve_robots(self.measured_model())

    def adopt(self, optimum: RobotOptimum) -> None:
        """Follow a new optimum from now on, and watch for drift from its rates."""
        model = optimum.model
        if isinstance(model.fetch_rate, (int, float)) and isinstance(
            model.index_rate, (int, float)
        ):
            self._planned = (float(model.fetch_rate), float(model.index_rate))
        self._optimum = optimum
        self._policy = careful_policy(optimum)
