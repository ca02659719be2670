"""Sort pages into classes by the ratio that decides how they respond to a price."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel

__all__ = ["CLASSES", "add_to_classes"]

Vector: TypeAlias = NDArray[np.float64]

_SHIFT = 46  # six of the 52 mantissa bits number 64 classes in each octave
CLASSES = 2048 * 64
_BLOCK = 1024


@kernel
def add_to_classes(
    power: int,
    step: int,
    change: Vector,
    weight: Vector,
    cost: Vector,
    masses: Vector,
    moments: Vector,
) -> None:
    """Add every ``step``-th page, counted ``step`` times, to the class of its ratio.

    A column that is missing is a constant array of at least ``_BLOCK`` values.
    """
    n = change.size
    weight_mask = -1 if weight.size == n else 0
    cost_mask = -1 if cost.size == n else 0
    ratio = np.empty(_BLOCK)
    mass = np.empty(_BLOCK)
    for start in range(0, n, _BLOCK * step):
        count = 0
        for i in range(start, min(n, start + _BLOCK * step), step):
            d, w, k = change[i], weight[i & weight_mask], cost[i & cost_mask]
            asked = d > 0.0 and w > 0.0
            ratio[count] = w / (k * d) / (d if power == 2 else 1.0) if asked else 0.0
            mass[count] = step * d * k if asked else 0.0
            count += 1
        number = ratio.view(np.int64)
        for j in range(count):
            if 0.0 < ratio[j] < np.inf:
                masses[number[j] >> _SHIFT] += mass[j]
                moments[number[j] >> _SHIFT] += mass[j] * ratio[j]
