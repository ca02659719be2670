"""Changes that hosts announce and date, and the trust that each host deserves, from visits."""

from collections.abc import Iterable, Mapping
from math import isfinite, nan
from typing import Final

import numpy as np

from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.control.revisiting.change_times import ChangeTimes
from recrawl.crawler.control.revisiting.kept_beliefs import KeptHost, host_as_bytes, host_of_bytes
from recrawl.crawler.control.revisiting.signal_sources import (
    LEAST_TRUE,
    SIGNALLED_VISIT,
    SignalSources,
)
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.learning.last_change import split_visits
from recrawl.learning.signals import SignalQuality

MOMENT_S: Final = 1.0  # servers tell whole seconds


class HostSignals:
    """The hosts of a crawl, numbered as their pages become known."""

    def __init__(self) -> None:
        self.change_times = ChangeTimes()
        self._numbers: dict[str, int] = {}
        self._sources = SignalSources()
        self._precisions: dict[int, float] = {}  # share of a host's announcements that are true
        self._recalls: dict[int, float] = {}  # share of its changes that are announced
        self._news: set[int] = set()  # hosts of which more is known than was kept

    def number(self, hosts: Iterable[str]) -> list[int]:
        """Return the numbers of hosts by name, new ones for those that are new."""
        numbers = self._numbers
        return [numbers.setdefault(host, len(numbers)) for host in hosts]

    def learn(self, hosts: Integers, visits: Evidence) -> None:
        """Learn from visits that are new.

        Parameters
        ----------
        hosts : shape (n_visits,), host of each visit
        visits : evidence
        """
        for host, found in self._sources.observe(hosts, visits):
            self._news.add(host)
            if found is not None and self._is_settled(host, found):
                self._precisions[host], self._recalls[host] = found.precision, found.recall
        told = (hosts, visits.intervals_s, visits.changed)
        self._news.update(self.change_times.observe(*told, visits.ages_s))

    def _is_settled(self, host: int, found: SignalQuality) -> bool:
        """Tell whether visits show by now that announcements are mostly true, or are not."""
        was_true = self._precisions.get(host, 0.0) >= LEAST_TRUE
        return found.precision < LEAST_TRUE or was_true or self._sources.is_true(host, found)

    def split(
        self, rows: Integers, hosts: Integers, visits: Evidence
    ) -> tuple[Integers, Vector, Flags, Vector]:
        """Return visits as beliefs take them, with all that their hosts tell.

        Parameters
        ----------
        rows, hosts : shape (n_visits,), row of the page and host of each visit
        visits : evidence
        """
        listed = np.isfinite(visits.signalled)  # what is in no list is not announced
        recalls, precisions = self.worth_of(hosts)
        return split_visits(
            rows,
            visits.intervals_s,
            visits.changed,
            self.change_times.dated(hosts, visits.ages_s),
            moment=MOMENT_S,
            announced=np.nan_to_num(visits.signalled),
            unheard=visits.unheard_s,
            recall=np.where(listed, recalls, 0.0),
            precision=precisions,
        )

    def worth_of(self, hosts: Integers) -> tuple[Vector, Vector]:
        """Return recall and precision where announcements are mostly true; else 0."""
        precisions = self.trust(hosts, otherwise=0.0)
        is_true = precisions >= LEAST_TRUE
        recalls = np.where(is_true, self._of(self._recalls, hosts, 0.0), 0.0)
        return recalls, np.where(is_true, precisions, 0.0)

    def trust(self, hosts: Integers, otherwise: float = nan) -> Vector:
        """Return the share of each host's announcements that is true."""
        return self._of(self._precisions, hosts, otherwise)

    def _of(self, known: Mapping[int, float], hosts: Integers, otherwise: float) -> Vector:
        table = np.full(len(self._numbers) + 1, otherwise)
        table[list(known)] = list(known.values())
        return np.asarray(table[hosts])

    # -- as a state keeps it --

    def news(self) -> list[tuple[str, bytes]]:
        """Return what a state is to keep of hosts, by name, of which more is known by now."""
        names = list(self._numbers) if self._news else []
        told = [(names[host], host_as_bytes(self._kept(host))) for host in sorted(self._news)]
        self._news.clear()
        return told

    def _kept(self, host: int) -> KeptHost:
        return KeptHost(
            self._precisions.get(host, nan),
            self._recalls.get(host, nan),
            self.change_times.tallies.get(host, np.zeros((2, 3))),
            self._sources.told.get(host, np.zeros(0, SIGNALLED_VISIT)),
        )

    def recall(self, kept: Mapping[str, bytes]) -> None:
        """Go on with what a state kept of hosts, as far as nothing is known of them yet."""
        for name, said in kept.items():
            told = None if name in self._numbers else host_of_bytes(said)
            if told is None:
                continue
            (host,) = self.number([name])
            if isfinite(told.precision) and isfinite(told.recall):
                self._precisions[host], self._recalls[host] = told.precision, told.recall
            if told.told.size:
                self._sources.told[host] = told.told
            if told.tally.any():
                self.change_times.recall(host, told.tally)
