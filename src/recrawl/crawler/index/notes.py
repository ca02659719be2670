"""Notes on hosts, as their pages teach an index; some are at hand, all lie on a shelf.

A shelf is a file, for one process; an index that several write has its own, in their database.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec

from recrawl.crawler.index.files import write_whole

__all__ = ["FileShelf", "HostNotes", "Shelf"]

T = TypeVar("T")

_MOST_UNKNOWN: Final = 10_000
_FIRST: Final = 16  # changes, after which notes are written first; then after as many again


class Shelf(Protocol[T]):
    """Place where notes outlast a process. What cannot be read there is learned anew."""

    def read(self, host: str) -> T | None:
        """Return the notes on a host; None: there are none."""
        ...

    def every(self) -> Iterator[tuple[str, T]]:
        """Iterate over all hosts and the notes on them."""
        ...

    def write(self, changed: Mapping[str, T], at_hand: Mapping[str, T]) -> None:
        """Put notes there.

        Parameters
        ----------
        changed : since they were written last
        at_hand : all that are; a shelf that is written as a whole takes these
        """
        ...


class FileShelf(Generic[T]):
    """One file, written as a whole.

    Parameters
    ----------
    path : of the file
    kind : type of the notes
    most : hosts that are kept; those of which nothing was heard for longest go first
    """

    def __init__(self, path: Path, kind: Any, most: int) -> None:
        self._path, self._kind, self._most = path, kind, most
        self._unread: dict[str, msgspec.Raw] = {}
        try:
            self._unread = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
        except (OSError, msgspec.DecodeError):
            self._unread = {}

    def read(self, host: str) -> T | None:
        """Return the notes on a host, once: they are at hand from then on."""
        raw = self._unread.pop(host, None)
        if raw is None:
            return None
        try:
            notes: T = msgspec.json.decode(raw, type=self._kind)
        except msgspec.DecodeError:
            return None
        return notes

    def every(self) -> Iterator[tuple[str, T]]:
        """Iterate over all hosts that were not read yet."""
        for host in list(self._unread):
            notes = self.read(host)
            if notes is not None:
                yield host, notes

    def write(self, changed: Mapping[str, T], at_hand: Mapping[str, T]) -> None:
        """Write the file anew, so that it is there in full or not at all."""
        hosts: dict[str, object] = {**self._unread, **at_hand}
        for host in list(hosts)[: max(len(hosts) - self._most, 0)]:
            del hosts[host]
        write_whole(self._path, msgspec.json.encode(hosts).decode())


class HostNotes(Generic[T]):
    """Notes on the hosts that were asked about last.

    Parameters
    ----------
    shelf : where they outlast the process; None: nowhere
    most : hosts that are at hand
    every : changes, after which :meth:`save` writes; at first after fewer, as a kill takes the rest
    """

    def __init__(self, shelf: Shelf[T] | None, *, most: int, every: int) -> None:
        self._shelf, self._most, self._every = shelf, most, every
        self._at_hand: dict[str, T] = {}
        self._changed: dict[str, T] = {}  # and not written, at hand or not
        self._unknown: set[str] = set()
        self._n_changes = self._n_written = 0

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
        self._n_changes += 1
        if self._shelf is not None:
            self._changed[host] = notes

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
        """Put notes on the shelf, if many have changed; now: if any have."""
        many = min(self._every, max(self._n_written, _FIRST))
        if self._shelf is not None and self._n_changes >= (1 if now else many):
            self._shelf.write(self._changed, self._at_hand)
            self._changed = {}
            self._n_written += self._n_changes
            self._n_changes = 0

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
            del self._at_hand[next(iter(self._at_hand))]  # the one that was asked for longest ago
        self._at_hand[host] = notes
