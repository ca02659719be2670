"""The best fixed numbers of robots in a phased fleet: what its optimal control is compared with."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.phased import PhasedFleet
from recrawl.kernels.arrays import Matrix

_MOST_CHOICES = 20_000
_ASTRAY = 1e-9  # by how much the law may be out of balance


@dataclass(frozen=True, slots=True)
class PhasedStatic:
    """The best fixed number of robots of each class.

    Parameters
    ----------
    robots : of each class
    cost : average cost per unit of time
    """

    robots: tuple[int, ...]
    cost: float


def solve_phased_static(fleet: PhasedFleet) -> PhasedStatic:
    """Try every combination of fixed numbers, at least one robot in all.

    Returns
    -------
    PhasedStatic
        Exact up to rounding. O((K Z M)^3) time for each combination.

    Raises
    ------
    InvalidModel
        If there are more than 20,000 combinations.
    """
    choices = math.prod(kind.robots + 1 for kind in fleet.classes)
    if choices > _MOST_CHOICES:
        raise InvalidModel(
            f"{choices} combinations of fixed numbers of robots are more than {_MOST_CHOICES}"
        )
    found = [
        PhasedStatic(robots, _static_cost(fleet, robots))
        for robots in itertools.product(*(range(kind.robots + 1) for kind in fleet.classes))
        if sum(robots) > 0
    ]
    return min(found, key=lambda static: static.cost)


def _static_cost(fleet: PhasedFleet, robots: tuple[int, ...]) -> float:
    """Average cost with the numbers of robots fixed: the chain of (q, z, i) alone."""
    z, m, full = len(fleet.switching), fleet.initial.size, fleet.buffer
    rate = np.sum(
        [n * np.array(kind.fetch_rates) for n, kind in zip(robots, fleet.classes, strict=True)],
        axis=0,
    )
    ends = -fleet.generator.sum(axis=1)
    up = np.kron(np.diag(rate), np.eye(m))
    first_up = np.kron(np.diag(rate), fleet.initial[None, :])
    down = np.kron(np.eye(z), np.outer(ends, fleet.initial))
    last_down = np.kron(np.eye(z), ends[:, None])
    inside = np.kron(fleet.switching, np.eye(m)) + np.kron(np.eye(z), fleet.generator)
    size = z + full * z * m
    generator: Matrix = np.zeros((size, size))
    generator[:z, :z] = fleet.switching
    generator[:z, z : z + z * m] = first_up
    for q in range(1, full + 1):
        here = slice(z + (q - 1) * z * m, z + q * z * m)
        below = slice(z + (q - 2) * z * m, z + (q - 1) * z * m) if q > 1 else slice(0, z)
        generator[here, here] = inside
        generator[here, below] = down if q > 1 else last_down
        if q < full:
            generator[here, z + q * z * m : z + (q + 1) * z * m] = up
    np.fill_diagonal(generator, 0.0)
    np.fill_diagonal(generator, -generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(size)])
    share = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]
    astray = float(np.abs(share @ generator).sum() / np.abs(np.diag(generator)).max())
    astray = max(astray, abs(share.sum() - 1.0), -float(share.min()))
    if not astray < _ASTRAY:
        raise NotConverged("law of fixed robots", iterations=1, residual=astray)
    pages = np.concatenate([np.zeros(z), np.repeat(np.arange(1, full + 1), z * m)])
    environment = np.concatenate([np.arange(z), np.tile(np.repeat(np.arange(z), m), full)])
    running = sum(n * kind.cost for n, kind in zip(robots, fleet.classes, strict=True))
    lost = np.where(pages == full, rate[environment], 0.0)
    cost = (
        fleet.starvation_weight * (pages == 0)
        + fleet.loss_weight * lost
        + fleet.holding_cost * pages
        + running
    )
    return float(share @ cost)
