"""An optimum as lookups, and held to the buffer's room where that costs next to nothing."""

from typing import Final

from recrawl.crawler.control.fleet.activation import TableRobots, TargetRobots
from recrawl.fleet import RobotOptimum
from recrawl.fleet.curve import evaluate_targets
from recrawl.fleet.measures import measure_occupancy

CARE: Final = 0.01  # of the cost, that is given up for a control under which nothing is lost


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
    if cost <= (1.0 + CARE) * optimum.cost + 1e-12 * float(model.cost_rates.max()):
        return TargetRobots(targets)
    return lookup_policy(optimum)
