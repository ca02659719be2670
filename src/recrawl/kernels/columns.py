"""Checks of whole columns in one pass and without a temporary."""

from recrawl.kernels.arrays import Vector
from recrawl.kernels.compile import sized_kernel

_BLOCK = 4096


@sized_kernel(lambda values, *_: 0.2 * values.size)
def first_outside(values: Vector, least: float, greatest: float) -> int:
    """Index of the first value outside [least, greatest] or NaN; -1 when there is none.

    Parameters
    ----------
    values : shape (n,)
    least, greatest : in the unit of the values
    """
    for start in range(0, values.size, _BLOCK):
        stop = min(start + _BLOCK, values.size)
        bad = 0
        for j in range(start, stop):
            bad |= not (least <= values[j] <= greatest)
        if bad:
            for j in range(start, stop):
                if not (least <= values[j] <= greatest):
                    return j
    return -1


@sized_kernel(lambda floors, *_: 0.4 * floors.size)
def first_above(floors: Vector, caps: Vector) -> int:
    """Index of the first floor above its cap; -1 when there is none.

    Parameters
    ----------
    floors, caps : shape (n,), in one unit
    """
    for j in range(caps.size):
        if floors[j] > caps[j]:
            return j
    return -1
