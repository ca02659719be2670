"""Which visits look at their page twice: of pages that were another each of the last times.

Either such a page changes as often as it is visited, or it shows something by chance, which is no
change: two looks in a row tell. They are few: of a page ever fewer, of a host some a day.
"""

from dataclasses import dataclass, field
from typing import Final

from recrawl.terms import PageUpdate

__all__ = ["SecondLooks"]

_IN_A_ROW: Final = 3  # changes, before a page is looked at twice; twice as many with each time
_OF_HOST: Final = 24  # in a day
_DAY_S: Final = 86_400.0
_MOST: Final = 20_000  # pages, and hosts, of which something is remembered


@dataclass(slots=True)
class _Streak:
    """Changes in a row: how many, when the last was found, and how many are needed."""

    at_s: float
    n: int = 0
    needed: int = _IN_A_ROW


@dataclass(slots=True)
class SecondLooks:
    """Counts changes in a row. Bounded; O(1) a visit."""

    _streaks: dict[int, _Streak] = field(default_factory=dict)
    _of_hosts: dict[int, tuple[float, int]] = field(default_factory=dict)

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
        since_s, n = self._of_hosts.pop(host_id, (now_s, 0))
        if not 0.0 <= now_s - since_s < _DAY_S:
            since_s, n = now_s, 0
        is_one = n < _OF_HOST
        self._of_hosts[host_id] = since_s, n + is_one
        if len(self._of_hosts) > _MOST:
            del self._of_hosts[next(iter(self._of_hosts))]
        if is_one:
            streak.needed *= 2
        return is_one
