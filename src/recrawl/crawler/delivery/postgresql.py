"""A table in PostgreSQL: what the index holds, page by page; written only by what is newer."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
from psycopg import sql
from typing_extensions import override

from recrawl.crawler.database.connections import NOTICES, Patient
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.terms import Item, Taken, Verdict

_COLUMNS: Final = {  # name and type, as the catalogue calls it
    "url": "text", "version": "bigint", "title": "text", "text": "text", "language": "text",
    "canonical": "text", "content_type": "text", "signature": "bytea",
    "fetched_at": "timestamp with time zone", "changed_at": "timestamp with time zone",
    "removed_at": "timestamp with time zone",
}  # fmt: skip
_IMPORTANCE: Final = {"importance": "double precision"}  # where it is told
_WIDER: Final = {
    "text": ("text", "character varying"), "double precision": ("double precision", "real"),
}  # fmt: skip
_CREATE: Final = """
CREATE TABLE IF NOT EXISTS {table} (
    url text PRIMARY KEY, version bigint NOT NULL, title text, text text, language text,
    canonical text, content_type text, signature bytea, fetched_at timestamptz,
    changed_at timestamptz NOT NULL, removed_at timestamptz{more}
)"""
_UPSERT: Final = """
INSERT INTO {table} AS held ({names})
SELECT * FROM unnest({values})
ON CONFLICT (url) DO UPDATE SET {replaced} WHERE excluded.version > held.version
RETURNING url"""
_DELETE: Final = """
DELETE FROM {table} AS held USING unnest(%s::text[], %s::bigint[]) AS gone (url, version)
WHERE held.url = gone.url AND held.version < gone.version"""
_SCAN: Final = (
    "SELECT url, version FROM {table} WHERE removed_at IS NULL AND url > %s ORDER BY url LIMIT %s"
)
_SCANNED: Final = 10_000
_SHAPE: Final = """
SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped"""
_KEY: Final = """
SELECT count(*) FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %s::regclass AND i.indisunique AND i.indnkeyatts = 1 AND i.indpred IS NULL
    AND a.attname = 'url'"""
_NUL: Final = re.compile("\0")


class PostgresSink(Sink):
    """One row a page in one table, made if it is missing.

    Parameters
    ----------
    address : postgresql://..., without a password
    table : its name, with a schema before a full stop where that matters
    keeps_removed : whether removed pages stay, emptied, with ``removed_at``; else they are deleted
    importance : whether there is a column for what pages are worth
    secret : returns the password; None: libpq finds it, or none is needed
    timeout_s : for one statement
    """

    def __init__(
        self,
        address: str,
        *,
        table: str,
        keeps_removed: bool,
        importance: bool = False,
        secret: Callable[[], bytes] | None,
        timeout_s: float,
    ) -> None:
        self._address = address
        self._table = sql.Identifier(*table.split("."))
        self._named = table
        self._keeps_removed = keeps_removed
        self._secret = secret
        self._timeout_s = timeout_s
        self._connection: Patient | None = None
        self._added = _IMPORTANCE if importance else {}
        self._columns = _COLUMNS | self._added
        self._upsert = self._statement(
            _UPSERT,
            names=sql.SQL(", ").join(map(sql.Identifier, self._columns)),
            values=sql.SQL(", ").join(sql.SQL(f"%s::{kind}[]") for kind in self._columns.values()),
            replaced=sql.SQL(", ").join(
                sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name))
                for name in self._columns
                if name != "url"
            ),
        )

    def _statement(self, text: str, **parts: sql.Composable) -> sql.Composed:
        return sql.SQL(text).format(table=self._table, **parts)

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        try:
            connection = self._connected()
            try:
                with connection.transaction():
                    return self._applied(connection, items)
            except (psycopg.DataError, psycopg.IntegrityError):
                return [self._one(connection, item) for item in items]
        except psycopg.Error as error:
            self.close()
            raise SinkError(_words(error)) from error

    def _one(self, connection: psycopg.Connection[Any], item: Item) -> Taken:
        """Apply a change by itself, where one of many cannot be stored."""
        try:
            with connection.transaction():
                return self._applied(connection, [item])[0]
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            return Taken(Verdict.REJECT, _words(error))

    def _applied(self, connection: psycopg.Connection[Any], items: Sequence[Item]) -> list[Taken]:
        removed = [] if self._keeps_removed else [one for one in items if one.change.is_removal]
        if removed:
            urls = [item.change.url for item in removed]
            versions = [item.change.version for item in removed]
            connection.execute(self._statement(_DELETE), (urls, versions))
        kept = [one for one in items if self._keeps_removed or not one.change.is_removal]
        written: set[str] = {item.change.url for item in removed}
        if kept:
            columns = [list(column) for column in zip(*map(self._row, kept), strict=True)]
            written |= {row[0] for row in connection.execute(self._upsert, columns)}
        ok, stale = Taken(Verdict.OK), Taken(Verdict.STALE)
        return [ok if item.change.url in written else stale for item in items]

    def _row(self, item: Item) -> tuple[Any, ...]:
        row = _row(item)
        return (*row, item.change.importance) if self._added else row

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            options: dict[str, Any] = {
                "connect_timeout": 10,
                "application_name": "recrawl",
            } | NOTICES
            if self._secret is not None:
                options["password"] = self._secret().decode()
            # Nothing is kept on the server between transactions, so a pooler may stand before it.
            self._connection = Patient.connect(
                self._address, autocommit=True, prepare_threshold=None, **options
            )
            self._connection.patience_s = 2.0 * self._timeout_s
            limit = f"SET statement_timeout = {int(1000 * self._timeout_s)}"
            self._connection.execute(limit)
            self._check_shape(self._connection)
        return self._connection

    def _check_shape(self, connection: psycopg.Connection[Any]) -> None:
        """Make the table, or see that it can hold what is told.

        Raises
        ------
        SinkError
            It is of another shape.
        """
        name = self._table.as_string(connection)
        row = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
        if row is None or row[0] is None:
            more = "".join(f", {column} {kind}" for column, kind in self._added.items())
            connection.execute(self._statement(_CREATE, more=sql.SQL(more)))
        found = dict(connection.execute(_SHAPE, (name,)).fetchall())
        for column, kind in self._columns.items():
            if found.get(column) not in _WIDER.get(kind, (kind,)):
                said = found.get(column)
                self.close()
                raise SinkError(
                    f"table {self._named} has "
                    + (f"no column {column}" if said is None else f"{column} of type {said}")
                    + f"; it must be of type {kind}. "
                    + (
                        f"ALTER TABLE {self._named} ADD COLUMN {column} {kind} makes it, or write "
                        "importance = false for this sink"
                        if column in _IMPORTANCE and said is None
                        else "Name another table, or let it be made"
                    )
                )
        key = connection.execute(_KEY, (name,)).fetchone()
        if key is None or not key[0]:
            self.close()
            raise SinkError(
                f"table {self._named} has no unique index on url; make it the primary key"
            )

    @override
    def scan(self) -> Iterable[tuple[str, int]]:
        last = ""
        while True:
            try:
                asked = self._connected().execute(self._statement(_SCAN), (last, _SCANNED))
                rows = asked.fetchall()
            except psycopg.Error as error:
                self.close()
                raise SinkError(_words(error)) from error
            yield from rows
            if len(rows) < _SCANNED:
                return
            last = rows[-1][0]

    @override
    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _row(item: Item) -> tuple[Any, ...]:
    """Return the values of ``_COLUMNS``."""
    change = item.change
    at = datetime.fromtimestamp(change.at_s, UTC)
    fetched = None
    if change.fetched_at_s is not None:
        fetched = datetime.fromtimestamp(change.fetched_at_s, UTC)
    return (
        _clean(change.url), change.version, _clean(change.title), _clean(item.content),
        change.language or None, _clean(change.canonical), change.content_type or None,
        change.signature, fetched, at, at if change.is_removal else None,
    )  # fmt: skip


def _clean(text: str | None) -> str | None:
    """Leave out the one sign that no text of PostgreSQL may hold."""
    return None if text is None else _NUL.sub("", text)


def _words(error: psycopg.Error) -> str:
    """Say what is wrong in a line; libpq never repeats a password."""
    told = " ".join(str(error).split())
    return f"PostgreSQL: {told[:400] or type(error).__name__}"
