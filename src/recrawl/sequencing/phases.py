"""Phases: each page has its own even grid of due times, and the earliest due time is served."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.calendar import serve_by_deadline
from recrawl.sequencing.frequencies import check_frequencies, round_to_cycle
from recrawl.sequencing.queue import DueQueue, DueStream, golden_phases


def deadline_phases(frequencies: Vector) -> Vector:
    """Return phases of 1: the j-th visit is due by slot j / f (d'Hondt's rule)."""
    return np.ones(frequencies.size)


_CROWD: Final = 32


def webster_phases(frequencies: Vector) -> Vector:
    """Return phases of 1/2: the j-th visit is due at slot (j - 1/2) / f (Webster's rule).

    Notes
    -----
    Pages of one frequency are due at once. Where they are more than 32, each is due in the middle
    of as many slots as they need, at a slot of its own: else every step would search all of them.
    O(n log n).
    """
    phases = np.full(frequencies.size, 0.5)
    order = np.argsort(frequencies, kind="stable")
    starts = np.flatnonzero(np.diff(frequencies[order], prepend=-1.0) > 0)
    sizes = np.diff(starts, append=frequencies.size)
    total = frequencies.sum()
    for start, size in zip(starts[sizes > _CROWD], sizes[sizes > _CROWD], strict=True):
        alike = order[start : start + size]
        width = min(size * frequencies[alike[0]] / total, 1.0)
        phases[alike] += ((np.arange(size) + 0.5) / size - 0.5) * width
    return phases


class PhaseStream(DueStream):
    """Accesses in order of due times (j - 1 + phase) / frequency; pages may come and go.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    phases : shape (n,), in (0, 1], or None for golden phases by rank

    Notes
    -----
    A page's visits keep to its grid however long the stream runs, within the number of others that
    are due at the same time. One calendar queue: O(1) amortised a step.

    References
    ----------
    A. Itai, Z. Rosberg, "A golden ratio control policy for a multiple-access channel", IEEE
    Transactions on Automatic Control 29, 1984 (golden phases of one point each).
    """

    def __init__(self, frequencies: ArrayLike, phases: ArrayLike | None = None) -> None:
        shares = check_frequencies(frequencies)
        start = _phases(shares, phases)
        # ties are broken the same way in every round, or pages of one rate would change places
        start = start * (1 - 1e-6 * np.arange(shares.size) / shares.size)
        self.queue = DueQueue.of(shares, 1.0, start, n_lanes=1)

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        queue = self.queue
        serve_by_deadline(queue.pages, queue.lanes, queue.buckets, queue.clock, out)
        return out

    def add(self, frequency: float) -> int:
        """Let a page in; its frequency is on the scale of the first shares. Return its number."""
        return self.queue.add(frequency, 1.0)

    def change(self, page: int, frequency: float) -> None:
        """Give a page a new frequency."""
        self.queue.change(page, frequency, 1.0)


def phase_cycle(frequencies: ArrayLike, length: int, phases: ArrayLike | None = None) -> Integers:
    """Return one cycle: every page its rounded number of times, in order of due times.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    length : slots of the cycle; long enough for every page once
    phases : shape (n,), in (0, 1], or None for golden phases by rank

    Notes
    -----
    O(length log length).
    """
    shares = check_frequencies(frequencies)
    counts = round_to_cycle(shares, length)
    start = _phases(shares, phases)
    pages = np.repeat(np.arange(shares.size), counts)
    turn = np.arange(length) - np.repeat(np.cumsum(counts) - counts, counts)
    due = (turn + start[pages]) / counts[pages]
    return pages[np.argsort(due, kind="stable")]


def _phases(shares: Vector, phases: ArrayLike | None) -> Vector:
    if phases is None:
        return golden_phases(shares)
    start = np.asarray(phases, dtype=np.float64)
    if start.shape != shares.shape or not np.all((start > 0) & (start <= 1)):
        raise InvalidModel(f"phases must be in (0, 1], one for each of {shares.size} pages")
    return start
