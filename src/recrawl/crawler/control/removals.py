"""Pages beside one that is gone, or back: sections go at once, and their copies must not linger.

A page that was never seen to change is visited seldom, and whole sections of such pages go with a
new version of what they describe. Each page that is found to be gone has the two nearest on either
side of it, in the order of addresses, looked at now. Where all have gone, that sweeps them in a few
rounds; where the pages beside are there, it ends at once, for four visits; where a share of them is
gone, it goes on while what it finds is worth its visits.

So does each page that is back have those beside it looked at that went: what went by a slip comes
back at once, too.
"""

from collections import Counter
from typing import Final

from recrawl.terms import Kind, Outcome, PageState, PageUpdate

__all__ = ["EACH_SIDE", "FAR", "NEAR", "Removals"]

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


class Removals:
    """Rule that has the pages beside one looked at that went, or is back."""

    def __init__(self) -> None:
        self._in_a_row: Counter[int] = Counter()  # pages found to be away, by host

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
