"""A process that starts before its server waits, unless the answer does not change by waiting."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import Postgres, postgres

from recrawl.crawler.database.connections import await_server, connect, patiently
from recrawl.crawler.settings import Settings, load_settings
from recrawl.crawler.wiring.cluster import Joining
from recrawl.errors import DatabaseAway, LoginRefused, StateError, UnusableDatabase
from recrawl.terms import Database


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """Give a server with a user who needs a password and one who is not let in."""
    with postgres() as made:
        with psycopg.connect(made.address, autocommit=True) as connection:
            connection.execute("CREATE USER guarded PASSWORD 'right'")
            connection.execute("CREATE USER barred")
            connection.execute("CREATE USER crowded CONNECTION LIMIT 0")
        rules = made.folder / "data" / "pg_hba.conf"
        more = "local all guarded scram-sha-256\nlocal all barred reject\n"
        rules.write_text(more + rules.read_text())
        made.stop()
        made.start()
        yield made


def test_a_server_is_waited_for_with_growing_pauses_and_said_once(server: Postgres) -> None:
    """And it is not said what was said before."""
    said, pauses = list[str](), list[float]()

    def sleep(pause_s: float) -> None:
        pauses.append(pause_s)
        if len(pauses) == 7:
            server.start()

    server.stop()
    await_server(Database(server.address), said.append, sleep=sleep)

    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert len(said) == 1
    assert said[0].startswith(
        "waiting for the database at postgresql://tester@/postgres: connection is bad: "
    )


def test_a_server_that_never_answers_is_given_up(server: Postgres) -> None:
    """With what the last try told, and for how long it was waited for; no fault of the input."""
    server.stop()
    with pytest.raises(StateError, match=r"cannot be reached .* Waited 0s for it") as told:
        await_server(Database(server.address), print, limit_s=0.0)
    server.start()
    assert not isinstance(told.value, DatabaseAway)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("postgresql://tester@/nowhere?host={}", 'database "nowhere" does not exist'),
        ("postgresql://nobody@/postgres?host={}", 'role "nobody" does not exist'),
        ("postgresql://guarded:wrong@/postgres?host={}", "password authentication failed"),
        ("postgresql://guarded@/postgres?host={}&passfile=/none", "no password supplied"),
        ("postgresql://barred@/postgres?host={}", "pg_hba.conf rejects"),
        ("postgresql://tester@/postgres?host={}&port=high", "invalid integer value"),
        ("postgresql://tester@/postgres?host={}&hots=a", "invalid URI query parameter"),
        ("postgresql://tester@/postgres?host={}&sslmode=none", "invalid sslmode value"),
    ],
)
def test_what_waiting_does_not_change_ends_at_once(server: Postgres, of: str, words: str) -> None:
    """The message has the server's words, and says what would be right."""

    def never(_: object) -> None:
        raise AssertionError("it is waited for")

    with pytest.raises(LoginRefused, match=f"{words}.*an existing database.*PGPASSWORD"):
        await_server(Database(of.format(server.folder)), never, sleep=never)


def test_a_server_without_a_connection_left_is_said_to_be_full(server: Postgres) -> None:
    """Waiting may change that, so it is away; that it runs and is named rightly is known."""
    crowded = Database(server.address.replace("tester@", "crowded@"))
    with pytest.raises(DatabaseAway, match=r"no connection left .* raise max_connections") as told:
        connect(crowded)
    assert not isinstance(told.value, LoginRefused)


@pytest.fixture
def crawl(server: Postgres, tmp_path: Path) -> Settings:
    """Give the settings of a crawl into an empty database."""
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS crawl")
        connection.execute("CREATE DATABASE crawl")
    return settings_of(server, tmp_path)


def settings_of(
    server: Postgres, folder: Path, *, host: str = "a.test", shards: int = 4
) -> Settings:
    """Return what a configuration says."""
    config = folder / f"{host}-{shards}.toml"
    config.write_text(
        f'seeds = ["http://{host}/"]\ncontact = "mailto:a@b.test"\n'
        f'state = "{server.address.replace("/postgres?", "/crawl?")}"\n'
        f"[cluster]\nshards = {shards}\n"
    )
    return load_settings(config)


def dumped(settings: Settings) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of the tables that a start writes."""
    with psycopg.connect(str(settings.state.address)) as connection:  # type: ignore[union-attr]
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1".encode()).fetchall()
            for table in ("process", "label", "shard", "counter")
        }


def test_a_server_that_goes_away_while_a_process_joins_is_waited_for(
    server: Postgres, crawl: Settings
) -> None:
    """Whatever it has done by then: it goes on under its number, and says so once."""
    said, joining, database = list[str](), Joining(crawl), crawl.state
    assert isinstance(database, Database)

    server.stop()
    first = patiently(joining, database, said.append, sleep=lambda _: server.start())
    number = first.number
    server.stop("immediate")
    second = patiently(joining, database, said.append, sleep=lambda _: server.start())

    assert (second.number, second.is_held) == (number, True)
    assert [row[0] for row in dumped(crawl)["process"]] == [number]
    assert [line.partition(": ")[0] for line in said] == [
        f"waiting for the database at {database}"
    ] * 2
    joining.give_up()


@pytest.mark.parametrize(
    ("otherwise", "words"),
    [({"host": "b.test"}, "holds another crawl"), ({"shards": 8}, "was made with 4 shards")],
)
def test_a_start_that_is_refused_waits_for_nothing_and_writes_nothing(
    server: Postgres, crawl: Settings, tmp_path: Path, otherwise: dict[str, Any], words: str
) -> None:
    """Not even the version of the program that tried."""

    def never(_: object) -> None:
        raise AssertionError("it is waited for")

    joining = Joining(crawl)
    joining()
    joining.give_up()
    assert isinstance(crawl.state, Database)
    with psycopg.connect(crawl.state.address, autocommit=True) as connection:
        connection.execute("UPDATE label SET value = 'another' WHERE name = 'version'")
    before = dumped(crawl)

    other = Joining(settings_of(server, tmp_path, **otherwise))
    with pytest.raises(UnusableDatabase, match=words):
        patiently(other, crawl.state, never, sleep=never)
    other.give_up()

    assert dumped(crawl) == before
