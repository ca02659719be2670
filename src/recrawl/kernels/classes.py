"""Sort pages into classes by the ratio that decides how they respond to a price."""

import numpy as np

from recrawl.kernels.arrays import Vector
from recrawl.kernels.compile import sized_kernel

_SHIFT = 44  # eight of the 52 mantissa bits number 256 classes in each octave
CLASSES = 2048 * 256
_BLOCK = 256


@sized_kernel(lambda _, change, *rest: 4.0 * change.size)
def add_to_classes(
    power: int, change: Vector, weight: Vector, cost: Vector, classes: Vector, stride: int = 1
) -> int:
    """Add change rate x cost of each page, and the same times a root of its ratio, to a class.

    The root is the square root for power 1 and the cube root for power 2, the powers with which
    demand grows when a page's ratio is far above the price. Returns how many pages were taken.

    Parameters
    ----------
    power : of the change rate in the ratio weight / (cost x change rate^power), 1 or 2
    change : shape (n,), 1/time, >= 0
    weight, cost : shape (n,), >= 0 and > 0; a constant array of at least ``_BLOCK`` values where
        missing
    classes : shape (CLASSES, 2), is added to
    stride : only every stride-th block of pages is taken, >= 1
    """
    n = change.size
    ratio = np.empty(_BLOCK)
    mass = np.empty(_BLOCK)
    root = np.empty(_BLOCK)
    n_taken = 0
    for start in range(0, n, _BLOCK * stride):
        count = min(_BLOCK, n - start)
        n_taken += count
        d = change[start : start + count]
        w = weight[start : start + count] if weight.size == n else weight[:count]
        k = cost[start : start + count] if cost.size == n else cost[:count]
        for j in range(count):
            mass[j] = k[j] * d[j]
            ratio[j] = w[j] / mass[j]
            root[j] = np.sqrt(ratio[j])
        if power == 2:
            for j in range(count):
                ratio[j] /= d[j]
                root[j] = np.cbrt(ratio[j])
        number = ratio.view(np.int64)
        for j in range(count):
            row = number[j] >> _SHIFT
            if 0.0 < ratio[j] < np.inf:
                classes[row, 0] += mass[j]
                classes[row, 1] += mass[j] * root[j]
    return n_taken
