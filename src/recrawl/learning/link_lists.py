"""Links as a state keeps them, eight bytes for each, and the graph that they come to."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import xxhash
from numpy.typing import NDArray

from recrawl.learning.page_rank import LinkGraph

MOST_LINKS: Final = 200  # of a page that are kept


def mark_of(url: str) -> int:
    """Return the signed 64-bit number that stands for an address."""
    return xxhash.xxh3_64_intdigest(url.encode()) - (1 << 63)


def link_list(url: str, links: Iterable[str]) -> bytes:
    """Return what is kept of a page's links: the first ones, each once, none to itself.

    Parameters
    ----------
    url : address of the page
    links : absolute addresses, in the page's order
    """
    own = mark_of(url)
    marks = dict.fromkeys(map(mark_of, links))
    marks.pop(own, None)
    return np.array(list(marks)[:MOST_LINKS], np.int64).tobytes()


class GraphBuilder:
    """Puts a graph together from lists of links, some pages at a time.

    Parameters
    ----------
    marks : shape (n,), of the address of each page
    hosts : shape (n,), number of each page's host
    """

    def __init__(self, marks: NDArray[np.int64], hosts: NDArray[np.int64]) -> None:
        self._order = np.argsort(marks).astype(np.int32)
        self._sorted = marks[self._order]
        self._hosts = hosts
        self._degrees = np.zeros(marks.size, np.int64)
        self._parts: list[NDArray[np.int32]] = []
        self._last = -1

    def add(self, rows: NDArray[np.int64], lists: Sequence[bytes]) -> None:
        """Add the links of pages; links to pages that are not known are left out.

        Parameters
        ----------
        rows : shape (k,), ascending, above all before
        lists : of each, as :func:`link_list` makes them
        """
        if not rows.size or not self._sorted.size:
            return
        if rows[0] <= self._last or np.any(np.diff(rows) <= 0):
            raise ValueError("rows must ascend")
        self._last = int(rows[-1])
        sizes = np.array([len(one) // 8 for one in lists], np.int64)
        wanted = np.frombuffer(b"".join(one[: len(one) // 8 * 8] for one in lists), np.int64)
        by_size = np.argsort(wanted)  # found in order, which spares the memory's leaps
        place = np.minimum(np.searchsorted(self._sorted, wanted[by_size]), self._sorted.size - 1)
        known = np.empty(wanted.size, np.bool_)
        known[by_size] = self._sorted[place] == wanted[by_size]
        found = np.empty(wanted.size, np.int32)
        found[by_size] = self._order[place]
        owner = np.repeat(np.arange(rows.size), sizes)
        self._degrees[rows] = np.bincount(owner[known], minlength=rows.size)
        self._parts.append(found[known])

    def graph(self) -> LinkGraph:
        """Return the graph; the builder is empty afterwards."""
        targets = np.empty(sum(part.size for part in self._parts), np.int32)
        place = 0
        for part in self._parts:
            targets[place : place + part.size] = part
            place += part.size
        self._parts = []
        starts = np.concatenate([[0], np.cumsum(self._degrees)])
        return LinkGraph(starts.astype(np.int64), targets, self._hosts)
