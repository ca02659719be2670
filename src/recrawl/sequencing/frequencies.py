"""Access frequencies: checked once, and rounded to a cycle."""

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector


def check_frequencies(frequencies: ArrayLike) -> Vector:
    """Return frequencies as shares that sum to 1.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum; crawl rates will do

    Raises
    ------
    InvalidModel
        Naming the first page whose frequency cannot be, and the value.
    """
    shares = np.asarray(frequencies, dtype=np.float64)
    if shares.ndim != 1 or not shares.size:
        raise InvalidModel(f"frequencies must be a vector of at least one, got {shares.shape}")
    good = np.isfinite(shares) & (shares >= 0)
    if not np.all(good):
        page = int(np.argmin(good))
        raise InvalidModel(f"frequency of page {page} must be finite and >= 0: {shares[page]:g}")
    total = shares.sum()
    if not (np.isfinite(total) and total > 0):
        raise InvalidModel(f"frequencies must sum to a positive number, they sum to {total:g}")
    return np.asarray(shares / total)


def round_to_cycle(frequencies: ArrayLike, length: int) -> Integers:
    """Share out the slots of a cycle: counts that differ from ``length`` times f by less than 1.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    length : slots of the cycle, at least the number of pages of positive frequency

    Returns
    -------
    counts, shape (n,), summing to ``length``; floor or ceiling of each share by largest remainder,
    but at least 1 for every page of positive frequency.

    Raises
    ------
    InvalidModel
        When the cycle is too short to hold every page once.
    """
    shares = check_frequencies(frequencies)
    used = int(np.count_nonzero(shares))
    if length < used:
        raise InvalidModel(
            f"a cycle of {length} is too short to hold each of {used} pages once; "
            f"it must be at least {used}"
        )
    exact = shares * length
    counts = np.floor(exact + 1e-9).astype(np.int64)
    counts[(shares > 0) & (counts == 0)] = 1
    missing = length - int(counts.sum())
    while missing:  # a second round only where many pages were lifted to 1
        owed = np.where(shares > 0, exact - counts, -np.inf if missing > 0 else np.inf)
        if missing > 0:
            chosen = np.argsort(-owed, kind="stable")[: min(missing, used)]
            counts[chosen] += 1
            missing -= chosen.size
        else:
            chosen = np.argsort(np.where(counts > 1, owed, np.inf), kind="stable")
            chosen = chosen[: min(-missing, int(np.count_nonzero(counts > 1)))]
            counts[chosen] -= 1
            missing += chosen.size
    return counts
