"""The exact optimum on a grid of possible probe times, with a minimum gap."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Vector
from recrawl.kernels.probe_grid import find_last, price_once, solve_count, solve_layers
from recrawl.probing.bounds import bound_as_published, bound_within_pieces
from recrawl.probing.model import ProbedSource


@dataclass(frozen=True, eq=False)
class ProbeOptimum:
    """An optimal schedule and its certificates.

    Parameters
    ----------
    source : what was solved
    probes : shape (n,), times, increasing, the last at T
    cost : expected cost of one period
    price : a price of a probe at which no number of probes on the grid beats this one; negative
        where a gap makes further probes harmful
    lower_bound : no schedule of so many probes on the grid costs less; equals the cost up to
        rounding
    grid : shape (N + 1,), the times allowed
    evaluations : prices tried
    """

    source: ProbedSource
    probes: Vector
    cost: float
    price: float
    lower_bound: float
    grid: Vector
    evaluations: int

    @property
    def count(self) -> int:
        """Number of probes in one period."""
        return int(self.probes.size)

    @cached_property
    def published_bound(self) -> float:
        """The most by which the cost may exceed that of continuous time, by Proposition 8."""
        return bound_as_published(self.source, self.grid, self.count)

    @cached_property
    def sharper_bound(self) -> float:
        """The same by :func:`~recrawl.probing.bounds.bound_within_pieces`; may be infinity."""
        return bound_within_pieces(self.source, self.grid, self.count)

    @property
    def residual(self) -> float:
        """Gap between cost and lower bound, relative to all importance times all updates."""
        total = self.source.importance.total * self.source.updates
        return abs(self.cost - self.lower_bound) / total


def make_grid(source: ProbedSource, grid: int | ArrayLike) -> Vector:
    """Return the times of a grid, checked, shape (N + 1,).

    Parameters
    ----------
    source : gives the period T
    grid : number of even cells N, >= 1, or shape (N + 1,), times, increasing from 0 to T
    """
    times = np.asarray(grid, dtype=np.float64)
    if times.ndim == 0:
        cells = int(times)
        if cells < 1:
            raise InvalidModel(f"grid must have at least 1 cell, got {cells}")
        return np.asarray(np.arange(cells + 1) * (source.period / cells), dtype=np.float64)
    good = times.ndim == 1 and times.size >= 2 and np.all(np.diff(times) > 0)
    if not good or times[0] != 0 or abs(times[-1] - source.period) > 1e-9 * source.period:
        raise InvalidModel(f"grid must increase from 0 to the period, {source.period:g}")
    return np.append(times[:-1], source.period)


def _largest(last: np.ndarray) -> int:
    """Most probes on the grid: from the end, always the latest point that is allowed."""
    at, count = last.size - 1, 0
    while at > 0 and last[at] >= 0:
        at, count = int(last[at]), count + 1
    return count


def _prepare(source: ProbedSource, grid: int | ArrayLike, n: int) -> tuple[Vector, np.ndarray, int]:
    source.check_count(n)
    times = make_grid(source, grid)
    last = find_last(times, source.gap)
    most = times.size - 1 if source.gap == 0 else _largest(last)
    if n > most:
        raise InvalidModel(
            f"{n} probes do not fit on a grid of {times.size - 1} cells"
            + (f" with a gap of {source.gap:g}" if source.gap else "")
            + f": the largest possible number is {most}"
        )
    return times, last, most


def solve_exactly(source: ProbedSource, n: int, grid: int | ArrayLike) -> ProbeOptimum:
    r"""Minimise the expected cost over all schedules of exactly n probes on a grid.

    Parameters
    ----------
    source : the model, with its gap
    n : probes in one period, the last at T, >= 1
    grid : number of even cells N, or shape (N + 1,), times from 0 to T

    Returns
    -------
    ProbeOptimum
        Globally optimal on the grid; ``lower_bound`` proves it. With a gap the cost may rise with
        n (see :func:`solve_at_most`).

    Raises
    ------
    InvalidModel
        If n probes are impossible; the message names the largest possible number.
    NotConverged
        If 500 prices were not enough (never seen).

    Notes
    -----
    With L, A the integrals of intensity and importance the cost is
    :math:`\sum A_{p_i}(L_{p_i} - L_{p_{i-1}}) - G`. For a price c of a probe one pass over the
    grid solves :math:`F_i = c + \min_{j} [F_j - A_i L_j] + A_i L_i` on a monotone hull. The least
    cost is convex in n, also with a gap, so some price leads to n; where only fewer and more
    probes tie, two schedules are spliced (Monge inequality). O(N) for each of about 10 prices,
    O(N) memory.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, problem (9). A. Aggarwal,
    B. Schieber and T. Tokuyama, "Finding a minimum-weight k-link path in graphs with the concave
    Monge property", Discrete & Computational Geometry 12, 1994 (price and splice).
    """
    times, last, _ = _prepare(source, grid, n)
    L, A = source.integrals(times)
    path, price, bound, tried = solve_count(L, A, last, n, source.gap > 0)
    if bound == -np.inf:
        raise NotConverged("the price of a probe", iterations=tried, residual=np.inf)
    return _optimum(source, times, times[path[1:]], price, (bound, L, A), tried)


def _optimum(
    source: ProbedSource,
    times: Vector,
    probes: Vector,
    price: float,
    proof: tuple[float, Vector, Vector],
    tried: int,
) -> ProbeOptimum:
    bound, L, A = proof
    cost = source.cost(probes)
    # The bound lacks the constant; the cost by prefix sums lacks it too.
    at = np.searchsorted(times, probes)
    priced = float(np.sum(A[at] * np.diff(L[at], prepend=0.0)))
    return ProbeOptimum(
        source=source,
        probes=probes,
        cost=cost,
        price=float(price),
        lower_bound=cost - (priced - bound),
        grid=times,
        evaluations=tried,
    )


def solve_at_price(source: ProbedSource, price: float, grid: int | ArrayLike) -> ProbeOptimum:
    """Minimise the expected cost plus a price for each probe, however many there are.

    Parameters
    ----------
    source : the model, with its gap
    price : cost of one probe, finite; at 0 and below probes are as many as they help
    grid : number of even cells N, or shape (N + 1,), times from 0 to T

    Returns
    -------
    ProbeOptimum
        Globally optimal on the grid; O(N) time and memory.
    """
    if not np.isfinite(price):
        raise InvalidModel(f"price must be finite, got {price!r}")
    times, last, _ = _prepare(source, grid, 1)
    L, A = source.integrals(times)
    value, count, path = price_once(L, A, last, price)
    return _optimum(source, times, times[path[1:]], price, (value - price * count, L, A), 1)


def solve_at_most(source: ProbedSource, n: int, grid: int | ArrayLike) -> ProbeOptimum:
    """Minimise the expected cost over all schedules of at most n probes on a grid.

    Parameters
    ----------
    source, grid : as for :func:`solve_exactly`
    n : most probes in one period, >= 1

    Returns
    -------
    ProbeOptimum
        As :func:`solve_exactly` without a gap, where a further probe never harms. With one, the
        optimum at price 0 where that has fewer probes than n.
    """
    if source.gap == 0:
        return solve_exactly(source, n, grid)
    free = solve_at_price(source, 0.0, grid)
    if n < 1:
        source.check_count(n)
    return free if free.count <= n else solve_exactly(source, n, grid)


def cost_by_count(source: ProbedSource, n: int, grid: int | ArrayLike) -> Vector:
    """Least expected cost of exactly 1, 2, ..., n probes on a grid, shape (n,).

    O(n N) time, O(N) memory: one monotone hull for each number of probes. The costs are convex in
    the number; "at most" is their running minimum.

    Parameters
    ----------
    source, grid : as for :func:`solve_exactly`
    n : the largest number of probes, >= 1; so many must fit on the grid
    """
    times, last, _ = _prepare(source, grid, n)
    L, A = source.integrals(times)
    costs, _ = solve_layers(L, A, last, n, False)
    return np.maximum(costs - _constant(source, L, A), 0.0)


def solve_layered(source: ProbedSource, n: int, grid: int | ArrayLike) -> ProbeOptimum:
    """Solve what :func:`solve_exactly` solves, layer by layer and without prices.

    O(n N) time and memory. A second, independent way; the price is the mean of what the last
    probe bought and the next would.

    Parameters
    ----------
    source, n, grid : as for :func:`solve_exactly`
    """
    times, last, most = _prepare(source, grid, n)
    L, A = source.integrals(times)
    costs, prev = solve_layers(L, A, last, n, True)
    points = [times.size - 1]
    for row in prev[:0:-1]:
        points.append(int(row[points[-1]]))
    before = costs[n - 2] - costs[n - 1] if n > 1 else 0.0
    following = solve_layers(L, A, last, n + 1, False)[0][n] if n < most else costs[n - 1]
    price = 0.5 * (before + costs[n - 1] - following) if n > 1 else costs[0] - following
    return _optimum(source, times, times[points[::-1]], price, (costs[n - 1], L, A), n)


def _constant(source: ProbedSource, L: Vector, A: Vector) -> float:
    """G, the integral of lambda A, from the cost of a single probe: A L - G."""
    return float(A[-1] * L[-1] - source.cost([source.period]))
