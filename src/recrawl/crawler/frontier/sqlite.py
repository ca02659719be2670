"""The frontier in SQLite: one file, write-ahead log, every visit kept.

Longer than most modules because it is one port, method by method; the SQL is in ``sql/``.
"""

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.crawler.control.addresses.intake import has_room
from recrawl.crawler.control.addresses.yields import LITTLE
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
from recrawl.crawler.frontier.feed import SqliteFeed
from recrawl.crawler.frontier.leases import Leases, is_free
from recrawl.crawler.frontier.rows import (
    COMPLETED,
    DETAILS,
    VISIT,
    lease_of,
    page_row,
    record_of,
    visit_of,
    visit_row,
)
from recrawl.crawler.frontier.share import best_ahead, interleave, most_worth, split
from recrawl.crawler.frontier.sql import numbered, queries
from recrawl.crawler.frontier.store import (
    DATABASE,
    Statements,
    inode_of,
    lock_state,
    open_state,
    transaction,
    translated,
)
from recrawl.crawler.frontier.vacated import Vacated, holds_place
from recrawl.crawler.frontier.worths import SqliteWorths
from recrawl.crawler.ports import LATEST_VISITS, AdmissionLimits, Frontier
from recrawl.errors import StateError
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
    PlanRecord,
    VisitAnswer,
    VisitedPage,
)
from recrawl.version import VERSION

_ROWS = 1_000  # that are held as objects at once
_KNOWN = "known"
_DUE, _KIND, _STATE, _TIER = 2, 3, 4, 17  # columns of the query `due`
_NEW_TIER = COMPLETED.index("tier")
_DIFFERENCES = 1_000  # that are kept
_LISTINGS_AMONG = 32  # more of what is due at an instant, that are looked through for listings
_FEW_TIERS = 2  # more are asked together first, what is due in them
_BOUNDS = {  # parameters of what tells the pages that are due first
    "due": ("host_id", "due_by_s", "limit", "tier"),
    "due_new": ("host_id", "due_by_s", "limit"),
}


