"""The model of robots and indexer that fits what was measured: the papers', or the general one.

Exponential times have a squared variation of 1 and know nothing of the last one. As long as times
are about so regular, the exact policy of the simple model is followed. Beyond, arrivals and
indexing times are fitted by their moments, and robots follow the best curve of the general model.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from recrawl.crawler.control.fleet.activation import ActivationPolicy, TargetRobots
from recrawl.crawler.control.fleet.careful import CARE, careful_policy
from recrawl.errors import InvalidModel
from recrawl.fleet import (
    ControlledBuffer,
    FleetMeasures,
    IrregularFleet,
    evaluate_irregular,
    solve_irregular,
    solve_robots,
    starvation_and_loss,
)
from recrawl.learning.order_two import fit_order_two
from recrawl.learning.phase_type_moments import fit_three_moments, fit_two_moments
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

_LEAST_VARIATION: Final = 0.5  # of indexing times, and
_MOST_VARIATION: Final = 2.0  # of them, within which they pass for exponential
_MOST_ARRIVALS: Final = 1.5  # variation of times between arrivals
_SOME_ARRIVALS: Final = 1.1  # which counts already where they are
_CORRELATED: Final = 0.2
_LEAST_FITTED: Final = 0.1  # fewer phases than ten: nearly constant times are not worth more
_MOST_FITTED: Final = 200.0


@dataclass(frozen=True, slots=True)
class Regularity:
    """Regularity of indexing times and arrivals.

    Parameters
    ----------
    service_variation : squared variation of indexing times, > 0
    service_third : average of their cubes over the cube of their average; None: not matched
    arrival_variation : squared variation of the robots' work between two pages brought: a unit is
        one robot active for one unit of time
    arrival_correlation : of neighbours among those, within -1..1
    """

    service_variation: float = 1.0
    service_third: float | None = None
    arrival_variation: float = 1.0
    arrival_correlation: float = 0.0

    @property
    def has_exponential_service(self) -> bool:
        """Whether indexing times pass for exponential."""
        return _LEAST_VARIATION <= self.service_variation <= _MOST_VARIATION

    @property
    def has_poisson_arrivals(self) -> bool:
        """Whether arrivals pass for Poisson."""
        correlated = self.arrival_correlation > _CORRELATED
        return self.arrival_variation <= (_SOME_ARRIVALS if correlated else _MOST_ARRIVALS)

    @property
    def is_exponential(self) -> bool:
        """Whether the simple model fits."""
        return self.has_exponential_service and self.has_poisson_arrivals

    def differs_from(self, other: "Regularity") -> bool:
        """Whether it is so far from another, by which was planned, that planning anew pays.

        A variation near a border between the models may cross it without another plan, or there
        would be one with every page.
        """
        if self.is_exponential and other.is_exponential:
            return False
        pairs = (
            (self.service_variation, other.service_variation),
            (self.arrival_variation, other.arrival_variation),
        )
        return abs(self.arrival_correlation - other.arrival_correlation) > 0.3 or any(
            max(one, two) > 2.0 * max(min(one, two), _LEAST_FITTED) for one, two in pairs
        )

    def fleet(self, model: ControlledBuffer) -> IrregularFleet:
        """Return the general model of a fleet whose rates are numbers."""
        return IrregularFleet(
            model.robots,
            model.buffer,
            self._arrivals(1.0 / float(model.fetch_rate)),  # type: ignore[arg-type]
            self._service(1.0 / float(model.index_rate)),  # type: ignore[arg-type]
            starvation_weight=model.starvation_weight,
            loss_weight=model.loss_weight,
        )

    def _arrivals(self, mean: float) -> MarkovianArrivals:
        if self.has_poisson_arrivals:
            return MarkovianArrivals.poisson(1.0 / mean)
        variation = min(self.arrival_variation, _MOST_FITTED)
        return fit_order_two(mean, variation, [self.arrival_correlation]).process

    def _service(self, mean: float) -> PhaseType:
        if self.has_exponential_service:
            return PhaseType.exponential(mean)
        variation = min(max(self.service_variation, _LEAST_FITTED), _MOST_FITTED)
        if variation > 1 and self.service_third is not None:
            second, third = (variation + 1.0) * mean**2, self.service_third * mean**3
            try:
                fitted = fit_three_moments(mean, second, third)
            except InvalidModel:
                fitted = None
            if fitted is not None and fitted.initial.size == 2:
                return fitted
        return fit_two_moments(mean, variation)


@dataclass(frozen=True, slots=True)
class RobotsPlan:
    """A control, and what it promises.

    Parameters
    ----------
    model : buffer, robots, weights and rates that it was made for
    regularity : by which it was made
    policy : what robots follow
    measures : what it promises in the long run
    """

    model: ControlledBuffer
    regularity: Regularity
    policy: ActivationPolicy
    measures: FleetMeasures


def plan_robots(
    model: ControlledBuffer, regularity: Regularity | None = None, *, servers: int = 1
) -> RobotsPlan:
    """Solve the model that fits: the simple one exactly, or the general one by its best curve.

    Parameters
    ----------
    model : with rates that are numbers, unless ``regularity`` is that of exponential times
    regularity : default: that of exponential times
    servers : pages that are indexed at a time, each at the model's index rate, >= 1; with more than
        one, times pass for exponential whatever they are

    Notes
    -----
    In both, a curve that loses no page is preferred where it costs at most 1 % more: see
    :func:`recrawl.crawler.control.fleet.careful.careful_policy`.
    """
    regularity = regularity or Regularity()
    if servers > 1:
        at_work = np.minimum(np.arange(model.buffer + 1), servers)
        optimum = solve_robots(replace(model, index_rate=float(model.index_rate) * at_work))  # type: ignore[arg-type]
        return RobotsPlan(model, Regularity(), careful_policy(optimum), optimum.measures)
    if regularity.is_exponential:
        optimum = solve_robots(model)
        return RobotsPlan(model, regularity, careful_policy(optimum), optimum.measures)
    fleet = regularity.fleet(model)
    best = solve_irregular(fleet)
    room = range(model.buffer, -1, -1)
    held = tuple(map(min, best.targets, room))
    measures = evaluate_irregular(fleet, held)
    if measures.cost <= (1.0 + CARE) * best.measures.cost + 1e-12:
        return RobotsPlan(model, regularity, TargetRobots(held), measures)
    return RobotsPlan(model, regularity, TargetRobots(best.targets), best.measures)


def starvation_to_win(model: ControlledBuffer, regularity: Regularity) -> float:
    """Return the starvation that all robots, always active, save over as many as there is room for.

    No curve starves the indexer less than the first where arrivals are Poisson, and none that never
    loses a page less than the second. What a burst brings to a full buffer is lost, so where they
    come in bursts the first may starve it more: then there is nothing to win this way.

    Parameters
    ----------
    model : its rates must be numbers; its weights and costs do not count
    regularity : of indexing times and arrivals
    """
    fleet = regularity.fleet(model)
    n, k = model.robots, model.buffer
    room = [min(n, k - q) for q in range(k + 1)]
    always, _ = starvation_and_loss(fleet, [n] * (k + 1))
    return max(starvation_and_loss(fleet, room)[0] - always, 0.0)
