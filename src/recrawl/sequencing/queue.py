"""The state that streams of due pages share: pages in calendar queues, which may come and go."""

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.kernels.calendar import LANE, PAGE, enter, enter_all, leave
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.streams import State

GOLDEN: Final = (5**0.5 - 1) / 2


def golden_phases(frequencies: Vector) -> Vector:
    """Return phases in (0, 1], shape (n,): multiples of the golden ratio, in order of frequency.

    Notes
    -----
    Pages of neighbouring frequency get phases as far apart as can be (three-distance theorem), so
    that their visits interleave. O(n log n).
    """
    rank = np.empty(frequencies.size)
    rank[np.argsort(-frequencies, kind="stable")] = np.arange(1, frequencies.size + 1)
    return 1 - rank * GOLDEN % 1


@dataclass(eq=False)
class DueQueue:
    """Pages in lanes by urgency, each with its next due time.

    Parameters
    ----------
    pages : records of :data:`recrawl.kernels.calendar.PAGE`; a gap of 0 means that there is no page
    lanes, buckets : the calendar queues
    edges : shape (lanes - 1,), the urgencies at which lanes meet
    clock : (now, duration of a slot), the latter 1 / total frequency
    n_pages : records in use; those beyond are room for pages to come
    """

    pages: NDArray[Any]
    lanes: NDArray[Any]
    buckets: NDArray[np.int32]
    edges: Vector
    clock: Vector
    n_pages: int

    @classmethod
    def of(
        cls, frequencies: ArrayLike, urgencies: ArrayLike, phases: Vector, n_lanes: int
    ) -> "DueQueue":
        """Build the queues; pages of frequency 0 are kept out.

        Parameters
        ----------
        frequencies : shape (n,), >= 0, some > 0, of any sum
        urgencies : shape (n,), > 0 where the frequency is
        phases : shape (n,), first due times as shares of the gap
        """
        shares = check_frequencies(frequencies)
        weight = np.broadcast_to(np.asarray(urgencies, dtype=np.float64), shares.shape)
        used = shares > 0
        if not np.all(np.isfinite(weight[used]) & (weight[used] > 0)):
            raise InvalidModel("urgencies must be finite and > 0 for every page that is visited")
        pages = np.zeros(shares.size, dtype=PAGE)
        pages["gap"][used] = 1 / shares[used]
        pages["due"] = phases * pages["gap"]
        pages["urgency"][used] = weight[used]
        edges = _lane_edges(weight[used], n_lanes)
        clock = np.array([0.0, 1 / shares.sum()])
        queue = cls(pages, np.zeros(0, LANE), np.zeros(0, np.int32), edges, clock, shares.size)
        queue._rebuild()
        return queue

    def add(self, frequency: float, urgency: float) -> int:
        """Let a page in, and return its number.

        Its first visit comes within one gap, at a phase spread by the golden ratio; the slots of
        all others shrink in proportion at once, so nothing else is disturbed. O(1) amortised.
        """
        check_one(frequency, urgency)
        page = self.n_pages
        if page == self.pages.size:
            grown = np.zeros(2 * page + 16, dtype=PAGE)
            grown[:page] = self.pages
            self.pages = grown
            self._rebuild()
        self.n_pages += 1
        phase = 1 - (page + 1) * GOLDEN % 1
        self._place(page, frequency, urgency, self.clock[0] + phase / frequency)
        self._set_total(1 / self.clock[1] + frequency)
        return page

    def remove(self, page: int) -> None:
        """Let a page go; the slots of all others grow in proportion. O(1)."""
        self._check_page(page)
        if self.lanes["count"].sum() == 1:
            raise InvalidModel(f"page {page} is the last one, a sequence needs at least one")
        frequency = 1 / self.pages["gap"][page]
        leave(self.pages, self.lanes, self.buckets, page)
        self.pages["gap"][page] = 0
        self._set_total(1 / self.clock[1] - frequency)

    def change(self, page: int, frequency: float, urgency: float) -> None:
        """Give a page a new frequency; it keeps the share of its gap that has passed. O(1)."""
        self._check_page(page)
        check_one(frequency, urgency)
        before = self.pages["gap"][page]
        left = (self.pages["due"][page] - self.clock[0]) / before
        leave(self.pages, self.lanes, self.buckets, page)
        self._place(page, frequency, urgency, self.clock[0] + left / frequency)
        self._set_total(1 / self.clock[1] - 1 / before + frequency)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return a copy of the whole state as arrays, for :meth:`restore`."""
        return {
            "pages": self.pages.copy(),
            "lanes": self.lanes.copy(),
            "buckets": self.buckets.copy(),
            "edges": self.edges.copy(),
            "clock": self.clock.copy(),
            "n_pages": np.array(self.n_pages),
        }

    @classmethod
    def restore(cls, state: State) -> "DueQueue":
        """Rebuild the queue of a checkpoint: it goes on at the same place."""
        arrays = {name: np.array(state[name]) for name in ("pages", "lanes", "buckets")}
        edges, clock = np.array(state["edges"]), np.array(state["clock"])
        return cls(**arrays, edges=edges, clock=clock, n_pages=int(state["n_pages"]))

    def _check_page(self, page: int) -> None:
        if not (0 <= page < self.n_pages and self.pages["gap"][page] > 0):
            raise InvalidModel(f"page {page} is not in the sequence")

    def _place(self, page: int, frequency: float, urgency: float, due: float) -> None:
        lane = int(np.searchsorted(self.edges, urgency))
        self.pages[page] = (due, 1 / frequency, urgency, -1, lane)
        enter(self.pages, self.lanes, self.buckets, page)

    def _set_total(self, total: float) -> None:
        self.clock[1] = 1 / total

    def _rebuild(self) -> None:
        """Size the wheels by the pages that there are, and fill them in order of due times."""
        used = np.flatnonzero(self.pages["gap"] > 0)
        self.pages["lane"][used] = np.searchsorted(self.edges, self.pages["urgency"][used])
        lane_of = self.pages["lane"][used]
        lanes = np.zeros(self.edges.size + 1, dtype=LANE)
        counts = np.bincount(lane_of, minlength=lanes.size)
        rates = np.bincount(lane_of, 1 / self.pages["gap"][used], lanes.size)
        sizes = 1 << np.ceil(np.log2(np.maximum(counts, 8))).astype(np.int64)
        lanes["inverse"] = np.where(counts > 0, rates, 1.0)
        lanes["head"] = -1
        lanes["mask"] = sizes - 1
        lanes["offset"] = np.cumsum(sizes) - sizes
        self.lanes = lanes
        self.buckets = np.full(int(sizes.sum()), -1, dtype=np.int32)
        enter_all(self.pages, self.lanes, self.buckets, used)


class DueStream:
    """A stream whose state is a queue of due pages."""

    queue: DueQueue

    def remove(self, page: int) -> None:
        """Let a page go."""
        self.queue.remove(page)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        return self.queue.checkpoint()

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made."""
        stream = cls.__new__(cls)
        stream.queue = DueQueue.restore(state)
        return stream


