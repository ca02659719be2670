"""Rings: pages of like frequency take turns, and the rings are ordered by golden phases."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.orders import serve_rings
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.phases import PhaseStream
from recrawl.sequencing.streams import State


class RingStream:
    """Pages sorted by frequency into rings; each ring serves its pages in turn.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    n_rings : None for 1.5 n ** (2/3), which balances what is lost by unequal frequencies within a
        ring against what is lost between rings

    Notes
    -----
    Rings are cut so that equal frequencies within each lose least: with visits of density m over
    the logarithm of frequency, cuts of density :math:`m^{1/3}` (Panter and Dite 1951). Within a
    ring the distances are sums of many of the ring's own, whose errors do not add up since due
    times keep to a grid. O(1) a step.
    """

    def __init__(self, frequencies: ArrayLike, n_rings: int | None = None) -> None:
        shares = check_frequencies(frequencies)
        used = np.flatnonzero(shares > 0)
        self._pages = used[np.argsort(-shares[used], kind="stable")]
        wanted = round(1.5 * used.size ** (2 / 3)) if n_rings is None else n_rings
        self._starts = _cut(shares[self._pages], max(wanted, 1))
        self._hands = self._starts[:-1].copy()
        self._order = PhaseStream(np.add.reduceat(shares[self._pages], self._starts[:-1]))

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        serve_rings(self._order.take(count), self._starts, self._hands, out)
        return self._pages[out]

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        own = {"members": self._pages, "starts": self._starts, "hands": self._hands.copy()}
        return self._order.checkpoint() | own

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made."""
        stream = cls.__new__(cls)
        stream._pages, stream._starts = np.array(state["members"]), np.array(state["starts"])
        stream._hands, stream._order = np.array(state["hands"]), PhaseStream.restore(state)
        return stream


def _cut(shares: Vector, rings: int) -> Integers:
    """Return where rings start and the last ends, for frequencies in falling order."""
    steps = -np.diff(np.log(shares), prepend=np.log(shares[0]))
    mass = np.cumsum(np.cbrt(shares * steps**2))
    if not mass[-1] > 0:  # all alike: one ring
        return np.array([0, shares.size])
    ring = np.minimum(mass / mass[-1] * rings, rings - 1)
    change = np.flatnonzero(np.diff(ring.astype(np.int64)) > 0) + 1
    return np.concatenate([[0], change, [shares.size]])
