"""An owner's copy of its shards: made of the database, and every change of it written there first.

The copy is a private SQLite file without a name, which is gone with the process. Triggers note
which rows a transaction touches; :meth:`Copying.flush` writes these to the database, in one
transaction that is fenced, before the transaction of the copy counts. So the copy never says what
the database does not; the leases of pages alone are the copy's own, and what a plan moved is
written with the page's next visit, or when the shard is given back.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import Any, Final

import msgspec

from recrawl.crawler.database.connections import Connection, translated
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres.loading import Loading
from recrawl.crawler.frontier.postgres.tables import APPENDED, KEPT, LATE, Table

__all__ = ["BYTES", "Copying", "batches", "copied", "rows_as_json"]

_BATCH: Final = 5_000
_NUL: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_INSTANTS: Final = frozenset({"due_s", "robots_until_s", "blocked_until_s"})
BYTES: Final = frozenset(
    {"robots_body", "policy_memory", "signature", "raw_hash", "targets", "edit", "learned"}
)


def rows_as_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    r"""Return rows as an array of objects that PostgreSQL reads into a table's columns.

    Bytes as ``\x...``, infinite instants as words; what is NULL is not said. The sign that no text
    of PostgreSQL may hold is left out.

    Parameters
    ----------
    columns : their names
    rows : a value for each column; None: NULL
    """
    bytes_, instants = (tuple(known.intersection(columns)) for known in (BYTES, _INSTANTS))
    told = []
    for row in rows:
        said = {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        for name in bytes_:
            if name in said:
                said[name] = "\\x" + said[name].hex()
        for name in instants:
            if said.get(name) == inf:
                said[name] = "Infinity"
        told.append(said)
    encoded = msgspec.json.encode(told)
    return _NUL.sub(rb"\1", encoded) if b"\\u0000" in encoded else encoded


def copied(connection: Connection, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    """Add rows to a table; the sign that no text of PostgreSQL may hold is left out.

    Parameters
    ----------
    connection : within a transaction
    table : its name
    columns : their names, with commas between them
    rows : a value for each column; None: NULL
    """
    with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row([
                value.replace("\0", "") if type(value) is str else value for value in row
            ])  # fmt: skip


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
        self.outgoing: list[tuple[int, str, bytes]] = []  # for others: shard, address, discovery
        self.taken: list[tuple[int, str]] = []  # of the inbox: shard, and key

    def is_clean(self) -> bool:
        """Tell whether this transaction has touched nothing that the database keeps."""
        touched = " UNION ALL ".join(f"SELECT 1 FROM touched_{table.name}" for table in KEPT)
        added = " UNION ALL ".join(
            f"SELECT 1 FROM {name} WHERE rowid > {mark}" for name, mark in self._marks.items()
        )
        query = f"SELECT EXISTS ({touched} UNION ALL {added} UNION ALL SELECT 1 FROM refusal)"
        row = self._db.execute(query).fetchone()
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
        """Write what this transaction of the copy has touched, all or none.

        Raises
        ------
        OwnershipLost
            This process has been ended; nothing was written.
        StateError
            The database does not answer.
        """
        if self.is_clean():
            return
        with translated(self._membership.database), self._connection.transaction():
            self._membership.fence(self._connection)
            for table in KEPT:
                self._write(table)
            for name in ("visit", "difference", "plan"):
                self._append(name)
            self._write_refusals()
            self._write_inbox()
            self._append_feed()  # last: others wait for its numbers until this commits
        self._settle()

    def _write(self, table: Table) -> None:
        key, columns = table.key[0], ", ".join(table.columns)
        rows = self._db.execute(
            f"SELECT {columns} FROM {table.name} WHERE {key} IN "
            f"(SELECT id FROM touched_{table.name}) ORDER BY {key}"
        ).fetchall()
        if table.name == "indexing":
            touched = self._db.execute("SELECT id FROM touched_indexing").fetchall()
            gone = [row[0] for row in touched]
            if gone:
                self._connection.execute("DELETE FROM indexing WHERE page_id = ANY(%s)", (gone,))
        if not rows:
            return
        of_shard = table.page == "id"
        into = f"shard, {columns}" if of_shard else columns
        said = f"mod(id, {self._shards})::int, {columns}" if of_shard else columns
        if table.name == "asked":
            query = (
                "UPDATE asked SET page_id = told.page_id, outcome = told.outcome, note = told.note "
                "FROM json_populate_recordset(NULL::asked, %s) AS told WHERE asked.id = told.id"
            )
        else:
            known = ", ".join(("shard", *table.key) if of_shard else table.key)
            changed = ", ".join(
                f"{name} = excluded.{name}" for name in table.columns if name not in table.key
            )
            done = f"UPDATE SET {changed}" if changed else "NOTHING"
            query = (
                f"INSERT INTO {table.name} ({into}) SELECT {said} "
                f"FROM json_populate_recordset(NULL::{table.name}, %s) "
                f"ON CONFLICT ({known}) DO {done}"
            )
        for batch in batches(rows):
            self._connection.execute(query.encode(), (_json(table.columns, batch),))

    def _new(self, name: str) -> list[tuple[Any, ...]]:
        columns = ", ".join(APPENDED[name])
        query = f"SELECT {columns} FROM {name} WHERE rowid > {self._marks[name]} ORDER BY rowid"
        return self._db.execute(query).fetchall()

    def _append(self, name: str) -> None:
        rows, columns = self._new(name), ", ".join(APPENDED[name])
        if name == "plan":
            rows = [(self._membership.number, *row) for row in rows]
            columns = f"process, {columns}"
        if rows:
            copied(self._connection, name, columns, rows)

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
                "FROM json_populate_recordset(NULL::feed, %s)".encode(),
                (_json(columns, batch),),
            )

    def _write_refusals(self) -> None:
        rows = self._db.execute("SELECT host, why, n FROM refusal ORDER BY host, why").fetchall()
        if rows:
            self._connection.execute(
                "INSERT INTO refusal (host, why, n) SELECT host, why, n "
                "FROM json_populate_recordset(NULL::refusal, %s) "
                "ON CONFLICT (host, why) DO UPDATE SET n = refusal.n + excluded.n",
                (_json(("host", "why", "n"), rows),),
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
            f"WHERE newer.seq > {self._marks['feed']})"
        )
        self.outgoing.clear()
        self.taken.clear()
        self._mark()


def _json(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    return rows_as_json(columns, rows).decode()


def batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows as many at once as one statement takes."""
    rest = iter(rows)
    while batch := list(islice(rest, _BATCH)):
        yield batch
