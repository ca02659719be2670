"""Simulation of the controlled buffer: what the exact answers are checked against.

It asks the same :class:`~.ActivationPolicy` that the live crawler asks,
at every arrival and departure (the answers are tabulated once, so that the loop is compiled).
"""

from dataclasses import dataclass

import numpy as np

from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.errors import InvalidModel
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.phased import PhasedFleet, PhasedPolicy
from recrawl.kernels.arrays import Matrix
from recrawl.kernels.fleet_simulation import simulate_buffer, simulate_phased
from recrawl.processes.intervals import half_width

_BATCHES = 32


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its 95 % confidence interval, ``mean`` ± ``half_width``."""

    mean: float
    half_width: float

    def holds(self, value: float, *, widths: float = 1.0) -> bool:
        """Whether a value lies within so many half widths of the estimate."""
        return abs(value - self.mean) <= widths * self.half_width


@dataclass(frozen=True, slots=True)
class SimulatedFleet:
    """Long-run averages as measured in a simulation, by batch means.

    Parameters
    ----------
    cost, starvation, loss_rate, throughput, buffer_mean, response_time, robots_mean : as in
        :class:`recrawl.fleet.FleetMeasures`; here the response time is measured page by page
    events : events simulated, warm-up included
    """

    cost: Interval
    starvation: Interval
    loss_rate: Interval
    throughput: Interval
    buffer_mean: Interval
    response_time: Interval
    robots_mean: Interval
    events: int


def simulate_fleet(
    model: ControlledBuffer,
    policy: ActivationPolicy,
    rng: np.random.Generator,
    *,
    events: int = 2_000_000,
) -> SimulatedFleet:
    """Run the controlled buffer for so many events, from an empty buffer and one robot.

    Parameters
    ----------
    model : rates and costs
    policy : asked at every arrival and departure; never asked for more than N robots
    rng : the only source of randomness
    events : after a warm-up of a tenth, split into 32 batches

    Returns
    -------
    SimulatedFleet
        Means with 95 % confidence intervals (Student's t over 32, 16 and 8 batches, the widest).

    Raises
    ------
    InvalidModel
        If there are fewer than 3,200 events, or the policy starts no robot at an empty buffer.

    Notes
    -----
    O(events) time, O(K N) memory.
    """
    shape = (model.buffer + 1, model.robots + 1)
    on_arrival, on_departure = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for q in range(shape[0]):
        for r in range(model.robots):
            on_arrival[q, r] = policy.activate_on_arrival(q, r)
            on_departure[q, r] = policy.activate_on_departure(q, r)
    if not on_departure[0, 0]:
        raise InvalidModel("the policy starts no robot at an empty buffer with none active")
    plan = _plan(events)
    rates = (np.ascontiguousarray(model.arrival_rates), model.index_rates)
    sums = simulate_buffer(rates, on_arrival, on_departure, 1, plan, rng)
    extra = model.holding_cost * sums[:, 2] + model.robot_cost * sums[:, 3]
    return _summarise(sums, model.starvation_weight, model.loss_weight, extra, events)


def simulate_phased_fleet(
    fleet: PhasedFleet,
    policy: PhasedPolicy,
    rng: np.random.Generator,
    *,
    events: int = 2_000_000,
) -> SimulatedFleet:
    """Run a fleet of several classes, an environment or phase-type indexing.

    Parameters
    ----------
    fleet : robots, buffer and costs
    policy : of the same fleet, by the state that an event leaves
    rng, events : as for :func:`simulate_fleet`

    Raises
    ------
    InvalidModel
        If there are fewer than 3,200 events.
    """
    costs = np.array([kind.cost for kind in fleet.classes])
    sums = simulate_phased(
        np.array([kind.fetch_rates for kind in fleet.classes]),
        np.array([kind.robots for kind in fleet.classes]),
        fleet.switching,
        fleet.initial,
        fleet.generator,
        fleet.buffer,
        (policy.arrival.reshape(len(fleet.classes), -1), policy.departure.ravel(), costs),
        _plan(events),
        rng,
    )
    extra = fleet.holding_cost * sums[:, 2] + sums[:, 7]
    return _summarise(sums[:, :7], fleet.starvation_weight, fleet.loss_weight, extra, events)


def _plan(events: int) -> tuple[int, int, int]:
    if events < 100 * _BATCHES:
        raise InvalidModel(f"events must be at least {100 * _BATCHES}, got {events}")
    warm_up = events // 10
    return warm_up, _BATCHES, (events - warm_up) // _BATCHES


def _summarise(
    sums: Matrix, starvation_weight: float, loss_weight: float, extra: Matrix, events: int
) -> SimulatedFleet:
    time, idle, pages, robots, lost, indexed, waited = sums.T
    cost = starvation_weight * idle + loss_weight * lost + extra
    return SimulatedFleet(
        cost=_interval(cost, time),
        starvation=_interval(idle, time),
        loss_rate=_interval(lost, time),
        throughput=_interval(indexed, time),
        buffer_mean=_interval(pages, time),
        response_time=_interval(waited, indexed),
        robots_mean=_interval(robots, time),
        events=events,
    )


def _interval(amount: Matrix, per: Matrix) -> Interval:
    """Ratio of sums over batches, with the linearised error of a ratio."""
    ratio = float(amount.sum() / per.sum())
    error = (amount - ratio * per) / per.mean()
    return Interval(ratio, half_width(error))
