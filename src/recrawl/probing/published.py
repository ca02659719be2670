"""Algorithms 1, 2 and 4 as published, their slips mended: the reference for the fast solvers."""

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_grid import find_last
from recrawl.kernels.probe_matrix import fill_as_published, solve_as_published
from recrawl.probing.grid import make_grid
from recrawl.probing.model import ProbedSource

_MOST = 20_000


def cost_matrix(source: ProbedSource, grid: int | ArrayLike) -> Vector:
    """Expected cost of every interval between grid points, shape (N + 1, N + 1) (Algorithm 4).

    Infinity where the gap forbids the interval. O(N^2) time and memory.

    Parameters
    ----------
    source : the model, with its gap
    grid : number of even cells N, or shape (N + 1,), times from 0 to T; at most 20,000 points
    """
    times = make_grid(source, grid)
    if times.size > _MOST:
        raise InvalidModel(f"a matrix of costs is for at most {_MOST} points, got {times.size}")
    integrals = source.integrals(times)
    steps = source.interval_costs(times)[1:]
    matrix = fill_as_published(steps, np.diff(integrals[0]), np.diff(integrals[1]))
    if source.gap > 0:
        last = find_last(times, source.gap)
        matrix[np.arange(times.size)[:, None] > last[None, :]] = np.inf
    return matrix


def solve_published(
    source: ProbedSource, n: int, grid: int | ArrayLike, *, at_most: bool = False
) -> tuple[Vector, float]:
    """Optimal schedule on a grid by the published dynamic programme, O(n N^2).

    Parameters
    ----------
    source, n, grid : as for :func:`~recrawl.probing.grid.solve_exactly`
    at_most : allow fewer probes, as the paper's definition of D does; its recursion asks for
        exactly n, and the two differ where there is a gap

    Returns
    -------
    tuple of probes, shape (n,) or fewer, and their cost
        Globally optimal on the grid.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, Algorithms 1, 2 and 4.
    """
    source.check_count(n)
    times = make_grid(source, grid)
    D, following = solve_as_published(cost_matrix(source, times), n)
    m = int(np.argmin(D[:, 0])) if at_most else n - 1
    if not np.isfinite(D[m, 0]):
        raise InvalidModel(f"{n} probes do not fit on this grid")
    points, at = [], 0
    for layer in range(m, -1, -1):
        at = int(following[layer, at])
        points.append(at)
    return times[points], float(D[m, 0])
