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
from recrawl.crawler.frontier.postgres.copying import added, at_once
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


@pytest.mark.parametrize(
    ("name", "columns", "more"),
    [("write_pages", PAGE.columns, ["shards"]), ("add_visits", APPENDED["visit"], [])],
)
def test_functions_take_the_columns_that_owners_tell_in_their_order(
    connection: psycopg.Connection, name: str, columns: tuple[str, ...], more: list[str]
) -> None:
    """They are called without names, so columns of one type could change places."""
    query = "SELECT proargnames, prosrc FROM pg_proc WHERE proname = %s"
    names, source = connection.execute(query, (name,)).fetchone() or ([], "")

    assert names == [*columns, *more]
    if name == "write_pages":
        assert re.findall(r"(\w+) = excluded\.\1\b", source) == PAGE.changing


def test_a_call_and_a_statement_have_each_its_own_values(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TEMP TABLE later (a int)")
    columns = APPENDED["visit"]
    told_of = {"page_id": 7, "outcome": "new", "fetch_s": 0.5, "note": None}
    row = tuple(told_of.get(name, 0) for name in columns)
    query = at_once((added("visit", columns), "INSERT INTO later SELECT unnest(%s)"))

    values = arrays(columns, [row, row]) + arrays(("tier",), [(3,)])
    psycopg.RawCursor(connection).execute(query, values)

    seen = connection.execute("SELECT page_id, outcome, fetch_s FROM visit").fetchall()
    assert seen == [(7, "new", 0.5)] * 2
    assert connection.execute("SELECT a FROM later").fetchall() == [(3,)]


def test_of_a_column_without_values_none_are_sent(connection: psycopg.Connection) -> None:
    """But of the first, by which rows are counted."""
    rows = [(None, None, 1.0, None, None)] * 50
    query = f"SELECT {', '.join(COLUMNS)} FROM {told(COLUMNS)}"
    values = arrays(COLUMNS, rows)

    assert connection.execute(query.encode(), values, binary=True).fetchall() == rows
    assert len(values[0].data) > 200
    assert [len(values[place].data) for place in (1, 3, 4)] == [12] * 3


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
