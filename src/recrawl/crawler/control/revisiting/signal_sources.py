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
_UNHEARD: Final = 0.99  # share of an interval, beyond which a visit tells of the page's rate alone
_KEPT_UNHEARD: Final = 500  # of those
_PRIOR_TOLD: Final = 2.5  # changes: sources that date pages truly tell of most of their changes
_SURE: Final = 0.5  # of a logarithm of likelihoods
LEAST_TRUE: Final = 0.5
"""Share of signals, below which their absence says nothing either."""
SIGNALLED_VISIT: Final = np.dtype(
    [("page", "<i8"), ("elapsed", "<f4"), ("unheard", "<f4"), ("signals", "<f4"), ("changed", "?")]
)


class SignalSources:
    """The sources of a crawl, numbered. Each keeps its latest visits, and so may change."""

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
        A source is judged from its twentieth visit on, and only if it ever gave a signal. Where
        pages are visited more often than it is read, most visits are of times of which nothing was
        heard. If those alone were kept, a truthful source would seem to be silent.
        """
        known = np.isfinite(visits.signalled)
        for source in sorted(set(sources[known].tolist())):
            own = known & (sources == source)
            new = np.empty(np.count_nonzero(own), SIGNALLED_VISIT)
            new["page"] = visits.page_ids[visits.page[own]]
            new["elapsed"], new["unheard"] = visits.intervals_s[own], visits.unheard_s[own]
            new["signals"], new["changed"] = visits.signalled[own], visits.changed[own]
            before = self.told.get(source, new[:0])
            told = self.told[source] = _latest(np.concatenate([before, new]))
            quality = None
            if told.size >= _LEAST and told["signals"].any():
                quality = _quality(told)  # None: what was known stays in force
            yield source, quality

    def is_true(self, source: int, found: SignalQuality) -> bool:
        """Tell whether visits show that most signals of a source are true.

        Pages that are seldom visited have changed at most visits, whatever was signalled. So what
        was found must be likelier than that every other signal is false, by as much as a standard
        error makes.

        Parameters
        ----------
        source : number
        found : what its visits are likeliest for
        """
        if found.precision < LEAST_TRUE:
            return False
        doubted = _quality(self.told[source], precision=LEAST_TRUE)
        return doubted is not None and found.log_likelihood - doubted.log_likelihood >= _SURE


def _quality(told: NDArray[Any], precision: float | None = None) -> SignalQuality | None:
    """Return what visits tell of a source; None: not enough."""
    with suppress(NotConverged):
        return learn_signal_quality(
            told["elapsed"].astype(np.float64),
            told["signals"].astype(np.float64),
            told["changed"],
            pages=told["page"],
            unheard=told["unheard"].astype(np.float64),
            prior_told=_PRIOR_TOLD,
            precision=precision,
        )
    return None


def _latest(told: NDArray[Any]) -> NDArray[Any]:
    """Return the latest visits, in their order: of those of which nothing was heard fewer."""
    is_unheard = told["unheard"] >= _UNHEARD * told["elapsed"]
    heard, unheard = np.flatnonzero(~is_unheard)[-_KEPT:], np.flatnonzero(is_unheard)
    kept: NDArray[Any] = told[np.sort(np.concatenate([heard, unheard[-_KEPT_UNHEARD:]]))]
    return kept
