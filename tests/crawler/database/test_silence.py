"""Networks that swallow what is sent: nobody waits for hours, and no lock outlasts its lease."""

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.databases import Server, databases
from tests.wires import Wire

from recrawl.crawler.database.connections import Patient, connect, translated
from recrawl.crawler.database.membership import Membership
from recrawl.errors import DatabaseAway
from recrawl.terms import Database

__all__ = ["databases"]


@pytest.fixture
def database(databases: Server) -> Database:
    """Give an empty database."""
    return databases.database()


@pytest.fixture
def wire(database: Database) -> Iterator[Wire]:
    """Give a wire to it."""
    made = Wire(database)
    yield made
    made.close()


def test_a_server_that_says_nothing_is_given_up(wire: Wire) -> None:
    """The connection is closed, as whatever comes later would answer another question."""
    with contextlib.closing(connect(wire.database)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert isinstance(connection, Patient)
        connection.patience_s = 0.2
        wire.set("jammed")
        with pytest.raises(DatabaseAway, match="no answer for"), translated(wire.database):
            connection.execute("SELECT 2")
        assert connection.closed
        wire.set("open")


@pytest.mark.slow
def test_patience_is_with_silence_not_with_length(wire: Wire) -> None:
    """An answer in many parts may take longer as a whole, however it is fetched."""
    query = b"SELECT repeat('x', 20000), pg_sleep(0.25) FROM generate_series(1, 7)"

    def at_once() -> int:
        with contextlib.closing(connect(wire.database, patience_s=1.25)) as connection:
            return len(connection.execute(query).fetchall())

    def in_rows() -> int:
        copy = b"COPY (" + query + b") TO STDOUT"
        with (
            contextlib.closing(connect(wire.database, patience_s=1.25)) as connection,
            connection.cursor() as cursor,
            cursor.copy(copy) as rows,
        ):
            return sum(1 for _ in rows)

    with ThreadPoolExecutor() as threads:
        assert [one.result() for one in map(threads.submit, (at_once, in_rows))] == [7, 7]


def test_who_is_cut_off_within_a_transaction_is_replaced(wire: Wire, database: Database) -> None:
    """Its lock is the server's to take back; the others would wait for it for hours."""
    cut_off = Membership(wire.database, shards=8, lease_s=0.8, timeout_s=0.2)
    living = Membership(database, shards=8, lease_s=30.0, timeout_s=0.2)
    cut_off.join("http://a.test/")
    living.join("http://a.test/")
    cut_off.take(8)

    def write() -> None:
        with translated(database), cut_off.connection.transaction():
            cut_off.fence(cut_off.connection)
            wire.set("jammed")
            until_s = time.monotonic() + 60.0
            while living.renew().processes == 2:
                assert time.monotonic() < until_s, "nobody takes its place"
                time.sleep(0.02)
            assert len(living.take(8)) == 8
            wire.set("open")
            cut_off.connection.execute("SELECT 1")

    with pytest.raises(DatabaseAway):
        write()

    with psycopg.connect(database.address) as connection:
        owners = connection.execute("SELECT DISTINCT owner FROM shard").fetchall()
    assert owners == [(living.number,)]
    cut_off.close()
    living.close()