def _lane_edges(urgencies: Vector, n_lanes: int) -> Vector:
    """Cut the urgencies into lanes, finer where they are high; one lane where all are alike.

    By number of pages the few that take most visits would share a lane, by visits the many would;
    a weight of urgency to the quarter is between, and was best or near it on every family tried.
    The two most urgent pages have lanes of their own, which matters where one page dominates.
    """
    if n_lanes == 1 or urgencies.min() == urgencies.max():
        return np.empty(0)
    order = np.argsort(urgencies, kind="stable")
    mass = np.cumsum((urgencies[order] / urgencies[order[-1]]) ** 0.25)
    cuts = np.searchsorted(mass, np.arange(1, n_lanes) / n_lanes * mass[-1])
    top = np.unique(urgencies[order][-64:])[-3:]
    return np.unique(np.concatenate([urgencies[order][cuts], np.sqrt(top[1:]) * np.sqrt(top[:-1])]))


def check_one(frequency: float, urgency: float) -> None:
    """Complain of numbers that no page can have.

    Parameters
    ----------
    frequency, urgency : of one page, finite, > 0; on the scale of the other pages'
    """
    for name, value in (("frequency", frequency), ("urgency", urgency)):
        if not (np.isfinite(value) and value > 0):
            raise InvalidModel(f"{name} must be finite and > 0, got {value:g}")
