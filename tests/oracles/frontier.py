"""The frontier in plain Python: the specification that the adapters are held against.

It keeps nothing.
"""

import random
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tests.oracles.feed import Copy, PlainFeed
from tests.oracles.worths import KnownPage, PlainWorths
from typing_extensions import override

from recrawl.crawler.control.addresses.intake import has_room
from recrawl.crawler.control.addresses.yields import LITTLE
from recrawl.crawler.control.answers.lifecycle import KEEPS, is_copied, is_known_anew
from recrawl.crawler.control.evidence import BelievedBefore, Evidence, PlannedPages
from recrawl.crawler.control.revisiting.due_times import (
    AGREED,
    ASKED_FOR,
    ASKED_ONCE,
    BESIDE,
    BESIDE_BACK,
    BROUGHT,
    DISCOVERED,
    FORGIVEN,
    LISTED_AGAIN,
    LISTS_NEW,
    NAMED_ANEW,
    ONCE,
    OUTSIDE,
    READ_AGAIN,
    WIDENED,
    WITH_LEAVE,
)
from recrawl.crawler.control.revisiting.removals import EACH_SIDE, FAR, NEAR
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.tiers import ASKED, FIRST_BY_WORTH, NEW, TIMED, tier_of
from recrawl.crawler.facts import CrawlFacts, FactRecord, rows_of
from recrawl.crawler.frontier.share import best_ahead, interleave, most_worth, split
from recrawl.crawler.ports import LATEST_VISITS, AdmissionLimits, Frontier
from recrawl.terms import (
    Announcer,
    Difference,
    Discovery,
    HostRecord,
    Kind,
    Lease,
    Outcome,
    PageDetails,
    PageState,
    PageUpdate,
    PageWorth,
    PlanRecord,
    Visit,
    VisitAnswer,
    VisitedPage,
)

__all__ = ["PlainFrontier"]

_RULES_KEPT_S: Final = 86_400.0
_LEFT: Final = frozenset({PageState.GONE, PageState.MOVED})  # what is there no more takes no room
_LEADING: Final = frozenset({PageState.INDEXED, PageState.EXCLUDED, PageState.MOVED})


@dataclass(slots=True)
class _Page:
    page_id: int
    found: Discovery
    host_id: int
    discovered_s: float
    due_s: float
    weight: float
    due_why: str = DISCOVERED
    own_due_s: float | None = None
    memory: bytes = b""
    tier: int = NEW
    state: PageState = PageState.DISCOVERED
    token: int | None = None
    leased_until_s: float = 0.0
    last: PageUpdate | None = None
    failures: int = 0
    visits: list[Visit] = field(default_factory=list)
    signalled: list[float] = field(default_factory=list)
    unheard: list[float] = field(default_factory=list)
    n_forgotten: int = 0  # visits before these
    lastmod_s: float | None = None
    n_announced: int = 0
    unheard_s: float = 0.0
    last_visit_s: float | None = None
    seen_s: float | None = None
    last_status: int | None = None
    indexed_at_s: float | None = None
    signature: bytes | None = None
    raw_hash: bytes | None = None
    etag: str | None = None
    last_modified: str | None = None
    change_rate: float | None = None
    factor: float | None = None
    crawl_rate: float | None = None
    importance: float | None = None
    importance_parts: str | None = None
    is_lasting: bool = False
    read_as: int = 0
    born_s: float | None = None


@dataclass(slots=True)
class _Asked:
    answer: VisitAnswer
    asked_at_s: float
    is_signal: bool
    page_id: int | None = None


