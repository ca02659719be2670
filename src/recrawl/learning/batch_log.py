"""From the timestamps of a crawler to batches: stops cut out, short gaps merged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Counts, Vector

_BLOCKS = 20


@dataclass(frozen=True, eq=False)
class BatchLog:
    """A log of arrivals as batches.

    Parameters
    ----------
    intervals : shape (n,), > 0; times between batches, sequence after sequence
    starts : where each sequence without a stop begins, n last
    sizes : shape (batches,), >= 1; items in each batch, the first of each sequence included
    stops : shape (k,); the gaps taken for stops of the crawler and left out
    merged : how many gaps were too short to separate batches
    """

    intervals: Vector
    starts: Counts
    sizes: Counts
    stops: Vector
    merged: int

    @property
    def size_law(self) -> Vector:
        """Share of batches of 1, 2, ..., the largest."""
        return np.asarray(np.bincount(self.sizes)[1:] / self.sizes.size)

    @property
    def mean(self) -> float:
        """Mean time between batches."""
        return float(self.intervals.mean())

    @property
    def squared_variation(self) -> float:
        """Variance of the times over the square of their mean."""
        return float(self.intervals.var() / self.mean**2)

    def correlations(self, lags: int) -> Vector:
        """Correlations of intervals 1 .. ``lags`` apart, within sequences."""
        return _correlations(self.intervals, self.starts, lags)

    def correlation_errors(self, lags: int) -> Vector:
        """Standard errors of the correlations: from blocks of a long log, 1/sqrt(n) otherwise."""
        n = self.intervals.size
        plain = np.full(lags, n**-0.5)
        if n < 200 * _BLOCKS:
            return plain
        centred = self.intervals - self.mean
        power = float(self.intervals.var())
        blocks = np.array_split(centred, _BLOCKS)
        found = [
            [float(np.mean(block[k:] * block[:-k])) / power for k in range(1, lags + 1)]
            for block in blocks
        ]
        return np.asarray(np.maximum(plain, np.std(found, axis=0, ddof=1) / _BLOCKS**0.5))


def _correlations(intervals: Vector, starts: Counts, lags: int) -> Vector:
    centred = intervals - intervals.mean()
    power = float(centred @ centred) / centred.size
    part = np.searchsorted(starts, np.arange(intervals.size), side="right")
    out = np.zeros(lags)
    for k in range(1, lags + 1):
        same = part[k:] == part[:-k]
        pairs = int(np.count_nonzero(same))
        if pairs and power > 0:
            out[k - 1] = float(np.sum((centred[k:] * centred[:-k])[same])) / pairs / power
    return out


def split_log(times: ArrayLike, *, stop: float | None = None, merge: float = 0.0) -> BatchLog:
    """Turn instants of arrival into batches.

    Parameters
    ----------
    times : shape (n,), not decreasing; one for each item
    stop : gaps longer than that are stops of the crawler, and are cut out; left out: thirty times
        the 99th percentile of the gaps between batches
    merge : gaps of at most that belong to one batch; 0 merges simultaneous arrivals only

    Raises
    ------
    InvalidModel
        If the instants are unsorted, or fewer than ten intervals are left.

    Notes
    -----
    O(n). The procedure of the paper's second example: censor, merge, count.
    """
    instants = np.asarray(times, dtype=np.float64)
    gaps = np.diff(instants)
    if np.any(gaps < 0):
        row = int(np.argmax(gaps < 0)) + 1
        raise InvalidModel(f"times must not decrease: entry {row} is before entry {row - 1}")
    if stop is not None and stop <= merge:
        raise InvalidModel(f"stop must exceed merge, got {stop:g} and {merge:g}")
    within = gaps <= merge
    between = gaps[~within]
    if stop is None and between.size:
        stop = 30.0 * float(np.quantile(between, 0.99))
    firsts = np.concatenate([[True], ~within]) if instants.size else np.zeros(0, dtype=bool)
    sizes = np.diff(np.append(np.flatnonzero(firsts), instants.size))
    limit = stop if stop is not None else np.inf
    halts = between > limit
    kept = between[~halts]
    if kept.size < 10:
        raise InvalidModel(
            f"at least 10 times between batches are needed, {kept.size} are left of "
            f"{instants.size} arrivals ({int(within.sum())} gaps merged, {int(halts.sum())} stops)"
        )
    before = np.cumsum(~halts)[halts]  # intervals kept before each stop
    starts = np.unique(np.concatenate([[0], before, [kept.size]]))
    return BatchLog(kept, starts.astype(np.int64), sizes, between[halts], int(within.sum()))
