"""Counts of the lines of a host's pages, in little memory: there may be thousands of hosts."""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.arrays import Integers

HASH: Final = np.dtype("<u8")
_COUNT: Final = np.dtype("<u2")

Hashes = NDArray[np.uint64]


class HostLines(msgspec.Struct, omit_defaults=True):
    """Counts of one host, in a tenth of the memory that objects would take.

    Parameters
    ----------
    pages : that were counted, halved with the counts now and then
    counted : hashes of those since then, of eight bytes each
    marks : hashes of lines, likewise, in ascending order
    counts : pages that have each line, two bytes each
    early : pages that are looked at again when the host is known
    lines : counts as another version wrote them
    """

    pages: int = 0
    counted: bytes = b""
    marks: bytes = b""
    counts: bytes = b""
    early: list[str] | None = msgspec.field(default_factory=list)
    lines: dict[int, int] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.lines:
            kept = sorted(self.lines.items())
            self._put(np.array([mark for mark, _ in kept], HASH), np.array([n for _, n in kept]))
            self.lines = {}

    def of(self, marks: Hashes) -> Integers:
        """Return the pages that have each line. O(lines log counted lines)."""
        held, counts = self._held()
        if not held.size:
            return np.zeros(marks.size, np.int64)
        at = np.minimum(np.searchsorted(held, marks), held.size - 1)
        return np.where(held[at] == marks, counts[at], 0)

    def add(self, marks: Hashes) -> None:
        """Count one page more for each line; of those that are told twice once."""
        marks = np.sort(marks)
        marks = marks[np.append(True, marks[1:] != marks[:-1])] if marks.size else marks
        held, counts = self._held()
        at = np.searchsorted(held, marks)
        is_known = at < held.size
        is_known[is_known] = held[at[is_known]] == marks[is_known]
        place = at + np.cumsum(~is_known) - ~is_known  # of each line among those and the new ones
        is_new = np.zeros(held.size + marks.size - np.count_nonzero(is_known), np.bool_)
        is_new[place[~is_known]] = True
        all_marks, all_counts = np.empty(is_new.size, HASH), np.zeros(is_new.size, np.int64)
        all_marks[~is_new], all_counts[~is_new] = held, counts
        all_marks[place] = marks
        all_counts[place] += 1
        self._put(all_marks, all_counts)

    def raise_to(self, marks: Hashes, n: int) -> None:
        """Count so many pages for each of these lines, if there were fewer."""
        self.add(marks)
        held, counts = self._held()
        at = np.searchsorted(held, marks)
        counts[at] = np.maximum(counts[at], n)
        self._put(held, counts)

    def halve(self) -> None:
        """Halve all counts, and forget which pages they are of."""
        self.counted = b""
        self.pages //= 2
        held, counts = self._held()
        often = counts > 1
        self._put(held[often], counts[often] // 2)

    def keep(self, most: int) -> None:
        """Forget the rarest lines, of all that are as rare, until no more than so many are left."""
        held, counts = self._held()
        fewest = 0
        while held.size > most:
            fewest += 1
            often = counts > fewest
            held, counts = held[often], counts[often]
        if fewest:
            self._put(held, counts)

    def _held(self) -> tuple[Hashes, Integers]:
        counts = np.frombuffer(self.counts, _COUNT).astype(np.int64)
        return np.frombuffer(self.marks, HASH), counts

    def _put(self, marks: Hashes, counts: Integers) -> None:
        self.marks = marks.tobytes()
        self.counts = np.minimum(counts, np.iinfo(_COUNT).max).astype(_COUNT).tobytes()