class SqliteFrontier(Statements, Frontier):
    """A durable frontier in a state directory.

    Every method that changes something is one transaction: all or nothing, on disk when it
    returns. Opening for writing takes the directory's lock. Leases alone are kept in memory, and
    end with the process, however that ends.

    Parameters
    ----------
    directory : state directory, made if it is missing
    read_only : only look; works beside a running crawl

    Raises
    ------
    StateError
        The directory is in use, damaged, on a full disk or of a newer version.
    """

    _inode: int | None = None  # of the file, where it is written

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        path = directory / DATABASE
        self._lock = None if read_only else lock_state(directory)
        try:
            self._begin(open_state(path, read_only=read_only), path)
            self._learn(read_only=read_only)
            if not read_only:
                self._inode = inode_of(path)
                with self._writing():
                    self._run("save_label", name="version", value=VERSION)
        except BaseException:
            self.close()
            raise

    def _begin(
        self, db: sqlite3.Connection, path: Path, statements: Mapping[str, str] | None = None
    ) -> None:
        """Work on a connection, whatever it leads to, with its dialect of the statements."""
        self._db, self._path = db, path
        self._q = queries() if statements is None else statements
        self._worths = SqliteWorths(db, path, self._writing, self._q)
        self._feed = SqliteFeed(db, path, self._writing, self._q)
        self._leases, self._token = Leases(), 0
        self._n_pages_of_host: dict[int, int] = {}
        self._host_ids: dict[str, int] = {}
        self._tiers: dict[int, set[int]] = {}
        self._n_listings: dict[tuple[int, Kind], int] = {}
        self._known_vacated: Vacated | None = None  # None: nobody has asked yet

    def _learn(self, *, read_only: bool) -> None:
        """Learn from the tables what is kept in memory beside them."""
        with translated(self._path):
            self._n_pages, self._n_hosts = self._value("n_pages"), self._value("n_hosts")
            self._asked = {page_id for (page_id,) in self._run("pages_asked")}
            self._known_vacated = None
            if not read_only:
                self._token = max(self._token, self._value("last_visit_number") + 1)

    # -- taking in --

    @override
    def admit(
        self, discoveries: Sequence[Discovery], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        touched: dict[int, None] = {}
        refused: Counter[tuple[str, str]] = Counter()
        with self._writing():
            for found in discoveries:
                why = self._admit_one(found, now_s, limits)
                if why is None:
                    touched[self._host_ids[found.host]] = None
                elif why != _KNOWN:
                    refused[found.host, why] += 1
            self._refuse(refused)
        return list(touched)

    def _admit_one(self, found: Discovery, now_s: float, limits: AdmissionLimits) -> str | None:
        """Take in what there is room for; return why not, or None."""
        if self._row("known_page", url=found.url) is not None:
            if found.lastmod_s is not None:
                told = {"lastmod_s": found.lastmod_s, "found_on": found.found_on}
                self._run("note_lastmod", url=found.url, **told)
            return _KNOWN
        host_id = self._host_id(found.host)
        why = self._why_refused(found, host_id, limits)
        if why is None:
            self._add_page(found, host_id, now_s)
        return why

    def _why_refused(self, found: Discovery, host_id: int, limits: AdmissionLimits) -> str | None:
        if found.variant_of is not None:
            variants = self._value("n_variants", variant_of=found.variant_of)
            if variants >= limits.max_query_variants:
                variants -= self._vacated.of_variants[found.variant_of]
            if variants >= limits.max_query_variants:
                return "query-variants"
        is_listing = found.kind is not Kind.PAGE
        if is_listing and self._listings_of(host_id, found.kind) >= limits.max_listings_per_host:
            return "listings"
        n_pages, n_of_host = self._n_pages, self._n_pages_of_host[host_id]
        why = self._why_full(n_pages, n_of_host, limits)
        if why is not None:
            vacated = self._vacated
            n_pages, n_of_host = n_pages - vacated.n, n_of_host - vacated.of_hosts[host_id]
            why = self._why_full(n_pages, n_of_host, limits)
        return why

    def _why_full(self, n_pages: int, n_of_host: int, limits: AdmissionLimits) -> str | None:
        if n_of_host >= limits.max_pages_per_host:
            return "host-full"
        room = has_room(
            n_pages=n_pages,
            max_pages=limits.max_pages,
            n_of_host=n_of_host,
            n_hosts=self._n_hosts,
        )
        return None if room else "crawl-full"

    @property
    def _vacated(self) -> Vacated:
        """Places that are free again; counted when a limit is met first, and kept from then on."""
        if self._known_vacated is None:
            self._known_vacated = Vacated(self._run("vacated"))
        return self._known_vacated

    def _note_vacated(self, updates: Iterable[PageUpdate]) -> None:
        """Note which pages are about to leave their place, or to be back."""
        if self._known_vacated is None:
            return
        for update in updates:
            lease = update.lease
            n = holds_place(lease.state) - holds_place(update.state)
            if n and (row := self._row("variant_of_page", page_id=lease.page_id)) is not None:
                self._known_vacated.add(lease.host_id, row[0], n)

    def _listings_of(self, host_id: int, kind: Kind) -> int:
        if (host_id, kind) not in self._n_listings:
            counted = self._value("n_listings_of_host", host_id=host_id, kind=kind.value)
            self._n_listings[host_id, kind] = counted
        return self._n_listings[host_id, kind]

    def _add_page(self, found: Discovery, host_id: int, now_s: float) -> None:
        n_listings = 0 if found.kind is Kind.PAGE else self._listings_of(host_id, found.kind)
        self._run(
            "admit",
            page_id=self._new_page_id(host_id),
            url=found.url,
            host_id=host_id,
            kind=found.kind.value,
            depth=found.depth,
            hops=found.hops,
            weight=found.weight,
            variant_of=found.variant_of,
            now_s=now_s,
            lastmod_s=found.lastmod_s,
            importance=found.importance,
            found_on=found.found_on,
            widened=WIDENED,
        )
        self._worths.note_birth(found)
        self._n_pages += 1
        self._n_pages_of_host[host_id] += 1
        self._n_listings[host_id, found.kind] = n_listings + 1
        self._tiers_of(host_id).add(NEW)

    @property
    @override
    def worths(self) -> SqliteWorths:
        return self._worths

    @property
    @override
    def feed(self) -> SqliteFeed:
        return self._feed

    @override
    def refuse(self, counts: Mapping[tuple[str, str], int]) -> None:
        with self._writing():
            self._refuse(counts)

    def _refuse(self, counts: Mapping[tuple[str, str], int]) -> None:
        for (host, why), n in counts.items():
            self._run("refuse", host=host, why=why, n=n)

    @override
    def refused(self) -> list[tuple[str, str, int]]:
        with translated(self._path):
            told = self._counted_refusals() + self._run("put_off_by_host").fetchall()
        return sorted(told, key=lambda row: (-row[2], *row[:2]))

    def _counted_refusals(self) -> list[tuple[str, str, int]]:
        return self._run("refused").fetchall()

    def _host_id(self, host: str) -> int:
        if host not in self._host_ids:
            row = self._row("known_host", host=host)
            if row is None:
                row = self._one("add_host", host_id=self._new_host_id(host), host=host)
                self._n_hosts += 1
            self._host_ids[host] = row[0]
            self._n_pages_of_host[row[0]] = self._value("n_pages_of_host", host_id=row[0])
        return self._host_ids[host]

    def _new_host_id(self, host: str) -> int | None:
        """Return the number of a host that is added; None: the next one."""
        return None

    def _new_page_id(self, host_id: int) -> int | None:
        """Return the number of a page that is added to a host; None: the next one."""
        return None

    @override
    def reweigh(self, weight_of: Callable[[str], float]) -> int:
        with self._writing():
            changed = [
                {"page_id": page_id, "weight": worth}
                for page_id, url, weight, importance in self._run("pages_and_weights")
                if (worth := weight_of(url) * importance) != weight
            ]
            self._db.executemany(self._q["save_weight"], changed)
        return len(changed)

    # -- hosts --

    @override
    def hosts(self) -> list[HostRecord]:
        with translated(self._path):
            due: dict[int, float] = {}
            for host_id, tier, due_s in self._run("tiers_of_hosts"):
                self._tiers.setdefault(host_id, set()).add(tier)
                due[host_id] = min(due_s, due.get(host_id, inf))
            rows = self._run("hosts").fetchall()
        return [record_of(row, due.get(row[0], inf)) for row in rows]

    @override
    def host(self, host_id: int, *, now_s: float) -> HostRecord:
        with translated(self._path):
            row = self._one("one_host", host_id=host_id)
            return record_of(row, self._next_due_s(host_id, now_s))

    def _next_due_s(self, host_id: int, now_s: float) -> float:
        """Return when the first page of a host that is not leased is due; inf: there is none."""
        taken, earliest_s = self._leases.of_host(host_id), inf
        for head_s, tier in self._heads(host_id):
            if head_s >= earliest_s:
                break
            bounds = {"host_id": host_id, "tier": tier, "limit": 1 + len(taken)}
            rows = self._run("next_due", **bounds)
            free = (due_s for page_id, due_s in rows if is_free(taken, page_id, now_s))
            earliest_s = min(earliest_s, next(free, inf))
        return earliest_s

    def _heads(self, host_id: int) -> list[tuple[float, int]]:
        """Return from when on a page is due in each queue of a host, leased or not, and which."""
        tiers = [*self._tiers_of(host_id)]
        if len(tiers) <= _FEW_TIERS:
            return [(-inf, tier) for tier in tiers]
        heads = self._run("heads", host_id=host_id, tiers=str(tiers))
        return sorted(head for head in heads if head[0] is not None)

    def _tiers_of(self, host_id: int) -> set[int]:
        """Return the queues of a host that pages may wait in."""
        if host_id not in self._tiers:
            self._tiers[host_id] = {tier for (tier,) in self._run("tiers_of_host", host_id=host_id)}
        return self._tiers[host_id]

    @override
    def save_host(self, record: HostRecord) -> None:
        with self._writing():
            self._run("save_host", **asdict(record))

    # -- leases --

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
        with self._leasing():
            by_worth = discovery_share is None
            due = [
                row
                for tier in self._due_tiers(host_id, due_by_s)
                for name in _queries_of(tier, by_worth=by_worth)
                for more in (_LISTINGS_AMONG if by_worth and tier == TIMED else 0,)
                for row in self._due(name, tier, host_id, due_by_s, now_s, limit + more)
            ]
            asked = [row for row in due if row[_TIER] == ASKED][:limit]
            new = {row[0]: row for row in due if row[_TIER] == NEW}.values()
            old = sorted([row for row in due if row[_TIER] > NEW], key=itemgetter(_DUE))
            left, listings = limit - len(asked), [row for row in old if _is_listing(row)]
            if not (new or listings):
                rows = asked + old[:left]
            elif discovery_share is None and worth is not None:
                pages = [row for row in old if not _is_listing(row)]
                rated, rated_pages, rated_listings = (
                    [(worth(lease_of(row, host_id, 0), now_s), row) for row in rows]
                    for rows in (new, pages if new else pages[:left], listings)
                )
                rows = asked + most_worth(rated, rated_pages, rated_listings, left)
            else:
                share = 0.5 if discovery_share is None else discovery_share
                n_new, n_old = split(len(new), len(old), left, share)
                rows = asked + interleave([*new][:n_new], old[:n_old])
            return self._take(rows, host_id, until_s)

    def _due_tiers(self, host_id: int, due_by_s: float) -> list[int]:
        """Return the queues of a host in which pages are due, the leased among them, in order.

        One question for all, as most have none, and each costs as much as a page or two.
        """
        tiers = sorted(self._tiers_of(host_id))
        if len(tiers) <= _FEW_TIERS:
            return tiers
        query = numbered(self._q["due_tiers"], ("tiers", "host_id", "due_by_s"))
        return [tier for (tier,) in self._db.execute(query, (str(tiers), host_id, due_by_s))]

    def _due(
        self, name: str, tier: int, host_id: int, due_by_s: float, now_s: float, limit: int
    ) -> list[tuple[Any, ...]]:
        """Return the first pages of a queue that are due and not leased."""
        taken = self._leases.of_host(host_id)
        names, asked = _BOUNDS[name], (host_id, due_by_s, limit + len(taken), tier)
        query = numbered(self._q[name], names)
        rows = self._db.execute(query, asked[: len(names)]).fetchall()
        if taken:
            rows = [row for row in rows if is_free(taken, row[0], now_s)][:limit]
        return rows

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
        with self._leasing():
            rows = [
                row
                for tier in self._tiers_of(host_id)
                if tier >= FIRST_BY_WORTH
                for row in self._due("due", tier, host_id, inf, now_s, 4 * limit)
            ]
            chosen, from_s = best_ahead(
                [lease_of(row, host_id, 0) for row in rows], limit, worth, now_s, min_interval_s
            )
            by_id = {row[0]: row for row in rows}
            return self._take([by_id[lease.page_id] for lease in chosen], host_id, until_s), from_s

    def _take(self, rows: Sequence[tuple[Any, ...]], host_id: int, until_s: float) -> list[Lease]:
        leases = []
        for row in rows:
            self._token += 1
            leases.append(lease_of(row, host_id, self._token))
        self._leases.take(leases, until_s)
        return leases

    # -- visits that people ask for --

    @override
    def ask(self, urls: Sequence[str], now_s: float, *, is_signal: bool = False) -> list[int]:
        with self._writing():
            return [self._value("ask", url=url, now_s=now_s, is_signal=is_signal) for url in urls]

    @override
    def take_asked(
        self, read: Callable[[str], Discovery | str], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        with translated(self._path):
            if self._row("asked_not_taken") is None:
                return []
        touched: dict[int, None] = {}
        with self._writing():
            for number, url, asked_at_s, is_signal in self._run("asked_not_taken").fetchall():
                found = read(url)
                if isinstance(found, str):
                    self._run("settle_asked", number=number, outcome="refused", note=found)
                    continue
                if is_signal:
                    found = replace(found, lastmod_s=asked_at_s)
                self._admit_one(found, now_s, limits)
                known = self._row("known_page", url=found.url)
                if known is None:
                    note = "the crawl holds as many pages as it may"
                    self._run("settle_asked", number=number, outcome="refused", note=note)
                elif is_signal:
                    self._run("settle_asked", number=number, outcome="noted", note=None)
                else:
                    self._run("take_asked", number=number, page_id=known[0])
                    host_id = self._value(
                        "make_asked", page_id=known[0], now_s=now_s, why=ASKED_FOR
                    )
                    self._tiers_of(host_id).add(ASKED)
                    self._asked.add(known[0])
                    touched[host_id] = None
        return list(touched)

    @override
    def answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        rows = self._rows("answers", numbers=json.dumps(list(numbers)))
        return [VisitAnswer(*row) for row in rows]

    def _answer(self, update: PageUpdate) -> None:
        """Answer who asked for this visit; a visit that began before that is made again."""
        page_id, visit = update.lease.page_id, update.visit
        if page_id not in self._asked or visit.outcome is Outcome.THROTTLED:
            return
        if visit.outcome not in (Outcome.LOST, Outcome.OBSOLETE, Outcome.DEFERRED):
            told = {"outcome": visit.outcome.value, "note": visit.note}
            self._run("answer_asked", page_id=page_id, visited_at_s=visit.visited_at_s, **told)
        if self._value("is_asked", page_id=page_id):
            self._run("make_asked", page_id=page_id, now_s=visit.visited_at_s, why=ASKED_FOR)
            self._tiers_of(update.lease.host_id).add(ASKED)
        else:
            self._asked.discard(page_id)

    @override
    def release(self, leases: Sequence[Lease]) -> None:
        self._leases.end(leases)

    @override
    def put_off(self, leases: Sequence[tuple[Lease, float]], why: str) -> None:
        rows = [
            {"page_id": lease.page_id, "due_s": due_s, "why": why}
            for lease, due_s in leases
            if self._leases.hold(lease)
        ]
        with self._writing():
            self._db.executemany(self._q["put_off"], rows)
        self._leases.end(lease for lease, _ in leases)

    @override
    def bring_forward(self, page_ids: Sequence[int], now_s: float) -> None:
        with self._writing():
            self._run("bring_forward", page_ids=json.dumps(list(page_ids)), now_s=now_s)

    @override
    def look_beside(
        self, pages: Mapping[int, float], due_s: float, *, are_back: bool = False
    ) -> int:
        why, near = (BESIDE_BACK, FAR) if are_back else (BESIDE, NEAR)
        told = {"due_s": due_s, "why": why, "near": near, "each": EACH_SIDE}
        told["is_back"] = int(are_back)
        with self._writing():
            return sum(
                self._run("look_beside", page_id=page_id, before_s=before_s, **told).rowcount
                for page_id, before_s in pages.items()
            )

    @override
    def visited(self, latest: int) -> Iterable[VisitedPage]:
        with translated(self._path):
            for url, state, *told in self._run("visited", latest=latest):
                yield VisitedPage(url, PageState(state), *told)

    @override
    def defer(self, lease: Lease, due_s: float) -> None:
        if self._leases.hold(lease):
            with self._writing():
                self._run("defer", page_id=lease.page_id, due_s=due_s)
                self._tiers_of(lease.host_id).add(TIMED)

    # -- the index --

    @override
    def begin_indexing(self, page_ids: Sequence[int]) -> None:
        with self._writing():
            rows = [{"page_id": page_id} for page_id in page_ids]
            self._db.executemany(self._q["begin_indexing"], rows)

    @override
    def in_indexing(self) -> list[tuple[int, str, bytes | None]]:
        return self._rows("in_indexing")

    @override
    def reconcile(self, page_id: int, signature: bytes | None, now_s: float) -> None:
        with self._writing():
            self._run("reconcile", page_id=page_id, signature=signature, now_s=now_s, why=AGREED)
            self._feed.tell_found([page_id], now_s)
            self._run("end_indexing", page_id=page_id)
            self._known_vacated = None

    @override
    def agree(self, copies: Sequence[tuple[str, bytes | None]], now_s: float) -> None:
        with self._writing():
            for url, held in copies:
                if held is not None and self._row("known_page", url=url) is None:
                    found = Discovery(url, host_of(url))
                    self._add_page(found, self._host_id(found.host), now_s)
                self._run("agree", url=url, signature=held, now_s=now_s, why=AGREED)
            known = (self._row("known_page", url=url) for url, _ in copies)
            self._feed.tell_found([row[0] for row in known if row is not None], now_s)
            self._known_vacated = None

    # -- visits --

    @override
    def complete(self, updates: Sequence[PageUpdate], now_s: float | None = None) -> None:
        with self._writing():
            self._run_each("add_visit", VISIT, [visit_row(update) for update in updates])
            # By its lease a page is completed once.
            held = (update for update in reversed(updates) if self._leases.hold(update.lease))
            firsts = {update.lease.token: update for update in held}.values()
            rows = [page_row(update) for update in firsts]
            self._note_vacated(firsts)
            self._run_each("complete", COMPLETED, rows)
            states = [
                (update.lease.page_id, update.state.value)
                for update in firsts
                if update.state is not update.lease.state
            ]
            self._run_each("complete_state", ("page_id", "state"), states)
            for update, row in zip(firsts, rows, strict=True):
                self._tiers_of(update.lease.host_id).add(row[_NEW_TIER])
            if self._asked:
                for update in updates:
                    self._answer(update)
            self._feed.tell(updates, now_s)
            self._note_differences(updates)
            self._worths.note_links(updates)
            pages = [(update.lease.page_id,) for update in updates]
            self._run_each("end_indexing", ("page_id",), pages)
        self._leases.end(update.lease for update in updates)

    def _note_differences(self, updates: Sequence[PageUpdate]) -> None:
        rows = [
            {
                "page_id": update.lease.page_id,
                "found_at_s": update.visit.visited_at_s,
                "text": update.difference,
            }
            for update in updates
            if update.difference is not None
        ]
        if rows:
            self._db.executemany(self._q["add_difference"], rows)
            self._run("forget_differences", most=_DIFFERENCES)

    @override
    def differences(self, *, limit: int, url: str | None = None) -> list[Difference]:
        with translated(self._path):
            return [Difference(*row) for row in self._run("differences", limit=limit, url=url)]

    @override
    def make_due_by(self, now_s: float, longest_s: float) -> int:
        with self._writing():
            told = {"longest_s": longest_s, "why": BROUGHT, "once": ASKED_ONCE}
            return self._run("make_due_by", now_s=now_s, **told).rowcount

    @override
    def make_found_due(self, now_s: float) -> int:
        with self._writing():
            return self._run("make_found_due", now_s=now_s).rowcount

    @override
    def make_due(self, now_s: float, *, visited_before_s: float | None = None) -> int:
        with self._writing():
            self._run("make_due", now_s=now_s, before_s=visited_before_s, why=ONCE, little=LITTLE)
            return self._n_pages

    @override
    def read_again(self, mark_of: Callable[[str], int], now_s: float, per_s: float) -> int:
        with self._writing():
            otherwise = [
                page_id for page_id, url, mark in self._run("read_as") if mark != mark_of(url)
            ]
            self._db.executemany(
                self._q["make_read_again"],
                [
                    {"page_id": page_id, "due_s": now_s + place / per_s, "why": READ_AGAIN}
                    for place, page_id in enumerate(otherwise)
                ],
            )
        return len(otherwise)

    @override
    def reach(self) -> str | None:
        with translated(self._path):
            row = self._row("label", name="reach")
        return None if row is None else str(row[0])

    @override
    def save_reach(self, reach: str) -> None:
        with self._writing():
            self._run("save_label", name="reach", value=reach)

    @override
    def widen(
        self, takes: Callable[[str], bool], since_s: float, now_s: float, per_s: float
    ) -> int:
        with self._writing():
            self._run("read_rules_before", since_s=since_s)
            rows = self._run("before_widened", since_s=since_s, outside=OUTSIDE).fetchall()
            n_read = n = 0
            for page_id, url, kind, state, why, target in rows:
                is_out = state == PageState.MOVED or why == OUTSIDE
                leads_to = target if state == PageState.MOVED and target else url
                if kind == Kind.PAGE and not takes(leads_to):
                    continue
                due_s = now_s if is_out else now_s + n_read / per_s
                n_read, n = n_read + (not is_out), n + 1
                self._run("read_whole", page_id=page_id, due_s=due_s, why=WIDENED)
        return n

    @override
    def moves(self) -> list[tuple[str, str, int, int]]:
        return self._rows("moves")

    @override
    def n_due(self, now_s: float) -> int:
        with translated(self._path):
            return self._value("n_due", now_s=now_s, numbers=self._taken(now_s))

    @override
    def n_closed(self, now_s: float) -> int:
        with translated(self._path):
            return self._value("n_closed", now_s=now_s, numbers=self._taken(now_s))

    def _taken(self, now_s: float) -> str:
        return json.dumps(self._leases.taken(now_s))

    # -- planning --

    @override
    def visited_since(self, since_visit: int) -> tuple[NDArray[np.int64], int]:
        with translated(self._path):
            last = self._value("last_visit_number")
            query = self._q["visited_since" if since_visit else "visited_ever"]
            rows = self._db.execute(query, {"since": since_visit})
            return np.fromiter((number for (number,) in rows), np.int64), last

    @override
    def evidence(self, page_ids: Sequence[int], *, limit_per_page: int = LATEST_VISITS) -> Evidence:
        with translated(self._path):
            listed = {"page_ids": json.dumps(sorted(map(int, page_ids)))}
            rows = self._run("evidence_urls", **listed).fetchall()
            known, urls, lasting, last, born = zip(*rows, strict=True) if rows else ((),) * 5
            page: list[int] = []
            intervals: list[float] = []
            changed: list[int] = []
            signalled: list[float | None] = []
            ages: list[float | None] = []
            unheard: list[float] = []
            numbers: list[int] = []
            for number, page_id in enumerate(known):
                latest = self._run("evidence_of_page", page_id=page_id, limit=limit_per_page)
                told = latest.fetchall()[::-1]
                page.extend([number] * len(told))
                intervals.extend(row[0] for row in told)
                changed.extend(row[1] for row in told)
                signalled.extend(row[2] for row in told)
                ages.extend(row[3] for row in told)
                unheard.extend(row[4] for row in told)
                numbers.extend(row[5] for row in told)
        return Evidence(
            np.array(known, np.int64),
            np.array(page, np.int64),
            np.array(intervals, np.float64),
            np.array(changed, np.bool_),
            np.array(signalled, np.float64),
            np.array(ages, np.float64),
            urls,
            lasting,
            np.array(last, np.float64),
            np.array(numbers, np.int64),
            np.array(born, np.float64),
            np.array(unheard, np.float64),
        )

    @override
    def believed_before(self, page_ids: Sequence[int]) -> BelievedBefore:
        with translated(self._path):
            listed = {"page_ids": json.dumps(sorted(map(int, page_ids)))}
            rows = self._run("beliefs", **listed).fetchall()
            hosts = self._run("beliefs_of_hosts", **listed).fetchall()
        ids, urls, lasting, last, born, pages = zip(*rows, strict=True) if rows else ((),) * 6
        last_s, born_s = np.array([last, born], np.float64)
        return BelievedBefore(
            np.array(ids, np.int64), urls, lasting, last_s, pages, dict(hosts), born_s
        )

    @override
    def forget_visits(self, before_s: float, *, after: int, limit: int) -> int | None:
        with self._writing():
            told = {"after": after, "kept": LATEST_VISITS, "limit": limit, "before_s": before_s}
            pages = self._run("much_visited", **told).fetchall()
            for (page_id,) in pages:
                self._run("forget_visits", **told | {"page_id": page_id})
            if len(pages) < limit:
                self._forget_notes(before_s)
                return None
        return int(pages[-1][0])

    def _forget_notes(self, before_s: float) -> None:
        self._run("forget_plans", before_s=before_s)
        self._run("forget_answers", before_s=before_s)
        self._run("forget_differences", most=_DIFFERENCES)

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
        with self._writing():
            kept = zip(columns[0], beliefs, strict=False)  # or nothing
            told = [{"page_id": page_id, "learned": learned} for page_id, learned in kept]
            self._db.executemany(self._q["save_belief"], told)
            told = [{"host": host, "learned": learned} for host, learned in of_hosts]
            self._db.executemany(self._q["save_belief_of_host"], told)
            self._db.executemany(
                self._q["save_change_rate"],
                [
                    {"page_id": page_id, "rate": rate, "factor": factor}
                    for page_id, rate, factor in zip(*columns, strict=True)
                ],
            )

    @override
    def planned_pages(self) -> PlannedPages:
        with translated(self._path):
            cursor = self._run("planned")
            # As objects rows take ten times the memory.
            parts = [
                np.array(rows, np.float64).T for rows in iter(lambda: cursor.fetchmany(_ROWS), [])
            ]
        table = np.concatenate([np.zeros((14, 0)), *parts], axis=1)
        return PlannedPages(table[0].astype(np.int64), table[1].astype(np.int64), *table[2:])

    @override
    def copies(self, most: int) -> list[int]:
        groups = self._rows("copies", most=most)
        return [int(one) for first, ids in groups for one in ids.split(",") if int(one) != first]

    @override
    def save_plan(self, plan: PlanRecord) -> None:
        with self._writing():
            self._run("save_plan", **asdict(plan))

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
        with self._writing():
            for page_id, rate, due, own_due, known_s in zip(*columns, strict=True):
                tier = tier_of(1.0 / max(rate, 1e-12))
                row = self._row(
                    "save_crawl_rate",
                    page_id=page_id,
                    rate=rate,
                    due_s=due,
                    own_due_s=own_due,
                    tier=tier,
                    why=why,
                    kept=READ_AGAIN,
                    beside=BESIDE,
                    widened=WIDENED,
                    known_s=known_s,
                )
                if row is not None:
                    self._tiers_of(row[0]).add(tier)

    @override
    def last_plan(self) -> PlanRecord | None:
        with translated(self._path):
            row = self._row("last_plan")
        return None if row is None else PlanRecord(*row)

    # -- for people --

    @override
    def n_pages_by_state(self) -> dict[PageState, int]:
        with translated(self._path):
            return {PageState(row[0]): row[1] for row in self._run("n_pages_by_state")}

    @override
    def n_visits_by_outcome(self, *, since_s: float = 0.0) -> dict[Outcome, int]:
        with translated(self._path):
            rows = self._run("n_visits_by_outcome", since_s=since_s)
            return {Outcome(row[0]): row[1] for row in rows}

    @override
    def found_since(
        self, since_s: float, *, among: int, limit: int
    ) -> list[tuple[str, float, bool]]:
        with translated(self._path):
            after = self._value("last_visit_number") - among
            told = self._run("found_since", since_s=since_s, after=after, limit=limit).fetchall()
        return [(str(url), float(at_s), bool(is_new)) for url, at_s, is_new in told]

    @override
    def look_at_gone(self, by_s: float) -> int:
        with self._writing():
            return self._run("look_at_gone", by_s=by_s).rowcount

    @override
    def read_within(self, intervals_s: Mapping[int, float]) -> int:
        with self._writing():
            return sum(
                self._run(
                    "read_within", page_id=page_id, interval_s=interval_s, why=LISTS_NEW
                ).rowcount
                for page_id, interval_s in intervals_s.items()
            )

    @override
    def look_again(self, now_s: float, host_ids: Sequence[int]) -> int:
        with self._writing():
            hosts = json.dumps([int(host_id) for host_id in host_ids])
            return self._run("look_again", now_s=now_s, numbers=hosts, why=LISTED_AGAIN).rowcount

    @override
    def look_for(self, now_s: float, urls: Sequence[str]) -> int:
        with self._writing():
            told = json.dumps([*urls])
            return self._run("look_for", now_s=now_s, urls=told, why=NAMED_ANEW).rowcount

    @override
    def ask_leave(self, now_s: float, *, host_id: int | None = None, most: int = 1) -> list[int]:
        with self._writing():
            denied = self._run("denied", host_id=host_id, most=most).fetchall()
            told = [
                {"page_id": page_id, "due_s": now_s, "why": WITH_LEAVE} for page_id, _ in denied
            ]
            self._db.executemany(self._q["make_read_again"], told)
        return sorted({of_host for _, of_host in denied})

    @override
    def gone_s(self, now_s: float) -> float:
        with translated(self._path):
            return float(self._one("gone", now_s=now_s)[0])

    @override
    def went(self, since_s: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        with translated(self._path):
            table = np.array(self._run("went", since_s=since_s).fetchall(), np.float64)
        return table.reshape(-1, 2)[:, 0].astype(np.int64), table.reshape(-1, 2)[:, 1]

    @override
    def went_of_folder(self, folder: str, since_s: float) -> tuple[int, float]:
        named = {"host": host_of(folder), "folder": folder}
        with translated(self._path):
            n, there_s = self._one("went_of_folder", **named, since_s=since_s)
        return int(n), float(there_s)

    @override
    def last_fetch_s(self) -> float | None:
        with translated(self._path):
            row = self._row("last_fetch")
        return None if row is None else row[0]

    @override
    def forgive(self, now_s: float) -> int:
        with self._writing():
            self._run("forgive_hosts", now_s=now_s)
            return self._run("forgive_pages", now_s=now_s, why=FORGIVEN).rowcount

    @override
    def details(self, url: str, *, recent: int = 10) -> PageDetails | None:
        with translated(self._path):
            row = self._row("details", url=url)
            if row is None:
                return None
            visits = self._db.execute(
                self._q["recent_visits"], {"page_id": row[0], "limit": recent}
            ).fetchall()
            seen = tuple(visit_of(visit) for visit in visits)
            kind, state = Kind(row[3]), PageState(row[4])
        known = dict(zip(DETAILS, row[5:], strict=True))
        known["due_why"] = known["due_why"] or DISCOVERED
        known["leased_until_s"] = self._leases.until_s(row[0])
        return PageDetails(
            page_id=row[0],
            url=row[1],
            host=row[2],
            kind=kind,
            state=state,
            recent=seen,
            **known,
        )

    @override
    def save_announcers(self, announcers: Mapping[int, Announcer]) -> None:
        with self._writing():
            for host_id, told in announcers.items():
                self._run("save_announcer", host_id=host_id, **asdict(told))

    @override
    def announcers(self) -> dict[int, Announcer]:
        rows = self._rows("announcers")
        return {row[0]: Announcer(*row[1:]) for row in rows}

    @override
    def save_facts(self, *records: FactRecord) -> None:
        with self._writing():
            for name, value in rows_of(*records).items():
                self._run("save_fact", name=name, value=value)

    @override
    def facts(self) -> CrawlFacts:
        with translated(self._path):
            return CrawlFacts.of(dict(self._run("facts").fetchall()))

    @override
    def urls_indexed(self) -> Iterable[tuple[str, bytes]]:
        with translated(self._path):
            yield from self._run("urls_indexed")

    @override
    def n_indexed(self) -> int:
        with translated(self._path):
            return self._value("n_indexed")

    @override
    def sample_indexed(self, limit: int) -> list[tuple[str, bytes]]:
        with translated(self._path):
            last = self._value("last_page_number")
            drawn = random.sample(range(1, last + 1), min(limit, last))
            return self._run("sample_indexed", page_ids=json.dumps(drawn)).fetchall()

    def table(self, name: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        """Yield the rows of ``pages`` or ``visits`` with their column names, 10,000 at a time."""
        with translated(self._path):
            cursor = self._db.execute(self._q[f"export_{name}"])
            names = [column[0] for column in cursor.description]
            while rows := cursor.fetchmany(10_000):
                yield names, rows

    @override
    def close(self) -> None:
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock.release()

    # -- inside --

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._inode is not None and inode_of(self._path) != self._inode:
            raise StateError(
                f"{self._path} was removed, moved or replaced while the crawl wrote to it; no more "
                "is written"
            )
        try:
            with transaction(self._db, self._path):
                yield
        except BaseException:
            self._host_ids.clear()
            self._n_pages_of_host.clear()
            self._n_listings.clear()
            self._tiers.clear()
            self._known_vacated = None
            with translated(self._path):
                self._n_pages, self._n_hosts = self._value("n_pages"), self._value("n_hosts")
            raise

    def _leasing(self) -> AbstractContextManager[None]:
        """Read which pages are to be leased; it is these that leases are noted of."""
        return translated(self._path)


def _is_listing(row: tuple[Any, ...]) -> bool:
    """Tell whether a row of the query ``due`` is of a sitemap or feed that is there."""
    return bool(row[_KIND] != Kind.PAGE.value and row[_STATE] == PageState.INDEXED.value)


def _queries_of(tier: int, *, by_worth: bool) -> tuple[str, ...]:
    """Return what tells the first pages of a queue; of those never visited by their weight.

    What a first visit is worth grows while it waits, so by worth the first due are as well.
    """
    if tier != NEW:
        return ("due",)
    return ("due_new", "due") if by_worth else ("due_new",)
