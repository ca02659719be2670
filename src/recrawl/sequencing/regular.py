"""Regular words for two: the second letter as evenly spread as whole numbers allow."""

from math import gcd

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.streams import KeptStream

_UNIT = 1 << 52


def regular_cycle(count: int, length: int) -> Integers:
    r"""Return the balanced word of pages 0 and 1, shape (length,).

    Parameters
    ----------
    count : zeros, the slots of page 0, 0 <= count <= length
    length : slots, >= 1

    Notes
    -----
    Slot n is of page 0 where :math:`\lceil (n+1)p \rceil > \lceil np \rceil` with p = count /
    length: the lower mechanical word. Any two stretches of equal length differ by at most one
    zero, which spaces both letters as evenly as whole numbers allow at once.

    References
    ----------
    B. Hajek, "Extremal splittings of point processes", Mathematics of Operations Research 10, 1985.
    """
    if not 0 <= count <= length or length < 1:
        raise InvalidModel(f"count must be in 0 .. {length}, got {count}")
    n = np.arange(length + 1)
    ahead = -(-(n * count) // length)
    return np.where(np.diff(ahead) > 0, 0, 1)


class RegularStream(KeptStream):
    """Endless regular word of two pages.

    Parameters
    ----------
    frequencies : shape (2,), >= 0, of positive sum; rounded to a multiple of 2**-52

    Notes
    -----
    An integer sum of frequencies, so the word is exact and never drifts. O(1) a step.
    """

    _NUMBERS = ("part", "whole", "rest")

    def __init__(self, frequencies: ArrayLike) -> None:
        shares = check_frequencies(frequencies)
        if shares.size != 2:
            raise InvalidModel(f"regular words order 2 pages, not {shares.size}")
        part = round(float(shares[0]) * _UNIT)
        divisor = gcd(part, _UNIT)
        self._part, self._whole, self._rest = part // divisor, _UNIT // divisor, 0

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        for start in range(0, count, 1024):  # 1024 parts of 2**52 stay below 2**63
            n = np.arange(min(1024, count - start) + 1)
            ahead = -(-(n * self._part - self._rest) // self._whole)
            out[start : start + n.size - 1] = np.where(np.diff(ahead) > 0, 0, 1)
            self._rest = int((self._rest - int(n[-1]) * self._part) % self._whole)
        return out
