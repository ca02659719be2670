"""Expected worth of addresses of which nothing is known yet but where they lie."""

from collections.abc import Mapping
from typing import Final

from recrawl.crawler.control.addresses.doubts import is_doubted
from recrawl.crawler.control.urls import folder_of, host_of

_SHARE: Final = 0.5
_MOST: Final = 6


def share_before_visit(url: str) -> float:
    """Return the share of its importance that a page's first visit is expected to be worth.

    What narrows a list down once more, and what speaks against itself, comes after what does not:
    most of it says what is known by then, however many links lead there. Half for each parameter
    beyond the first, a quarter for an address in doubt. O(length of the address).
    """
    place = url.find("?")
    more = max(url.count("=", place) - 1, 0) if place >= 0 else 0
    return _SHARE ** min(more + 2 * is_doubted(url), _MOST)


class ExpectedImportance:
    """The mean importance of a folder's pages, or of its host's, as it was last computed."""

    def __init__(self) -> None:
        self._folders: Mapping[str, float] = {}
        self._hosts: Mapping[str, float] = {}

    def learn(self, hosts: Mapping[str, float], folders: Mapping[str, float]) -> None:
        """Go by these means from now on."""
        self._hosts, self._folders = hosts, folders

    def of(self, url: str) -> float | None:
        """Return what a page is expected to be worth, of mean 1; None: nothing is known."""
        share = share_before_visit(url)
        if not self._hosts:
            return share if share < 1.0 else None
        found = self._folders.get(folder_of(url))
        return share * (self._hosts.get(host_of(url), 1.0) if found is None else found)
