"""Rows as arrays that a real server takes, and what is written with one statement."""

import re
from collections.abc import Iterator
from math import inf
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.databases import Server, databases

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres.arrays import arrays, takes_arrays, told
from recrawl.crawler.frontier.postgres.copying import at_once
from recrawl.crawler.frontier.postgres.tables import APPENDED, KEPT, PAGE
from recrawl.crawler.frontier.sql import queries

__all__ = ["databases"]

COLUMNS = ("id", "tier", "due_s", "url", "signature")
MOVED = """fact tally subscription delivery dead_letter""".split()
ROWS = st.tuples(
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    st.none() | st.binary(),
)


@pytest.fixture(scope="module")
def connection(databases: Server) -> Iterator[psycopg.Connection]:
    """To a database with the tables of a crawl."""
    database = databases.database()
    Membership(database, shards=2).close()
    with psycopg.connect(database.address, autocommit=True) as opened:
        takes_arrays(opened)
        yield opened


@given(st.lists(ROWS, min_size=1, max_size=20))
@example([(1, 2, 3.0, "a", b"s"), (None, 0, 3.0, "b", b"s"), (1, 2, 3.0, "a", b"s")])
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_server_has_rows_as_they_were_told(
    connection: psycopg.Connection, rows: list[tuple[Any, ...]]
) -> None:
    """But for the sign that it takes in no text."""
    query = f"SELECT {', '.join(COLUMNS)} FROM {told(COLUMNS)}"

    found = connection.execute(query.encode(), arrays(COLUMNS, rows), binary=True).fetchall()

    assert found == [
        tuple(value.replace("\0", "") if isinstance(value, str) else value for value in row)
        for row in rows
    ]


def test_infinite_instants_and_empty_values_are_no_missing_ones(
    connection: psycopg.Connection,
) -> None:
    rows = [(1, 0, inf, "", b""), (2, 0, -inf, "\0", b"\0")]
    query = f"SELECT {', '.join(COLUMNS)} FROM {told(COLUMNS)}"

    found = connection.execute(query.encode(), arrays(COLUMNS, rows), binary=True).fetchall()

    assert found == [(1, 0, inf, "", b""), (2, 0, -inf, "", b"\0")]


def test_columns_are_told_as_the_database_has_them(connection: psycopg.Connection) -> None:
    """Numbers of refusals alone go as floating ones, as those of tallies of the same name."""
    written = {table.name: table.columns for table in KEPT} | APPENDED
    written |= {"refusal": ("host", "why", "n")}
    rows = connection.execute(
        "SELECT table_name, column_name, typarray::int FROM information_schema.columns "
        "JOIN pg_type ON typname = udt_name WHERE table_name = ANY(%s)",
        ([*written, *MOVED],),
    ).fetchall()
    of_database = {(table, column): oid for table, column, oid in rows}
    told_now = {
        (table, column): arrays((column,), [(None,)])[0].oid
        for table, column in of_database
        if column in written.get(table, ()) or (table in MOVED and column != "id")
    }

    assert {table for table, _ in told_now} == {*written, *MOVED}
    assert {key for key, oid in told_now.items() if of_database[key] != oid} == {("refusal", "n")}


def test_several_statements_are_one_that_is_answered_once(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TEMP TABLE one (a int); CREATE TEMP TABLE other (b text, c int)")
    query = at_once(
        ("INSERT INTO one SELECT unnest(%s)", "INSERT INTO other SELECT unnest(%s), unnest(%s)")
    )
    values = arrays(("tier", "url", "visits"), [(1, "x", 5), (2, None, 6)])

    answered = psycopg.RawCursor(connection).execute(query, values)

    assert answered.statusmessage == "SELECT 1"
    assert connection.execute("SELECT a FROM one ORDER BY a").fetchall() == [(1,), (2,)]
    assert connection.execute("SELECT b, c FROM other ORDER BY c").fetchall() == [
        ("x", 5), (None, 6)
    ]  # fmt: skip


def test_no_statement_changes_what_is_written_of_a_page_once() -> None:
    changing = [query.partition("WHERE")[0] for query in queries().values() if "SET" in query]
    columns = {column for query in changing for column in re.findall(r"(\w+) = ", query)}

    assert "due_s" in columns
    assert PAGE.fixed < set(PAGE.columns)
    assert not PAGE.fixed & columns
