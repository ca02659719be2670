"""Moves that are likely a slip: of a page that is held to the start page, or to where others lead.

What moves leads to its new place, another one for each page, and counts at once. Where a site sends
all of its pages to one address, for good (301), that may be over in ten minutes, as with a wrong
line in its configuration; pages taken for moved would be looked at again in a month.
"""

from typing import Final

import xxhash

from recrawl.crawler.control.urls import path_of

_MOST: Final = 100_000  # targets that are remembered


class SharedTargets:
    """Remembers where pages have moved to. In memory; bounded; O(1) a page."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # page that led to a target first, by target

    def is_doubtful(self, url: str, target: str) -> bool:
        """Tell whether a move is to be confirmed; it is remembered.

        Parameters
        ----------
        url, target : of the page, and where it leads, in normal form
        """
        key, page = (xxhash.xxh3_64_intdigest(one.encode()) for one in (target, url))
        first = self._first.setdefault(key, page)
        if len(self._first) > _MOST:
            del self._first[next(iter(self._first))]
        return first != page or (path_of(target) == "/" and path_of(url) != "/")
