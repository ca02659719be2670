"""A database whose disk is full: what was fetched is kept until there is room, and told."""

import asyncio
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psycopg
import pytest
from tests.databases import Server, databases

from recrawl.crawler.database import room
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.room import Room
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import load_settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring import cluster
from recrawl.crawler.wiring.cluster import open_cluster
from recrawl.crawler.wiring.together import crawl_together
from recrawl.errors import DatabaseFull
from recrawl.terms import Database, Discovery, Document

__all__ = ["databases"]

_FULL = """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$; CREATE TRIGGER full_disk BEFORE INSERT ON {0} EXECUTE FUNCTION refuse()"""
_ROOM = "DROP TRIGGER full_disk ON {0}"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nobody wait long between two tries."""
    monkeypatch.setattr(room, "_AGAIN_S", 0.01)


@pytest.fixture
def member(databases: Server) -> Iterator[Membership]:
    """Give a process that owns everything."""
    made = Membership(databases.made(2), shards=2)
    made.join("http://h.test/")
    made.take(2)
    yield made
    made.close()


def execute(database: Database, query: str, table: str) -> None:
    """Have the disk full for a table, or no more."""
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute(query.format(table).encode())


def count(database: Database, table: str) -> int:
    """Return how many rows there are."""
    with psycopg.connect(database.address) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    return 0 if row is None else int(row[0])


async def lacking(of: Room) -> None:
    """Wait until something waits for room."""
    async with asyncio.timeout(30):
        while not of.lacks:  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.001)


def test_what_an_owner_writes_waits_for_room(member: Membership) -> None:
    """And is written once, when there is; until then it is told what the database says."""
    database = member.database
    execute(database, _FULL, "page")
    with contextlib.closing(PostgresFrontier(member)) as frontier, ThreadPoolExecutor() as threads:
        found = [Discovery("http://h.test/", "http://h.test")]
        waiting = threads.submit(frontier.admit, found, 1.0, AdmissionLimits())
        asyncio.run(lacking(member.room))
        said, before = member.room.lacks, count(database, "page")
        execute(database, _ROOM, "page")
        touched = waiting.result(30)

        assert "No space left on device" in said
        assert before == 0
        assert len(touched) == count(database, "page") == 1
        assert not member.room.lacks


def test_copies_wait_for_room(member: Membership) -> None:
    """None of a batch is lost."""
    database = member.database
    execute(database, _FULL, "document")
    index = PostgresIndex(database, member)
    with contextlib.closing(index), ThreadPoolExecutor() as threads:
        index.replace(Document("http://h.test/", "A title", "A text", 1.0, b"s"))
        waiting = threads.submit(index.commit)
        asyncio.run(lacking(member.room))
        execute(database, _ROOM, "document")
        waiting.result(30)

        assert count(database, "document") == 1
        assert index.n_documents() == 1


def test_who_is_to_end_waits_no_longer(member: Membership) -> None:
    """Nothing of it was kept, and that is said."""
    execute(member.database, _FULL, "page")
    with contextlib.closing(PostgresFrontier(member)) as frontier, ThreadPoolExecutor() as threads:
        found = [Discovery("http://h.test/", "http://h.test")]
        waiting = threads.submit(frontier.admit, found, 1.0, AdmissionLimits())
        asyncio.run(lacking(member.room))
        member.room.hurry()
        with pytest.raises(DatabaseFull, match="No space left"):
            waiting.result(30)


def test_a_process_keeps_its_shards_while_it_waits_says_so_and_can_be_stopped(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease is renewed however long the thread waits that writes."""
    monkeypatch.setattr(cluster, "_TELL_S", 0.0)  # asks that thread
    config, database = tmp_path / "recrawl.toml", databases.made(2)
    config.write_text(
        'seeds = ["http://127.0.0.1:9/"]\ncontact = "mailto:a@b.test"\n'
        f'state = "{database.address}"\n[cluster]\nshards = 2\nlease = "1s"\n'
        '[politeness]\nallow_private = ["127.0.0.1"]\n'
    )
    said: list[str] = []

    async def main() -> int:
        stop, renewals, renew = asyncio.Event(), 0, Membership.renew
        async with open_cluster(load_settings(config), events=CountingSink()) as crawls:
            member = crawls._member

            def running(crawl: Crawl) -> AbstractAsyncContextManager[None]:
                execute(database, _FULL, "host")
                return crawl.running()

            def counted() -> object:
                nonlocal renewals
                renewals += bool(member.room.lacks)
                if renewals > 3 and said:
                    loop.call_soon_threadsafe(stop.set)
                return renew(member)

            loop = asyncio.get_running_loop()
            member.renew = counted  # type: ignore[method-assign, assignment]
            async with asyncio.timeout(60):
                await crawl_together(crawls, stop, once=False, running=running, trouble=said.append)
        return renewals

    assert asyncio.run(main()) > 3
    assert "nothing is fetched until there is room" in said[0]
