"""An owner's copy of its shards: made of the database, and every change of it written there first.

The copy is a private SQLite file without a name, which is gone with the process. Triggers note
which rows a change touches; :meth:`Copying.flush` writes these to the database, in one transaction
that is fenced, before the change counts. Where that fails the copy is used no more. So it never
says what the database does not; the leases of pages alone are the copy's own, and what a plan moved
is written with the page's next visit, or when the shard is given back.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, count, islice, zip_longest
from typing import Any, Final

import psycopg

from recrawl.crawler.database.connections import Connection
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres.arrays import Array, arrays, takes_arrays, told
from recrawl.crawler.frontier.postgres.loading import Loading
from recrawl.crawler.frontier.postgres.tables import APPENDED, KEPT, LATE, Table

_BATCH: Final = 5_000
# Functions, of which a server keeps the plans.
_WRITERS: Final = {"page": "write_pages", "visit": "add_visits"}
_CALLS: Final = tuple(f"{name}(" for name in _WRITERS.values())

_Part = tuple[str, list[Array]]  # of what is written: a statement, and its values


def written(table: Table, shards: int) -> str:
    """Return the statement that adds rows of a table, or writes them anew; or a function's call.

    Parameters
    ----------
    table : whose columns are the arrays that it takes
    shards : their number
    """
    columns = ", ".join(table.columns)
    if table.name in _WRITERS:
        return f"{_WRITERS[table.name]}({_places(table.columns)}, {shards})"
    if table.name == "asked":
        return (
            "UPDATE asked SET page_id = told.page_id, outcome = told.outcome, note = told.note "
            f"FROM {told(table.columns)} WHERE asked.id = told.id"
        )
    into, said, known = columns, columns, ", ".join(table.key)
    if table.page == "id":
        into, said, known = (f"shard, {into}", f"mod(id, {shards})::int, {said}", f"shard, {known}")
    changed = ", ".join(f"{name} = excluded.{name}" for name in table.changing)
    return (
        f"INSERT INTO {table.name} ({into}) SELECT {said} FROM {told(table.columns)} "
        f"ON CONFLICT ({known}) DO {f'UPDATE SET {changed}' if changed else 'NOTHING'}"
    )


def added(table: str, columns: Sequence[str]) -> str:
    """Return what adds rows to a table, of which it takes these columns as arrays."""
    if table in _WRITERS:
        return f"{_WRITERS[table]}({_places(columns)})"
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM {told(columns)}"


def _places(columns: Sequence[str]) -> str:
    return ", ".join(["%s"] * len(columns))


@lru_cache(maxsize=64)
def at_once(queries: tuple[str, ...]) -> bytes:
    """Return one statement for several, for a ``RawCursor``: it is answered once.

    Parameters
    ----------
    queries : no two of which write the same row; statements, and calls of functions
    """
    numbers = count(1)  # psycopg would look for so many parameters each time, for 0.2 ms
    numbered = [re.sub("%s", lambda _: f"${next(numbers)}", query) for query in queries]
    calls = [query for query in numbered if query.startswith(_CALLS)]
    others = [query for query in numbered if not query.startswith(_CALLS)]
    named = ", ".join(f"part_{number} AS ({query})" for number, query in enumerate(others))
    return f"{f'WITH {named} ' if named else ''}SELECT {', '.join(calls)}".encode()


class Copying(Loading):
    """Carries rows between an owner's copy and the database.

    Parameters
    ----------
    db : the copy
    connection : to the database
    membership : whose writes these are
    """

    def __init__(
        self, db: sqlite3.Connection, connection: Connection, membership: Membership
    ) -> None:
        super().__init__(db, connection, membership)
        takes_arrays(connection)
        self.outgoing: list[tuple[int, str, bytes]] = []  # for others: shard, address, discovery
        self.taken: list[tuple[int, str]] = []  # of the inbox: shard, and key

    def is_clean(self) -> bool:
        """Tell whether this transaction has touched nothing that the database keeps."""
        touched = " UNION ALL ".join(f"SELECT 1 FROM touched_{table.name}" for table in KEPT)
        added = " UNION ALL ".join(
            f"SELECT 1 FROM {name} WHERE rowid > :{name}" for name in self._marks
        )
        query = f"SELECT EXISTS ({touched} UNION ALL {added} UNION ALL SELECT 1 FROM refusal)"
        row = self._db.execute(query, self._marks).fetchone()
        return not row[0] and not self.outgoing and not self.taken

    def put_off(self) -> None:
        """Have what was touched of pages written later: a plan can be made again."""
        for name in LATE:
            self._db.execute(f"INSERT OR IGNORE INTO late_{name} SELECT id FROM touched_{name}")
            self._db.execute(f"DELETE FROM touched_{name}")

    def bring_late(self) -> None:
        """Have what plans moved written now."""
        for name in LATE:
            self._db.execute(f"INSERT OR IGNORE INTO touched_{name} SELECT id FROM late_{name}")

    def flush(self) -> None:
        """Write what this transaction of the copy has touched, all or none; wait for room.

        Raises
        ------
        OwnershipLost
            This process has been ended; nothing was written.
        StateError
            The database does not answer.
        """
        if self.is_clean():
            return
        self._membership.room.awaited(self._membership.database, self._bring)
        self._settle()

    def _bring(self) -> None:
        with self._connection.transaction():
            self._membership.fence(self._connection)
            self._write()
            self._write_inbox()
            self._append_feed()  # last: others wait for its numbers until this commits

    def _write(self) -> None:
        """Write what tables of pages and hosts hold anew, with one statement for all of them."""
        parts = [self._changed(table) for table in KEPT]
        parts += [self._added(name) for name in ("visit", "difference", "plan")]
        for some in zip_longest(*parts, self._refused()):
            queries, values = zip(*(part for part in some if part is not None), strict=True)
            psycopg.RawCursor(self._connection).execute(at_once(queries), [*chain(*values)])

    def _changed(self, table: Table) -> Iterator[_Part]:
        key, columns = table.key[0], ", ".join(table.columns)
        rows = self._db.execute(
            f"SELECT {columns} FROM {table.name} WHERE {key} IN "
            f"(SELECT id FROM touched_{table.name}) ORDER BY {key}"
        ).fetchall()
        if table.name == "indexing":
            touched = self._db.execute("SELECT id FROM touched_indexing").fetchall()
            ended = sorted(set(touched).difference(rows))
            known = "WHERE indexing.page_id = told.page_id"
            query = f"DELETE FROM indexing USING {told(table.key)} {known}"
            for batch in batches(ended):
                yield query, arrays(table.key, batch)
        for batch in batches(rows):
            yield written(table, self._shards), arrays(table.columns, batch)

    def _new(self, name: str) -> list[tuple[Any, ...]]:
        columns = ", ".join(APPENDED[name])
        query = f"SELECT {columns} FROM {name} WHERE rowid > :{name} ORDER BY rowid"
        return self._db.execute(query, self._marks).fetchall()

    def _added(self, name: str) -> Iterator[_Part]:
        rows, columns = self._new(name), APPENDED[name]
        if name == "plan":
            rows = [(self._membership.number, *row) for row in rows]
            columns = ("process", *columns)
        for batch in batches(rows):
            yield added(name, columns), arrays(columns, batch)

    def _refused(self) -> Iterator[_Part]:
        rows = self._db.execute("SELECT host, why, n FROM refusal ORDER BY host, why").fetchall()
        columns = ("host", "why", "n")
        for batch in batches(rows):
            more = "ON CONFLICT (host, why) DO UPDATE SET n = refusal.n + excluded.n"
            yield f"{added('refusal', columns)} {more}", arrays(columns, batch)

    def _append_feed(self) -> None:
        rows = self._new("feed")
        if not rows:
            return
        row = self._connection.execute(
            "UPDATE counter SET value = value + %s WHERE name = 'feed' RETURNING value",
            (len(rows),),
        ).fetchone()
        assert row is not None
        first = row[0] - len(rows) + 1
        numbered = [(first + place, *row) for place, row in enumerate(rows)]
        columns = ("seq", *APPENDED["feed"])
        said = ", ".join(
            "greatest(at_s, (SELECT at_s FROM feed ORDER BY seq DESC LIMIT 1))"
            if name == "at_s"
            else name
            for name in columns
        )
        for batch in batches(numbered):
            self._connection.execute(
                f"INSERT INTO feed ({', '.join(columns)}) SELECT {said} "
                f"FROM {told(columns)}".encode(),
                arrays(columns, batch),
            )

    def _write_inbox(self) -> None:
        if self.outgoing:
            rows = sorted(set(self.outgoing))
            self._connection.cursor().executemany(
                "INSERT INTO inbox VALUES (%s, md5(%s)::uuid, %s::json) ON CONFLICT DO NOTHING",
                [(shard, url, found.decode()) for shard, url, found in rows],
            )
        if self.taken:
            shards, keys = zip(*self.taken, strict=True)
            self._connection.execute(
                "DELETE FROM inbox USING unnest(%s::int[], %s::uuid[]) AS done (shard, key) "
                "WHERE inbox.shard = done.shard AND inbox.key = done.key",
                (list(shards), list(keys)),
            )
            self._connection.execute(
                "UPDATE process SET is_done = false WHERE id = %s AND is_done",
                (self._membership.number,),
            )

    def _settle(self) -> None:
        """Forget, in the copy, what the database knows now."""
        for name in LATE:
            self._db.execute(f"DELETE FROM late_{name} WHERE id IN (SELECT id FROM touched_{name})")
        for table in KEPT:
            self._db.execute(f"DELETE FROM touched_{table.name}")
        self._db.execute("DELETE FROM refusal")
        self._db.execute("DELETE FROM difference")
        # Of each page only the latest entry of the feed says anything to an owner.
        self._db.execute(
            "DELETE FROM feed WHERE seq IN (SELECT older.seq FROM feed AS newer "
            "JOIN feed AS older ON older.page_id = newer.page_id AND older.seq < newer.seq "
            "WHERE newer.seq > :feed)",
            self._marks,
        )
        self.outgoing.clear()
        self.taken.clear()
        self._mark()


def batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows as many at once as one statement takes."""
    rest = iter(rows)
    while batch := list(islice(rest, _BATCH)):
        yield batch
