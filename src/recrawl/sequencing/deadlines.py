"""Eligible earliest deadline first: never a visit before its window, none after."""

import numpy as np
from numpy.typing import ArrayLike

from recrawl.kernels.arrays import Integers
from recrawl.kernels.orders import serve_eligible
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.streams import KeptStream


class DeadlineStream(KeptStream):
    """The j-th visit to a page within slots (j - 1) / f and j / f, the nearest deadline first.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum

    Notes
    -----
    No page is ever a visit or more away from its share. Two heaps: O(log n) a step.

    References
    ----------
    R. Tijdeman, "The chairman assignment problem", Discrete Mathematics 32, 1980.
    """

    _ARRAYS = ("gap", "deadline", "release", "waiting", "eligible", "sizes")

    def __init__(self, frequencies: ArrayLike) -> None:
        shares = check_frequencies(frequencies)
        used = np.flatnonzero(shares > 0)
        self._gap = np.full(shares.size, np.inf)
        self._gap[used] = 1 / shares[used]
        self._deadline, self._release = self._gap.copy(), np.zeros(shares.size)
        self._waiting = np.zeros(used.size, dtype=np.int64)
        self._eligible = used[np.argsort(self._gap[used], kind="stable")]  # sorted, hence a heap
        self._sizes = np.array([0, used.size, 0])

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        serve_eligible(
            self._gap,
            self._deadline,
            self._release,
            self._waiting,
            self._eligible,
            self._sizes,
            out,
        )
        return out
