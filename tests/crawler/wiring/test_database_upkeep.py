"""A crawl in a database is looked through and mended as one in a folder is."""

from contextlib import closing

import psycopg
import pytest
from tests.databases import Server, databases

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres import owned
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.upkeep import check, repair
from recrawl.errors import StateError
from recrawl.terms import Database, Discovery, Document

__all__ = ["databases"]

SEED = "http://h1.test/"
URLS = [f"http://h{number}.test/" for number in range(12)]


@pytest.fixture
def database(databases: Server) -> Database:
    """Give a crawl of twelve hosts, each with its copy, that nobody crawls now."""
    made = databases.made(8)
    member = Membership(made, shards=8)
    member.join(SEED)
    member.take(8)
    with closing(PostgresFrontier(member)) as frontier, closing(PostgresIndex(made, member)) as at:
        found = [Discovery(url, url.removesuffix("/")) for url in URLS]
        frontier.admit(found, 1.0, AdmissionLimits())
        frontier.agree([(url, b"s") for url in URLS], 2.0)
        frontier.feed.mend(2.0)
        for url in URLS:
            at.replace(Document(url, "A title", "A text", 1.0, b"s"))
        at.commit()
    member.leave()
    member.close()
    return made


def test_pages_that_differ_are_due_again_and_all_is_whole(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many at once are brought; a number that is right hides none of them."""
    monkeypatch.setattr(owned, "_AT_ONCE", 1)
    assert check(database) == []
    with psycopg.connect(database.address) as connection:
        connection.execute("UPDATE document SET signature = 'other' WHERE url = %s", (URLS[3],))
        connection.execute("DELETE FROM document WHERE url = %s", (URLS[5],))
        connection.execute(
            "DELETE FROM feed USING page WHERE page.id = page_id AND url = %s", (URLS[7],)
        )
    assert len(check(database)) == 3

    assert repair(database) == [
        "1 pages without a copy are fetched again",
        "1 pages with another copy than on record are fetched again",
    ]
    assert check(database) == []
    assert repair(database) == []


def test_a_crawl_that_runs_is_not_mended_beside(database: Database) -> None:
    """Its shards are its own; it goes on."""
    with closing(Membership(database, shards=8)) as member:
        member.join(SEED)
        member.take(1)
        with pytest.raises(StateError, match="stop them first"):
            repair(database)
        assert member.renew().owned == 1
