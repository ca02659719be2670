"""Regular splits: regular words for more than two pages, one inside the other."""

import heapq

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.orders import serve_splits
from recrawl.sequencing.evaluation import check_sequence
from recrawl.sequencing.frequencies import check_frequencies, round_to_cycle
from recrawl.sequencing.streams import KeptStream

_UNIT = 1 << 52
_LONGEST = 20_000


class SplitStream(KeptStream):
    r"""Endless regular splits: all slots are split in two by a regular word, each part again.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum

    Notes
    -----
    Hájek's regular sequences split slots between two as evenly as whole numbers allow. For more
    than two, words in which every page is as even exist for next to no frequencies (Fraenkel's
    conjecture: of unequal ones only for those as 1, 2, 4, ..., whose words these splits find). Here
    the two rarest pages are joined into one, and so on as in Huffman's code; the joint one's slots
    are split by a regular word. A page that k splits lead to has in any stretch of L slots more
    than :math:`fL - k` and less than :math:`fL + k` accesses, so any two stretches of one length
    differ by less than 2k. Two pages get their regular word. A step takes as many additions as
    splits, on average at most the entropy of the frequencies (in bits) and one more; 40 bytes a
    page.

    References
    ----------
    B. Hajek, "Extremal splittings of point processes", Mathematics of Operations Research 10, 1985.
    Y. Arian, Y. Levy, "Algorithms for generalized round robin routing", Operations Research Letters
    12, 1992.
    """

    _ARRAYS = ("kids", "parts", "wholes", "sums")
    _NUMBERS = ("n_pages", "only")

    def __init__(self, frequencies: ArrayLike) -> None:
        shares = check_frequencies(frequencies)
        used = np.flatnonzero(shares > 0)
        kids, masses = _join(shares, used)
        ours, whole = masses[kids[:, 0]], masses[shares.size :][: len(kids)]
        self._build(shares.size, kids, np.rint(ours / whole * _UNIT), np.full(len(kids), _UNIT))
        self._only = int(used[0])

    def _build(self, n_pages: int, kids: Integers, parts: ArrayLike, wholes: Integers) -> None:
        self._kids, self._wholes, self._n_pages = kids, wholes, n_pages
        self._parts = np.asarray(parts, dtype=np.int64)
        self._sums = wholes // 2  # in the middle: 4, 2 and 1 of 7 slots are balanced so

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.full(count, self._only, dtype=np.int64)
        if self._kids.size:
            serve_splits(self._kids, self._parts, self._wholes, self._sums, self._n_pages, out)
        return out


def split_cycle(frequencies: ArrayLike, length: int) -> Integers:
    """Return one cycle of regular splits: every page its rounded number of times.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    length : slots of the cycle; long enough for every page once

    Notes
    -----
    Splits of whole numbers close by themselves. O(length log length) at most.
    """
    shares = check_frequencies(frequencies)
    counts = round_to_cycle(shares, length)
    kids, masses = _join(counts.astype(np.float64), np.flatnonzero(counts > 0))
    stream = SplitStream(shares)
    wholes = masses[shares.size :][: len(kids)].astype(np.int64)
    stream._build(shares.size, kids, masses[kids[:, 0]], wholes)
    return stream.take(length)


def imbalance(sequence: ArrayLike, n_pages: int) -> int:
    """Return by how many accesses of a page two stretches of one length differ at most.

    Parameters
    ----------
    sequence : shape (K,), page numbers, repeated for ever; K at most 20,000
    n_pages : pages are 0 .. n_pages - 1

    Returns
    -------
    int
        1 where every page is as even as whole numbers allow: a balanced sequence; 0 where each
        slot is of the same page.

    Notes
    -----
    All stretches up to half the cycle are compared; the rest is left when one of these is taken
    out. O(n K^2).

    References
    ----------
    S. Sano, N. Miyoshi, R. Kataoka, "m-balanced words: a generalization of balanced words",
    Theoretical Computer Science 314, 2004.
    """
    order = check_sequence(sequence, n_pages)
    if order.size > _LONGEST:
        raise InvalidModel(f"a sequence must have at most {_LONGEST} slots, got {order.size}")
    worst = 0
    for page in np.unique(order):
        visits = np.concatenate([[0], np.cumsum(np.tile(order == page, 2))])
        for stretch in range(1, order.size // 2 + 1):
            inside = visits[stretch : stretch + order.size] - visits[: order.size]
            worst = max(worst, int(inside.max() - inside.min()))
    return worst


def _join(masses: Vector, used: Integers) -> tuple[Integers, Vector]:
    """Join the two rarest until one is left; return what each joins (m, 2), and all masses."""
    n = masses.size
    heap = [(float(masses[page]), int(page)) for page in used]
    heapq.heapify(heap)
    kids, total = [], masses.tolist()
    while len(heap) > 1:
        (rare, second), (common, first) = heapq.heappop(heap), heapq.heappop(heap)
        kids.append((min(first, second), max(first, second)))
        total.append(rare + common)
        heapq.heappush(heap, (rare + common, n + len(kids) - 1))
    return np.array(kids, dtype=np.int64).reshape(-1, 2), np.array(total)
