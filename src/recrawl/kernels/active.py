"""Pages that are visited at every price in a bracket, and those for which the price decides.

A page whose reservation price, weight / (change rate x fetch cost), lies inside a bracket of prices
comes in or drops out within it; all others respond smoothly. The few are kept, the many summed.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel

__all__ = ["BLOCK", "split_active"]

Vector: TypeAlias = NDArray[np.float64]

BLOCK = 1024
_LANES = 64


@kernel
def _sum(values: Vector, count: int) -> float:
    """Sum in 64 lanes, as in ``recrawl.kernels.gaps``."""
    lanes = np.zeros(_LANES)
    whole = count - count % _LANES
    for start in range(0, whole, _LANES):
        for j in range(_LANES):
            lanes[j] += values[start + j]
    total = 0.0
    for j in range(_LANES):
        total += lanes[j]
    for j in range(whole, count):
        total += values[j]
    return total


@kernel
def split_active(
    change: Vector, weight: Vector, cost: Vector, bracket: tuple[float, float], kept: Vector
) -> tuple[float, float, int]:
    """Return the sums of sqrt(w d k) and of d k over the pages active throughout ``bracket``.

    ``kept``, shape (m, 3), receives change rate, weight and cost of the pages whose reservation
    price is inside; the third number returned counts them, or is -1 when m - BLOCK were too few.
    A column that is missing is a constant array of ``BLOCK`` values.
    """
    n = change.size
    low, high = bracket
    roots, masses = np.empty(BLOCK), np.empty(BLOCK)
    between = np.empty(BLOCK, dtype=np.int64)
    total_root, total_mass, n_kept = 0.0, 0.0, 0
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        d = change[start : start + count]
        w = weight[start : start + count] if weight.size == n else weight[:count]
        k = cost[start : start + count] if cost.size == n else cost[:count]
        for j in range(count):
            mass = d[j] * k[j]
            active = w[j] > high * mass
            roots[j] = np.sqrt(w[j] * mass) if active else 0.0
            masses[j] = mass if active else 0.0
            between[j] = (w[j] > low * mass) & (w[j] <= high * mass)
        total_root += _sum(roots, count)
        total_mass += _sum(masses, count)
        if n_kept + BLOCK > kept.shape[0]:
            return 0.0, 0.0, -1
        for j in range(count):  # always written, kept by moving on: no branch to mispredict
            kept[n_kept, 0] = d[j]
            kept[n_kept, 1] = w[j]
            kept[n_kept, 2] = k[j]
            n_kept += between[j]
    return total_root, total_mass, n_kept
