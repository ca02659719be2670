"""The frontier of one process among several: its shards, on a copy of its own.

What a process does to pages that it owns is what one machine does to all pages: the code is the
same, on a private copy of the rows. Each change is written to the database, fenced, before it
counts; see :mod:`.copying`. What concerns everybody (the feed, facts, what was asked for and
refused) is read from the database.

Longer than most modules because it says of each thing that is told whose it is.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from math import ceil, inf
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
from typing_extensions import override

from recrawl.crawler.database.connections import Connection
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.facts import CrawlFacts
from recrawl.crawler.frontier.feed import SqliteFeed
from recrawl.crawler.frontier.postgres.asking import Asked, as_sqlite
from recrawl.crawler.frontier.postgres.copying import Copying
from recrawl.crawler.frontier.postgres.dialect import statements
from recrawl.crawler.frontier.postgres.loading import private_copy
from recrawl.crawler.frontier.postgres.reading import PostgresReader, asked_for, named
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import translated
from recrawl.crawler.frontier.worths import SqliteWorths
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import (
    Discovery,
)

P = ParamSpec("P")
T = TypeVar("T")
_AT_ONCE: Final = 20_000  # pages that are brought before a crawl begins; of whole shards
_TIMES: Final = 3  # as many shards as a crawl has are brought beside it, before it begins anew
_MOST_TAKEN: Final = 10_000  # of the inbox at once


def _put_off(
    change: Callable[Concatenate[SqliteFrontier, P], T],
) -> Callable[Concatenate["PostgresFrontier", P], T]:
    """Return a change of the copy that is written later."""

    def later(self: "PostgresFrontier", /, *args: P.args, **named: P.kwargs) -> T:
        with self._writing():
            done = change(self, *args, **named)
            self._copying.put_off()
            return done

    return later


def _of_everybody(
    tell: Callable[Concatenate[PostgresReader, P], T],
) -> Callable[Concatenate["PostgresFrontier", P], T]:
    """Return a question, or a note, that goes to the database."""

    def told(self: "PostgresFrontier", /, *args: P.args, **named: P.kwargs) -> T:
        return tell(self._reader, *args, **named)

    return told


class PostgresFrontier(SqliteFrontier):
    """The pages of the shards that a process owns; of no use to two threads at once.

    Parameters
    ----------
    membership : of the process, which has joined
    memory_bytes : that the copy may keep in memory; the rest lies in an unnamed file
    """

    def __init__(self, membership: Membership, *, memory_bytes: int = 2**30) -> None:
        self._lock = None
        self._membership = membership
        self._shards = membership.shards
        self._last_page: dict[int, int] = {}
        self._last_host: dict[int, int] = {}
        self._connection: Connection = membership.connected("frontier")
        try:
            self._reader = PostgresReader(membership.database, self._connection)
            self._begin(private_copy(memory_bytes), _place(membership))
            self._is_writing = False
            self._owned: frozenset[int] = frozenset()  # whose pages and hosts the copy has
            self._coming: list[int] = []  # whose pages are brought next
            self._bringing: Iterator[int] | None = None  # None: all of those are there
            self._copying = Copying(self._db, self._connection, membership)
            asked = as_sqlite(Asked(membership.database, self._connection))
            path = named(membership.database)
            self._shared = _SharedFeed(asked, path, self._reader.writing, self._feed)
            self._counted = _SharedWorths(
                self._db, self._path, self._writing, self._reader.worths, self._known
            )
            self.own(membership.owned)
        except BaseException:
            self.close()
            raise

    def own(self, shards: Mapping[int, float]) -> None:
        """Have the copy hold just these shards, or the first of them; the others wait.

        What :meth:`bring` has brought is among them from now on. The membership is told which wait.
        """
        brought = set(self._coming) if self._bringing is None else set()
        held = (set(self._owned) | brought) & set(shards)
        gone = (self._owned | set(self._coming)) - held
        if gone:
            self._copying.drop(gone)
            self._leases.drop(gone, self._shards)
        waiting = sorted(set(shards) - held)
        room = _AT_ONCE
        while waiting and room > 0:
            room -= sum(self._copying.loading(waiting[:1]))
            held.add(waiting.pop(0))
        self._copying.bring_hosts(held - self._owned)
        self._owned, self._membership.awaited = frozenset(held), frozenset(waiting)
        self._coming = waiting[: _TIMES * len(held)]
        self._bringing = self._copying.loading(self._coming) if waiting else None
        for known in (self._host_ids, self._n_pages_of_host, self._n_listings, self._tiers):
            known.clear()
        self._last_page, self._last_host = self._lasts("page"), self._lasts("host")
        self._learn(read_only=False)

    def bring(self) -> bool:
        """Bring some pages of shards that wait; True: as many came as are worth a new beginning.

        That is for :meth:`own`: until then nothing that a crawl asks for tells of their hosts.
        """
        if self._bringing is not None and next(self._bringing, None) is None:
            self._bringing = None
        return self._bringing is None and bool(self._coming)

    def _lasts(self, table: str) -> dict[int, int]:
        rows = self._db.execute(
            f"SELECT id % {self._shards}, max(id) FROM {table} GROUP BY id % {self._shards}"
        )
        return dict(rows.fetchall())

    def settle(self) -> None:
        """Write what plans moved, if the copy still knows; before shards are given back."""
        if self._copying.trouble is None:
            with self._writing():
                self._copying.bring_late()

    # -- who owns what --

    def _shard(self, host: str) -> int:
        return shard_of(host, self._shards)

    def _is_mine(self, host: str) -> bool:
        return self._shard(host) in self._owned

    def _known(self, page_id: int) -> bool:
        return page_id % self._shards in self._owned

    @override
    def _new_host_id(self, host: str) -> int | None:
        return self._next(self._last_host, self._shard(host))

    @override
    def _new_page_id(self, host_id: int) -> int | None:
        return self._next(self._last_page, host_id % self._shards)

    def _next(self, lasts: dict[int, int], shard: int) -> int:
        """Return the next number of a shard; the shard is the number modulo their number."""
        lasts[shard] = lasts.get(shard, shard or 0) + self._shards
        return lasts[shard]

    def _share_of(self, limits: AdmissionLimits) -> AdmissionLimits:
        share = len(self._owned) / self._shards
        return replace(limits, max_pages=ceil(limits.max_pages * share))

    # -- taking in --

    @override
    def admit(
        self, discoveries: Sequence[Discovery], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        mine = [found for found in discoveries if self._is_mine(found.host)]
        with self._writing():
            if len(mine) < len(discoveries):
                self._copying.outgoing += [
                    (self._shard(found.host), found.url, msgspec.json.encode(found))
                    for found in discoveries
                    if not self._is_mine(found.host)
                ]
            return super().admit(mine, now_s, self._share_of(limits))

    @override
    def take_asked(
        self, read: Callable[[str], Discovery | str], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        """Take up what was asked for, and what others have found in these shards."""
        touched = dict.fromkeys(self._take_inbox(now_s, limits))
        owned = list(self._owned)
        rows = self._reader.rows(
            "SELECT id, url, asked_at_s, is_signal FROM asked WHERE outcome IS NULL "
            "AND page_id IS NULL AND shard = ANY(%(owned)s) ORDER BY id LIMIT 10000",
            owned=owned,
        )
        if rows:
            with self._writing():
                self._db.executemany(
                    "INSERT OR IGNORE INTO asked (id, url, asked_at_s, is_signal) "
                    "VALUES (?, ?, ?, ?)",
                    rows,
                )
                touched |= dict.fromkeys(super().take_asked(read, now_s, self._share_of(limits)))
        return list(touched)

    def _take_inbox(self, now_s: float, limits: AdmissionLimits) -> list[int]:
        rows = self._reader.rows(
            "SELECT shard, key::text, found::text FROM inbox WHERE shard = ANY(%(owned)s) "
            "LIMIT %(most)s",
            owned=list(self._owned),
            most=_MOST_TAKEN,
        )
        if not rows:
            return []
        found = [msgspec.json.decode(row[2], type=Discovery) for row in rows]
        with self._writing():
            self._copying.taken += [(shard, key) for shard, key, _ in rows]
            return super().admit(found, now_s, self._share_of(limits))

    # -- what everybody shares --

    @property
    @override
    def feed(self) -> SqliteFeed:
        return self._shared

    @property
    @override
    def worths(self) -> SqliteWorths:
        return self._counted

    @override
    def ask(self, urls: Sequence[str], now_s: float, *, is_signal: bool = False) -> list[int]:
        asked = as_sqlite(Asked(self._membership.database, self._connection))
        return asked_for(asked, statements(), urls, now_s, is_signal=is_signal)

    answers = _of_everybody(PostgresReader.answers)
    _counted_refusals = _of_everybody(PostgresReader._counted_refusals)  # of pages, its own
    differences = _of_everybody(PostgresReader.differences)
    found_since = _of_everybody(PostgresReader.found_since)
    n_visits_by_outcome = _of_everybody(PostgresReader.n_visits_by_outcome)
    save_facts = _of_everybody(PostgresReader.save_facts)
    reach = _of_everybody(PostgresReader.reach)
    save_reach = _of_everybody(PostgresReader.save_reach)
    moves = _of_everybody(PostgresReader.moves)

    @override
    def facts(self) -> CrawlFacts:
        # A database commits or does not: what was under way when a process ended is noted there.
        facts = self._reader.facts()
        return replace(facts, end=replace(facts.end, ended_in_order=True))

    @override
    def forget_visits(self, before_s: float, *, after: int, limit: int) -> int | None:
        # A database forgets visits by the month, at the word of who keeps it; a copy those of which
        # nothing is asked.
        found = super().forget_visits(inf, after=after, limit=limit)
        if found is None:
            self._reader.forget_notes(before_s)
        return found

    # -- plans, which can be made again, are no reason to write every page --

    save_change_rates = _put_off(SqliteFrontier.save_change_rates)
    make_due = _put_off(SqliteFrontier.make_due)
    read_again = _put_off(SqliteFrontier.read_again)
    widen = _put_off(SqliteFrontier.widen)
    save_plan = _put_off(SqliteFrontier.save_plan)
    save_crawl_rates = _put_off(SqliteFrontier.save_crawl_rates)

    @override
    def close(self) -> None:
        """Close the copy, which is gone with that; what was acknowledged is in the database."""
        with suppress(AttributeError):
            self._db.close()
        self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._is_writing:
            yield
            return
        self._is_writing = True
        try:
            with translated(self._path), self._copying.changing():
                yield
                self._copying.flush()
        finally:
            self._is_writing = False

    @override
    def _leasing(self) -> AbstractContextManager[None]:
        if self._copying.trouble is not None:
            raise self._copying.trouble
        return super()._leasing()


def _place(membership: Membership) -> Path:
    """Return what messages call the copy; its disk is where temporary files go."""
    return Path(tempfile.gettempdir()) / f"copy-of-shards-{membership.number}"


class _SharedFeed(SqliteFeed):
    """The feed of everybody, to which owners add with their visits."""

    def __init__(
        self, asked: sqlite3.Connection, path: Path, writing: Any, own: SqliteFeed
    ) -> None:
        super().__init__(asked, path, writing, statements())
        self._own = own

    @override
    def mend(self, now_s: float) -> int:
        return self._own.mend(now_s)

    @override
    def say_importance(self) -> None:
        self._own.say_importance()

    @override
    def importances(self, *, after: int, limit: int) -> list[tuple[int, float, float | None]]:
        return self._own.importances(after=after, limit=limit)

    @override
    def tell_importance(self, page_ids: Sequence[int], now_s: float) -> int:
        return self._own.tell_importance(page_ids, now_s)


class _SharedWorths(SqliteWorths):
    """Worths of pages: of the copy, but for the counts that others add to."""

    def __init__(
        self,
        db: sqlite3.Connection,
        path: Path,
        writing: Any,
        counted: SqliteWorths,
        is_known: Callable[[int], bool],
    ) -> None:
        super().__init__(db, path, writing)
        self._counted, self._is_known = counted, is_known

    @override
    def tallies(self) -> list[tuple[int, str, float, float]]:
        return [row for row in self._counted.tallies() if self._is_known(row[0])]

    @override
    def count(
        self, source: str, counts: Mapping[str, float], now_s: float, half_life_s: float
    ) -> int:
        return self._counted.count(source, counts, now_s, half_life_s)

    @override
    def forget(self, source: str) -> None:
        self._counted.forget(source)
