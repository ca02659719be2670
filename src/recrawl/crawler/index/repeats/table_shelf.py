"""Notes on hosts in a table of the database that several processes share."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from recrawl.crawler.database.connections import Connection, translated
from recrawl.crawler.index.repeats.notes import decoded, decoded_rows
from recrawl.terms import Database

T = TypeVar("T")


class TableShelf(Generic[T]):
    """Notes on hosts in the table of all processes; of one that two write, those written last.

    Parameters
    ----------
    connection : in whose transaction they are written
    database : that it leads to
    name : of these notes among others
    kind : type of the notes
    """

    def __init__(self, connection: Connection, database: Database, name: str, kind: Any) -> None:
        self._db, self._database, self._name, self._kind = connection, database, name, kind

    def read(self, host: str) -> T | None:
        """Return the notes on a host; None: there are none that can be read."""
        query = b"SELECT notes FROM host_notes WHERE host = %s AND kind = %s"
        with translated(self._database):
            row = self._db.execute(query, (host, self._name)).fetchone()
        return None if row is None else decoded(row[0], self._kind)

    def every(self) -> Iterator[tuple[str, T]]:
        """Iterate over all hosts and the notes on them."""
        query = b"SELECT host, notes FROM host_notes WHERE kind = %s"
        with translated(self._database):
            rows = self._db.execute(query, (self._name,)).fetchall()
        yield from decoded_rows(rows, self._kind)

    def write(self, changed: Mapping[str, T]) -> None:
        """Write these within the transaction that is open."""
        hosts = sorted(changed)  # as two processes in another order would wait for each other
        self._db.execute(
            b"INSERT INTO host_notes (host, kind, notes) SELECT told.host, %s, told.notes "
            b"FROM unnest(%s::text[], %s::bytea[]) AS told (host, notes) "
            b"ON CONFLICT (host, kind) DO UPDATE SET notes = excluded.notes",
            (self._name, hosts, [msgspec.msgpack.encode(changed[host]) for host in hosts]),
        )
