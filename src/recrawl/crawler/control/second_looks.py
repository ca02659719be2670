"""Choice of visits that look twice: those of pages found changed each of the last times.

Either such a page changes as often as it is visited, or it shows something by chance, which is no
change: two looks in a row tell. They are few: of a page ever fewer, of a host some a day, and of
one that has shown nothing by chance ever fewer, too.
"""

from dataclasses import dataclass, field
from typing import Final

from recrawl.terms import PageUpdate

__all__ = ["SecondLooks"]

_IN_A_ROW: Final = 3  # changes, before a page is looked at twice; twice as many with each time
_OF_HOST: Final = 24  # in a day
_DAY_S: Final = 86_400.0
_PATIENCE: Final = 4  # looks at a host that show nothing; from then on one a day, in two days, ...
_MOST_DOUBLINGS: Final = 5
_MOST: Final = 20_000  # pages, and hosts, of which something is remembered


@dataclass(slots=True)
class _Streak:
    """Changes in a row: how many, when the last was found, and how many are needed."""

    at_s: float
    n: int = 0
    needed: int = _IN_A_ROW


@dataclass(slots=True)
class _Host:
    """Second looks at a host: how many since when, and how many in a row have shown nothing."""

    since_s: float
    n: int = 0
    in_vain: int = 0

    def most(self) -> tuple[int, float]:
        """Return how many there may be within how long."""
        doublings = self.in_vain - _PATIENCE
        if doublings < 0:
            return _OF_HOST, _DAY_S
        return 1, _DAY_S * 2 ** min(doublings, _MOST_DOUBLINGS)


@dataclass(slots=True)
class SecondLooks:
    """Counts changes in a row. Bounded; O(1) a visit."""

    _streaks: dict[int, _Streak] = field(default_factory=dict)
    _hosts: dict[int, _Host] = field(default_factory=dict)

    def observe(self, update: PageUpdate) -> None:
        """Take in what a visit found; only changes count, those without one come by other ways."""
        if not update.visit.changed:
            return
        lease, at_s = update.lease, update.visit.visited_at_s
        streak = self._streaks.pop(lease.page_id, None) or _Streak(at_s)
        # A visit in between that found no change is what the lease knows of instead.
        streak.n = streak.n + 1 if lease.last_visit_s == streak.at_s else 1
        streak.at_s = at_s
        self._streaks[lease.page_id] = streak
        if len(self._streaks) > _MOST:
            del self._streaks[next(iter(self._streaks))]

    def take(self, page_id: int, host_id: int, before_s: float | None, now_s: float) -> bool:
        """Tell whether a visit is to look twice, which is counted.

        Parameters
        ----------
        before_s : instant of the last visit that told something
        """
        streak = self._streaks.get(page_id)
        if streak is None or streak.n < streak.needed or streak.at_s != before_s:
            return False
        host = self._hosts.pop(host_id, None) or _Host(now_s)
        self._hosts[host_id] = host
        if len(self._hosts) > _MOST:
            del self._hosts[next(iter(self._hosts))]
        most, within_s = host.most()
        if not 0.0 <= now_s - host.since_s < within_s:
            host.since_s, host.n = now_s, 0
        if host.n >= most:
            return False
        host.n += 1
        streak.needed *= 2
        return True

    def saw(self, host_id: int, *, differs: bool) -> None:
        """Take in whether a page was another at the second look."""
        host = self._hosts.get(host_id)
        if host is not None:
            host.in_vain = 0 if differs else host.in_vain + 1
