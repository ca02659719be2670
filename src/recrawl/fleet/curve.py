"""Policy iteration over curves: the fast exact method for the controlled buffer.

The optimal policy of Talim et al. is, in every instance ever tried, "aim for r*(q) robots at
buffer length q" with r* nonincreasing. This method moves such a curve downhill. It evaluates each
curve exactly through the staircase of the curve (see :mod:`recrawl.kernels.fleet_curve`) and
starts from the curve of the same problem at half the size. At the end every action of every
state is compared once, so the answer is optimal among all policies, or it says that it is not.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.model import ControlledBuffer
from recrawl.kernels.arrays import Integers, Matrix
from recrawl.kernels.fleet_curve import (
    curve_occupancy,
    evaluate_curve,
    move_targets,
    worst_action,
)

__all__ = ["TOLERANCE", "BestCurve", "evaluate_targets", "find_best_curve"]

Curve: TypeAlias = Integers
Rates: TypeAlias = tuple[Matrix, Matrix, Matrix]

TOLERANCE = 1e-11
"""Two actions count as equal when they differ by less, relative to the terms compared."""

_SMALLEST = 8  # buffers and fleets below this size are not halved again
_COARSE_STEPS = 12  # a start needs no more care than this
_LIMIT = 5000
_SHRINK = 2**-0.5
"""Curves of size n are n f + sqrt(n) g, so what one halving changed shows what the next will."""


@dataclass(frozen=True, eq=False, slots=True)
class BestCurve:
    """Result of policy iteration over curves.

    Parameters
    ----------
    targets : robots to aim for at 0, ..., K pages
    gain : its average cost per unit of time
    values : relative value of each state, shape (K + 1, N + 1), by this curve
    iterations : curves evaluated at full size
    residual : the largest gain of any single deviation in any state, relative to the terms
        compared; the curve is optimal among all policies when it is at most ``TOLERANCE``
    """

    targets: Curve
    gain: float
    values: Matrix
    iterations: int
    residual: float


def find_best_curve(model: ControlledBuffer) -> BestCurve:
    """Improve a curve until no target moves, and compare it with every single deviation.

    Returns
    -------
    BestCurve
        Check ``residual``: where the optimum is no curve the walk ends short of it.

    Raises
    ------
    NotConverged
        If the targets still move after 5,000 evaluations.

    Notes
    -----
    One evaluation eliminates a chain of at most K + N + 1 states, with the states above and below
    that an excursion can enter: O(K N) time at least, O(K N) memory. Three to six evaluations
    are usual.
    """
    rates = kernel_rates(model)
    start, _ = coarse_start(rates)
    targets, values, gain, iterations = _improve(rates, start, _LIMIT, must_settle=True)
    spent, time = values
    residual = worst_action(gain, spent, time, targets)
    return BestCurve(targets, gain, (spent - gain * time).T, iterations, residual)


def evaluate_targets(model: ControlledBuffer, targets: tuple[int, ...]) -> Matrix:
    """Long-run fraction of time in each state under a nonincreasing curve, (K + 1, N + 1).

    Parameters
    ----------
    model : the buffer, with N robots and K pages
    targets : K + 1 of them, robots to aim for at 0, ..., K pages

    Raises
    ------
    InvalidModel
        If the curve has the wrong length, increases, or leaves 1..N at an empty buffer and 0..N
        elsewhere.
    """
    curve = np.asarray(targets, dtype=np.int64)
    if curve.shape != (model.buffer + 1,):
        raise InvalidModel(
            f"targets must have {model.buffer + 1} entries, one for each of 0..{model.buffer} "
            f"pages, got {curve.size}"
        )
    if np.any(np.diff(curve) > 0) or curve[0] < 1 or curve[0] > model.robots or curve[-1] < 0:
        raise InvalidModel(
            f"targets must not increase, from 1..{model.robots} down to at least 0, "
            f"got {curve.tolist()}"
        )
    return curve_occupancy(kernel_rates(model), curve).T


def kernel_rates(model: ControlledBuffer) -> Rates:
    """Arrival, index and cost rates as the kernels want them: indexed [r, q]."""
    return (
        np.ascontiguousarray(model.arrival_rates.T),
        np.ascontiguousarray(model.index_rates.T),
        np.ascontiguousarray(model.cost_rates.T),
    )


def coarse_start(rates: Rates) -> tuple[Curve, Matrix]:
    """Start from the problem of half the size: its curve, extrapolated; and merely stretched."""
    n_robots, full = rates[0].shape[0] - 1, rates[0].shape[1] - 1
    smaller = tuple(size // 2 if size >= _SMALLEST else size for size in (n_robots, full))
    if smaller == (n_robots, full):
        flat = balanced_curve(rates)
        return flat, flat.astype(np.float64)
    rows = np.rint(np.linspace(0, n_robots, smaller[0] + 1)).astype(np.int64)
    columns = np.rint(np.linspace(0, full, smaller[1] + 1)).astype(np.int64)
    sampled = np.ix_(rows, columns)
    half = (rates[0][sampled], rates[1][sampled], rates[2][sampled])
    start, guess = coarse_start(half)
    targets, values, gain, _ = _improve(half, start, _COARSE_STEPS, must_settle=False)
    found = fractional_targets(targets, gain, *values)
    scale = n_robots / smaller[0]
    stretched = _stretch(found, full + 1) * scale
    ideal = stretched
    if min(smaller) >= _SMALLEST:  # what the last halving changed, carried over to this one
        ideal = stretched + _SHRINK * scale * _stretch(found - guess, full + 1)
    rounded = np.rint(np.clip(ideal, 0, n_robots)).astype(np.int64)
    curve = np.minimum.accumulate(rounded)
    curve[0] = max(curve[0], 1)
    return curve, stretched


def balanced_curve(rates: Rates) -> Curve:
    """Aim everywhere for the number of robots whose arrivals keep up with the indexer."""
    middle = rates[0].shape[1] // 2
    surplus = np.abs(rates[0][1:, middle] - rates[1][1:, middle])
    return np.full(rates[0].shape[1], 1 + np.argmin(surplus), dtype=np.int64)


def fractional_targets(targets: Curve, gain: float, spent: Matrix, time: Matrix) -> Matrix:
    """Place each target where a parabola through the three values around it is least."""
    n_robots, lengths = spent.shape[0] - 1, np.arange(targets.size)
    inside = (targets > 0) & (targets < n_robots) & ((lengths > 0) | (targets > 1))
    middle = np.clip(targets, 1, n_robots - 1) if n_robots > 1 else np.ones_like(targets)
    if n_robots < 2:
        return targets.astype(np.float64)
    below, at, above = (
        spent[middle + step, lengths] - gain * time[middle + step, lengths] for step in (-1, 0, 1)
    )
    bend = below - 2 * at + above
    inside &= bend > 0
    shift = np.zeros(targets.size)
    shift[inside] = np.clip(0.5 * (below - above)[inside] / bend[inside], -0.5, 0.5)
    return targets + shift


def _stretch(curve: Matrix, size: int) -> Matrix:
    return np.interp(np.linspace(0, curve.size - 1, size), np.arange(curve.size), curve)


def _improve(
    rates: Rates, targets: Curve, limit: int, *, must_settle: bool
) -> tuple[Curve, tuple[Matrix, Matrix], float, int]:
    for iteration in range(1, limit + 1):
        gain, spent, time = evaluate_curve(rates, targets)
        moved = move_targets(gain, spent, time, targets, TOLERANCE)
        if np.array_equal(moved, targets) or (iteration == limit and not must_settle):
            return targets, (spent, time), gain, iteration
        targets = moved
    raise NotConverged("the switching curve still moves", iterations=limit, residual=np.inf)
