"""Arrays by what they hold: the one place that names them, for all that computes."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # of any shape
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Complexes: TypeAlias = NDArray[np.complex128]
Integers: TypeAlias = NDArray[np.int64]
Counts: TypeAlias = NDArray[np.int64]  # integers >= 0
Flags: TypeAlias = NDArray[np.bool_]


def is_among(values: Integers, others: Integers | Sequence[int]) -> Flags:
    """Tell which values are among others, as ``numpy.isin``, which takes a megabyte to load.

    O((n + m) log m).

    Parameters
    ----------
    values : shape (n,)
    others : m of them, in any order
    """
    held = np.sort(np.asarray(others, np.int64))
    if not held.size:
        return np.zeros(values.shape, np.bool_)
    place = np.minimum(np.searchsorted(held, values), held.size - 1)
    return np.asarray(held[place] == values)
