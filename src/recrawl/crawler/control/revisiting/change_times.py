"""Hosts that tell truthfully when their pages change, as their latest visits show it."""

from typing import Final

import numpy as np

from recrawl.kernels.arrays import Flags, Integers, Vector, is_among
from recrawl.learning.last_change import judge_tally, tally_dates

_KEPT: Final = 1_000.0  # visits of each kind by which a host is judged; older ones fade


class ChangeTimes:
    """The hosts of a crawl, numbered. A host that stops telling the truth is no longer believed."""

    def __init__(self) -> None:
        self.tallies: dict[int, Vector] = {}
        self.truthful: set[int] = set()

    def observe(self, hosts: Integers, elapsed: Vector, changed: Flags, ages: Vector) -> list[int]:
        """Learn from visits that are new; return the hosts that told a time.

        Parameters
        ----------
        hosts : shape (v,), host of each visit
        elapsed : shape (v,), since the visit before, s, > 0
        changed : shape (v,)
        ages : shape (v,), time since the last change as the server says, s; nan where it does not
        """
        told = np.isfinite(ages)
        found: list[int] = sorted(set(hosts[told].tolist()))
        for host in found:
            own = told & (hosts == host)
            tally = tally_dates(elapsed[own], changed[own], ages[own])
            self.recall(host, tally + self.tallies.get(host, 0.0))
        return found

    def recall(self, host: int, tally: Vector) -> None:
        """Judge a host by its tally, shape (2, 3), as :func:`tally_dates` makes it."""
        self.tallies[host] = tally * (_KEPT / np.maximum(tally[:, :1], _KEPT))
        if judge_tally(self.tallies[host]).is_truthful:
            self.truthful.add(host)
        else:
            self.truthful.discard(host)

    def dated(self, hosts: Integers, ages: Vector) -> Vector:
        """Return ages, nan where the host of a visit does not tell the truth.

        Parameters
        ----------
        hosts, ages : shape (v,), as for :meth:`observe`
        """
        return np.where(is_among(hosts, list(self.truthful)), ages, np.nan)
