"""Which hosts tell truthfully when their pages change, as their latest visits show it."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.new_visits import NewVisits
from recrawl.learning.last_change import judge_truthfulness

__all__ = ["ChangeTimes"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_KEPT = 1_000  # visits of each kind by which a host is judged


class ChangeTimes:
    """The hosts of a crawl, numbered. A host that stops telling the truth is no longer believed."""

    def __init__(self) -> None:
        self._told: dict[tuple[int, bool], deque[tuple[float, float]]] = {}
        self._new = NewVisits()
        self.truthful: set[int] = set()

    def observe(
        self,
        rows: Integers,
        page: Integers,
        hosts: Integers,
        elapsed: Vector,
        changed: Flags,
        ages: Vector,
    ) -> None:
        """Learn from visits.

        Parameters
        ----------
        rows, page : as for :meth:`NewVisits.among`
        hosts : shape (v,), host of each visit
        elapsed : shape (v,), since the visit before, s, > 0
        changed : shape (v,)
        ages : shape (v,), time since the last change as the server says, s; nan where it does not
        """
        told = np.flatnonzero(self._new.among(rows, page) & np.isfinite(ages))
        for v in told.tolist():
            kept = self._told.setdefault((int(hosts[v]), bool(changed[v])), deque(maxlen=_KEPT))
            kept.append((elapsed[v], ages[v]))
        for host in np.unique(hosts[told]).tolist():
            kinds = [
                np.array(self._told.get((host, kind), ()), np.float64).reshape(-1, 2)
                for kind in (False, True)
            ]
            seen: Vector = np.concatenate(kinds)
            found = np.repeat([False, True], [len(kind) for kind in kinds])
            if judge_truthfulness(seen[:, 0], found, seen[:, 1]).is_truthful:
                self.truthful.add(host)
            else:
                self.truthful.discard(host)

    def dated(self, hosts: Integers, ages: Vector) -> Vector:
        """Return ages, nan where the host of a visit does not tell the truth.

        Parameters
        ----------
        hosts, ages : shape (v,), as for :meth:`observe`
        """
        return np.where(np.isin(hosts, list(self.truthful)), ages, np.nan)
