"""First finders of addresses, and their lead over others: the first has but that lead."""

from collections.abc import Iterable
from typing import Final

_MOST: Final = 100_000  # addresses found not long ago that are remembered


class Finders:
    """Remembers who found what, until others have found it too; bounded, in memory.

    What is forgotten counts as found by nobody else, which makes its finder look better.
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, float]] = {}
        self._leads: dict[int, tuple[int, float]] = {}

    def found(self, url: str, finder: int, at_s: float) -> None:
        """Note that a page led to an address that was not known."""
        if url not in self._first:
            if len(self._first) >= _MOST:
                del self._first[next(iter(self._first))]
            self._first[url] = (finder, at_s)

    def found_again(self, finder: int, urls: Iterable[str], at_s: float) -> None:
        """Note where a page leads; of what others found first, their lead is over."""
        if not self._first:
            return
        for url in urls:
            first = self._first.get(url)
            if first is not None and first[0] != finder:
                n, lead_s = self._leads.get(first[0], (0, 0.0))
                self._leads[first[0]] = (n + 1, lead_s + max(at_s - first[1], 0.0))
                del self._first[url]

    def take(self) -> dict[int, tuple[int, float]]:
        """Return, by finder, how much of what it found others found too, and how much later."""
        leads, self._leads = self._leads, {}
        return leads
