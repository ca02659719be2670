"""A crawl over PostgreSQL, read and asked beside it, from anywhere."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from recrawl.crawler.control.urls import host_of
from recrawl.crawler.database.connections import Connection
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.database.turns import DatabaseTurn
from recrawl.crawler.frontier.deliveries import SqliteDeliveries
from recrawl.crawler.frontier.door import VisitDoor
from recrawl.crawler.frontier.history import SqliteHistory
from recrawl.crawler.frontier.postgres.asking import Asked, as_sqlite, opened
from recrawl.crawler.frontier.postgres.dialect import statements
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import Door, transaction
from recrawl.crawler.frontier.subscriptions import SqliteSubscriptions
from recrawl.crawler.frontier.tally_door import TallyDoor
from recrawl.errors import StateError
from recrawl.terms import Database

_ALIVE: Final = (
    "SELECT count(*) FROM process "
    "WHERE NOT ended AND until_s >= extract(epoch FROM clock_timestamp())"
)


def named(database: Database) -> Path:
    """Return a path that messages name a database by."""
    return Path(str(database))


def is_alive(database: Database) -> bool:
    """Tell whether any process crawls into a database now."""
    with contextlib.closing(opened(database)) as db:
        return bool(db.execute(_ALIVE).fetchone()[0])


class PostgresReader(SqliteFrontier):
    """A frontier that is only looked at, whole, whoever owns what.

    Parameters
    ----------
    database : shared
    connection : in use by an owner; default: one of its own
    """

    def __init__(self, database: Database, connection: Connection | None = None) -> None:
        self._lock = None
        self._begin(as_sqlite(Asked(database, connection)), named(database), statements())

    def writing(self) -> AbstractContextManager[None]:
        """Begin and end a transaction: for small additions that belong to nobody."""
        return transaction(self._db, self._path)

    @contextlib.contextmanager
    @override
    def _writing(self) -> Iterator[None]:
        with self.writing():
            yield

    def forget_notes(self, before_s: float) -> None:
        """Drop plans and answers of before an instant, and all differences but the latest."""
        with self.writing():
            self._forget_notes(before_s)

    def rows(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the database's own."""
        return self._db.execute(query, parameters).fetchall()


class PostgresHistory(SqliteHistory):
    """Reads the history of a crawl over PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._path = named(database)
        self._db = opened(database)
        self._q = statements()

    @override
    def is_running(self) -> bool:
        return bool(self._db.execute(_ALIVE).fetchone()[0])


class _Reached(Door):
    """A door of a database."""

    def __init__(self, database: Database) -> None:
        self._use(opened(database), named(database), statements())


class PostgresDoor(_Reached, VisitDoor):
    """Adds to the visits that a crawl was asked for, whichever process will make them."""

    @override
    def ask(self, urls: Sequence[str], *, is_signal: bool = False) -> list[int]:
        with self._writing():
            return asked_for(self._db, self._q, urls, None, is_signal=is_signal)


class PostgresTallies(_Reached, TallyDoor):
    """Adds counts of pages."""


class PostgresSubscriptions(_Reached, SqliteSubscriptions):
    """Subscriptions to hubs."""


class PostgresDeliveries(_Reached, SqliteDeliveries):
    """Delivery progress of sinks.

    Parameters
    ----------
    database : shared
    turn : of this process to deliver; None: only look
    """

    def __init__(self, database: Database, turn: DatabaseTurn | None = None) -> None:
        super().__init__(database)
        self._turn = turn

    @contextlib.contextmanager
    @override
    def _writing(self) -> Iterator[None]:
        """Write, unless it has become another process's turn."""
        with super()._writing():
            if self._turn is not None:
                asked = {"name": self._turn.name, "holder": self._turn.holder}
                if self._db.execute(self._q["hold_turn"], asked).fetchone() is None:
                    raise StateError(f"{self._path}: another process delivers the changes now")
            yield


def asked_for(
    db: sqlite3.Connection,
    statements: Mapping[str, str],
    urls: Sequence[str],
    now_s: float | None,
    *,
    is_signal: bool,
) -> list[int]:
    """Have visits asked for, of the owners of the shards; return the number of each.

    Parameters
    ----------
    now_s : the instant; None: the database's
    """
    shards = int(db.execute(statements["label"], {"name": "shards"}).fetchone()[0])
    if now_s is None:
        now_s = db.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()[0]
    return [
        db.execute(
            statements["ask"],
            {
                "shard": shard_of(host_of(url), shards),
                "url": url,
                "now_s": now_s,
                "is_signal": int(is_signal),
            },
        ).fetchone()[0]
        for url in urls
    ]
