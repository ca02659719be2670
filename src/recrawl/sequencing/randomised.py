"""The randomised policy: every access is drawn independently."""

import numpy as np
from numpy.typing import ArrayLike

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.orders import serve_at_random, split_cells
from recrawl.sequencing.frequencies import check_frequencies, round_to_cycle
from recrawl.sequencing.streams import KeptStream


class RandomStream(KeptStream):
    """Independent draws by frequency; the t-th depends on the seed and t alone.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    seed : whole number

    Notes
    -----
    Alias method (Walker 1977) on a counter-based generator, so any draw can be repeated. O(1) a
    step.
    """

    _ARRAYS = ("keep", "other")
    _NUMBERS = ("seed", "position")

    def __init__(self, frequencies: ArrayLike, seed: int = 0) -> None:
        self._keep, self._other = _alias(check_frequencies(frequencies))
        self._seed, self._position = seed, 0

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        serve_at_random(self._keep, self._other, self._seed, self._position, out)
        self._position += count
        return out


def random_cycle(frequencies: ArrayLike, length: int, rng: np.random.Generator) -> Integers:
    """Return a cycle in random order, with every page its rounded number of times.

    Parameters
    ----------
    frequencies, length : as for :func:`~recrawl.sequencing.frequencies.round_to_cycle`
    rng : draws the order
    """
    counts = round_to_cycle(frequencies, length)
    return rng.permutation(np.repeat(np.arange(counts.size), counts))


def _alias(shares: Vector) -> tuple[Vector, Integers]:
    """Split the pages so that each cell of width 1/n holds at most two of them."""
    keep, other = shares * shares.size, np.arange(shares.size)
    split_cells(keep, other)
    return keep, other
