"""Pages beside one that is gone, or back: sections go at once, and their copies must not linger.

A page that was never seen to change is visited seldom, and whole sections of such pages go with a
new version of what they describe. Each page that is found to be gone has the two nearest on either
side of it, in the order of addresses, looked at now. Where all have gone, that sweeps them in a few
rounds; where the pages beside are there, it ends at once, for four visits; where a share of them is
gone, it goes on while what it finds is worth its visits.

So does each page that is back have those beside it looked at that went: what went by a slip comes
back at once, too.

Where one of several servers behind a name lacks what the others have, pages are gone and back by
chance. Then as many looks in a row confirm that one went as would all be slips once in a hundred.
"""

from collections import Counter
from dataclasses import dataclass
from math import ceil, log
from typing import Final

from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate

BY_CHANCE: Final = "its host says so of pages that are there, too: to be confirmed once more"
EACH_SIDE: Final = 2  # pages that are looked at before one that is gone, and after it
NEAR: Final = 64  # addresses among which they are looked for
FAR: Final = 300  # addresses among which those are looked for that went, as one of them is back
_WENT: Final = frozenset({PageState.GONE, PageState.MOVED})
_AWAY: Final = frozenset({Outcome.NOT_FOUND, Outcome.GONE, Outcome.MOVED})
_THERE: Final = frozenset(
    {Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED, Outcome.LISTING}
)
_MOST_IN_A_ROW: Final = 64  # of a host; where nothing at all is there, something else is the matter
_LATELY: Final = 0.25  # of the time since the page itself was last there
_SLIP_S: Final = 86_400.0  # a page that is back within a day never went
_FEW_SLIPS: Final = 3  # by which nothing is proved
_COUNTED: Final = 100.0  # visits of a host, from which on older ones fade
_CHANCE: Final = 0.01  # that a page which is there is taken for gone
_MOST_LOOKS: Final = 8
_MOST_HOSTS: Final = 1_000


@dataclass(slots=True)
class _Host:
    """Visits of late to pages that are there: slips said that they are not."""

    there: float = 0.0
    slips: float = 0.0


class Removals:
    """Rule that has the pages beside one looked at that went, or is back."""

    def __init__(self) -> None:
        self._in_a_row: Counter[int] = Counter()  # pages found to be away, by host
        self._hosts: dict[int, _Host] = {}

    def observe(self, update: PageUpdate) -> float | None:
        """Learn from a visit; return whether the pages beside this one are to be looked at now.

        Parameters
        ----------
        update : what came of a visit

        Returns
        -------
        float or None
            Instant: those visited since need no look. None: no page is looked at.
        """
        lease, outcome, at_s = update.lease, update.visit.outcome, update.visit.visited_at_s
        if outcome in _THERE:
            self._in_a_row.pop(lease.host_id, None)
            self._count(lease, at_s)
        if lease.kind is not Kind.PAGE or lease.last_visit_s is None:
            return None
        is_back = lease.state in _WENT and update.state is PageState.INDEXED
        if not is_back:
            if outcome not in _AWAY or lease.state is not PageState.INDEXED:
                return None
            if update.state is PageState.INDEXED:
                return None
            self._in_a_row[lease.host_id] += 1
            if self._in_a_row[lease.host_id] > _MOST_IN_A_ROW:
                return None
        return at_s - _LATELY * max(at_s - lease.last_visit_s, 0.0)

    def looks_needed(self, host_id: int) -> int:
        """Return how many looks in a row that find a page of a host gone confirm it."""
        host = self._hosts.get(host_id)
        if host is None or host.slips < _FEW_SLIPS:
            return 2
        share = host.slips / (host.slips + host.there)
        return min(max(ceil(log(_CHANCE) / log(share)), 2), _MOST_LOOKS)

    def _count(self, lease: Lease, at_s: float) -> None:
        """Count a page that is there, and where it was said not to be each look that said so."""
        if lease.kind is not Kind.PAGE or lease.last_visit_s is None:
            return
        host = self._hosts.pop(lease.host_id, None) or _Host()
        self._hosts[lease.host_id] = host
        if len(self._hosts) > _MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        went = lease.state is PageState.GONE and at_s - lease.last_visit_s < _SLIP_S
        if went or lease.state is PageState.MISSING:
            host.there *= host.slips > 0.0  # before the first it was well
            host.slips += 1.0 + lease.failures + went
        host.there += 1.0
        if host.slips + host.there > _COUNTED:
            host.slips, host.there = 0.5 * host.slips, 0.5 * host.there
