"""A heap of hosts, each under a number, in which what has been overtaken is stepped over."""

import heapq
from collections.abc import Callable

_FEW = 1_024


class HostHeap:
    """Hosts in ascending order of a number; O(log hosts) each, amortised.

    A host that changes gets a new version and is pushed anew: entries of older versions count no
    more, and are dropped when they come up, or when they are more than half of all.

    Parameters
    ----------
    version_of : the version of a host
    """

    def __init__(self, version_of: Callable[[int], int]) -> None:
        self._version_of = version_of
        self._entries: list[tuple[float, int, int]] = []  # (key, host_id, version)
        self._most = _FEW

    def push(self, key: float, host_id: int) -> None:
        """Add a host as it is now."""
        heapq.heappush(self._entries, (key, host_id, self._version_of(host_id)))
        if len(self._entries) > self._most:
            self._entries = [entry for entry in self._entries if not self._is_stale(entry)]
            heapq.heapify(self._entries)
            self._most = 2 * len(self._entries) + _FEW

    def first(self) -> tuple[float, int] | None:
        """Return the least number and its host; None where there is no host."""
        while self._entries and self._is_stale(self._entries[0]):
            heapq.heappop(self._entries)
        return self._entries[0][:2] if self._entries else None

    def pop(self) -> int:
        """Take the host of the least number; :meth:`first` has just said that there is one."""
        return heapq.heappop(self._entries)[1]

    def _is_stale(self, entry: tuple[float, int, int]) -> bool:
        return self._version_of(entry[1]) != entry[2]
