"""A whole state from a SQLite file into a database, and back: every row of every table.

Numbers of pages and hosts say their shard in a database, and have no gaps in a file; their order
stays the same, so that a file that goes there and back is as it was.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from recrawl.crawler.control.urls import host_of
from recrawl.crawler.database.connections import Connection, make_partitions
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.frontier.postgres.arrays import arrays, takes_arrays, told
from recrawl.crawler.frontier.postgres.copying import batches

_BATCH: Final = 5_000
_LONGEST_S: Final = 20 * 365 * 86_400.0  # of a history; a longer one has instants that are none
_TABLES: Final = tuple(
    """host page visit indexing plan fact asked refusal difference subscription link_list tally
    belief host_belief feed delivery dead_letter""".split()
)
# The others are of the place where they stand: its version, its shards.
_LABELS: Final = (
    "SELECT name, value FROM label "
    "WHERE name LIKE 'log:%' OR name LIKE 'form of %' OR name = 'reach'"
)
_NUMBERED: Final = frozenset({"visit", "plan", "difference", "subscription", "dead_letter"})
_PAGE_COLUMNS: Final = frozenset({"page_id", "found_on"})


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers of pages and hosts on the other side."""

    pages: Mapping[int, int]
    hosts: Mapping[int, int]

    def mapped(self, table: str, columns: list[str]) -> Callable[[tuple[Any, ...]], list[Any]]:
        """Return what renumbers the rows of a table."""
        of: list[Mapping[int, int] | None] = []
        for name in columns:
            if name in _PAGE_COLUMNS or (table, name) == ("page", "id"):
                of.append(self.pages)
            elif name == "host_id" or (table, name) == ("host", "id"):
                of.append(self.hosts)
            else:
                of.append(None)
        return lambda row: [
            value if known is None or value is None else known.get(value)
            for value, known in zip(row, of, strict=True)
        ]


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns that both sides have, in order; rows that they number have no number."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    return [name for name in names if name != "id" or table not in _NUMBERED]


def rows_into_database(db: sqlite3.Connection, connection: Connection, shards: int) -> int:
    """Write every row of a file into a database; return how many pages.

    Parameters
    ----------
    db : of the file, which is only read
    connection : to a database with the schema and no rows, within a transaction
    shards : number of shards of the database
    """
    host_shards = {
        number: shard_of(host, shards) for number, host in db.execute("SELECT id, host FROM host")
    }
    hosts = {number: number * shards + shard for number, shard in host_shards.items()}
    pages = {
        number: number * shards + host_shards[host_id]
        for number, host_id in db.execute("SELECT id, host_id FROM page")
    }
    numbers = _Numbers(pages, hosts)
    takes_arrays(connection)
    first_s, last_s = db.execute(
        "SELECT min(visited_at_s), max(visited_at_s) FROM visit"
    ).fetchone()
    if first_s is not None and last_s - first_s < _LONGEST_S:
        make_partitions(connection, first_s, last_s)
    for table in _TABLES:
        columns = _columns(db, table)
        order = " ORDER BY rowid" if table in _NUMBERED else ""
        rows: Iterable[tuple[Any, ...]] = db.execute(
            f"SELECT {', '.join(columns)} FROM {table}{order}"
        )
        mapped = numbers.mapped(table, columns)
        into, said, sent = ", ".join(columns), ", ".join(columns), columns
        if table in ("host", "page"):
            into, said = f"shard, {into}", f"mod(id, {shards})::int, {said}"
        if table == "asked":
            into, said, sent = f"shard, {into}", f"shard, {said}", [*columns, "shard"]
            url = columns.index("url")
            rows = [(*row, shard_of(host_of(row[url]), shards)) for row in rows]
            of_asked = mapped
            mapped = _last_as_it_is(of_asked)
        query = f"INSERT INTO {table} ({into}) SELECT {said} FROM {told(sent)}"
        for batch in batches(rows):
            connection.execute(query.encode(), arrays(sent, [mapped(row) for row in batch]))
    connection.execute(
        "UPDATE counter SET value = (SELECT coalesce(max(seq), 0) FROM feed) WHERE name = 'feed'"
    )
    # Whatever numbers rows goes on behind those that came with theirs.
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('asked', 'id'), (SELECT max(id) FROM asked)) "
        "WHERE EXISTS (SELECT 1 FROM asked)"
    )
    connection.cursor().executemany(
        "INSERT INTO label VALUES (%s, %s) ON CONFLICT (name) DO NOTHING",
        db.execute(_LABELS).fetchall(),
    )
    return len(pages)


def _last_as_it_is(
    mapped: Callable[[tuple[Any, ...]], list[Any]],
) -> Callable[[tuple[Any, ...]], list[Any]]:
    return lambda row: [*mapped(row[:-1]), row[-1]]


def rows_from_database(connection: Connection, db: sqlite3.Connection) -> int:
    """Write every row of a database into a file; return how many pages.

    Parameters
    ----------
    connection : to the database, within a transaction
    db : of an empty file of this schema, within a transaction
    """
    numbers = _Numbers(*(_ranks(connection, table) for table in ("page", "host")))
    for table in _TABLES:
        columns = _columns(db, table)
        key = "id" if table in _NUMBERED or table in ("host", "page", "asked") else "1"
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}"
        mapped = numbers.mapped(table, columns)
        places = ", ".join("?" * len(columns))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
        with psycopg.ServerCursor(connection, "moving") as cursor:
            cursor.itersize = _BATCH
            rows = cursor.execute(query.encode(), binary=True)
            db.executemany(insert, (mapped(row) for row in rows))
    labels = connection.execute(_LABELS).fetchall()
    db.executemany("INSERT OR REPLACE INTO label VALUES (?, ?)", labels)
    return len(numbers.pages)


def _ranks(connection: Connection, table: str) -> dict[int, int]:
    rows = connection.execute(f"SELECT id FROM {table} ORDER BY id".encode())
    return {number: rank for rank, (number,) in enumerate(rows, start=1)}
