"""Caches between the crawler and a site: how old their answers are, and asking past them.

A cache says by ``Age`` how long ago the site sent or confirmed what it answers with (RFC 9111,
section 5.1). From a host in front of which one stands pages are asked for as they are now:
``Cache-Control: max-age=0`` has a cache ask the site whether its copy still holds, if it obeys.
"""

from typing import Final

from recrawl.crawler.control.urls import host_of

_MOST: Final = 50_000  # hosts that are remembered
_MOST_DIGITS: Final = 9  # about thirty years: more is no age


class Caches:
    """Remembers behind which hosts' names a cache has answered."""

    def __init__(self) -> None:
        self._hosts: set[str] = set()

    def of(self, url: str) -> dict[str, str]:
        """Return the headers that ask a cache for what is new."""
        return {"Cache-Control": "max-age=0"} if host_of(url) in self._hosts else {}

    def note(self, url: str, age_s: float) -> None:
        """Note how old an answer was."""
        if age_s > 0.0:
            if len(self._hosts) >= _MOST:
                self._hosts.clear()
            self._hosts.add(host_of(url))


def age_of(said: str | None) -> float:
    """Return the seconds that an ``Age`` header says; 0 where it says none."""
    said = (said or "").strip()
    if said.isascii() and said.isdigit() and len(said) <= _MOST_DIGITS:
        return float(said)
    return 0.0
