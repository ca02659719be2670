"""An owner's copy of its shards, as it comes from the database: pages first, then their hosts."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from recrawl.crawler.database.connections import Connection, translated
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres.tables import APPENDED, KEPT, LATE, PAGE
from recrawl.crawler.frontier.sql import migrations
from recrawl.crawler.ports import LATEST_VISITS

_SLICE: Final = 1_000  # pages that are copied at once, between two calls of a crawl


def private_copy(memory_bytes: int) -> sqlite3.Connection:
    """Return an empty state without a file name.

    It is within a transaction that never ends: nothing of it is to outlive the process, so only
    what memory has no room for is written to the file. Nor can anything be taken back: a copy of
    which a change has failed is to be dropped.

    Parameters
    ----------
    memory_bytes : that it may keep in memory
    """
    handle, name = tempfile.mkstemp(prefix="recrawl-copy-")
    os.close(handle)
    db = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA synchronous = OFF")
    db.executescript("\n".join(["BEGIN;", *migrations()]))
    db.execute(f"PRAGMA cache_size = -{max(memory_bytes // 1024, 1024)}")
    os.unlink(name)  # it goes with the process, whatever ends that
    db.execute("DROP INDEX visit_by_time")  # only readers ask for visits by time
    for name in LATE:
        db.execute(f"CREATE TABLE late_{name} (id INTEGER PRIMARY KEY)")
    for table in KEPT:
        db.execute(f"CREATE TABLE touched_{table.name} (id INTEGER PRIMARY KEY)")
    _watch(db)
    return db


def _watch(db: sqlite3.Connection) -> None:
    """Have rows noted that transactions touch."""
    for table in KEPT:
        key, noted = table.key[0], f"touched_{table.name}"
        for when in ("INSERT", f"UPDATE OF {', '.join(table.columns)}", "DELETE"):
            row = "OLD" if when == "DELETE" else "NEW"
            # OR IGNORE would not do: within a trigger, the outer statement's clause counts.
            db.execute(
                f"CREATE TRIGGER {noted}_{when[:6]} AFTER {when} ON {table.name} BEGIN "
                f"INSERT INTO {noted} VALUES ({row}.{key}) ON CONFLICT DO NOTHING; END"
            )


def _look_away(db: sqlite3.Connection) -> None:
    for table in KEPT:
        for when in ("INSERT", "UPDATE", "DELETE"):
            db.execute(f"DROP TRIGGER touched_{table.name}_{when}")


class Loading:
    """Brings shards into an owner's copy, and drops them.

    Parameters
    ----------
    db : the copy
    connection : to the database
    membership : whose shards these are
    """

    def __init__(
        self, db: sqlite3.Connection, connection: Connection, membership: Membership
    ) -> None:
        self._db, self._connection, self._membership = db, connection, membership
        self._shards = membership.shards
        self._marks = dict.fromkeys(APPENDED, 0)
        self.trouble: BaseException | None = None  # that the copy cannot be used after

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Change the copy, which is of no use any more where that fails."""
        if self.trouble is not None:
            raise self.trouble
        try:
            yield
        except BaseException as error:
            self.trouble = error
            raise

    def loading(self, shards: Collection[int]) -> Iterator[int]:
        """Copy the pages of shards, some thousand with every step; yield how many those were.

        Nobody else writes these pages. A crawl may go on in between, as it does not see the pages
        before their hosts are there.
        """
        for shard in sorted(shards):
            after, is_more = -1, True
            while is_more:
                number, after = self._load_some(shard, after)
                is_more = number == _SLICE
                yield number

    def bring_hosts(self, shards: Collection[int]) -> None:
        """Copy the hosts of shards whose pages are there."""
        with self._unwatched(), translated(self._membership.database):
            for table in KEPT:
                if table.name == "host" or table.page == "host_id":
                    columns = ", ".join(f"{table.name}.{column}" for column in table.columns)
                    of = "" if table.name == "host" else f"JOIN {table.name} ON host_id = host.id "
                    query = f"SELECT {columns} FROM host {of}WHERE host.shard = ANY(%s)"
                    self._insert(table.name, table.columns, self._rows(query, (list(shards),)))

    def _load_some(self, shard: int, after: int) -> tuple[int, int]:
        """Copy pages of a shard with numbers above one; return how many, and the last number."""
        with self._unwatched(), translated(self._membership.database):
            query = (
                f"SELECT {', '.join(PAGE.columns)} FROM page WHERE shard = %s AND id > %s "
                f"ORDER BY id LIMIT {_SLICE}"
            )
            pages = self._rows(query, (shard, after))
            if not pages:
                return 0, after
            self._insert("page", PAGE.columns, pages)
            last = pages[-1][0]
            for table in KEPT:
                if table.page == "page_id":
                    of_page = f"SELECT * FROM {table.name} WHERE page_id = page.id"
                    if table.name == "asked":
                        of_page += " AND outcome IS NULL"
                    self._load_of(table.name, table.columns, of_page, (shard, after, last))
            for name, number, most in (("visit", "id", LATEST_VISITS), ("feed", "seq", 1)):
                latest = (
                    f"SELECT * FROM {name} WHERE page_id = page.id ORDER BY {number} DESC "
                    f"LIMIT {most}"
                )
                self._load_of(name, APPENDED[name], latest, (shard, after, last), number)
        return len(pages), last

    def _load_of(
        self,
        name: str,
        columns: Sequence[str],
        of_page: str,
        pages: tuple[int, int, int],
        order: str = "page_id",
    ) -> None:
        """Copy what a table says of each page of a shard in a range of numbers."""
        query = (
            f"SELECT {', '.join(f'held.{column}' for column in columns)} FROM page "
            f"CROSS JOIN LATERAL ({of_page}) AS held "
            f"WHERE page.shard = %s AND page.id > %s AND page.id <= %s ORDER BY held.{order}"
        )
        self._insert(name, columns, self._rows(query, pages))

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), values, binary=True).fetchall()

    @contextlib.contextmanager
    def _unwatched(self) -> Iterator[None]:
        """Change the copy to what the database says already."""
        with self.changing():
            _look_away(self._db)
            yield
            _watch(self._db)
            self._mark()

    def _insert(self, name: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
        places = ", ".join("?" * len(columns))
        self._db.executemany(
            f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({places})", rows
        )

    def drop(self, shards: Collection[int]) -> None:
        """Forget shards that belong to others now."""
        wanted = ", ".join(str(shard) for shard in shards)
        with self._unwatched():
            for name, column in (
                *((table.name, table.page) for table in KEPT),
                *((name, "page_id") for name in APPENDED if name != "plan"),
                *((f"late_{name}", "id") for name in LATE),
            ):
                self._db.execute(
                    f"DELETE FROM {name} WHERE {column} % {self._shards} IN ({wanted})"
                )

    def _mark(self) -> None:
        """Take what is in the copy for known to the database."""
        for name in APPENDED:
            row = self._db.execute(f"SELECT coalesce(max(rowid), 0) FROM {name}").fetchone()
            self._marks[name] = row[0]
