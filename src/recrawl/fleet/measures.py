"""Long-run averages of a policy: the measures that people read."""

import math
from dataclasses import dataclass

import numpy as np

from recrawl.fleet.model import ControlledBuffer
from recrawl.kernels.arrays import Matrix


@dataclass(frozen=True, slots=True)
class FleetMeasures:
    """Long-run averages of one policy on one recurrent class.

    Parameters
    ----------
    cost : average cost per unit of time
    starvation : fraction of time the indexer is idle
    loss_rate : pages lost per unit of time
    throughput : pages indexed per unit of time
    buffer_mean : mean number of buffered pages, the one in service included
    response_time : mean time of an accepted page in the buffer, by Little's law
    robots_mean, robots_min, robots_max : active robots, over the recurrent states
    recurrent_states : number of states (q, r) that the policy comes back to
    """

    cost: float
    starvation: float
    loss_rate: float
    throughput: float
    buffer_mean: float
    response_time: float
    robots_mean: float
    robots_min: int
    robots_max: int
    recurrent_states: int


def measure_occupancy(model: ControlledBuffer, occupancy: Matrix) -> FleetMeasures:
    """Turn the fraction of time in each state into measures.

    Each one is a sum of positive terms, so it has the relative accuracy of the occupancy.

    Parameters
    ----------
    model : the buffer
    occupancy : shape (K + 1, N + 1), fraction of time in each state (q, r), summing to 1
    """
    by_length, by_robots = occupancy.sum(axis=1), occupancy.sum(axis=0)
    pages, robots = np.arange(model.buffer + 1), np.arange(model.robots + 1)
    throughput = float(np.sum(occupancy * model.index_rates))
    buffer_mean = float(by_length @ pages)
    active = np.flatnonzero(by_robots)
    return FleetMeasures(
        cost=float(np.sum(occupancy * model.cost_rates)),
        starvation=float(by_length[0]),
        loss_rate=float(occupancy[-1] @ model.arrival_rates[-1]),
        throughput=throughput,
        buffer_mean=buffer_mean,
        response_time=buffer_mean / throughput if throughput > 0 else math.inf,
        robots_mean=float(by_robots @ robots),
        robots_min=int(active[0]),
        robots_max=int(active[-1]),
        recurrent_states=int(np.count_nonzero(occupancy)),
    )