class PlainFrontier(Frontier):
    """A frontier that lives as long as its process."""

    def __init__(self) -> None:
        self._pages: dict[int, _Page] = {}
        self._ids: dict[str, int] = {}
        self._hosts: dict[int, HostRecord] = {}
        self._host_ids: dict[str, int] = {}
        self._pages_of_host: dict[int, list[_Page]] = {}
        self._indexing: dict[int, None] = {}
        self._visited: list[int] = []  # page of each visit, in order
        self._differences: deque[tuple[_Page, float, str]] = deque(maxlen=1_000)
        self._plans: list[PlanRecord] = []
        self._token = 0
        self._facts: dict[str, float] = {}
        self._announcers: dict[int, Announcer] = {}
        self._beliefs: dict[int, bytes] = {}
        self._beliefs_of_hosts: dict[str, bytes] = {}
        self._asked: dict[int, _Asked] = {}
        self._refused: Counter[tuple[str, str]] = Counter()
        self._reach: str | None = None
        self._worths = PlainWorths(self._known_pages, self._weigh)
        self._feed = PlainFeed(self._copies)

    @override
    def admit(
        self, discoveries: Sequence[Discovery], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        touched: dict[int, None] = {}
        for found in discoveries:
            known = self._ids.get(found.url)
            if known is not None:
                if found.lastmod_s is not None:
                    _announce(
                        self._pages[known],
                        found.lastmod_s,
                        self._pages.get(found.found_on or 0),
                        is_told=found.found_on is None,
                    )
                    if found.found_on is not None:
                        told = self._pages[known]
                        told.found = replace(told.found, found_on=found.found_on)
                continue
            host_id = self._host_id(found.host)
            why = self._why_refused(found, host_id, limits)
            if why is not None:
                self._refused[found.host, why] += 1
                continue
            page_id = len(self._pages) + 1
            worth = found.weight * (1.0 if found.importance is None else found.importance)
            page = _Page(page_id, found, host_id, now_s, now_s, worth)
            page.lastmod_s, page.importance = found.lastmod_s, found.importance
            finder = self._pages.get(found.found_on or 0)
            is_read_alike = finder is not None and finder.due_why != WIDENED
            read_s = finder.last_visit_s if finder and is_read_alike else None
            self._worths.note_birth(found, read_s)
            page.born_s = None if read_s is None else (read_s + now_s) / 2
            self._pages[page_id] = page
            self._ids[found.url] = page_id
            self._pages_of_host[host_id].append(page)
            touched[host_id] = None
        return list(touched)

    def _why_refused(self, found: Discovery, host_id: int, limits: AdmissionLimits) -> str | None:
        of_host = self._pages_of_host[host_id]
        held = [page for page in self._pages.values() if page.state not in _LEFT]
        variants = sum(page.found.variant_of == found.variant_of for page in held)
        if found.variant_of is not None and variants >= limits.max_query_variants:
            return "query-variants"
        if found.kind is not Kind.PAGE and limits.max_listings_per_host <= sum(
            page.found.kind is found.kind for page in of_host
        ):
            return "listings"
        n_of_host = sum(page.host_id == host_id for page in held)
        if n_of_host >= limits.max_pages_per_host:
            return "host-full"
        room = has_room(
            n_pages=len(held),
            max_pages=limits.max_pages,
            n_of_host=n_of_host,
            n_hosts=len(self._hosts),
        )
        return None if room else "crawl-full"

    @property
    @override
    def worths(self) -> PlainWorths:
        return self._worths

    @property
    @override
    def feed(self) -> PlainFeed:
        return self._feed

    def _copies(self) -> Iterable[Copy]:
        return (_copy(page) for page in self._pages.values())

    def _known_pages(self) -> Iterable[KnownPage]:
        for page in self._pages.values():
            yield KnownPage(
                page.page_id,
                page.host_id,
                page.found.url,
                page.found.kind,
                page.state,
                page.weight,
                page.importance,
                page.found.found_on,
                page.n_forgotten + len(page.visits),
                page.last_visit_s,
                page.tier == NEW,
                page.found.depth,
            )

    def _weigh(self, worth: PageWorth) -> None:
        page = self._pages[worth.page_id]
        page.weight, page.importance = worth.weight, worth.importance
        page.importance_parts = worth.parts

    @override
    def refuse(self, counts: Mapping[tuple[str, str], int]) -> None:
        self._refused.update(counts)

    @override
    def refused(self) -> list[tuple[str, str, int]]:
        put_off = Counter(
            (page.found.host, "low-yield")
            for page in self._pages.values()
            if page.tier == NEW and page.due_why == LITTLE
        )
        rows = [(host, why, n) for (host, why), n in (self._refused + put_off).items()]
        return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))

    def _host_id(self, host: str) -> int:
        if host not in self._host_ids:
            host_id = len(self._hosts) + 1
            self._host_ids[host] = host_id
            self._hosts[host_id] = HostRecord(host_id, host, inf)
            self._pages_of_host[host_id] = []
        return self._host_ids[host]

    @override
    def reweigh(self, weight_of: Callable[[str], float]) -> int:
        changed = 0
        for page in self._pages.values():
            importance = 1.0 if page.importance is None else page.importance
            weight = weight_of(page.found.url) * importance
            changed += weight != page.weight
            page.weight = weight
        return changed

    @override
    def hosts(self) -> list[HostRecord]:
        return [self.host(host_id, now_s=inf) for host_id in self._hosts]

    @override
    def host(self, host_id: int, *, now_s: float) -> HostRecord:
        free = (page.due_s for page in self._pages_of_host[host_id] if page.leased_until_s <= now_s)
        return replace(self._hosts[host_id], next_due_s=min(free, default=inf))

    @override
    def save_host(self, record: HostRecord) -> None:
        self._hosts[record.host_id] = record

    @override
    def lease(
        self,
        host_id: int,
        *,
        limit: int,
        due_by_s: float,
        now_s: float,
        until_s: float,
        discovery_share: float | None = 0.5,
        worth: Callable[[Lease, float], float] | None = None,
    ) -> list[Lease]:
        due = [
            page
            for page in self._pages_of_host[host_id]
            if page.due_s <= due_by_s and page.leased_until_s <= now_s
        ]
        due.sort(key=lambda page: page.due_s)
        asked = [page for page in due if page.tier == ASKED][:limit]
        new = [page for page in due if page.tier == NEW]
        old = [page for page in due if page.tier > NEW]
        new.sort(key=lambda page: (-page.weight, page.due_s))
        if discovery_share is None and worth is not None:
            # As many of each as a durable frontier looks at.
            first = new[:limit]
            known = {page.page_id for page in first}
            oldest = sorted(new, key=lambda page: (page.due_s, page.page_id))[:limit]
            first += [page for page in oldest if page.page_id not in known]
            others = [page for page in old if _is_listing(page)]
            pages = [page for page in old if not _is_listing(page)]
            rated, rated_old, rated_lists = (
                [(worth(_lease(page), now_s), page) for page in some]
                for some in (first, pages if first else pages[:limit], others)
            )
            left = limit - len(asked)
            return self._take(asked + most_worth(rated, rated_old, rated_lists, left), until_s)
        share = 0.5 if discovery_share is None else discovery_share
        n_new, n_old = split(len(new), len(old), limit - len(asked), share)
        return self._take(asked + interleave(new[:n_new], old[:n_old]), until_s)

    @override
    def lease_ahead(
        self,
        host_id: int,
        *,
        limit: int,
        worth: Callable[[Lease, float], float],
        now_s: float,
        min_interval_s: float,
        until_s: float,
    ) -> tuple[list[Lease], float]:
        free = [
            _lease(page)
            for page in self._pages_of_host[host_id]
            if page.tier >= FIRST_BY_WORTH and page.leased_until_s <= now_s
        ]
        chosen, from_s = best_ahead(free, limit, worth, now_s, min_interval_s)
        return self._take([self._pages[lease.page_id] for lease in chosen], until_s), from_s

    def _take(self, pages: Sequence[_Page], until_s: float) -> list[Lease]:
        for page in pages:
            self._token += 1
            page.token = self._token
            page.leased_until_s = until_s
        return [_lease(page) for page in pages]

    @override
    def ask(self, urls: Sequence[str], now_s: float, *, is_signal: bool = False) -> list[int]:
        first = max(self._asked, default=0) + 1
        for number, url in enumerate(urls, start=first):
            self._asked[number] = _Asked(VisitAnswer(number, url), now_s, is_signal)
        return list(range(first, first + len(urls)))

    @override
    def take_asked(
        self, read: Callable[[str], Discovery | str], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        touched: dict[int, None] = {}
        for one in self._asked.values():
            if one.answer.outcome is not None or one.page_id is not None:
                continue
            found = read(one.answer.url)
            if isinstance(found, str):
                one.answer = replace(one.answer, outcome="refused", note=found)
                continue
            if one.is_signal:
                found = replace(found, lastmod_s=one.asked_at_s)
            self.admit([found], now_s, limits)
            one.page_id = self._ids.get(found.url)
            if one.page_id is None:
                note = "the crawl holds as many pages as it may"
                one.answer = replace(one.answer, outcome="refused", note=note)
                continue
            if one.is_signal:
                one.answer = replace(one.answer, outcome="noted")
                continue
            page = self._pages[one.page_id]
            page.tier, page.due_s, page.due_why = ASKED, min(page.due_s, now_s), ASKED_FOR
            touched[page.host_id] = None
        return list(touched)

    @override
    def answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        return [self._asked[number].answer for number in numbers if number in self._asked]

    def _answer(self, page: _Page, visit: Visit) -> None:
        """Answer who asked for this visit; a visit that began before that is made again."""
        asked = [
            one
            for one in self._asked.values()
            if one.page_id == page.page_id and one.answer.outcome is None
        ]
        if visit.outcome is Outcome.THROTTLED:
            return
        dropped = visit.outcome in (Outcome.LOST, Outcome.OBSOLETE, Outcome.DEFERRED)
        for one in asked:
            if dropped or one.asked_at_s > visit.visited_at_s:
                page.tier, page.due_s = ASKED, min(page.due_s, visit.visited_at_s)
                page.due_why = ASKED_FOR
            else:
                told = {"outcome": visit.outcome.value, "note": visit.note}
                one.answer = replace(one.answer, **told)  # type: ignore[arg-type]

    @override
    def release(self, leases: Sequence[Lease]) -> None:
        for lease in leases:
            page = self._pages[lease.page_id]
            if page.token == lease.token:
                page.token, page.leased_until_s = None, 0.0

    @override
    def put_off(self, leases: Sequence[tuple[Lease, float]], why: str) -> None:
        for lease, due_s in leases:
            page = self._pages[lease.page_id]
            if page.token == lease.token:
                page.due_s, page.due_why = due_s, why
                page.tier = min(page.tier, TIMED)
        self.release([lease for lease, _ in leases])

    @override
    def bring_forward(self, page_ids: Sequence[int], now_s: float) -> None:
        for page_id in page_ids:
            page = self._pages[page_id]
            if page.tier == NEW and page.due_s > now_s:
                page.due_s, page.due_why = now_s, DISCOVERED

    @override
    def look_beside(
        self, pages: Mapping[int, float], due_s: float, *, are_back: bool = False
    ) -> int:
        urls, brought = sorted(self._ids), 0
        states = (PageState.GONE, PageState.MOVED) if are_back else (PageState.INDEXED,)
        why, near = (BESIDE_BACK, FAR) if are_back else (BESIDE, NEAR)
        for page_id, before_s in pages.items():
            own = self._pages[page_id].found
            place = bisect_left(urls, own.url)
            for side in (urls[place + 1 :], urls[:place][::-1]):
                late = [
                    page
                    for page in (self._pages[self._ids[url]] for url in side[:near])
                    if page.found.host == own.host
                    and page.found.kind is Kind.PAGE
                    and page.state in states
                    and not page.failures
                    and page.due_s > due_s
                    and page.last_visit_s is not None
                    and page.last_visit_s < before_s
                    and not (are_back and page.visits[-1].visited_at_s >= before_s)
                ]
                for page in late[:EACH_SIDE]:
                    page.due_s, page.due_why = due_s, why
                    brought += 1
        return brought

    @override
    def visited(self, latest: int) -> Iterable[VisitedPage]:
        least = max(self._pages, default=0) - latest
        finders = {page.found.found_on for page in self._pages.values()}
        for page_id, page in self._pages.items():
            if page.found.kind is not Kind.PAGE:
                continue
            if page.state is PageState.EXCLUDED and page_id in finders:
                continue
            if page.state is PageState.MOVED:
                continue
            if page.visits and (page.found.variant_of is not None or page_id > least):
                yield VisitedPage(
                    page.found.url,
                    page.state,
                    page.signature,
                    page.last_status,
                    sum(bool(visit.changed) for visit in page.visits),
                    page.indexed_at_s,
                )

    @override
    def defer(self, lease: Lease, due_s: float) -> None:
        page = self._pages[lease.page_id]
        if page.token == lease.token:
            page.due_s, page.failures = max(page.due_s, due_s), page.failures + 1
            page.tier = TIMED

    @override
    def begin_indexing(self, page_ids: Sequence[int]) -> None:
        self._indexing.update(dict.fromkeys(page_ids))

    @override
    def in_indexing(self) -> list[tuple[int, str, bytes | None]]:
        pages = [self._pages[page_id] for page_id in sorted(self._indexing)]
        return [(page.page_id, page.found.url, page.signature) for page in pages]

    @override
    def reconcile(self, page_id: int, signature: bytes | None, now_s: float) -> None:
        self._copy_is(self._pages[page_id], signature, now_s)
        self._feed.tell(_copy(self._pages[page_id]), now_s)
        self._indexing.pop(page_id, None)

    @staticmethod
    def _copy_is(page: _Page, signature: bytes | None, now_s: float) -> None:
        page.signature, page.raw_hash, page.etag, page.last_modified = signature, None, None, None
        page.due_s, page.due_why = min(page.due_s, now_s), AGREED
        if signature is not None:
            page.state = PageState.INDEXED
        elif page.state is PageState.INDEXED:
            page.state = PageState.DISCOVERED

    @override
    def agree(self, copies: Sequence[tuple[str, bytes | None]], now_s: float) -> None:
        news = [Discovery(url, host_of(url)) for url, held in copies if held is not None]
        self.admit(news, now_s, AdmissionLimits(2**62, 2**62))
        for url, held in copies:
            if url in self._ids:
                self._copy_is(self._pages[self._ids[url]], held, now_s)
                self._feed.tell(_copy(self._pages[self._ids[url]]), now_s)

    @override
    def complete(self, updates: Sequence[PageUpdate], now_s: float | None = None) -> None:
        latest_s = max((update.visit.visited_at_s for update in updates), default=0.0)
        for update in updates:
            page = self._pages[update.lease.page_id]
            visit = update.visit
            page.visits.append(visit)
            page.signalled.append(_signalled(page))
            page.unheard.append(self._unheard_s(page, visit.visited_at_s))
            self._visited.append(page.page_id)
            self._indexing.pop(page.page_id, None)
            self._worths.note_links(update)
            if update.difference is not None:
                told = (visit.visited_at_s, update.difference)
                self._differences.append((page, *told))
            if page.token != update.lease.token:
                continue
            self._worths.note_exposure(update)
            page.token, page.leased_until_s = None, 0.0
            page.last, page.state, page.due_s = update, update.state, update.due_s
            page.due_why, page.memory = update.due_why, update.memory
            page.own_due_s = None
            page.tier = tier_of(update.interval_s)
            self._answer(page, visit)
            page.failures = update.failures
            page.etag, page.last_modified = update.etag, update.last_modified
            if update.lasting is not None:
                page.is_lasting = update.lasting
            page.signature, page.raw_hash = update.signature, update.raw_hash
            page.read_as = page.read_as if update.read_as is None else update.read_as
            if is_known_anew(update):
                page.last_visit_s, page.seen_s = visit.visited_at_s, visit.seen_s
                page.n_announced, page.unheard_s = 0, 0.0
            if visit.status is not None:
                page.last_status = visit.status
            if is_copied(visit.outcome, update.state):
                page.indexed_at_s = visit.visited_at_s
            self._feed.tell(_copy(page), latest_s if now_s is None else now_s, update)

    @override
    def differences(self, *, limit: int, url: str | None = None) -> list[Difference]:
        found = [
            Difference(page.found.url, (page.last.title if page.last else None) or "", at_s, text)
            for page, at_s, text in reversed(self._differences)
            if url is None or page.found.url == url
        ]
        return found[:limit]

    @override
    def make_due_by(self, now_s: float, longest_s: float) -> int:
        brought = 0
        for page in self._pages.values():
            own_s = 1.0 / page.crawl_rate if page.crawl_rate else 0.0
            latest_s = now_s + max(longest_s, own_s)
            if page.due_s > latest_s and page.due_why != ASKED_ONCE:
                page.due_s = latest_s
                if page.tier != NEW:  # pages never visited wait for the reason that they waited for
                    page.due_why = BROUGHT
                brought += 1
        return brought

    @override
    def make_found_due(self, now_s: float) -> int:
        ahead = [
            page
            for page in self._pages.values()
            if page.tier == NEW and min(page.discovered_s, page.due_s) > now_s
        ]
        for page in ahead:
            page.due_s = now_s
        return len(ahead)

    @override
    def make_due(self, now_s: float, *, visited_before_s: float | None = None) -> int:
        before_s = inf if visited_before_s is None else visited_before_s
        for page in self._pages.values():
            last_s = max((visit.visited_at_s for visit in page.visits), default=-inf)
            if page.due_s > now_s and last_s < before_s and page.due_why != LITTLE:
                page.due_s, page.due_why = now_s, ONCE
        return len(self._pages)

    @override
    def read_again(self, mark_of: Callable[[str], int], now_s: float, per_s: float) -> int:
        held = (page for page in self._pages.values() if page.found.kind is Kind.PAGE)
        otherwise = [
            page
            for page in held
            if page.state in (PageState.INDEXED, PageState.MISSING)
            and page.signature is not None
            and page.read_as != mark_of(page.found.url)
        ]
        for place, page in enumerate(sorted(otherwise, key=lambda page: -page.weight)):
            due_s = now_s + place / per_s
            if page.due_s > due_s:
                page.due_s, page.due_why = due_s, READ_AGAIN
        return len(otherwise)

    @override
    def reach(self) -> str | None:
        return self._reach

    @override
    def save_reach(self, reach: str) -> None:
        self._reach = reach

    @override
    def widen(
        self, takes: Callable[[str], bool], since_s: float, now_s: float, per_s: float
    ) -> int:
        for host_id, host in self._hosts.items():
            if host.robots_until_s < since_s + _RULES_KEPT_S:
                self._hosts[host_id] = replace(host, robots_until_s=0.0)
        n_read = n = 0
        for page in sorted(self._pages.values(), key=lambda page: -page.weight):
            is_moved, is_out = page.state is PageState.MOVED, page.due_why == OUTSIDE
            if not (is_out or page.state in _LEADING):
                continue
            if any(visit.visited_at_s >= since_s for visit in page.visits):
                continue
            target = page.last.redirect_url if is_moved and page.last else None
            if page.found.kind is Kind.PAGE and not takes(target or page.found.url):
                continue
            is_now = is_moved or is_out
            due_s = now_s if is_now else now_s + n_read / per_s
            n_read, n = n_read + (not is_now), n + 1
            page.etag = page.last_modified = page.raw_hash = None
            if page.due_s > due_s:
                page.due_s, page.due_why = due_s, WIDENED
        return n

    @override
    def moves(self) -> list[tuple[str, str, int, int]]:
        seen = [page for page in self._pages.values() if page.found.kind is Kind.PAGE]
        seen = [page for page in seen if page.visits or page.n_forgotten]
        of_host = Counter(page.found.host for page in seen)
        moved = Counter(
            (page.found.host, host_of(page.last.redirect_url))
            for page in seen
            if page.state is PageState.MOVED and page.last and page.last.redirect_url
        )
        rows = [(host, to, n, of_host[host]) for (host, to), n in moved.items() if to != host]
        return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))[:1_000]

    @override
    def n_due(self, now_s: float) -> int:
        return sum(
            page.due_s <= now_s and page.leased_until_s <= now_s for page in self._pages.values()
        )

    @override
    def n_closed(self, now_s: float) -> int:
        closed = {
            host.host_id
            for host in self.hosts()
            if host.robots_status is not None
            and host.robots_until_s < now_s
            and host.blocked_until_s <= now_s
        }
        return sum(
            page.due_s <= now_s and page.leased_until_s <= now_s and page.host_id in closed
            for page in self._pages.values()
        )

    @override
    def visited_since(self, since_visit: int) -> tuple[NDArray[np.int64], int]:
        return np.unique(np.array(self._visited[since_visit:], np.int64)), len(self._visited)

    @override
    def evidence(self, page_ids: Sequence[int], *, limit_per_page: int = LATEST_VISITS) -> Evidence:
        page_ids = sorted(map(int, page_ids))
        rows: list[tuple[int, float, bool, float, float, int, float]] = []
        for number, page_id in enumerate(page_ids):
            page = self._pages[page_id]
            told = [
                (number, visit.interval_s, visit.changed, signalled, _age(visit), nth, unheard)
                for nth, (visit, signalled, unheard) in enumerate(
                    zip(page.visits, page.signalled, page.unheard, strict=True),
                    start=page.n_forgotten,
                )
                if visit.changed is not None
                and visit.interval_s is not None
                and visit.interval_s > 0
            ]
            rows.extend(told[-limit_per_page:])
        return Evidence(
            np.array(page_ids, np.int64),
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.float64),
            np.array([row[2] for row in rows], np.bool_),
            np.array([row[3] for row in rows], np.float64),
            np.array([row[4] for row in rows], np.float64),
            [self._pages[page_id].found.url for page_id in page_ids],
            [self._pages[page_id].is_lasting for page_id in page_ids],
            self._last_visits_s(page_ids),
            np.array([row[5] for row in rows], np.int64),
            self._births_s(page_ids),
            np.array([row[6] for row in rows], np.float64),
        )

    def _births_s(self, page_ids: Sequence[int]) -> NDArray[np.float64]:
        born = [self._pages[page_id].born_s for page_id in page_ids]
        return np.array(born, np.float64)  # nan: nobody knows

    def _unheard_s(self, page: _Page, visited_at_s: float) -> float:
        announcer, seen_s = self._announcers.get(page.host_id), _seen_s(page)
        if seen_s is None:
            return page.unheard_s
        is_listed = page.lastmod_s is not None and not page.n_announced
        unknown_s = -inf if is_listed else visited_at_s
        heard_s = None if announcer is None else announcer.heard_s
        finder = self._pages.get(page.found.found_on or 0)
        if finder is not None and finder.found.kind is not Kind.PAGE:
            read_s = finder.last_visit_s or -inf
            heard_s = read_s if heard_s is None else max(heard_s, read_s)
        heard_s = unknown_s if heard_s is None else heard_s
        return page.unheard_s + max(0.0, visited_at_s - max(heard_s, seen_s))

    def _last_visits_s(self, page_ids: Sequence[int]) -> NDArray[np.float64]:
        last = [self._pages[page_id].last_visit_s for page_id in page_ids]
        return np.array(last, np.float64)  # nan: there was none

    @override
    def believed_before(self, page_ids: Sequence[int]) -> BelievedBefore:
        ids = [page_id for page_id in sorted(map(int, page_ids)) if page_id in self._beliefs]
        hosts = {host_of(self._pages[page_id].found.url) for page_id in ids}
        return BelievedBefore(
            np.array(ids, np.int64),
            [self._pages[page_id].found.url for page_id in ids],
            [self._pages[page_id].is_lasting for page_id in ids],
            self._last_visits_s(ids),
            [self._beliefs[page_id] for page_id in ids],
            {host: self._beliefs_of_hosts[host] for host in hosts & self._beliefs_of_hosts.keys()},
            self._births_s(ids),
        )

    @override
    def forget_visits(self, before_s: float, *, after: int, limit: int) -> int | None:
        later = sorted(number for number in self._pages if number > after)
        for number in later[:limit]:
            page = self._pages[number]
            old = [visit.visited_at_s < before_s for visit in page.visits[:-LATEST_VISITS]]
            dropped = old.index(False) if False in old else len(old)
            del page.visits[:dropped], page.signalled[:dropped], page.unheard[:dropped]
            page.n_forgotten += dropped
        if len(later) >= limit:
            return later[limit - 1]
        for number, one in list(self._asked.items()):
            if one.asked_at_s < before_s and one.answer.outcome is not None:
                del self._asked[number]
        return None

    @override
    def save_change_rates(
        self,
        page_ids: NDArray[np.int64],
        rates_per_s: NDArray[np.float64],
        factors: NDArray[np.float64],
        beliefs: Sequence[bytes] = (),
        of_hosts: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        columns = (page_ids.tolist(), rates_per_s.tolist(), factors.tolist())
        self._beliefs.update(zip(columns[0], beliefs, strict=False))
        self._beliefs_of_hosts.update(of_hosts)
        for page_id, rate, factor in zip(*columns, strict=True):
            self._pages[page_id].change_rate = rate
            self._pages[page_id].factor = factor

    @override
    def planned_pages(self) -> PlannedPages:
        rows = [
            (
                page.page_id,
                page.host_id,
                page.weight,
                nan if page.change_rate is None else page.change_rate,
                nan if page.factor is None else page.factor,
                nan if page.crawl_rate is None else page.crawl_rate,
                page.last_visit_s,
                page.due_s,
                nan if page.lastmod_s is None else page.lastmod_s,
                page.last_visit_s if page.seen_s is None else page.seen_s,
                page.last_visit_s - page.discovered_s,
                page.n_announced,
                page.unheard_s,
                page.found.found_on or 0,
            )
            for page in self._pages.values()
            if page.found.kind is Kind.PAGE
            and page.state in (PageState.INDEXED, PageState.MISSING)
            and page.last_visit_s is not None
        ]
        table = np.array(rows, np.float64).reshape(len(rows), 14)
        return PlannedPages(
            table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), *table[:, 2:].T.copy()
        )

    @override
    def copies(self, most: int) -> list[int]:
        said: dict[tuple[int, bytes], list[int]] = {}
        for page in self._pages.values():
            if page.found.kind is Kind.PAGE and page.state is PageState.INDEXED and page.signature:
                said.setdefault((page.host_id, page.signature), []).append(page.page_id)
        groups = (sorted(ids) for ids in said.values() if len(ids) <= most)
        return [page_id for ids in groups for page_id in ids[1:]]

    @override
    def save_plan(self, plan: PlanRecord) -> None:
        self._plans.append(plan)

    @override
    def save_crawl_rates(
        self,
        plan: PlanRecord,
        page_ids: NDArray[np.int64],
        crawl_rates_per_s: NDArray[np.float64],
        due_s: NDArray[np.float64],
        *,
        why: str = "the plan",
        own_due_s: NDArray[np.float64] | None = None,
        last_visit_s: NDArray[np.float64] | None = None,
    ) -> None:
        n = page_ids.size
        own = [None] * n if own_due_s is None else own_due_s.tolist()
        known = [plan.solved_at_s] * n if last_visit_s is None else last_visit_s.tolist()
        columns = (page_ids.tolist(), crawl_rates_per_s.tolist(), due_s.tolist(), own, known)
        for page_id, rate, due, own_due, known_s in zip(*columns, strict=True):
            page = self._pages[page_id]
            page.crawl_rate = rate
            is_late = page.last_visit_s is not None and page.last_visit_s > known_s
            is_well = page.state is PageState.INDEXED and not page.failures
            is_kept = page.due_why in (READ_AGAIN, BESIDE, WIDENED) and page.due_s <= due
            if page.tier > NEW and is_well and not is_late and not is_kept:
                page.due_s, page.tier, page.due_why = due, tier_of(1.0 / max(rate, 1e-12)), why
                page.own_due_s = own_due

    @override
    def last_plan(self) -> PlanRecord | None:
        return self._plans[-1] if self._plans else None

    @override
    def n_pages_by_state(self) -> dict[PageState, int]:
        pages = (page for page in self._pages.values() if page.found.kind is Kind.PAGE)
        return dict(Counter(page.state for page in pages))

    @override
    def n_visits_by_outcome(self, *, since_s: float = 0.0) -> dict[Outcome, int]:
        return dict(
            Counter(
                visit.outcome
                for page in self._pages.values()
                for visit in page.visits
                if visit.visited_at_s >= since_s
            )
        )

    @override
    def found_since(
        self, since_s: float, *, among: int, limit: int
    ) -> list[tuple[str, float, bool]]:
        found = [
            (page.found.url, visit.visited_at_s, visit.outcome is Outcome.NEW)
            for page in self._pages.values()
            for visit in page.visits
            if page.found.kind is Kind.PAGE
            and visit.visited_at_s >= since_s
            and (visit.changed or visit.outcome is Outcome.NEW)
        ]
        return sorted(found, key=lambda one: -one[1])[: min(limit, among)]

    @override
    def look_at_gone(self, by_s: float) -> int:
        late = [
            page
            for page in self._pages.values()
            if page.state is PageState.GONE and page.found.kind is Kind.PAGE and page.due_s > by_s
        ]
        for page in late:
            page.due_s = by_s
        return len(late)

    @override
    def read_within(self, intervals_s: Mapping[int, float]) -> int:
        moved = 0
        for page_id, interval_s in intervals_s.items():
            page = self._pages[page_id]
            if page.found.kind is Kind.PAGE or page.state is not PageState.INDEXED:
                continue
            if page.last_visit_s is None or page.failures:
                continue
            if page.due_s > page.last_visit_s + interval_s:
                page.due_s, page.due_why = page.last_visit_s + interval_s, LISTS_NEW
                moved += 1
        return moved

    @override
    def look_again(self, now_s: float, host_ids: Sequence[int]) -> int:
        hosts = set(host_ids)
        listed = [
            page
            for page in self._pages.values()
            if page.state is PageState.GONE
            and page.found.kind is Kind.PAGE
            and page.host_id in hosts
            and page.due_s > now_s
            and page.visits
            and (page.lastmod_s or 0.0) > page.visits[-1].visited_at_s
        ]
        for page in listed:
            page.due_s, page.due_why = now_s, LISTED_AGAIN
        return len(listed)

    @override
    def look_for(self, now_s: float, urls: Sequence[str]) -> int:
        absent = [
            page
            for page in self._pages.values()
            if page.state in (PageState.MISSING, PageState.GONE)
            and page.found.kind is not Kind.PAGE
            and page.found.url in urls
            and page.due_s > now_s
        ]
        for page in absent:
            page.due_s, page.due_why = now_s, NAMED_ANEW
        return len(absent)

    @override
    def ask_leave(self, now_s: float, *, host_id: int | None = None, most: int = 1) -> list[int]:
        of_host: Counter[int] = Counter()
        forbidden, denied = PageState.DISALLOWED, (Outcome.DENIED, Outcome.DISALLOWED)
        for page in sorted(
            self._pages.values(), key=lambda page: (page.state is forbidden, -page.weight)
        ):
            is_out = page.state in (PageState.MISSING, PageState.GONE, forbidden)
            if not (is_out and page.found.kind is Kind.PAGE and page.visits):
                continue
            if page.host_id != (page.host_id if host_id is None else host_id):
                continue
            if page.visits[-1].outcome not in denied:
                continue
            of_host[page.host_id] += 1
            if of_host[page.host_id] <= most and page.due_s > now_s:
                page.due_s, page.due_why = now_s, WITH_LEAVE
        return sorted(of_host)

    @override
    def went(self, since_s: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows = [
            (page.page_id, page.last_visit_s - page.discovered_s)
            for page in self._pages.values()
            if page.state is PageState.GONE
            and page.found.kind is Kind.PAGE
            and page.last_visit_s is not None
            and page.last_visit_s >= since_s
        ]
        table = np.array(rows, np.float64).reshape(len(rows), 2)
        return table[:, 0].astype(np.int64), table[:, 1]

    @override
    def went_of_folder(self, folder: str, since_s: float) -> tuple[int, float]:
        went = self.went(since_s)[0].tolist()
        of_folder = [page for page in self._pages.values() if page.found.url.startswith(folder)]
        known = [
            page.last_visit_s - page.discovered_s
            for page in of_folder
            if page.found.kind is Kind.PAGE
            and page.last_visit_s is not None
            and (page.state in (PageState.INDEXED, PageState.MISSING) or page.page_id in went)
        ]
        return sum(page.page_id in went for page in of_folder), sum(known)

    @override
    def gone_s(self, now_s: float) -> float:
        return sum(
            max(now_s - page.last_visit_s, 0.0)
            for page in self._pages.values()
            if page.state is PageState.GONE
            and page.found.kind is Kind.PAGE
            and page.last_visit_s is not None
        )

    @override
    def last_fetch_s(self) -> float | None:
        return self._pages[self._visited[-1]].visits[-1].visited_at_s if self._visited else None

    @override
    def forgive(self, now_s: float) -> int:
        for host_id, host in self._hosts.items():
            sent_away = "answered " in (host.blocked_why or "")
            if host.blocked_until_s > now_s and not sent_away:
                self._hosts[host_id] = HostRecord(
                    host_id,
                    host.host,
                    inf,
                    host.robots_status,
                    host.robots_body,
                    ip_address=host.ip_address,
                    rest_s=host.rest_s,
                    is_read_in_full=host.is_read_in_full,
                )
        waiting = [
            page
            for page in self._pages.values()
            if page.due_s > now_s and (page.state is PageState.DISALLOWED or page.failures)
        ]
        for page in waiting:
            page.due_s, page.due_why = now_s, FORGIVEN
        return len(waiting)

    @override
    def details(self, url: str, *, recent: int = 10) -> PageDetails | None:
        page_id = self._ids.get(url)
        if page_id is None:
            return None
        page = self._pages[page_id]
        return PageDetails(
            page_id=page_id,
            url=url,
            host=page.found.host,
            kind=page.found.kind,
            state=page.state,
            weight=page.weight,
            depth=page.found.depth,
            discovered_s=page.discovered_s,
            due_s=page.due_s,
            due_why=page.due_why,
            visits=page.n_forgotten + len(page.visits),
            changes=sum(bool(visit.changed) for visit in page.visits),
            failures=page.failures,
            last_visit_s=page.last_visit_s,
            last_status=page.last_status,
            indexed_at_s=page.indexed_at_s,
            change_rate_per_s=page.change_rate,
            change_rate_factor=page.factor,
            crawl_rate_per_s=page.crawl_rate,
            lastmod_s=page.lastmod_s,
            redirect_url=page.last.redirect_url if page.last else None,
            leased_until_s=page.leased_until_s or None,
            importance=page.importance,
            importance_parts=page.importance_parts,
            own_due_s=page.own_due_s,
            seen_s=page.seen_s,
            recent=tuple(reversed(page.visits[-recent:])),
        )

    @override
    def save_announcers(self, announcers: Mapping[int, Announcer]) -> None:
        self._announcers.update(announcers)

    @override
    def announcers(self) -> dict[int, Announcer]:
        return {host: one for host, one in self._announcers.items() if one.precision > 0.0}

    @override
    def save_facts(self, *records: FactRecord) -> None:
        self._facts.update(rows_of(*records))

    @override
    def facts(self) -> CrawlFacts:
        return CrawlFacts.of(self._facts)

    @override
    def urls_indexed(self) -> Iterable[tuple[str, bytes]]:
        for copy in self._copies():
            if copy.signature is not None:
                yield copy.url, copy.signature

    @override
    def n_indexed(self) -> int:
        return sum(1 for _ in self.urls_indexed())

    @override
    def sample_indexed(self, limit: int) -> list[tuple[str, bytes]]:
        every = list(self.urls_indexed())
        return random.sample(every, min(limit, len(every)))

    @override
    def close(self) -> None:
        pass


def _copy(page: _Page) -> Copy:
    """Return what the index should hold of a page."""
    is_held = page.found.kind is Kind.PAGE and page.state in KEEPS
    moved_to = page.last.redirect_url if page.last else None
    held = page.signature if is_held else None
    return Copy(page.page_id, page.found.url, page.state, held, moved_to, page.weight)


def _lease(page: _Page) -> Lease:
    return Lease(
        page_id=page.page_id,
        url=page.found.url,
        host_id=page.host_id,
        token=page.token or 0,
        due_s=page.due_s,
        kind=page.found.kind,
        state=page.state,
        depth=page.found.depth,
        hops=page.found.hops,
        failures=page.failures,
        etag=page.etag,
        last_modified=page.last_modified,
        signature=page.signature,
        raw_hash=page.raw_hash,
        last_visit_s=page.last_visit_s,
        crawl_rate_per_s=page.crawl_rate,
        weight=page.weight,
        change_rate_per_s=page.change_rate,
        memory=page.memory,
        tier=page.tier,
        read_as=page.read_as,
        seen_s=page.seen_s,
    )


def _age(visit: Visit) -> float:
    seen_s = visit.visited_at_s if visit.seen_s is None else visit.seen_s
    return nan if visit.modified_s is None else seen_s - visit.modified_s


def _seen_s(page: _Page) -> float | None:
    return page.last_visit_s if page.seen_s is None else page.seen_s


def _signalled(page: _Page) -> float:
    """How many changes were announced since the last visit; nan where no list says anything."""
    seen_s = _seen_s(page)
    if page.lastmod_s is None or seen_s is None:
        return nan
    return float(max(page.n_announced, 1) if page.lastmod_s > seen_s else 0)


def _announce(page: _Page, lastmod_s: float, listing: _Page | None, *, is_told: bool) -> None:
    """Note when a listing, or whoever has told of it, says that a page has changed."""
    if (seen_s := _seen_s(page)) is not None:
        known_s = max(seen_s, page.lastmod_s or 0.0)
        page.n_announced += lastmod_s > known_s
        read_s = (listing.last_visit_s or 0.0) if listing else 0.0
        page.unheard_s += max(0.0, lastmod_s - max(known_s, lastmod_s if is_told else read_s))
    page.lastmod_s = lastmod_s


def _is_listing(page: _Page) -> bool:
    return page.found.kind is not Kind.PAGE and page.state is PageState.INDEXED
