"""Hosts that say "not modified" of pages which have changed.

A page may keep the date of its file while its comments or prices change, and a server or cache may
compare nothing at all. Whoever believes that never sees a change again. So a page is asked for in
full now and then, by host ever more seldom: where it says something else under the very same ETag
or date, and another one does so too, their host is not asked whether pages are modified any more,
and the pages of which it has just said that they are not are visited again.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from recrawl.terms import Lease, Outcome, PageUpdate

_FIRST: Final = 8  # confirmations of a host, after which a page is read in full
_EASED: Final = 4  # times as many, after each page of which a host was right
_LONGEST: Final = 256
_PARDON: Final = 32  # pages of which a host was right, since it was wrong
_MOST_PAGES: Final = 32  # that are visited again
_MOST_HOSTS: Final = 4_000


@dataclass(slots=True)
class _Host:
    confirmed: int = 0  # since a page was read in full
    until: int = _FIRST
    refuted: int | None = None  # a page of which its word was wrong
    held: int = 0  # pages since then of which it was right
    believed: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_PAGES))


class Confirmations:
    """Checks what hosts say of pages that are not modified. In memory; bounded; O(1) a visit."""

    def __init__(self) -> None:
        self._hosts: dict[int, _Host] = {}
        self._looks: set[int] = set()

    def take(self, lease: Lease) -> bool:
        """Tell whether a page that could be asked for conditionally is to be read in full."""
        host = self._hosts.get(lease.host_id)
        if host is None or host.confirmed < host.until:
            return False
        host.confirmed = 0
        if len(self._looks) >= _MOST_HOSTS:  # of visits that were never recorded
            self._looks.clear()
        self._looks.add(lease.page_id)
        return True

    def observe(self, update: PageUpdate) -> Sequence[str] | None:
        """Note a visit; where it proves that its host's word counts for nothing, return pages.

        It has said of them, last, that they are not modified.
        """
        lease, outcome = update.lease, update.visit.outcome
        was_look = lease.page_id in self._looks
        self._looks.discard(lease.page_id)
        if outcome is Outcome.NOT_MODIFIED:
            host = self._host(lease.host_id)
            host.confirmed += 1
            host.believed.append(lease.url)
        elif was_look and outcome is Outcome.UNCHANGED:
            host = self._host(lease.host_id)
            host.held += 1
            if host.refuted is None or host.held == _PARDON:
                host.refuted, host.until = None, min(max(_EASED * host.until, _FIRST), _LONGEST)
        elif was_look and update.visit.changed and _is_under_the_same(update):
            host = self._host(lease.host_id)
            if host.refuted not in (None, lease.page_id):
                del self._hosts[lease.host_id]
                return tuple(dict.fromkeys(host.believed))
            host.refuted, host.until, host.held = lease.page_id, 1, 0
        return None

    def _host(self, host_id: int) -> _Host:
        if host_id not in self._hosts and len(self._hosts) >= _MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return self._hosts.setdefault(host_id, _Host())


def _is_under_the_same(update: PageUpdate) -> bool:
    """Tell whether a page has the ETag that it had, or where it had none the date."""
    if update.lease.etag:
        return update.etag == update.lease.etag
    return update.last_modified == update.lease.last_modified
