"""The trade-off between starvation and loss, as the weight of starvation varies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recrawl.errors import InvalidModel
from recrawl.fleet.measures import FleetMeasures
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.optimum import solve_robots
from recrawl.fleet.static import StaticOptimum, solve_static


@dataclass(frozen=True, slots=True)
class TradeOff:
    """One point of the trade-off.

    Parameters
    ----------
    starvation_weight : its price of starvation
    static : the best fixed number of robots at that price
    dynamic : long-run averages of the optimal control at that price
    targets : robots to aim for at 0, ..., K pages
    """

    starvation_weight: float
    static: StaticOptimum
    dynamic: FleetMeasures
    targets: tuple[int, ...]


def sweep_weights(model: ControlledBuffer, weights: Sequence[float]) -> tuple[TradeOff, ...]:
    """Solve the same buffer for several weights of starvation.

    Parameters
    ----------
    model : the buffer; its own weight of starvation is not used
    weights : cost per unit of time with an empty buffer, each >= 0

    Returns
    -------
    tuple of TradeOff
        In the order of the weights. As the weight grows starvation never grows and losses never
        fall (up to ties), so the points trace the lower left edge of what any control can reach.

    Raises
    ------
    InvalidModel
        If there is no weight.
    """
    if not weights:
        raise InvalidModel("a sweep needs at least one weight")
    points = []
    for weight in weights:
        priced = replace(model, starvation_weight=weight)
        found = solve_robots(priced)
        points.append(TradeOff(weight, solve_static(priced), found.measures, found.targets))
    return tuple(points)
