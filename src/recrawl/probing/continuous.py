"""The optimum in continuous time: exact without a gap, bounded with one."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_continuous import solve_in_continuous_time
from recrawl.probing.bounds import bound_as_published
from recrawl.probing.grid import solve_exactly
from recrawl.probing.improvement import improve_blocks
from recrawl.probing.model import ProbedSource

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ContinuousOptimum:
    """A schedule whose probes may be at any time.

    Parameters
    ----------
    source : what was solved
    probes : shape (n,), times, increasing, the last at T
    cost : expected cost of one period
    lower_bound : no schedule of so many probes costs less
    costs : shape (n,), least cost of 1..n probes where the solver knows them, else empty
    residual : difference of the two ways in which the cost was computed, relative to all
        importance times all updates; at most 1e-9
    """

    source: ProbedSource
    probes: Vector
    cost: float
    lower_bound: float
    costs: Vector
    residual: float

    @property
    def gap_to_bound(self) -> float:
        """By how much a better schedule could be cheaper, at most."""
        return max(self.cost - self.lower_bound, 0.0)


def solve_continuous(source: ProbedSource, n: int) -> ContinuousOptimum:
    r"""Minimise the expected cost over all schedules of n probes, at any times.

    Parameters
    ----------
    source : intensity and importance piecewise constant; its gap must be 0
    n : probes in one period, the last at T, >= 1

    Returns
    -------
    ContinuousOptimum
        Globally optimal up to rounding.

    Raises
    ------
    InvalidModel
        If the source has a gap or a function that is not piecewise constant.
    NotConverged
        If the schedule found does not cost what the programme says (never seen).

    Notes
    -----
    With x = L(s) the least cost from s on is
    :math:`V_m(x) = \min_f [A_f (L_f - x) + V_{m-1}(L_f)]`, concave and piecewise quadratic;
    probes before s never help, so the minimum is over all f. Within a piece of both functions a
    stretch of f gives a line, a parabola and a line; the arcs are ordered by A and cross once, so
    a stack holds their envelope. Where intensity or importance vanishes only breaks matter.
    O(segments) for each layer; some thousand segments at n = 100.
    """
    source.check_count(n)
    if source.gap > 0:
        raise InvalidModel("with a gap use solve_continuous_with_gap, which bounds its error")
    if not (source.intensity.is_steps and source.importance.is_steps):
        raise InvalidModel(
            "intensity and importance must be piecewise constant; for others solve on a grid and "
            "improve the schedule"
        )
    totals = (source.updates, source.importance.total)
    costs, probes, _ = solve_in_continuous_time(
        source.cell_starts, source.cells, source.before, totals, n
    )
    scale = totals[0] * totals[1]
    costs = np.maximum(costs - (scale - source.cost([source.period])), 0.0)
    cost = source.cost(probes)
    residual = abs(cost - float(costs[-1])) / scale
    if residual > _TOLERANCE:
        raise NotConverged("continuous optimum", iterations=n, residual=residual)
    return ContinuousOptimum(source, probes, cost, float(min(cost, costs[-1])), costs, residual)


def solve_continuous_with_gap(
    source: ProbedSource, n: int, cells: int = 20_000
) -> ContinuousOptimum:
    """A good schedule of n probes with a gap, at any times, and how far from the best it can be.

    Parameters
    ----------
    source : any, with a gap
    n : probes in one period, >= 1
    cells : about how fine a grid to solve on

    Returns
    -------
    ContinuousOptimum
        The grid's optimum after local improvement. ``lower_bound`` is the larger of the grid's
        optimum less Proposition 8's bound (where period and gap have a common measure) and the
        exact optimum without the gap (where the functions are piecewise constant).
    """
    source.check_count(n)
    step = _common_step(source, cells)
    found = solve_exactly(source, n, step)
    better = improve_blocks(source, found.probes)
    lower = found.cost - bound_as_published(source, found.grid, n)
    if source.intensity.is_steps and source.importance.is_steps:
        lower = max(lower, solve_continuous(source.with_gap(0.0), n).lower_bound)
    lower = max(lower, 0.0)
    return ContinuousOptimum(source, better.probes, better.cost, lower, np.empty(0), found.residual)


def _common_step(source: ProbedSource, cells: int) -> int:
    """Number of even cells, about as many as wanted, that hold the gap and, if possible, breaks."""
    if source.gap == 0:
        return cells
    parts = _denominator(np.array([source.gap / source.period]), cells)
    breaks = _denominator(source.cell_starts / source.period, cells)
    if parts is None:
        return cells
    if breaks is not None and math.lcm(parts, breaks) <= 4 * cells:
        parts = math.lcm(parts, breaks)
    return parts * max(1, math.ceil(cells / parts))


def _denominator(shares: Vector, most: int) -> int | None:
    """The least number of even cells that has all these shares of the period on it."""
    found = 1
    for share in shares:
        ratio = Fraction(float(share)).limit_denominator(most)
        if abs(float(ratio) - share) > 1e-9:
            return None
        found = math.lcm(found, ratio.denominator)
        if found > 4 * most:
            return None
    return found
