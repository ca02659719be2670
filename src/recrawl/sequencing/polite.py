"""The lane index with politeness: no host twice within its gap, at little loss."""

from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.kernels.calendar import enter, fall_asleep, leave, serve_politely, settle
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.index import N_LANES
from recrawl.sequencing.queue import GOLDEN, DueQueue, check_one, golden_phases
from recrawl.sequencing.streams import State

IDLE = -1
_KERNEL: Final = (
    "hosts lanes buckets members starts stops due gap urgency lane_of spacing ready sleepers clock "
    "counts"
).split()
_OTHERS: Final = ["owner", "rooms", "edges", "n_pages"]


class PoliteStream:
    """Accesses by lateness and urgency in which a host rests between its visits.

    Pages may enter, leave and change, and hosts may be new.

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
        owner = np.array(hosts, dtype=np.int64)
        if owner.shape != shares.shape or owner.min() < 0:
            raise InvalidModel("hosts must be numbers >= 0, one for each page")
        n_hosts = int(owner.max()) + 1
        spacing = np.broadcast_to(np.asarray(host_gaps, dtype=np.float64), (n_hosts,))
        _check_gap(float(spacing.min()), bool(np.all(np.isfinite(spacing))))
        weight = shares**2 if urgencies is None else urgencies
        by_page = DueQueue.of(shares, weight, golden_phases(shares), N_LANES)
        used = np.flatnonzero(shares > 0)
        due = by_page.pages["due"].copy()
        order = used[np.lexsort((due[used], owner[used]))]  # sorted within a host, hence heaps
        bounds = np.searchsorted(owner[order], np.arange(n_hosts + 1))
        awake = np.flatnonzero(np.diff(bounds) > 0)
        lanes = by_page.lanes.copy()  # empty, and of the same widths: hosts in the place of pages
        lanes["head"], lanes["count"] = -1, 0
        self._state: dict[str, NDArray[Any]] = {
            "hosts": np.zeros(n_hosts, dtype=by_page.pages.dtype),
            "lanes": lanes,
            "buckets": np.full_like(by_page.buckets, -1),
            "members": order,
            "starts": bounds[:-1].copy(),
            "stops": bounds[1:].copy(),
            "due": due,
            "gap": by_page.pages["gap"].copy(),
            "urgency": by_page.pages["urgency"].copy(),
            "lane_of": by_page.pages["lane"].astype(np.int64),
            "spacing": np.ceil(spacing).astype(np.int64),
            "ready": (np.diff(bounds) > 0).astype(np.int64),  # all wake at the first slot
            "sleepers": np.append(awake, np.zeros(n_hosts - awake.size, dtype=np.int64)),
            "clock": by_page.clock.copy(),
            "counts": np.array([0, awake.size]),
            "owner": owner,
            "rooms": bounds[1:].copy(),
            "edges": by_page.edges,
            "n_pages": np.array([shares.size]),
        }

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers; -1 where no host may be asked."""
        out = np.empty(count, dtype=np.int64)
        serve: Any = serve_politely
        serve(*(self._state[name] for name in _KERNEL), out)
        return out

    def add(self, host: int, frequency: float, urgency: float) -> int:
        """Let a page of a host in, and return its number.

        Its frequency is a share of all accesses at the start, its urgency on the scale of theirs.
        Its first visit comes within one gap, at a phase spread by the golden ratio; the slots of
        all others shrink in proportion at once, so nothing else is disturbed. Amortised O(log n).
        """
        check_one(frequency, urgency)
        state = self._state
        if not 0 <= host < state["hosts"].size:
            raise InvalidModel(f"host {host} is not known; add_host gives a new one its number")
        page = int(state["n_pages"][0])
        if page == state["due"].size:
            for name in ("due", "gap", "urgency", "lane_of", "owner"):
                self._grow(name, 2 * page + 16)
        state["n_pages"][0] += 1
        phase = 1 - (page + 1) * GOLDEN % 1
        state["owner"][page] = host
        self._set(page, frequency, urgency, state["clock"][0] + phase / frequency)
        self._let_in(page)
        state["clock"][1] = 1 / (1 / state["clock"][1] + frequency)
        return page

    def add_host(self, gap: float) -> int:
        """Let a host in that rests ``gap`` slots between its visits; return its number."""
        _check_gap(gap, bool(np.isfinite(gap)))
        state = self._state
        host = int(state["hosts"].size)
        for name in ("hosts", "starts", "stops", "rooms", "spacing", "ready", "sleepers"):
            self._grow(name, host + 1)
        state["starts"][host] = state["stops"][host] = state["rooms"][host] = 0
        state["spacing"][host] = int(np.ceil(gap))
        return host

    def remove(self, page: int) -> None:
        """Let a page go; the slots of all others grow in proportion. O(pages of its host)."""
        self._check_page(page)
        state = self._state
        if np.sum(state["stops"] - state["starts"]) == 1:
            raise InvalidModel(f"page {page} is the last one, a sequence needs at least one")
        frequency = 1 / state["gap"][page]
        self._let_go(page)
        state["gap"][page] = 0.0
        state["clock"][1] = 1 / (1 / state["clock"][1] - frequency)

    def change(self, page: int, frequency: float, urgency: float) -> None:
        """Give a page a new frequency; it keeps the share of its gap that has passed.

        O(pages of its host).
        """
        self._check_page(page)
        check_one(frequency, urgency)
        state = self._state
        before = float(state["gap"][page])
        left = (state["due"][page] - state["clock"][0]) / before
        self._let_go(page)
        self._set(page, frequency, urgency, state["clock"][0] + left / frequency)
        self._let_in(page)
        state["clock"][1] = 1 / (1 / state["clock"][1] - 1 / before + frequency)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        return {name: array.copy() for name, array in self._state.items()}

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made."""
        stream = cls.__new__(cls)
        stream._state = {name: np.array(state[name]) for name in [*_KERNEL, *_OTHERS]}
        return stream

    # -- inside --

    def _check_page(self, page: int) -> None:
        known = 0 <= page < self._state["n_pages"][0]
        if not (known and self._state["gap"][page] > 0):
            raise InvalidModel(f"page {page} is not in the sequence")

    def _set(self, page: int, frequency: float, urgency: float, due: float) -> None:
        state = self._state
        state["due"][page], state["gap"][page] = due, 1 / frequency
        state["urgency"][page] = urgency
        state["lane_of"][page] = np.searchsorted(state["edges"], urgency)

    def _grow(self, name: str, size: int) -> None:
        old = self._state[name]
        grown = np.zeros(size, dtype=old.dtype)
        grown[: old.size] = old
        self._state[name] = grown

    def _let_in(self, page: int) -> None:
        """Put a page into its host's heap, and the host where it now belongs."""
        state = self._state
        host = int(state["owner"][page])
        awake = self._leave_lane(host)
        start, stop = int(state["starts"][host]), int(state["stops"][host])
        if stop == state["rooms"][host]:
            start, stop = self._move_to_room(host)
        state["members"][stop] = page
        state["stops"][host] = stop + 1
        settle(state["members"], start, stop + 1, state["due"], stop)
        if awake:
            self._enter_lane(host)
        elif stop == start and not self._is_asleep(host):
            state["ready"][host] = state["counts"][0] + 1
            fall_asleep(state["sleepers"], state["ready"], int(state["counts"][1]), host)
            state["counts"][1] += 1

    def _let_go(self, page: int) -> None:
        """Take a page out of its host's heap; a host without pages leaves the lanes."""
        state = self._state
        host = int(state["owner"][page])
        awake = self._leave_lane(host)
        start, stop = int(state["starts"][host]), int(state["stops"][host]) - 1
        place = start + int(np.flatnonzero(state["members"][start : stop + 1] == page)[0])
        state["members"][place] = state["members"][stop]
        state["stops"][host] = stop
        if place < stop:
            settle(state["members"], start, stop, state["due"], place)
        if awake and stop > start:
            self._enter_lane(host)

    def _move_to_room(self, host: int) -> tuple[int, int]:
        """Give a host's heap twice its room, at the end; return its new bounds."""
        state = self._state
        start, stop = int(state["starts"][host]), int(state["stops"][host])
        size = stop - start
        begin = int(state["rooms"].max())
        if begin + 2 * size + 4 > state["members"].size:
            self._grow("members", 2 * state["members"].size + 2 * size + 4)
        state["members"][begin : begin + size] = state["members"][start:stop]
        state["starts"][host], state["stops"][host] = begin, begin + size
        state["rooms"][host] = begin + 2 * size + 4
        return begin, begin + size

    def _is_asleep(self, host: int) -> bool:
        """Hosts that may be asked have been woken at the last slot."""
        return bool(self._state["ready"][host] > self._state["counts"][0])

    def _leave_lane(self, host: int) -> bool:
        """Take a host out of the lanes, if it is awake; tell whether it was."""
        state = self._state
        if state["starts"][host] == state["stops"][host] or self._is_asleep(host):
            return False
        leave(state["hosts"], state["lanes"], state["buckets"], host)
        return True

    def _enter_lane(self, host: int) -> None:
        state = self._state
        first = state["members"][state["starts"][host]]
        state["hosts"][host] = (
            state["due"][first],
            0.0,
            state["urgency"][first],
            -1,
            state["lane_of"][first],
        )
        enter(state["hosts"], state["lanes"], state["buckets"], host)


def _check_gap(least: float, finite: bool) -> None:
    if not (finite and least >= 1):
        raise InvalidModel(f"host_gaps must be >= 1 slot, got {least:g}")
