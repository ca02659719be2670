"""Any cost that adds up over the intervals between probes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_grid import find_last
from recrawl.kernels.probe_matrix import check_monge, solve_as_monge, solve_as_published

_MOST = 20_000
_SLACK = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class GeneralOptimum:
    """An optimal schedule for a cost of one's own.

    Parameters
    ----------
    probes : shape (n,), times
    cost : sum of the interval costs
    is_monge : whether the Monge inequality was found to hold, so that the fast programme was used
    excess : the largest relative violation of the inequality, 0 where it holds
    costs : shape (n,), least cost of exactly 1..n probes; infinity where impossible
    """

    probes: Vector
    cost: float
    is_monge: bool
    excess: float
    costs: Vector


def solve_general(
    interval_cost: Callable[[Vector, Vector], Vector],
    times: ArrayLike,
    n: int,
    *,
    gap: float = 0.0,
) -> GeneralOptimum:
    r"""Minimise a sum of interval costs over exactly n probes on a grid.

    Parameters
    ----------
    interval_cost : takes starts and ends, two vectors of equal shape with start < end, and
        returns the costs, finite, or infinity where an interval is forbidden
    times : shape (N + 1,), increasing; the schedule starts at the first and ends at the last
    n : probes, >= 1
    gap : least time between probes

    Returns
    -------
    GeneralOptimum
        Globally optimal on the grid, whatever the cost.

    Raises
    ------
    InvalidModel
        If a cost is NaN or n probes are impossible.

    Notes
    -----
    The Monge inequality :math:`C(a,c) + C(b,d) \le C(a,d) + C(b,c)` for a <= b <= c <= d is
    checked on all adjacent points, which implies the rest. Where it holds each layer takes
    O(N log N) by divide and conquer, otherwise O(N^2). O(N^2) memory; N up to 20,000.
    """
    at = np.asarray(times, dtype=np.float64)
    if at.ndim != 1 or at.size < 2 or np.any(np.diff(at) <= 0) or at.size > _MOST:
        raise InvalidModel(f"times must be a vector of 2 to {_MOST} increasing times")
    if n < 1:
        raise InvalidModel(f"probes must be at least 1, got {n}")
    matrix = np.full((at.size, at.size), np.inf)
    for i in range(at.size - 1):
        ends = at[i + 1 :]
        matrix[i, i + 1 :] = interval_cost(np.full(ends.size, at[i]), ends)
    if np.any(np.isnan(matrix)) or np.any(matrix == -np.inf):
        raise InvalidModel("interval_cost must return finite costs (or infinity), not NaN")
    if gap > 0:
        matrix[np.arange(at.size)[:, None] > find_last(at - at[0], gap)[None, :]] = np.inf
    excess, _, _ = check_monge(matrix)
    is_monge = excess <= _SLACK
    solve = solve_as_monge if is_monge else solve_as_published
    costs, following = solve(matrix, n)
    if not np.isfinite(costs[n - 1, 0]):
        raise InvalidModel(f"{n} probes do not fit on this grid with a gap of {gap:g}")
    points, point = [], 0
    for layer in range(n - 1, -1, -1):
        point = int(following[layer, point])
        points.append(point)
    return GeneralOptimum(
        at[points], float(costs[n - 1, 0]), is_monge, excess if not is_monge else 0.0, costs[:, 0]
    )
