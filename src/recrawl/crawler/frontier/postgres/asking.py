"""A connection that is asked like one of SQLite's, so that the same code reads both."""

import contextlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import psycopg

from recrawl.crawler.database.connections import Connection, check_schema, connect, translated
from recrawl.terms import Database


class Asked:
    """Answers statements by name and parameters, as ``sqlite3.Connection`` does.

    Values are written into the statements here: the server need not guess their types, and keeps
    nothing between two of them. A connection that was lost is made anew outside of transactions.

    Parameters
    ----------
    database : shared
    connection : in use by somebody else too; default: one of its own
    """

    def __init__(self, database: Database, connection: Connection | None = None) -> None:
        self.database = database
        self._is_own = connection is None
        self._connection = connection or connect(database)
        if self._is_own:
            try:
                check_schema(self._connection, database)
            except BaseException:
                self._connection.close()
                raise

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction was begun and has not ended."""
        status = self._connection.info.transaction_status
        return status in (
            psycopg.pq.TransactionStatus.INTRANS,
            psycopg.pq.TransactionStatus.INERROR,
        )

    def execute(
        self, query: str, parameters: Mapping[str, object] | Sequence[object] = ()
    ) -> psycopg.ClientCursor[Any]:
        """Run one statement."""
        with translated(self.database):
            if query == "ROLLBACK":
                with contextlib.suppress(psycopg.Error):
                    self._connection.execute("ROLLBACK")
                return psycopg.ClientCursor(self._connection)
            if self._is_own and self._connection.closed:
                self._connection = connect(self.database)
            cursor = psycopg.ClientCursor(self._connection)
            return cursor.execute(
                query.replace("BEGIN IMMEDIATE", "BEGIN").encode(), parameters or None
            )

    def executemany(self, query: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Run one statement for each row."""
        for row in rows:
            self.execute(query, row)

    def close(self) -> None:
        """Close the connection, where it is its own."""
        if self._is_own:
            self._connection.close()


def as_sqlite(asked: Asked) -> sqlite3.Connection:
    """Return it under the type of what it stands in for."""
    return cast(sqlite3.Connection, asked)


def opened(database: Database) -> sqlite3.Connection:
    """Open the state for reading and for small additions.

    Raises
    ------
    StateError
        There is no crawl, or another version's, or the database does not answer.
    """
    return as_sqlite(Asked(database))
