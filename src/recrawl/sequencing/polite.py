"""The lane index with politeness: no host twice within its gap, at little loss."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.calendar import serve_politely
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.index import N_LANES
from recrawl.sequencing.queue import DueQueue, golden_phases
from recrawl.sequencing.streams import Integers, State

__all__ = ["IDLE", "PoliteStream"]

IDLE = -1


class PoliteStream:
    """Accesses by lateness and urgency in which a host rests between its visits.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    hosts : shape (n,), whole numbers from 0
    host_gaps : slots from a visit to a host to its next, at least 1; one number or shape (hosts,)
    urgencies : as for :class:`recrawl.sequencing.index.IndexStream`

    Notes
    -----
    A host competes with its earliest due page and sleeps after each visit. Where every host sleeps
    the slot stays empty (:data:`IDLE`). A host whose pages together ask for more than a visit in
    each gap cannot have them, and is served at its gap. O(lanes + log n) a step.
    """

    def __init__(
        self,
        frequencies: ArrayLike,
        hosts: ArrayLike,
        host_gaps: ArrayLike,
        urgencies: ArrayLike | None = None,
    ) -> None:
        shares = check_frequencies(frequencies)
        owner = np.asarray(hosts, dtype=np.int64)
        if owner.shape != shares.shape or owner.min() < 0:
            raise InvalidModel("hosts must be numbers >= 0, one for each page")
        n_hosts = int(owner.max()) + 1
        spacing = np.broadcast_to(np.asarray(host_gaps, dtype=np.float64), (n_hosts,))
        if not np.all(np.isfinite(spacing) & (spacing >= 1)):
            raise InvalidModel(f"host_gaps must be >= 1 slot, got {spacing.min():g}")
        weight = shares**2 if urgencies is None else urgencies
        by_page = DueQueue.of(shares, weight, golden_phases(shares), N_LANES)
        used = np.flatnonzero(shares > 0)
        due = by_page.pages["due"].copy()
        heads = _Heads(by_page, n_hosts)
        order = used[np.lexsort((due[used], owner[used]))]  # sorted within a host, hence heaps
        starts = np.searchsorted(owner[order], np.arange(n_hosts + 1))
        awake = np.flatnonzero(np.diff(starts) > 0)
        self._arrays: dict[str, NDArray[Any]] = {
            "hosts": heads.hosts,
            "lanes": heads.lanes,
            "buckets": heads.buckets,
            "members": order,
            "starts": starts,
            "due": due,
            "gap": by_page.pages["gap"].copy(),
            "urgency": by_page.pages["urgency"].copy(),
            "lane_of": by_page.pages["lane"].astype(np.int64),
            "spacing": np.ceil(spacing).astype(np.int64),
            "ready": np.zeros(n_hosts, dtype=np.int64),
            "sleepers": np.append(awake, np.zeros(n_hosts - awake.size, dtype=np.int64)),
            "clock": by_page.clock.copy(),
            "counts": np.array([0, awake.size]),  # all wake at the first slot
        }

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers; -1 where no host may be asked."""
        out = np.empty(count, dtype=np.int64)
        serve: Any = serve_politely
        serve(*self._arrays.values(), out)
        return out

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        return {name: array.copy() for name, array in self._arrays.items()}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made."""
        stream = cls.__new__(cls)
        stream._arrays = {name: np.array(state[name]) for name in _ORDER}
        return stream


_ORDER = (
    "hosts lanes buckets members starts due gap urgency lane_of spacing ready sleepers clock counts"
).split()


class _Heads:
    """Empty lanes of the same widths, for hosts in the place of pages."""

    def __init__(self, by_page: DueQueue, n_hosts: int) -> None:
        self.hosts = np.zeros(n_hosts, dtype=by_page.pages.dtype)
        self.lanes = by_page.lanes.copy()
        self.lanes["head"], self.lanes["count"] = -1, 0
        self.buckets = np.full_like(by_page.buckets, -1)
