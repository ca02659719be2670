"""Logins that have lapsed: hosts where a crawl is signed in, and which ask who comes all the same.

A cookie or a token is good for a while. After that each page is denied, leads to where people sign
in, or is the form for it: to believe that would empty the index. A page may be denied for itself,
as whoever lent the login may not read it any more: that counts when it has been seen three times,
the last time after another one was given.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Final

from recrawl.crawler.control.answers.refusals import Verdict
from recrawl.crawler.control.urls import host_of
from recrawl.terms import Lease, PageState

LAPSED: Final = "it asks who comes though a login was sent, which may have lapsed: see [[access]]"
_ROW: Final = 3  # pages that are held and denied in a row, from which on the login has lapsed
_TRIES: Final = 2  # of a page that is held, before the one that is believed
_MOST_HOSTS: Final = 1_000


@dataclass(slots=True)
class _Host:
    denied: set[str] = field(default_factory=set)  # pages since one was given, as far as they count
    given_s: float = -inf  # when one was, last
    form: bytes = b""  # signature of what was shown last instead of a page, with a field for one


class Logins:
    """Learns at which hosts the login of a crawl has lapsed. In memory; bounded; O(1) a page."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}

    def denied(self, lease: Lease) -> Verdict:
        """Judge a page that asks who comes, though a login was sent."""
        host, is_held = self._host(lease.url), lease.state is PageState.INDEXED
        before_s = inf if lease.last_visit_s is None else lease.last_visit_s
        if is_held and lease.failures >= _TRIES and host.given_s > before_s:
            return Verdict()
        if is_held and len(host.denied) < _ROW:
            host.denied.add(lease.url)
        refuses = len(host.denied) == _ROW
        return Verdict(is_held or refuses, refuses)

    def is_form(self, lease: Lease, signature: bytes, *, is_other: bool) -> bool:
        """Tell whether a page with a field for a password is shown instead of what was asked for.

        The form is the same for all pages. Where they say something of their own beside it, as
        where a box to sign in stands on each page of a site, they were given.

        Parameters
        ----------
        lease : of the page
        signature : of what is shown
        is_other : it is held, and said something else before
        """
        host = self._host(lease.url)
        if not (is_other or host.denied):
            return False
        before, host.form = host.form or signature, signature
        return before == signature

    def given(self, url: str, now_s: float) -> None:
        """Note that a page was given: the login is good."""
        host = self._hosts.get(host_of(url))
        if host is not None:
            host.denied.clear()
            host.given_s = now_s

    def _host(self, url: str) -> _Host:
        name = host_of(url)
        if name not in self._hosts and len(self._hosts) >= _MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return self._hosts.setdefault(name, _Host())
