"""Copies and what was learned of hosts, into a database and back."""

from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.databases import Server, databases

from recrawl.crawler.database.connections import Connection
from recrawl.crawler.frontier.store import DATABASE, open_state
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.wiring import moving
from recrawl.crawler.wiring.moving import move_from_database, move_into_database
from recrawl.terms import Document

__all__ = ["databases"]


def _page(number: int, saying: str, foot: str = "All rights reserved") -> Document:
    text = [
        f"Story {number}",
        f"What happened to {number}.",
        "A saying",
        saying,
        f"It was {number}",
    ]
    told = "\n".join(["Home", "Products", *text, "Imprint", foot])
    return Document(f"http://a.test/{number}", f"Story {number}", told, 5.0, b"s")


def test_a_move_takes_as_long_as_it_takes(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever limits are set for those who log in, and whatever made the tables has set."""
    (tmp_path / "state").mkdir()
    open_state(tmp_path / "state" / DATABASE).close()
    database, limits = databases.database(), set[str]()
    name = database.address.split("/")[3].partition("?")[0]
    with psycopg.connect(database.address, autocommit=True) as connection:
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.execute(f"ALTER DATABASE {name} SET {limit} = '50s'".encode())

    def note(connection: Connection, *_: object) -> int:
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            limits.update(connection.execute(f"SHOW {limit}".encode()).fetchone() or ())
        return 0

    monkeypatch.setattr(moving, "rows_into_database", lambda _, into, __: note(into))
    monkeypatch.setattr(moving, "rows_from_database", note)
    move_into_database(tmp_path / "state", database, 16)
    move_from_database(database, tmp_path / "back")

    assert limits == {"0"}


def test_what_hosts_repeat_and_draw_is_known_at_the_other_end(
    databases: Server, tmp_path: Path
) -> None:
    """As before: nothing is told as changed that was not before, and no menu becomes a text."""
    (tmp_path / "state").mkdir()
    open_state(tmp_path / "state" / DATABASE).close()
    first = TantivyIndex(tmp_path / "state" / "index")
    for number in range(20):
        first.replace(_page(number, "one"))
        first.commit()
        first.learn_drawn(_page(number, "two"), _page(number, "three").text)
    first.close()
    database = databases.database()
    sides: list[TantivyIndex | PostgresIndex] = []

    move_into_database(tmp_path / "state", database, 16)
    move_from_database(database, tmp_path / "back")

    sides.append(TantivyIndex(tmp_path / "state" / "index", read_only=True))
    sides.append(PostgresIndex(database))
    sides.append(TantivyIndex(tmp_path / "back" / "index", read_only=True))
    other = replace(_page(3, "one"), text=_page(3, "one").text.replace("happened", "had happened"))
    told = [
        (
            index.n_documents(),
            index.search("imprint")[0],
            [index.copy(f"http://a.test/{n}") for n in range(20)],
            [index.whole(f"http://a.test/{n}") for n in range(20)],
            index.same(_page(3, "four", "Some rights reserved")),
            index.same(other),
        )
        for index in sides
    ]
    for index in sides:
        index.close()
    assert told[0] == told[1] == told[2]
    assert told[0][:2] == (20, 0)
    assert told[0][4:] == (True, False)
