"""Importance that is worth telling in the feed, beside what it told."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

MATERIAL: Final = 1.5  # times what was told, or one part in so many of it: then it is told anew


def worth_telling(
    weights: NDArray[np.float64], told: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    """Return the pages whose importance has changed so much that it is told, most moved first.

    Parameters
    ----------
    weights : shape (n,), >= 0, of the pages now
    told : shape (n,), as the feed said last; nan where it never did
    most : of them that are returned; where more have moved alike, those of most weight
    """
    low, high = np.fmin(weights, told), np.fmax(weights, told)
    with np.errstate(over="ignore"):  # which is as far as one can move
        moved = np.divide(high, low, out=np.full(weights.shape, np.inf), where=low > 0.0)
    moved[high <= 0.0] = 1.0  # nothing, as before
    moved[np.isnan(told)] = np.inf
    order = np.lexsort((-weights, -moved))
    return np.asarray(order[moved[order] >= MATERIAL][:most])
