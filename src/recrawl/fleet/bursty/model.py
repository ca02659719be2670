"""The buffer in the real world: bursty arrivals, any service time, pages that go stale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Counts, Matrix
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType

Admission: TypeAlias = Literal["partial", "reject", "complete"]


@dataclass(frozen=True, slots=True)
class BufferCosts:
    """Weights of the cost J = lambda (loss P_loss + obsolescence P_obs) + sojourn V + ...

    Parameters
    ----------
    loss : of a page that finds no room, >= 0
    obsolescence : of a page that goes stale in the buffer, >= 0
    sojourn : per unit of mean time in the system of the pages that are served, >= 0
    robots : per active robot and unit of time, >= 0
    starvation : per unit of time with an empty system, >= 0
    """

    loss: float = 0.0
    obsolescence: float = 0.0
    sojourn: float = 0.0
    robots: float = 0.0
    starvation: float = 0.0

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if not (math.isfinite(value) and value >= 0):
                raise InvalidModel(f"costs.{part.name} must be finite and >= 0, got {value!r}")


@dataclass(frozen=True, eq=False)
class BurstyBuffer:
    """A finite buffer fed by robots in batches, whose waiting pages go stale.

    Parameters
    ----------
    capacity : N, most pages in the system, the one in service included, >= 1
    arrivals : one process for each mode, all with the same phases; the phase is kept when the
        mode changes
    service : time that the indexer takes for a page
    obsolescence : time until a waiting page goes stale, which removes it; None: never
    robots : what each mode stands for, increasing, >= 0; 1, 2, ... if left out
    costs : of the criterion J
    admission : of a batch without room for all of it: ``partial`` takes in what fits,
        ``reject`` none of it, ``complete`` all of it provided that there is room for one (so up
        to N + K - 1 pages are in the system)

    Notes
    -----
    Pages are served in the order of arrival. A page that goes straight to the server does not go
    stale, nor does one in service. The mode is a function of the number of pages.

    References
    ----------
    K. Avrachenkov, A. Dudin, V. Klimenok, Ph. Nain and O. Semenova, "Optimal threshold control by
    the robots of Web search engines with obsolescence of documents", Computer Networks 2011.
    """

    capacity: int
    arrivals: Sequence[BatchArrivals]
    service: PhaseType
    obsolescence: PhaseType | None = None
    robots: Sequence[int] = ()
    costs: BufferCosts = BufferCosts()
    admission: Admission = "partial"

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise InvalidModel(f"capacity must be at least 1, got {self.capacity}")
        if not self.arrivals:
            raise InvalidModel("arrivals: at least one process is needed")
        labels = tuple(self.robots) or tuple(range(1, len(self.arrivals) + 1))
        if len(labels) != len(self.arrivals):
            raise InvalidModel(f"robots {list(labels)}: {len(self.arrivals)} processes are given")
        if list(labels) != sorted(set(labels)) or labels[0] < 0:
            raise InvalidModel(f"robots must be >= 0 and increasing, got {list(labels)}")
        object.__setattr__(self, "robots", labels)
        self._check_parts()

    def _check_parts(self) -> None:
        phases = self.arrivals[0].phases
        for number, process in enumerate(self.arrivals):
            if process.phases != phases:
                raise InvalidModel(
                    f"arrivals: process {number + 1} has {process.phases} phases and the first "
                    f"{phases}; all modes need the same, or the phase could not be kept"
                )
        for name in ("service", "obsolescence"):
            law = getattr(self, name)
            if law is not None and law.idle_phases:
                raise InvalidModel(
                    f"{name}: phase {law.idle_phases[0]} is never visited; leave it out, an "
                    "irreducible representation is needed"
                )
        if self.admission not in ("partial", "reject", "complete"):
            raise InvalidModel(
                f"admission must be partial, reject or complete, got {self.admission!r}"
            )
        if self.admission == "reject" and self.largest_batch > self.capacity:
            raise InvalidModel(
                f"arrivals: batches of {self.largest_batch} pages come, and with admission = "
                f"'reject' a buffer of {self.capacity} would never take them in; use 'partial', "
                "or a larger capacity"
            )

    @property
    def largest_batch(self) -> int:
        """K, the size of the largest batch of any mode."""
        return max(process.largest for process in self.arrivals)

    @property
    def levels(self) -> int:
        """Number of levels: possible numbers of pages, 0 included."""
        beyond: int = self.largest_batch - 1 if self.admission == "complete" else 0
        return self.capacity + 1 + beyond

    @property
    def phases(self) -> tuple[int, int, int]:
        """Numbers of arrival, service and obsolescence phases: W, M, V."""
        stale = self.obsolescence.initial.size if self.obsolescence is not None else 1
        return self.arrivals[0].phases, self.service.initial.size, stale

    @property
    def states(self) -> int:
        """Number of states of the exact chain; exact however large."""
        w, m, v = self.phases
        n = self.levels - 1
        inner: int = n if v == 1 else (v**n - 1) // (v - 1)
        return w + w * m * inner

    @cached_property
    def room(self) -> Counts:
        """Index of the admission rule at each number of pages: 0 (none gets in) .. K."""
        n, most = np.arange(self.levels), self.largest_batch
        if self.admission == "complete":
            return np.where(n < self.capacity, most, 0)
        return np.minimum(self.capacity - n, most)

    @cached_property
    def jumps(self) -> Matrix:
        """Rates by pages taken in, shape (K + 1 rooms, modes, K + 1, W, W)."""
        most = self.largest_batch
        given = np.stack([process.padded(most) for process in self.arrivals])
        out = np.zeros((most + 1, *given.shape))
        for room in range(most + 1):
            taken = self._taken(room)
            for k in range(most + 1):
                out[room, :, taken[k]] += given[:, k]
        return out

    @cached_property
    def lost(self) -> Matrix:
        """Rate of lost pages, shape (K + 1 rooms, modes, W)."""
        given = np.stack([process.padded(self.largest_batch) for process in self.arrivals])
        sizes = np.arange(self.largest_batch + 1)
        left = np.stack([sizes - self._taken(int(room)) for room in sizes])
        return np.asarray(np.einsum("qk,rkij->qri", left.astype(float), given))

    @cached_property
    def brought(self) -> Matrix:
        """Rate of pages in each mode and phase, shape (modes, W)."""
        most = self.largest_batch
        given = np.stack([process.padded(most) for process in self.arrivals])
        return np.asarray(np.einsum("k,rkij->ri", np.arange(most + 1.0), given))

    def _taken(self, room: int) -> Counts:
        """Return how many pages get in of a batch of 0, 1, ..., K."""
        sizes = np.arange(self.largest_batch + 1)
        if self.admission == "partial":
            return np.minimum(sizes, room)
        return np.where(sizes <= room, sizes, 0)

    def modes(self, robots_by_length: Sequence[int]) -> Counts:
        """Turn robots at 0, 1, ... pages into indices of modes, shape (levels,).

        Raises
        ------
        InvalidModel
            If there are too few or too many, or no mode has such a number of robots.
        """
        if len(robots_by_length) != self.levels:
            raise InvalidModel(
                f"robots by length: {len(robots_by_length)} numbers were given, 0 .. "
                f"{self.levels - 1} pages need {self.levels}"
            )
        for n, wanted in enumerate(robots_by_length):
            if wanted not in self.robots:
                raise InvalidModel(
                    f"robots by length: {wanted} robots at {n} pages, but the modes are "
                    f"{', '.join(map(str, self.robots))}"
                )
        return np.array([list(self.robots).index(wanted) for wanted in robots_by_length])


def robots_from_thresholds(
    model: BurstyBuffer, used: Sequence[int], thresholds: Sequence[int]
) -> tuple[int, ...]:
    """Return the robots at 0, 1, ... pages of a threshold rule as the paper writes it.

    Parameters
    ----------
    used : numbers of robots, decreasing, such as (4, 3, 1)
    thresholds : one less, not decreasing: the last number of pages of each but the last

    Raises
    ------
    InvalidModel
        If either is out of order, or a threshold is not within 0 .. levels - 2.
    """
    if len(thresholds) != len(used) - 1:
        raise InvalidModel(f"{len(used)} numbers of robots need {len(used) - 1} thresholds")
    if list(used) != sorted(set(used), reverse=True):
        raise InvalidModel(f"robots of a threshold rule must decrease, got {list(used)}")
    if list(thresholds) != sorted(thresholds):
        raise InvalidModel(f"thresholds must not decrease, got {list(thresholds)}")
    for value in thresholds:
        if not 0 <= value <= model.levels - 2:
            raise InvalidModel(f"thresholds must be 0 .. {model.levels - 2}, got {value}")
    out: list[int] = []
    for robots, last in zip(used, (*thresholds, model.levels - 1), strict=True):
        out += [robots] * (last + 1 - len(out))
    return tuple(out)


def show_count(count: int) -> str:
    """Write a count of any size with three digits."""
    digits = str(count)
    if len(digits) < 16:
        return f"{count:.3g}"
    return f"{digits[0]}.{digits[1:3]}e+{len(digits) - 1}"
