"""Cookies that pages want back before they show themselves.

Some sites answer who comes without a cookie with one and a redirect to the very same address. No
other cookie is kept: a crawler has no sessions, and what it is shown shall be what all are shown.
"""

from collections.abc import Mapping
from http import HTTPStatus
from http.cookies import Morsel
from typing import Final

from recrawl.crawler.control.urls import host_of, join

__all__ = ["Cookies"]

_REDIRECTS: Final = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.SEE_OTHER,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)
_MOST: Final = 20  # cookies of a host
_LONGEST: Final = 4_000  # characters of all of them
_MOST_HOSTS: Final = 10_000


class Cookies:
    """Remembers what hosts want back. In memory; sent to the same scheme, host and port only."""

    def __init__(self) -> None:
        self._of_hosts: dict[str, str] = {}

    def of(self, url: str) -> str:
        """Return what a Cookie header is to say, or nothing."""
        return self._of_hosts.get(host_of(url), "")

    def note(
        self,
        url: str,
        sent: str,
        status: int,
        location: str | None,
        told: Mapping[str, Morsel[str]],
    ) -> bool:
        """Note an answer; tell whether the page wants to be asked again, with a cookie.

        Parameters
        ----------
        url : asked for, in normal form
        sent : of these cookies, with the request
        status, location, told : of the answer; the last are its cookies, by name
        """
        if status not in _REDIRECTS or not location or join(url, location) != url:
            return False
        pairs = [f"{name}={one.coded_value}" for name, one in told.items() if one.value]
        wanted = "; ".join(pairs[:_MOST])
        # The very same was sent back in vain; another one is that of a session that follows.
        if not wanted or len(wanted) > _LONGEST or wanted == sent:
            return False
        self._of_hosts.pop(host_of(url), None)
        if len(self._of_hosts) >= _MOST_HOSTS:
            del self._of_hosts[next(iter(self._of_hosts))]
        self._of_hosts[host_of(url)] = wanted
        return True
