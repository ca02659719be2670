"""What only one process does at a time, on a real server."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.databases import Server, databases

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.turns import DatabaseTurn
from recrawl.crawler.wiring.stores import open_deliveries
from recrawl.errors import StateError
from recrawl.terms import Database, SinkState

__all__ = ["databases"]


@pytest.fixture
def database(databases: Server) -> Iterator[Database]:
    """A crawl's, without any page."""
    made = databases.database()
    member = Membership(made, shards=2)
    yield made
    member.close()


def _let_lapse(database: Database) -> None:
    with psycopg.connect(database.address) as connection:
        connection.execute("UPDATE turn SET until_s = 0")


def test_one_has_the_turn_and_hands_it_on(database: Database) -> None:
    """Who ends leaves it to the next; who asks meanwhile is told."""
    first, second = DatabaseTurn(database, "deliver"), DatabaseTurn(database, "deliver")
    first.begin(at_once=True)
    with pytest.raises(StateError, match="another process delivers"):
        second.begin(at_once=True)
    other = DatabaseTurn(database, "something else")
    other.begin(at_once=True)
    assert (first.is_held, second.is_held, other.is_held) == (True, False, True)

    first.end()
    second.begin(at_once=True)

    assert second.is_held
    second.end()
    other.end()


def test_who_lost_the_turn_writes_nothing_down(database: Database) -> None:
    """It may have slept for longer than its lease, and not know yet."""
    first, second = DatabaseTurn(database, "deliver"), DatabaseTurn(database, "deliver")
    first.begin(at_once=True)
    before, after = open_deliveries(database, turn=first), open_deliveries(database, turn=second)
    before.save(SinkState("a", seq=3))
    _let_lapse(database)
    second.begin(at_once=True)
    after.save(SinkState("a", seq=7))

    with pytest.raises(StateError, match="another process delivers the changes now"):
        before.save(SinkState("a", seq=4))

    assert after.of("a").seq == 7
    first.end()  # takes nothing from the second
    after.save(SinkState("a", seq=8))
    assert before.of("a").seq == 8
    for one in (before, after):
        one.close()
    second.end()


def test_nobody_has_a_turn_where_the_database_is_away() -> None:
    """To be at once it is an error; else it is waited for."""
    away = DatabaseTurn(Database("postgresql://nobody@127.0.0.1:9/none"), "deliver")
    with pytest.raises(StateError, match="cannot be reached"):
        away.begin(at_once=True)
    waiting = DatabaseTurn(Database("postgresql://nobody@127.0.0.1:9/none"), "deliver")
    waiting.begin(at_once=False)
    assert not waiting.is_held
    waiting.end()
