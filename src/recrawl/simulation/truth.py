"""How fresh an index really was, from visits and the true history of the web."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from recrawl.crawler.ports import EventSink
from recrawl.simulation.site import Site
from recrawl.simulation.web import SyntheticPage

__all__ = ["TrueFreshness", "TruthMeter"]

_COPIES = frozenset({"new", "changed", "unchanged", "not-modified"})


@dataclass(frozen=True, slots=True)
class TrueFreshness:
    """Time averages over a span: of all pages alike, and by weight."""

    freshness: float
    weighted: float


class TruthMeter(EventSink):
    """Listens to a crawl of a synthetic web and knows how fresh its index is.

    A page is fresh at t when its latest successful visit saw its latest change. Pages count while
    they exist, discovered or not.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._visits: dict[int, list[float]] = defaultdict(list)
        self._pages: dict[str, SyntheticPage | None] = {}

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event != "visit" or fields["outcome"] not in _COPIES:
            return
        url, at_s = str(fields["url"]), fields["at_s"]
        if url not in self._pages:
            self._pages[url] = self._site.page_of(url)
        page = self._pages[url]
        if page is not None and isinstance(at_s, float):
            self._visits[page.number].append(self._site.day(at_s))

    def now(self, now_s: float) -> TrueFreshness:
        """Return the freshness at an instant, of the visits heard of so far."""
        copies = {number: visits[-1] for number, visits in self._visits.items()}
        return TrueFreshness(*self._site.web.freshness(self._site.day(now_s), copies))

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


def _fresh_time(page: SyntheticPage, visits: list[float], first: float, last: float) -> float:
    time = 0.0
    for place, visit in enumerate(visits):
        following = visits[place + 1] if place + 1 < len(visits) else last
        change = bisect_right(page.changes, visit)
        until = page.changes[change] if change < len(page.changes) else last
        time += max(0.0, min(until, following, last) - max(visit, first))
    return time
