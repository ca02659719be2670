"""Choice of visits that look twice: those of pages found changed each of the last times.

Either such a page changes as often as it is visited, or it shows something by chance, which is no
change: two looks in a row tell. They are few: of a page ever fewer, of a host some a day, and of
one that has shown nothing by chance ever fewer, too.

What one page shows is likely shown by others of its host, which are made by the same program. Where
all visits to a host find changes, whatever the pages, one of them looks twice; and each look that
has shown something has other pages looked at a change earlier, the third at their first one. A look
that shows nothing takes back two such: of pages half of which show something by chance, those are
looked at that have changed before.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeVar

from recrawl.terms import Kind, PageState, PageUpdate

_IN_A_ROW: Final = 3  # changes, before a page is looked at twice; twice as many with each time
_OF_HOST: Final = 24  # in a day, that show nothing
_ROW_OF_HOST: Final = 8  # changes in a row, of any pages of a host, before one is looked at twice
_MOST_SHOWN: Final = _IN_A_ROW + 1  # looks that are to their host's credit
_VAIN: Final = 2  # looks that one in vain takes from its credit
_DAY_S: Final = 86_400.0
_PATIENCE: Final = 4  # looks at a host that show nothing; from then on one a day, in two days, ...
_MOST_DOUBLINGS: Final = 5
_MOST: Final = 20_000  # pages, and hosts, of which something is remembered


T = TypeVar("T")


@dataclass(slots=True)
class _Streak:
    """Changes of a page in a row: how many, when the last was found, and looks at it so far."""

    at_s: float | None = None
    n: int = 0
    looks: int = 0


@dataclass(slots=True)
class _Host:
    """Second looks at a host: how many since when, and how many in a row have shown nothing."""

    since_s: float = -inf
    n: int = 0
    in_vain: int = 0
    shown: int = 0  # less what those in vain have taken from it
    row: int = 0  # of visits that found a change, since the last that did not

    def most(self) -> tuple[int, float]:
        """Return how many there may be within how long."""
        doublings = self.in_vain - _PATIENCE
        if doublings < 0:
            return _OF_HOST, _DAY_S
        return 1, _DAY_S * 2 ** min(doublings, _MOST_DOUBLINGS)

    def needed(self, looks: int) -> int:
        """Return how many changes in a row a page needs that was looked at so often."""
        needed = max(_IN_A_ROW - self.shown, 0)
        if looks:
            return max(needed, 1) << looks
        return 0 if self.row >= _ROW_OF_HOST else needed


@dataclass(slots=True)
class SecondLooks:
    """Counts changes in a row. Bounded; O(1) a visit."""

    _streaks: dict[int, _Streak] = field(default_factory=dict)
    _hosts: dict[int, _Host] = field(default_factory=dict)

    def observe(self, update: PageUpdate) -> None:
        """Take in what a visit found."""
        lease, at_s = update.lease, update.visit.visited_at_s
        if lease.kind is not Kind.PAGE or update.visit.changed is None:
            return
        if update.state is PageState.GONE:  # by no chance
            return
        host = self._host(lease.host_id)
        host.row = host.row + 1 if update.visit.changed else 0
        if not update.visit.changed:  # the lease of the next visit tells of this one
            return
        streak = self._streak(lease.page_id)
        streak.n = streak.n + 1 if lease.last_visit_s == streak.at_s else 1
        streak.at_s = at_s

    def take(self, page_id: int, host_id: int, before_s: float | None, now_s: float) -> bool:
        """Tell whether a visit is to look twice, which is counted.

        Parameters
        ----------
        before_s : instant of the last visit that told something
        """
        host, streak = self._host(host_id), self._streaks.get(page_id)
        if streak is None and len(self._streaks) >= _MOST:
            return False  # it may have been looked at, and be forgotten
        streak = streak or _Streak()
        if (streak.n if streak.at_s == before_s else 0) < host.needed(streak.looks):
            return False
        most, within_s = host.most()
        if abs(now_s - host.since_s) >= within_s:
            host.since_s, host.n = now_s, 0
        if host.n >= most:
            return False
        host.n += 1
        self._streak(page_id).looks += 1
        return True

    def saw(self, host_id: int, *, differs: bool) -> None:
        """Take in whether a page was another at the second look."""
        host = self._host(host_id)
        if differs:
            host.n = max(host.n - 1, 0)
            host.in_vain, host.shown = 0, min(host.shown + 1, _MOST_SHOWN)
        else:
            host.in_vain, host.shown = host.in_vain + 1, max(host.shown - _VAIN, 0)

    def _streak(self, page_id: int) -> _Streak:
        """Return what is remembered of a page, as the last that is to be forgotten."""
        return _latest(self._streaks, page_id, _Streak)

    def _host(self, host_id: int) -> _Host:
        return _latest(self._hosts, host_id, _Host)


def _latest(known: dict[int, T], key: int, new: Callable[[], T]) -> T:
    """Return a value, made where there is none, and put it last; forget the first of too many."""
    value = known.pop(key, None) or new()
    known[key] = value
    if len(known) > _MOST:
        del known[next(iter(known))]
    return value
