"""How far each source of change signals can be relied on, as its latest visits show it."""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.new_visits import NewVisits
from recrawl.errors import NotConverged
from recrawl.learning.signals import SignalQuality, learn_signal_quality

__all__ = ["SignalSources"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
_LEAST, _KEPT = 20, 2_000  # visits by which a source is judged
_Told = deque[tuple[float, float, bool]]


class SignalSources:
    """The sources of a crawl, numbered. Each keeps its latest 2,000 visits, and so may change."""

    def __init__(self) -> None:
        self._told: dict[int, _Told] = {}
        self._new = NewVisits()

    def observe(
        self,
        rows: Integers,
        page: Integers,
        sources: Integers,
        elapsed: Vector,
        signals: Vector,
        changed: NDArray[np.bool_],
    ) -> Iterator[tuple[int, SignalQuality]]:
        """Learn from visits; yield what every source that had new ones is worth now.

        Parameters
        ----------
        rows : shape (n,), pages
        page : shape (v,), ascending place in ``rows`` of each visit; a page has all of its latest
            visits each time, in the order of time, and those not told before count
        sources : shape (n,), source of each page's signals
        elapsed : shape (v,), since the visit before, > 0
        signals : shape (v,), how many there were since then; nan: the source says nothing of it
        changed : shape (v,)

        Notes
        -----
        A source is judged from its twentieth visit on, and only if it ever gave a signal.
        """
        new = self._new.among(rows, page) & np.isfinite(signals)
        for source in np.unique(sources[page[new]]).tolist():
            own = np.flatnonzero(new & (sources[page] == source))
            told = self._told.setdefault(source, deque(maxlen=_KEPT))
            columns = (column[own].tolist() for column in (elapsed, signals, changed))
            told.extend(zip(*columns, strict=True))
            kept = [np.array(column) for column in zip(*told, strict=True)]
            if len(told) >= _LEAST and kept[1].any():
                with suppress(NotConverged):  # what was known stays in force
                    yield source, learn_signal_quality(*kept)
