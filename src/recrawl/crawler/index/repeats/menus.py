"""Entries of a host's menu: links that come to one page after the other.

Somebody writes a page and has all others lead to it. None of those says anything new.
"""

from collections.abc import Iterable, Set
from typing import Final

_PAGES: Final = 3  # that an entry has come to, from which on it is one
_MOST_HOSTS: Final = 1_000
_MOST_LINKS: Final = 200  # of a host


class MenuEntries:
    """Counts the pages of a host that the same link has come to. In memory, and bounded."""

    def __init__(self) -> None:
        self._came: dict[str, dict[tuple[str, str], set[str]]] = {}

    def among(
        self, host: str, url: str, lines: Set[str], links: Iterable[tuple[str, str]]
    ) -> set[str]:
        """Return the lines that are entries of the menu, as as many other pages have got them.

        Parameters
        ----------
        url : of a page of the host
        lines : that have come to it
        links : of it now, address and text
        """
        found: set[str] = set()
        came = self._came.pop(host, {})
        for target, text in links:
            line = " ".join(text.split())
            if line in lines:
                pages = came.setdefault((target, line), set())
                if len(pages - {url}) >= _PAGES:
                    found.add(line)
                else:
                    pages.add(url)
        while len(came) > _MOST_LINKS:
            del came[next(iter(came))]
        if came:
            self._came[host] = came
            if len(self._came) > _MOST_HOSTS:
                del self._came[next(iter(self._came))]
        return found


def beside(lines: list[str], new: Set[str], repeated: Set[str]) -> set[str]:
    """Return the new lines of which a line before or after is repeated, but for new ones between.

    A page's beginning and its end count as repeated. O(lines).
    """
    found: set[str] = set()
    for way in (lines, lines[::-1]):
        is_repeated = True
        for line in way:
            if line not in new:
                is_repeated = line in repeated
            elif is_repeated:
                found.add(line)
    return found
