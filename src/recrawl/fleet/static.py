"""The best fixed number of robots: Proposition 3 and equations 9 and 10 of Talim et al."""

import math
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.model import ControlledBuffer
from recrawl.kernels.arrays import Matrix

__all__ = [
    "StaticOptimum",
    "balanced_weight",
    "solve_static",
    "solve_static_unrestricted",
    "static_cost",
]


@dataclass(frozen=True, slots=True)
class StaticOptimum:
    """The best fixed number of robots.

    Parameters
    ----------
    robots : how many
    cost : average cost per unit of time
    starvation : fraction of time the indexer is idle
    loss_rate : pages lost per unit of time
    """

    robots: int
    cost: float
    starvation: float
    loss_rate: float


def static_cost(
    utilisation: float, starvation_weight: float, buffer: int, index_rate: float = 1.0
) -> float:
    r"""Average cost with a fixed number of robots, losses weighing 1.

    Parameters
    ----------
    utilisation : :math:`\rho`, what the robots bring over what the indexer can take, >= 0
    starvation_weight : :math:`\gamma`, cost per unit of time with an empty buffer, >= 0
    buffer : K, pages that fit, the one in service included, >= 1
    index_rate : :math:`\mu`, pages indexed per unit of time, > 0

    Notes
    -----
    Equation 9 without its singularity at :math:`\rho = 1`:
    :math:`(\gamma + \mu \rho^{K+1}) / (1 + \rho + \dots + \rho^K)`. For :math:`\rho > 1` both
    sides are divided by :math:`\rho^K`. O(K) time.
    """
    if utilisation <= 1:
        powers = utilisation ** np.arange(buffer + 1)
        return float(
            (starvation_weight + index_rate * utilisation ** (buffer + 1)) / np.sum(powers)
        )
    powers = (1 / utilisation) ** np.arange(buffer + 1)
    return float((starvation_weight * powers[-1] + index_rate * utilisation) / np.sum(powers))


def balanced_weight(buffer: int, index_rate: float = 1.0) -> float:
    r"""Starvation weight at which utilisation 1 is best: :math:`\gamma(K) = \mu (K + 2) / K`.

    Parameters
    ----------
    buffer, index_rate : as of :func:`static_cost`
    """
    return index_rate * (buffer + 2) / buffer


def best_utilisation(starvation_weight: float, buffer: int, index_rate: float) -> float:
    r"""Return :math:`\rho(\gamma, K)`, where equation 9 is least, by bisection on its slope."""

    def rising(log_rho: float) -> bool:
        # f = A / B has the sign of A'B - AB'; all powers are relative to rho^K beyond rho = 1.
        rho = math.exp(log_rho)
        j = np.arange(buffer + 1)
        powers = rho ** (j - buffer if rho > 1 else j)
        one, last = (rho**-buffer if rho > 1 else 1.0), powers[-1]
        slope_of_top = index_rate * (buffer + 1) * last
        top = starvation_weight * one + index_rate * rho * last
        # B' = sum j rho^(j-1)
        return bool(slope_of_top * np.sum(powers) * rho > top * np.sum(j * powers))

    low, high = -1.0, 1.0
    while rising(low):
        low *= 2
    while not rising(high):
        high *= 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if rising(middle) else (middle, high)
    return math.exp(high)


def solve_static_unrestricted(
    fetch_rate: float, index_rate: float, starvation_weight: float, buffer: int
) -> StaticOptimum:
    """Best fixed number of robots when there are as many as wanted (equation 10).

    Parameters
    ----------
    fetch_rate : pages a robot brings per unit of time
    index_rate, starvation_weight, buffer : as of :func:`static_cost`

    Returns
    -------
    StaticOptimum
        Exact: the cost falls to its only minimum over real utilisations and rises from there, so
        one of the two neighbouring whole numbers is best.

    Raises
    ------
    InvalidModel
        If a rate, the weight or the buffer is not positive.
    """
    for name, value in (
        ("fetch_rate", fetch_rate),
        ("index_rate", index_rate),
        ("starvation_weight", starvation_weight),
        ("buffer", buffer),
    ):
        if not (math.isfinite(value) and value > 0):
            raise InvalidModel(f"{name} must be finite and > 0, got {value!r}")
    ideal = best_utilisation(starvation_weight, buffer, index_rate) * index_rate / fetch_rate
    choices = sorted({max(1, math.floor(ideal)), max(1, math.ceil(ideal))})
    costs = [
        static_cost(n * fetch_rate / index_rate, starvation_weight, buffer, index_rate)
        for n in choices
    ]
    best = choices[int(np.argmin(costs))]
    model = ControlledBuffer(best, buffer, fetch_rate, index_rate, starvation_weight)
    lengths = length_distribution(model, best)
    return StaticOptimum(
        robots=best,
        cost=min(costs),
        starvation=float(lengths[0]),
        loss_rate=float(lengths[-1] * best * fetch_rate),
    )


def length_distribution(model: ControlledBuffer, robots: int) -> Matrix:
    """Stationary distribution of the buffer's length with a fixed number of robots, (K + 1,).

    Notes
    -----
    A birth-death chain; probabilities are products of ratios, kept in logarithms so that none
    overflows. O(K) time.
    """
    up, down = model.arrival_rates[:-1, robots], model.index_rates[1:, robots]
    logs = np.concatenate([[0.0], np.cumsum(np.log(up) - np.log(down))])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / np.sum(weights))


def solve_static(model: ControlledBuffer) -> StaticOptimum:
    """Best fixed number of robots among 1, ..., N, for any rates and costs.

    Returns
    -------
    StaticOptimum
        Exact: every number is tried. O(N K) time.
    """
    best: StaticOptimum | None = None
    for n in range(1, model.robots + 1):
        lengths = length_distribution(model, n)
        cost = float(lengths @ model.cost_rates[:, n])
        if best is None or cost < best.cost:
            loss = float(lengths[-1] * model.arrival_rates[-1, n])
            best = StaticOptimum(n, cost, float(lengths[0]), loss)
    assert best is not None  # N >= 1
    return best
