"""Reliability of each source of change signals, as its latest visits show it."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import Evidence
from recrawl.errors import NotConverged
from recrawl.kernels.arrays import Integers
from recrawl.learning.signals import SignalQuality, learn_signal_quality

_LEAST: Final = 20  # visits by which a source is judged
_KEPT: Final = 2_000  # the latest of each
_ALL: Final = 0.99  # of the time since the visit before, in which nothing was heard
SIGNALLED_VISIT: Final = np.dtype(
    [("page", "<i8"), ("elapsed", "<f4"), ("unheard", "<f4"), ("signals", "<f4"), ("changed", "?")]
)


class SignalSources:
    """The sources of a crawl, numbered. Each keeps its latest 2,000 visits, and so may change."""

    def __init__(self) -> None:
        self.told: dict[int, NDArray[Any]] = {}  # of SIGNALLED_VISIT

    def observe(
        self, sources: Integers, visits: Evidence
    ) -> Iterator[tuple[int, SignalQuality | None]]:
        """Learn from visits that are new; yield what the source of each is worth now.

        None: it is not known, or as it was.

        Parameters
        ----------
        sources : shape (v,), source of the signals of each visit's page
        visits : evidence, of which those count whose number of signals is known

        Notes
        -----
        A source is judged from its twentieth visit on, and only if it ever gave a signal. Visits
        before which nothing was heard tell nothing of it: where pages are visited more often than
        it is read, those alone would soon be kept, and it be taken for silent.
        """
        known = np.isfinite(visits.signalled) & (visits.unheard_s < _ALL * visits.intervals_s)
        for source in sorted(set(sources[known].tolist())):
            own = known & (sources == source)
            new = np.empty(np.count_nonzero(own), SIGNALLED_VISIT)
            new["page"] = visits.page_ids[visits.page[own]]
            new["elapsed"], new["unheard"] = visits.intervals_s[own], visits.unheard_s[own]
            new["signals"], new["changed"] = visits.signalled[own], visits.changed[own]
            before = self.told.get(source, new[:0])
            told = self.told[source] = np.concatenate([before, new])[-_KEPT:]
            quality = None
            if told.size >= _LEAST and told["signals"].any():
                with suppress(NotConverged):  # what was known stays in force
                    quality = learn_signal_quality(
                        told["elapsed"].astype(np.float64),
                        told["signals"].astype(np.float64),
                        told["changed"],
                        pages=told["page"],
                        unheard=told["unheard"].astype(np.float64),
                    )
            yield source, quality
