"""Pages that are visited at every price in a bracket, and those for which the price decides.

A page whose reservation price, weight / (change rate x fetch cost), lies inside a bracket of prices
comes in or drops out within it; all others respond smoothly. The few are kept, the many summed.
"""

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.blocks import BLOCK, LANES, fold, spread
from recrawl.kernels.compile import sized_kernel


@sized_kernel(lambda change, *_: 3.0 * change.size)
def split_active(
    change: Vector, weight: Vector, cost: Vector, bracket: tuple[float, float], kept: Integers
) -> tuple[float, float, int]:
    """Return the sums of sqrt(w d k) and of d k over the pages active throughout ``bracket``.

    The third number returned counts the pages kept, or is -1 when m - BLOCK were too few.

    Parameters
    ----------
    change : shape (n,), change rates d, 1/time, >= 0
    weight, cost : shape (n,), w >= 0 and k > 0; a constant array of ``BLOCK`` values where missing
    bracket : lowest and highest price
    kept : shape (m,), receives the rows of the pages whose reservation price is inside
    """
    n = change.size
    low, high = bracket
    roots, masses = np.empty(BLOCK), np.empty(BLOCK)
    between = np.empty(BLOCK, dtype=np.int64)
    root_lanes, mass_lanes, n_kept = np.zeros(LANES), np.zeros(LANES), 0
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
        spread(roots, count, root_lanes)
        spread(masses, count, mass_lanes)
        if n_kept + BLOCK > kept.shape[0]:
            return 0.0, 0.0, -1
        for j in range(count):  # always written, kept by moving on: no branch to mispredict
            kept[n_kept] = start + j
            n_kept += between[j]
    return fold(root_lanes), fold(mass_lanes), n_kept
