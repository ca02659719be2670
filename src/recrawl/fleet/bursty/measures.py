"""Long-run measures of a map from pages to robots."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.errors import NotConverged
from recrawl.fleet.bursty.iterative import MOST_STATES, solve_phases
from recrawl.fleet.bursty.law import StationaryLaw, solve_levels
from recrawl.fleet.bursty.model import BufferCosts, BurstyBuffer
from recrawl.fleet.bursty.sojourn import Sojourn, chances_of_service
from recrawl.kernels.arrays import Counts, Matrix

__all__ = [
    "BufferMeasures",
    "evaluate_map",
    "fates",
    "follow_sojourns",
    "measure",
    "sum_up",
    "weigh",
]

_MOST_RESIDUAL: Final = 1e-7


@dataclass(frozen=True, slots=True)
class BufferMeasures:
    """Long-run averages under one map.

    Parameters
    ----------
    cost : J, the criterion
    robots_by_length : robots at 0, 1, ... pages
    arrival_rate : pages that robots bring per unit of time, lambda
    loss, obsolescence, success : probability that a page is lost for want of room, goes stale,
        is served; they sum to 1
    starvation : fraction of time with an empty system
    robots_mean : mean number of active robots
    buffer_mean : mean number of pages, the one in service included
    sojourn_served, sojourn_obsolete, sojourn_accepted : mean time in the system; NaN where there
        are no such pages
    sojourn_arbitrary : of all pages, a lost one counting 0
    time_at_robots : fraction of time with each number of robots, in the order of the modes
    length_distribution : fraction of time with 0, 1, ... pages
    method, states, iterations : how it was computed
    residual : of the result: by how much the law is out of balance, or the shares of pages lost,
        gone stale and served differ from one in all, whichever is more
    """

    cost: float
    robots_by_length: tuple[int, ...]
    arrival_rate: float
    loss: float
    obsolescence: float
    success: float
    starvation: float
    robots_mean: float
    buffer_mean: float
    sojourn_served: float
    sojourn_obsolete: float
    sojourn_accepted: float
    sojourn_arbitrary: float
    time_at_robots: tuple[float, ...]
    length_distribution: tuple[float, ...]
    method: str
    states: int
    iterations: int
    residual: float


def evaluate_map(
    model: BurstyBuffer,
    robots_by_length: Sequence[int],
    *,
    tolerance: float = 1e-13,
    most_states: int = MOST_STATES,
) -> BufferMeasures:
    """Return the exact measures of a map from pages to robots.

    Parameters
    ----------
    model : the buffer
    robots_by_length : one of the model's numbers of robots for each of 0, 1, ... pages
    tolerance : of the iterative method, where obsolescence has phases
    most_states : refuse a larger chain, with a message that says what it would take

    Returns
    -------
    BufferMeasures
        Exact up to rounding where obsolescence has one phase or none; otherwise to about three
        times the tolerance.

    Raises
    ------
    InvalidModel
        If the map does not fit the model or the chain is too large.
    NotConverged
        If the iterative method does not reach its tolerance.

    Notes
    -----
    Time and memory: :func:`recrawl.fleet.bursty.law.solve_levels`,
    :func:`recrawl.fleet.bursty.iterative.solve_phases`. Sojourn means are by Little's law, for
    the pages present that will be served and for those that will go stale.
    """
    modes = model.modes(robots_by_length)
    law = solve_law(model, modes, tolerance=tolerance, most_states=most_states)
    return measure(model, modes, law, *fates(model, law, chances_of_service(model)))


def follow_sojourns(
    model: BurstyBuffer, robots_by_length: Sequence[int], *, most_states: int = MOST_STATES
) -> Sojourn:
    """Return the sojourn times under a map: transforms and distributions.

    Parameters
    ----------
    model, robots_by_length, most_states : as of :func:`evaluate_map`
    """
    modes = model.modes(robots_by_length)
    law = solve_law(model, modes, most_states=most_states)
    brought = float(np.sum(arrival_phases(model, law) * model.brought[modes]))
    return Sojourn(model, modes, law, brought)


def solve_law(
    model: BurstyBuffer,
    modes: Counts,
    *,
    tolerance: float = 1e-13,
    most_states: int = MOST_STATES,
) -> StationaryLaw:
    """Return the stationary law by the method that fits the model."""
    if model.phases[2] == 1:
        return solve_levels(model, modes)
    return solve_phases(model, modes, tolerance=tolerance, most_states=most_states)


def fates(
    model: BurstyBuffer, law: StationaryLaw, chances: Sequence[Matrix]
) -> tuple[float, float]:
    """Mean numbers of pages present that will be served, and that will go stale.

    Parameters
    ----------
    model : the buffer
    law : its stationary law under a map
    chances : of :func:`chances_of_service`; entry i, of shape (V ** i, M, 2), with i pages ahead
    """
    _, m, v = model.phases
    found = np.zeros(2)
    running = np.zeros((1, m))
    for n in range(model.levels - 1, 0, -1):
        here = law.tensor(n).sum(axis=1)
        if n < model.levels - 1:
            here = here + running.reshape(-1, v, m).sum(axis=1) if v > 1 else here + running
        running = here
        found += np.einsum("am,amk->k", here, chances[n - 1])
    return float(found[0]), float(found[1])


def arrival_phases(model: BurstyBuffer, law: StationaryLaw) -> Matrix:
    """Probability of pages and arrival phase, shape (levels, W)."""
    w, m, _ = model.phases
    out = law.mass.reshape(-1, w, m).sum(axis=2)
    out[0] = law.mass[0, :w]
    return np.asarray(out)


def sum_up(
    model: BurstyBuffer, modes: Counts, law: StationaryLaw, to_serve: float, to_go: float
) -> Matrix:
    """Return pages brought, lost, stale, served; to serve, to go; robots; empty: shape (8,).

    Parameters
    ----------
    model : the buffer
    modes : shape (levels,), index of the mode at 0, 1, ... pages
    law : the stationary one under these modes
    to_serve, to_go : of :func:`fates`, mean pages present that will be served, that will go stale
    """
    w, m, _ = model.phases
    phases = arrival_phases(model, law)
    lengths = phases.sum(axis=1)
    served = law.mass[1:].reshape(-1, w, m).sum(axis=(0, 1)) @ model.service.exits
    return np.array(
        [
            np.sum(phases * model.brought[modes]),
            np.sum(phases * model.lost[model.room, modes]),
            law.stale[1:].sum(),
            served,
            to_serve,
            to_go,
            lengths @ np.array(model.robots)[modes],
            lengths[0],
        ]
    )


def measure(
    model: BurstyBuffer, modes: Counts, law: StationaryLaw, to_serve: float, to_go: float
) -> BufferMeasures:
    """Put the measures together from a law and the fates of the pages present.

    Parameters
    ----------
    model, modes, law, to_serve, to_go : as of :func:`sum_up`
    """
    lengths = arrival_phases(model, law).sum(axis=1)
    sums = sum_up(model, modes, law, to_serve, to_go)
    rate, lost, gone, served, *_, robots_mean, empty = map(float, sums)
    residual = max(law.residual, abs((lost + gone + served) / rate - 1.0) if rate > 0 else 0.0)
    if not residual < _MOST_RESIDUAL:
        raise NotConverged(
            f"law of {model.states} states by {law.method}: what comes is not what goes",
            iterations=law.iterations,
            residual=residual,
        )
    robots = np.array(model.robots)
    by_mode = np.bincount(modes, weights=lengths, minlength=robots.size)
    return BufferMeasures(
        cost=float(weigh(sums[None, :], model.costs)[0]),
        robots_by_length=tuple(int(robots[mode]) for mode in modes),
        arrival_rate=rate,
        loss=lost / rate,
        obsolescence=gone / rate,
        success=served / rate,
        starvation=empty,
        robots_mean=robots_mean,
        buffer_mean=to_serve + to_go,
        sojourn_served=_ratio(to_serve, served),
        sojourn_obsolete=_ratio(to_go, gone),
        sojourn_accepted=_ratio(to_serve + to_go, served + gone),
        sojourn_arbitrary=(to_serve + to_go) / rate,
        time_at_robots=tuple(map(float, by_mode)),
        length_distribution=tuple(map(float, lengths)),
        method=law.method,
        states=model.states,
        iterations=law.iterations,
        residual=residual,
    )


def weigh(sums: Matrix, costs: BufferCosts) -> Matrix:
    """Return J of each row of sums, shape (k,).

    Parameters
    ----------
    sums : shape (k, 8), a row for each, as of :func:`sum_up`
    costs : prices, each >= 0
    """
    _, lost, gone, served, to_serve, _, robots, empty = sums.T
    out = costs.loss * lost + costs.obsolescence * gone + costs.robots * robots
    out = out + costs.starvation * empty
    if costs.sojourn > 0:
        out = out + costs.sojourn * to_serve / served
    return np.asarray(out)


def _ratio(amount: float, per: float) -> float:
    return amount / per if per > 0 else math.nan
