"""Kind and version of an entry of the feed, from what was told and what is so."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.terms import ChangeKind, PageState

__all__ = ["MATERIAL", "kind_of", "version_of", "worth_telling"]

MATERIAL: Final = 1.5  # times what was told, or one part in so many of it: then it is told anew


def kind_of(told: bytes | None, held: bytes | None, state: PageState) -> ChangeKind | None:
    """Return what became of a copy, or None where all was told.

    Parameters
    ----------
    told : signature of the copy that the latest entry of the page told of; None: of none
    held : signature of the copy that the index holds now; None: it holds none
    state : of the page now
    """
    if held == told:
        return None
    if held is None:
        return ChangeKind.MOVED if state is PageState.MOVED else ChangeKind.REMOVED
    return ChangeKind.NEW if told is None else ChangeKind.CHANGED


def version_of(before: int, at_s: float) -> int:
    """Return the version of an entry: milliseconds of its instant, and always above the last.

    So versions also grow from a state that was restored, or begun anew, to what follows it.

    Parameters
    ----------
    before : the last version of the page; 0: there was none
    at_s : the instant, epoch seconds
    """
    return max(before + 1, int(at_s * 1000.0))


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
