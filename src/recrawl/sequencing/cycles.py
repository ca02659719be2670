"""Finite cycles: repeated for ever, and cut from a stream."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.kernels.distances import cyclic_distances
from recrawl.sequencing.frequencies import check_frequencies, round_to_cycle
from recrawl.sequencing.streams import AccessStream, State


class CycleStream:
    """A cycle that is repeated for ever.

    Parameters
    ----------
    sequence : shape (K,), page numbers
    """

    def __init__(self, sequence: ArrayLike) -> None:
        self._sequence, self._position = np.array(sequence, dtype=np.int64), 0
        if self._sequence.ndim != 1 or not self._sequence.size:
            raise InvalidModel("a cycle must be a vector of at least one page number")

    @property
    def length(self) -> int:
        """Slots after which the order repeats."""
        return int(self._sequence.size)

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        slots = np.arange(self._position, self._position + count) % self._sequence.size
        self._position = int(self._position + count) % self._sequence.size
        return self._sequence[slots]

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        return {"sequence": self._sequence, "position": np.array(self._position)}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made."""
        stream = cls(state["sequence"])
        stream._position = int(state["position"])
        return stream


def close_cycle(stream: AccessStream, frequencies: ArrayLike, length: int) -> Integers:
    """Cut a cycle from a stream, with every page its rounded number of times.

    Parameters
    ----------
    stream : is moved on by ``length`` slots
    frequencies : shape (n,), >= 0, of positive sum
    length : slots of the cycle; long enough for every page once

    Notes
    -----
    The window is kept but for a few slots: of pages that it holds too often those visits go that
    come soonest after the one before, and pages that it holds too rarely take their places in
    order. O(length log length).
    """
    shares = check_frequencies(frequencies)
    wanted = round_to_cycle(shares, length)
    order = stream.take(length)
    order = np.where(order < 0, np.flatnonzero(shares)[0], order)  # idle slots can be used
    distances = np.empty(length, dtype=np.int64)
    cyclic_distances(order, np.empty(shares.size, dtype=np.int64), distances)
    surplus = np.bincount(order, minlength=shares.size) - wanted
    soonest = np.lexsort((distances * shares[order], order))
    first = np.cumsum(np.bincount(order, minlength=shares.size))
    first = np.concatenate([[0], first[:-1]])
    rank = np.empty(length, dtype=np.int64)
    rank[soonest] = np.arange(length) - first[order[soonest]]
    free = np.flatnonzero(rank < surplus[order])
    needed = np.repeat(np.arange(shares.size), np.maximum(-surplus, 0))
    phase = np.arange(needed.size) * ((5**0.5 - 1) / 2) % 1
    order[free] = needed[np.argsort(phase, kind="stable")]
    return order
