"""True freshness of an index, from visits and the true history of the web."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.crawler.ports import EventSink
from recrawl.simulation.site import ServedSite
from recrawl.simulation.web import DAY_S, LivePage, true_freshness

_COPIES = frozenset({"new", "changed", "unchanged", "not-modified"})
_SAME = frozenset({"unchanged", "not-modified"})


@dataclass(frozen=True, slots=True)
class TrueFreshness:
    """Time averages over a span: of all pages alike, and by weight."""

    freshness: float
    weighted: float


@dataclass(frozen=True, slots=True)
class Delays:
    """From changes, and births, to the visit that saw them; seconds, infinite where none did.

    Parameters
    ----------
    median, ninety, ninety_nine : quantiles over the changes of a span
    n_changes : how many there were
    n_overtaken : that another change had followed before a visit came
    """

    median: float
    ninety: float
    ninety_nine: float
    n_changes: int
    n_overtaken: int


class TruthMeter(EventSink):
    """Listens to a crawl of a web whose history is known, and knows how fresh its index is.

    A page is fresh at t when its latest successful visit saw its latest change. Pages count while
    they exist, discovered or not.

    Parameters
    ----------
    site : the web, as it is served

    Attributes
    ----------
    missed : visits that took a page for unchanged that had changed
    imagined : visits that took a page for changed that had not
    """

    def __init__(self, site: ServedSite) -> None:
        self._site = site
        self._visits: dict[int, list[float]] = defaultdict(list)
        self.missed = 0
        self.imagined = 0

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event != "visit" or fields["outcome"] not in _COPIES:
            return
        url, at_s = str(fields["url"]), fields["at_s"]
        if not isinstance(at_s, float):
            return
        day = self._site.day(at_s)
        page = self._site.page_of(url, day)
        if page is None:
            return
        visits = self._visits[page.number]
        if visits and page.version(visits[-1]) == page.version(day):
            self.imagined += fields["outcome"] == "changed"
        elif visits:
            self.missed += fields["outcome"] in _SAME
        visits.append(day)

    def now(self, now_s: float) -> TrueFreshness:
        """Return the freshness at an instant, of the visits heard of so far."""
        copies = {number: visits[-1] for number, visits in self._visits.items()}
        pages, day = self._site.web.pages, self._site.day(now_s)
        return TrueFreshness(*true_freshness(pages, day, copies))

    def over(self, start_s: float, end_s: float) -> TrueFreshness:
        """Return the exact time average over a span; O(visits log changes)."""
        start, end = self._site.day(start_s), self._site.day(end_s)
        fresh = np.zeros(2)
        total = np.zeros(2)
        for page in self._site.web.pages:
            first, last = max(start, page.born), min(end, page.until)
            if first >= last:
                continue
            worth = np.array([1.0, page.weight])
            total += worth * (last - first)
            fresh += worth * _fresh_time(
                page, sorted(self._visits.get(page.number, ())), first, last
            )
        share = fresh / np.maximum(total, 1e-300)
        return TrueFreshness(float(share[0]), float(share[1]))

    def course(self, start_s: float, end_s: float, count: int) -> NDArray[np.float64]:
        """Return the freshness over equal parts of a span, shape (count, 2): instants, shares."""
        edges = np.linspace(start_s, end_s, count + 1)
        parts = [
            (0.5 * (low + high), self.over(low, high).freshness)
            for low, high in pairwise(edges.tolist())
        ]
        return np.array(parts)

    def delays(self, start_s: float, end_s: float) -> Delays:
        """Return how long changes and births within a span waited for the visit that saw them."""
        start, end = self._site.day(start_s), self._site.day(end_s)
        waits, overtaken = [], 0
        for page in self._site.web.pages:
            visits = sorted(self._visits.get(page.number, ()))
            news = [page.born, *page.changes.tolist()]
            for place, at in enumerate(news):
                if not start <= at < min(end, page.until):
                    continue
                seen = bisect_right(visits, at)
                after = visits[seen] if seen < len(visits) else np.inf
                overtaken += place + 1 < len(news) and after >= news[place + 1]
                waits.append(DAY_S * (after - at))
        if not waits:
            return Delays(0.0, 0.0, 0.0, 0, 0)
        median, ninety, most = np.quantile(waits, (0.5, 0.9, 0.99), method="inverted_cdf")
        return Delays(float(median), float(ninety), float(most), len(waits), int(overtaken))


def _fresh_time(page: LivePage, visits: list[float], first: float, last: float) -> float:
    time = 0.0
    for place, visit in enumerate(visits):
        following = visits[place + 1] if place + 1 < len(visits) else last
        change = bisect_right(page.changes, visit)
        until = page.changes[change] if change < len(page.changes) else last
        time += max(0.0, min(until, following, last) - max(visit, first))
    return time
