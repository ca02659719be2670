"""Notes on hosts, as their pages teach an index; some are at hand, all lie on a shelf."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec

T = TypeVar("T")

_MOST_UNKNOWN: Final = 10_000
_FIRST: Final = 16  # changes, after which a host is written first; then after twice as many


class Shelf(Protocol[T]):
    """Place where notes outlast a process. What cannot be read there is learned anew."""

    def read(self, host: str) -> T | None:
        """Return the notes on a host; None: there are none."""
        ...

    def every(self) -> Iterator[tuple[str, T]]:
        """Iterate over all hosts and the notes on them."""
        ...

    def write(self, changed: Mapping[str, T]) -> None:
        """Put notes there, in place of those of before."""
        ...


class HostNotes(Generic[T]):
    """Notes on the hosts that were asked about last.

    Parameters
    ----------
    shelf : where they outlast the process; None: nowhere
    most : hosts that are at hand
    every : changes of a host, after which :meth:`save` writes its notes; at first after fewer, as a
        kill takes the rest
    """

    def __init__(self, shelf: Shelf[T] | None, *, most: int, every: int) -> None:
        self._shelf, self._most, self._every = shelf, most, every
        self._at_hand: dict[str, T] = {}
        self._changed: dict[str, T] = {}  # and not written, at hand or not
        self._unknown: set[str] = set()
        self._n_changes: dict[str, int] = {}  # of those
        self._due: dict[str, int] = {}  # changes, after which a host at hand is written again

    def of(self, host: str) -> T | None:
        """Return the notes on a host; None: there are none. O(1), and a look at the shelf."""
        notes = self._at_hand.pop(host, None)
        if notes is None:
            notes = self._changed.get(host)
        if notes is None:
            notes = self._read(host)
        if notes is not None:
            self._hold(host, notes)
        return notes

    def put(self, host: str, notes: T) -> None:
        """Have these notes on a host; also after they were changed in place."""
        self._unknown.discard(host)
        self._at_hand.pop(host, None)
        self._hold(host, notes)
        if self._shelf is not None:
            self._changed[host] = notes
            self._n_changes[host] = self._n_changes.get(host, 0) + 1

    def at_hand(self) -> list[tuple[str, T]]:
        """Return the hosts that were asked about last, and the notes on them."""
        return list(self._at_hand.items())

    def every(self) -> Iterator[tuple[str, T]]:
        """Iterate over all hosts and the notes on them, those at hand first."""
        held = self._at_hand | self._changed
        yield from held.items()
        for host, notes in self._shelf.every() if self._shelf is not None else ():
            if host not in held:
                yield host, notes

    def save(self, *, now: bool = False) -> None:
        """Put on the shelf what has changed much, or is at hand no more; now: all that has changed.

        A host costs a write in so many pages, however many hosts there are.
        """
        ready = {
            host: notes
            for host, notes in self._changed.items()
            if now or host not in self._at_hand or self._n_changes[host] >= self._after(host)
        }
        if self._shelf is None or not ready:
            return
        self._shelf.write(ready)
        for host in ready:
            if host in self._at_hand:
                self._due[host] = 2 * self._after(host)
            del self._changed[host], self._n_changes[host]

    def _after(self, host: str) -> int:
        return min(self._due.get(host, _FIRST), self._every)

    def settle(self) -> None:
        """Put notes on the shelf, and have none at hand: others may write there from now on."""
        self.save(now=True)
        self._at_hand.clear()
        self._unknown.clear()

    def _read(self, host: str) -> T | None:
        if self._shelf is None or host in self._unknown:
            return None
        notes = self._shelf.read(host)
        if notes is None:
            if len(self._unknown) >= _MOST_UNKNOWN:
                self._unknown.clear()
            self._unknown.add(host)
        return notes

    def _hold(self, host: str, notes: T) -> None:
        if len(self._at_hand) >= self._most:
            oldest = next(iter(self._at_hand))  # the one that was asked for longest ago
            del self._at_hand[oldest]
            self._due.pop(oldest, None)
        self._at_hand[host] = notes


def decoded(raw: bytes, kind: Any) -> Any:
    """Return notes as a shelf holds them; None: another version wrote them, or they are damaged."""
    try:
        return msgspec.msgpack.decode(raw, type=kind)
    except msgspec.DecodeError:
        return None


def decoded_rows(rows: Iterable[tuple[str, bytes]], kind: Any) -> Iterator[tuple[str, Any]]:
    """Iterate over hosts and the notes on them that can be read, of rows of a shelf."""
    for host, raw in rows:
        notes = decoded(raw, kind)
        if notes is not None:
            yield host, notes
