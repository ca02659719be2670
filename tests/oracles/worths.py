"""Worths of pages, in plain Python: the specification of the durable ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from recrawl.crawler.control.worth.births import HALF_LIFE_S
from recrawl.crawler.ports import Worths
from recrawl.terms import Birth, Discovery, Kind, PageState, PageUpdate, PageWorth

__all__ = ["KnownPage", "PlainWorths"]


@dataclass(slots=True)
class KnownPage:
    """A page, by what matters to its worth."""

    page_id: int
    host_id: int
    url: str
    kind: Kind
    state: PageState
    weight: float
    importance: float | None
    found_on: int | None
    n_visits: int
    last_visit_s: float | None
    is_new: bool
    depth: int


@dataclass(slots=True)
class _Brought:
    n: float = 0.0
    exposure_s: float = 0.0
    again: float = 0.0
    lead_s: float = 0.0


@dataclass(slots=True)
class PlainWorths(Worths):
    """Part of a frontier.

    Parameters
    ----------
    pages : every page, by ascending id
    weigh : sets what a page is worth
    """

    pages: Callable[[], Iterable[KnownPage]]
    weigh: Callable[[PageWorth], None]
    _links: dict[int, bytes] = field(default_factory=dict)
    _counts: dict[tuple[int, str], tuple[float, float]] = field(default_factory=dict)
    _brought: dict[int, _Brought] = field(default_factory=dict)

    @override
    def addresses(
        self, *, after: int, limit: int
    ) -> list[tuple[int, int, str, PageState, float | None]]:
        rows = [
            (page.page_id, page.host_id, page.url, page.state, page.importance)
            for page in self.pages()
            if page.page_id > after and page.kind is Kind.PAGE
        ]
        return rows[:limit]

    @override
    def link_lists(self, *, after: int, limit: int) -> list[tuple[int, bytes]]:
        return sorted(row for row in self._links.items() if row[0] > after)[:limit]

    @override
    def tallies(self) -> list[tuple[int, str, float, float]]:
        return [(page_id, source, *told) for (page_id, source), told in self._counts.items()]

    @override
    def count(
        self, source: str, counts: Mapping[str, float], now_s: float, half_life_s: float
    ) -> int:
        ids = {page.url: page.page_id for page in self.pages()}
        known = [(ids[url], n) for url, n in counts.items() if url in ids]
        for page_id, n in known:
            before, at_s = self._counts.get((page_id, source), (0.0, now_s))
            faded = before * 0.5 ** (max(now_s - at_s, 0.0) / half_life_s)
            self._counts[page_id, source] = (faded + n, now_s)
        return len(known)

    @override
    def forget(self, source: str) -> None:
        self._counts = {key: told for key, told in self._counts.items() if key[1] != source}

    @override
    def save(self, worths: Sequence[PageWorth]) -> list[int]:
        by_id = {page.page_id: page for page in self.pages()}
        for one in worths:
            self.weigh(one)
        new = (by_id[one.page_id] for one in worths)
        return list(dict.fromkeys(page.host_id for page in new if page.is_new))

    @override
    def depths(self) -> list[tuple[int, int, int, int, float]]:
        counts: dict[tuple[int, int], list[int]] = {}
        waiting: dict[tuple[int, int], float] = {}
        for page in self.pages():
            if page.kind is Kind.PAGE:
                of = counts.setdefault((page.host_id, page.depth), [0, 0])
                of[0] += 1
                of[1] += page.n_visits > 0
                key = page.host_id, page.depth
                waiting[key] = waiting.get(key, 0.0) + (0.0 if page.n_visits else page.weight)
        return [(*key, of[0], of[1], waiting[key]) for key, of in sorted(counts.items())]

    @override
    def births(self) -> list[Birth]:
        told: dict[int, list[float]] = {}
        every = {page.page_id: page for page in self.pages()}
        for page in every.values():
            if page.found_on is not None and page.n_visits:
                worth = page.weight if page.state is PageState.INDEXED else 0.0
                told.setdefault(page.found_on, []).append(worth)
        return [
            Birth(
                page_id,
                every[page_id].host_id,
                every[page_id].kind,
                one.n,
                one.exposure_s,
                one.again,
                one.lead_s,
                sum(found) / len(found) if (found := told.get(page_id)) else None,
                every[page_id].last_visit_s,
            )
            for page_id, one in sorted(self._brought.items())
            if one.exposure_s > 0.0
        ]

    @override
    def entries(self) -> list[tuple[int, int]]:
        looked_at = {page_id for page_id, one in self._brought.items() if one.exposure_s > 0.0}
        finders = {page.found_on for page in self.pages()}
        return [
            (page.page_id, page.host_id)
            for page in self.pages()
            if (page.kind is not Kind.PAGE or (page.depth == 0 and page.page_id in finders))
            and page.state is PageState.INDEXED
            and page.page_id not in looked_at
        ]

    @override
    def found_again(self, leads: Mapping[int, tuple[int, float]]) -> None:
        for page_id, (again, lead_s) in leads.items():
            one = self._brought.setdefault(page_id, _Brought())
            one.again += again
            one.lead_s += lead_s

    def note_birth(self, found: Discovery, finder_last_s: float | None) -> None:
        """Count a new address for the page that led there, if that was visited before."""
        if found.found_on is not None and finder_last_s is not None:
            self._brought.setdefault(found.found_on, _Brought()).n += 1.0

    def note_links(self, update: PageUpdate) -> None:
        """Keep the links that a visit read."""
        if update.links is not None:
            self._links[update.lease.page_id] = update.links

    def note_exposure(self, update: PageUpdate) -> None:
        """Keep the time in which a visit could have brought something."""
        page_id, interval_s = update.lease.page_id, update.visit.interval_s
        if interval_s is not None and interval_s > 0.0:
            kept = 0.5 ** (interval_s / HALF_LIFE_S)
            one = self._brought.setdefault(page_id, _Brought())
            one.n, one.exposure_s = kept * one.n, kept * one.exposure_s + interval_s
            one.again, one.lead_s = kept * one.again, kept * one.lead_s
