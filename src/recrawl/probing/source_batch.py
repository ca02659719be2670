"""Some of many sources, on one even grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector


@dataclass(frozen=True, eq=False)
class SourceBatch:
    """Some of the sources, all on one even grid of N cells.

    Parameters
    ----------
    updates : shape (m, N), expected updates of each source in each cell, >= 0
    importance : shape (m, N) or (1, N) for all, integral of the importance over each cell, >= 0
    weights : shape (m,), factor on the cost of each source, > 0
    gaps : shape (m,), least number of cells between probes, 1 <= gap <= N
    most : shape (m,), largest number of probes, >= 1
    hosts : shape (m,), number of the host of each source, or -1
    """

    updates: Vector
    importance: Vector
    weights: Vector
    gaps: NDArray[np.int32]
    most: Integers
    hosts: Integers

    @classmethod
    def of(
        cls,
        updates: Vector,
        importance: Vector,
        *,
        weights: Vector | float = 1.0,
        gaps: NDArray[np.int32] | int = 1,
        most: Integers | int | None = None,
        hosts: Integers | int = -1,
    ) -> "SourceBatch":
        """Fill in what is the same for all sources."""
        rates = np.atleast_2d(np.ascontiguousarray(updates, dtype=np.float64))
        m, cells = rates.shape
        return cls(
            rates,
            np.atleast_2d(np.ascontiguousarray(importance, dtype=np.float64)),
            np.broadcast_to(np.asarray(weights, np.float64), (m,)),
            np.broadcast_to(np.asarray(gaps, np.int32), (m,)),
            np.broadcast_to(np.asarray(cells if most is None else most, np.int64), (m,)),
            np.broadcast_to(np.asarray(hosts, np.int64), (m,)),
        )

    def __post_init__(self) -> None:
        m, cells = self.updates.shape
        if self.importance.shape not in {(m, cells), (1, cells)}:
            raise InvalidModel(
                f"importance must have shape {(m, cells)} or {(1, cells)}, got "
                f"{self.importance.shape}"
            )
        for name, rows in (("updates", self.updates), ("importance", self.importance)):
            sums = rows.sum(axis=1)
            if not (np.all(np.isfinite(sums)) and rows.min(initial=0.0) >= 0):
                raise InvalidModel(f"{name} must be finite and >= 0")
            if np.any(sums <= 0):
                raise InvalidModel(f"{name} of source {int(np.argmin(sums))} is zero everywhere")
        if not np.all(np.isfinite(self.weights) & (self.weights > 0)):
            raise InvalidModel("weights must be finite and > 0")
        if np.any((self.gaps < 1) | (self.gaps > cells)):
            raise InvalidModel(f"gaps must lie in 1 .. {cells} cells")
        if np.any(self.most < 1):
            raise InvalidModel(
                "most must be at least 1: every source is probed at the period's end"
            )

    @property
    def size(self) -> int:
        """Number of sources."""
        return int(self.updates.shape[0])

    def part(self, first: int, last: int) -> "SourceBatch":
        """The sources first, ..., last - 1."""
        shared = self.importance.shape[0] == 1
        return SourceBatch(
            self.updates[first:last],
            self.importance if shared else self.importance[first:last],
            self.weights[first:last],
            self.gaps[first:last],
            self.most[first:last],
            self.hosts[first:last],
        )
