"""Cookies that pages want back before they show themselves.

Some sites answer who comes without a cookie with one and a redirect: to the very same address, or
to the same with a parameter more, where they look whether it came back. No other cookie is kept: a
crawler has no sessions, and what it is shown shall be what all are shown.
"""

from collections.abc import Mapping
from http import HTTPStatus
from http.cookies import Morsel
from typing import Final
from urllib.parse import urlsplit

from recrawl.crawler.control.urls import host_of, join

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
        self._in_vain: set[str] = set()  # hosts that send a page to the same with a parameter more

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
        target = join(url, location) if status in _REDIRECTS and location else None
        if target is None or not (target == url or self._may_be_a_look(url, target, sent)):
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

    def _may_be_a_look(self, url: str, target: str, sent: str) -> bool:
        """Tell whether a redirect may look for a cookie; one that comes despite it needs none."""
        host = host_of(url)
        if not _has_more(target, url) or host in self._in_vain:
            return False
        if not sent:
            return True
        if len(self._in_vain) >= _MOST_HOSTS:
            self._in_vain.clear()
        self._in_vain.add(host)
        self._of_hosts.pop(host, None)
        return False


def _has_more(target: str, url: str) -> bool:
    """Tell whether an address is another one with parameters added."""
    longer, shorter = urlsplit(target), urlsplit(url)
    added = set(longer.query.split("&")) - set(shorter.query.split("&"))
    kept = set(shorter.query.split("&")) - set(longer.query.split("&"))
    return longer[:3] == shorter[:3] and bool(added) and kept <= {""}
