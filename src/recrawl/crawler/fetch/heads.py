"""Asking for the headers alone of what was no page, where a host answers that truthfully.

An archive or a picture need not be sent to learn that it still is one. A host is believed while
what it says to such a request is what it said to the one before; each fourth request is whole, so
that a host that says anything at all is found out.
"""

from typing import Final

from recrawl.crawler.control.urls import host_of
from recrawl.errors import FetchError

_IN_A_ROW: Final = 3  # requests for headers alone, until a whole one proves them
_MOST: Final = 50_000  # addresses, and hosts, that are remembered
_AS_EVER: Final = frozenset({304, 429, 503})  # what these say does not depend on the method


class Heads:
    """Remembers what was no page, and which hosts say something else of it when asked so."""

    def __init__(self) -> None:
        self._types: dict[str, tuple[str, int]] = {}  # and how often headers alone were asked for
        self._untrue: set[str] = set()

    def may_ask(self, url: str) -> bool:
        """Tell whether the headers alone are to be asked for."""
        return (
            url in self._types
            and self._types[url][1] < _IN_A_ROW
            and host_of(url) not in self._untrue
        )

    def note_whole(self, url: str, content_type: str | None) -> None:
        """Note what a whole request was answered with; None: with what may be a page."""
        before = self._types.pop(url, None)
        if before is not None and before[1] and before[0] != content_type:
            self._distrust(url)
        if content_type is not None:
            if len(self._types) >= _MOST:
                self._types.clear()
            self._types[url] = (content_type, 0)

    def check(self, url: str, status: int, content_type: str) -> None:
        """Note what a request for headers was answered with.

        Raises
        ------
        FetchError
            ``head``: it is not believed, and the host is asked whole requests from now on.
        """
        known, times = self._types.get(url, ("", 0))
        self._types[url] = (known, times + 1)
        if status in _AS_EVER or (200 <= status < 300 and content_type == known):
            return
        self.fail(url)
        said = f"status {status}" if status >= 300 else content_type[:80]
        raise FetchError("head", f"asked for headers alone it said {said}, before {known[:80]}")

    def fail(self, url: str) -> None:
        """Note that headers alone could not be had."""
        self._types.pop(url, None)
        self._distrust(url)

    def _distrust(self, url: str) -> None:
        if len(self._untrue) >= _MOST:
            self._untrue.clear()
        self._untrue.add(host_of(url))
