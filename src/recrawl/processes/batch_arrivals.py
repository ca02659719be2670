"""Batch Markovian arrival processes (BMAP): a finite Markov chain that brings items in batches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Matrix
from recrawl.processes.markovian_arrivals import MarkovianArrivals

_TOLERANCE = 1e-8  # of a row's largest rate: what people lose when they print a matrix


@dataclass(frozen=True, eq=False, init=False)
class BatchArrivals:
    """Arrivals in batches: D_k holds the rates of transitions that bring k at once.

    Parameters
    ----------
    matrices : D_0, D_1, ..., D_K, each of shape (w, w), 1/time; K >= 1
        D_0 may be negative on its diagonal only; all rows of their sum are zero.

    Raises
    ------
    InvalidModel
        With the matrix, the row and the amount by which it is wrong; also if the phases are not
        irreducible, or nothing ever arrives.
    """

    matrices: Matrix  # shape (K + 1, w, w)

    def __init__(self, matrices: Sequence[ArrayLike] | Matrix) -> None:
        parts = [np.asarray(part, dtype=np.float64) for part in matrices]
        if len(parts) < 2:
            raise InvalidModel(f"D_0 and at least D_1 are needed, got {len(parts)} matrix")
        w = parts[0].shape[0] if parts[0].ndim == 2 else 0
        for k, part in enumerate(parts):
            _check_matrix(k, part, w)
        whole = np.stack(parts)
        size = np.abs(np.diag(parts[0]))
        sums = whole.sum(axis=(0, 2))
        if np.any(np.abs(sums) > _TOLERANCE * np.maximum(size, size.max() * 1e-3)):
            row = int(np.argmax(np.abs(sums)))
            raise InvalidModel(
                f"D_0 + ... + D_{len(parts) - 1}, row {row}: must sum to 0, sums to {sums[row]:.9g}"
            )
        whole[0] -= np.diag(sums)  # rows that sum to zero exactly
        reach = np.linalg.matrix_power(np.eye(w) + (whole.sum(axis=0) > 0), w) > 0
        if not np.all(reach):
            i, j = np.argwhere(~reach)[0]
            raise InvalidModel(
                f"the phases are reducible: phase {j} is never reached from phase {i}"
            )
        if not np.any(whole[1:] > 0):
            raise InvalidModel("D_1, D_2, ... must hold a rate > 0, or nothing ever arrives")
        object.__setattr__(self, "matrices", whole)

    @classmethod
    def of(cls, singles: MarkovianArrivals, sizes: ArrayLike = (1.0,)) -> Self:
        """Give each arrival of a MAP a batch size of its own.

        Parameters
        ----------
        singles : the process of the batches
        sizes : shape (K,), >= 0, summing to 1; probability of a batch of 1, 2, ..., K
        """
        law = np.asarray(sizes, dtype=np.float64)
        if law.ndim != 1 or np.any(law < 0) or abs(law.sum() - 1) > 1e-9:
            raise InvalidModel(f"sizes must be >= 0 and sum to 1, sum to {law.sum():.9g}")
        return cls([singles.hidden, *(share * singles.visible for share in law)])

    @property
    def phases(self) -> int:
        """Number of phases, w."""
        return int(self.matrices.shape[1])

    @property
    def largest(self) -> int:
        """Size K of the largest batch."""
        return int(self.matrices.shape[0]) - 1

    @cached_property
    def batches(self) -> MarkovianArrivals:
        """Arrivals of batches, whatever their size."""
        return MarkovianArrivals(self.matrices[0], self.matrices[1:].sum(axis=0))

    @property
    def stationary(self) -> Matrix:
        """Law of the phase at any time, shape (w,)."""
        return self.batches.stationary

    @cached_property
    def rate(self) -> float:
        """Fundamental rate: items per unit of time."""
        return float(self.stationary @ _weighted(self.matrices, 1).sum(axis=1))

    @property
    def batch_rate(self) -> float:
        """Batches per unit of time."""
        return self.batches.rate

    @property
    def interval_variance(self) -> float:
        """Variance of the time between batches."""
        return self.batches.interval_variance

    def correlations(self, lags: int) -> Matrix:
        """Return the correlations of the intervals between batches, lags 1 .. ``lags``."""
        return self.batches.correlations(lags)

    def superposed(self, other: "BatchArrivals") -> "BatchArrivals":
        """Return both processes at once, by Kronecker sums; phases are pairs (ours, theirs)."""
        most = max(self.largest, other.largest)
        ours, theirs = np.eye(self.phases), np.eye(other.phases)
        first, second = self.padded(most), other.padded(most)
        return BatchArrivals(
            [np.kron(first[k], theirs) + np.kron(ours, second[k]) for k in range(most + 1)]
        )

    def padded(self, largest: int) -> Matrix:
        """Return the matrices with zero matrices added, up to batches of ``largest``."""
        extra = np.zeros((max(0, largest - self.largest), self.phases, self.phases))
        return np.concatenate([self.matrices, extra])

    def thinned(self, share: float) -> "BatchArrivals":
        """Keep each batch as a whole with probability ``share``, drop it otherwise."""
        if not 0 < share <= 1:
            raise InvalidModel(f"share must be > 0 and at most 1, got {share:g}")
        loud = self.matrices[1:]
        silent = self.matrices[0] + (1 - share) * loud.sum(axis=0)
        return BatchArrivals([silent, *(share * loud)])

    def thinned_items(self, share: float) -> "BatchArrivals":
        """Keep each item by itself with probability ``share``: batches shrink."""
        if not 0 < share <= 1:
            raise InvalidModel(f"share must be > 0 and at most 1, got {share:g}")
        out = np.zeros_like(self.matrices)
        for k, part in enumerate(self.matrices):
            for kept in range(k + 1):
                out[kept] += math.comb(k, kept) * share**kept * (1 - share) ** (k - kept) * part
        return BatchArrivals(out)

    def marked(self, shares: ArrayLike) -> tuple["BatchArrivals", ...]:
        """Split into streams by marks drawn batch by batch: stream l is seen alone.

        Parameters
        ----------
        shares : shape (l,), > 0, summing to 1
        """
        law = np.asarray(shares, dtype=np.float64)
        if law.ndim != 1 or np.any(law <= 0) or abs(law.sum() - 1) > 1e-9:
            raise InvalidModel(f"shares must be > 0 and sum to 1, sum to {law.sum():.9g}")
        return tuple(self.thinned(float(share)) for share in law)

    def count_moments(self, t: float) -> tuple[float, float]:
        r"""Return mean and variance of the items that arrive within time ``t``, stationary start.

        Notes
        -----
        With :math:`g = \sum_k kD_k e`, :math:`Z = (e\theta - D(1))^{-1}` and
        :math:`c = \theta\sum kD_k`: the variance is
        :math:`(\theta\sum k^2D_ke - 2\lambda^2 + 2cZg)t - 2c(I - e^{D(1)t})Z^2 g`
        (up to the part of g along e, which drops out). O(w^3) time.
        """
        whole = self.matrices.sum(axis=0)
        theta, ones = self.stationary, np.ones(self.phases)
        deviation = np.linalg.inv(np.outer(ones, theta) - whole)
        brought = _weighted(self.matrices, 1)
        column, row, rate = brought.sum(axis=1), theta @ brought, self.rate
        second = float(theta @ _weighted(self.matrices, 2).sum(axis=1))
        left = column - rate * ones  # the part that dies out
        slope = second + 2 * float(row @ deviation @ left)
        change = deviation @ deviation @ left - _propagated(whole, t, deviation @ deviation @ left)
        return rate * t, slope * t - 2 * float(row @ change)

    def sample(self, n: int, rng: "np.random.Generator") -> tuple[Matrix, Integers]:
        """Draw ``n`` successive batches: times since the batch before, and sizes."""
        w = self.phases
        leave = -np.diag(self.matrices[0])
        silent = self.matrices[0] + np.diag(leave)
        moves = np.hstack([silent, *self.matrices[1:]])
        chances = np.cumsum(moves / leave[:, None], axis=1)
        chances[:, -1] = 1.0
        phase = int(rng.choice(w, p=self.batches.at_arrivals))
        times, sizes = np.zeros(n), np.zeros(n, dtype=np.int64)
        for at in range(n):
            while sizes[at] == 0:
                times[at] += rng.exponential(1 / leave[phase])
                chosen = int(np.searchsorted(chances[phase], rng.random(), side="right"))
                sizes[at], phase = divmod(chosen, w)
        return times, sizes


def _check_matrix(k: int, part: Matrix, w: int) -> None:
    if not w or part.shape != (w, w):
        raise InvalidModel(f"D_{k} must be square of size {w}, got shape {part.shape}")
    signs = part - np.diag(np.diag(part)) if k == 0 else part
    for row in range(w):
        if not np.all(np.isfinite(part[row])):
            raise InvalidModel(f"D_{k}, row {row}: must be finite, holds {part[row].tolist()}")
        if signs[row].min() < 0:
            where = " off the diagonal" if k == 0 else ""
            raise InvalidModel(
                f"D_{k}, row {row}: rates{where} must be >= 0, holds {signs[row].min():.6g}"
            )


def _weighted(matrices: Matrix, power: int) -> Matrix:
    sizes = np.arange(matrices.shape[0], dtype=np.float64) ** power
    return np.asarray(np.tensordot(sizes * (np.arange(sizes.size) > 0), matrices, axes=1))


def _propagated(generator: Matrix, t: float, column: Matrix) -> Matrix:
    """Return exp(generator t) column, by squaring a truncated series of the uniformised chain."""
    rate = float(np.abs(np.diag(generator)).max())
    if rate == 0:
        return column
    halvings = max(0, math.ceil(math.log2(max(rate * t, 1e-300))) + 2)
    step = rate * t / 2**halvings
    chain = generator / rate + np.eye(column.size)
    term = np.eye(column.size) * math.exp(-step)
    total = term
    for k in range(1, 30):
        term = term @ chain * (step / k)
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return np.asarray(total @ column)
