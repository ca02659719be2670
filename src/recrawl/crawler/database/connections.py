"""Connections to the database, and what can be wrong with it.

Nothing is kept on the server between two transactions (no prepared statement, no lock, no setting),
so that a pooler may hand each transaction to another of its connections.

Longer than most modules because all that a server may answer is told apart here.
"""

import contextlib
import logging
import re
import time
from collections.abc import Callable, Generator, Iterator
from math import inf
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg.rows import TupleRow
from typing_extensions import override

from recrawl.crawler.database.sql import migrations
from recrawl.errors import (
    DatabaseAway,
    DatabaseFull,
    DatabaseReadOnly,
    LoginRefused,
    StateError,
    UnusableDatabase,
)
from recrawl.quantities import show_duration
from recrawl.terms import Database
from recrawl.version import VERSION

T = TypeVar("T")
Connection: TypeAlias = psycopg.Connection[TupleRow]

MONTH_S: Final = 30 * 86_400
_OLDEST: Final = 150_000
_SCHEMA: Final = "schema"
_NOW: Final = "SELECT extract(epoch FROM clock_timestamp())::float8"
_SILENCE_S: Final = 60.0  # while the schema is made
# What a network swallows is noticed within a minute, where the system would wait for hours.
NOTICES: Final[dict[str, Any]] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
# The protocol gives no code for what it says before a login, only words. Of a server that speaks
# another language no refusal is known: it is waited for.
_REFUSED: Final = re.compile(
    r"authentication failed|no password supplied|pg_hba\.conf|not permitted to log in"
    r'|(database|role|user) "[^"]*" does not exist|no such (database|user)'
    r"|permission denied for database|SSL was required|certificate|invalid (\w+ value|port number)"
)
_CROWDED: Final = re.compile(r"too many (clients|connections)|connection slots|no more connections")
PATIENCE_S: Final = 300.0  # of a process that starts before its server
_LEAST_PAUSE_S, _MOST_PAUSE_S = 0.5, 10.0
_LOCK: Final = 7_239_451_817  # of whoever makes or migrates the schema, until its transaction ends


_AWAY: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,
)


# What goes wrong is told here; without a handler Python would print the library's notes of it, too.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Patient(psycopg.Connection[TupleRow]):
    """Waits for a server for so long and no longer: what stands between may swallow everything.

    Parameters
    ----------
    patience_s : without a word of it the connection is given up; settable
    """

    patience_s = inf

    @override
    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        return super().wait(self._answered(gen), *args, **kwargs)

    def _answered(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        until_s = time.monotonic() + self.patience_s
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    until_s = time.monotonic() + self.patience_s
                elif time.monotonic() > until_s:
                    self.pgconn.finish()  # whatever comes later would answer another question
                    raise psycopg.OperationalError(f"no answer for {self.patience_s:.0f} s")
                wanted = gen.send(ready)
        except StopIteration as ended:
            return ended.value


@contextlib.contextmanager
def translated(database: Database) -> Iterator[None]:
    """Turn the database's errors into messages that say which it is and what to do."""
    try:
        yield
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise DatabaseReadOnly(
            f"{database} can only be read (a standby, or read-only by its settings); name the "
            "server that is written. Nothing was changed"
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise UnusableDatabase(
            f"{database}: {_line(error)}; grant it, or name another user"
        ) from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction) as error:
        raise UnusableDatabase(
            f"{database} has not all that this version of recrawl writes ({_line(error)}): "
            "where a newer one has begun to use it, upgrade recrawl here, too; else it is half "
            "made: restore a backup, or name an empty database"
        ) from error
    except psycopg.errors.UndefinedColumn as error:
        raise UnusableDatabase(
            f"{database} has other tables than this version of recrawl writes ({_line(error)}), as "
            "where a newer one has begun to use it; upgrade recrawl here, too"
        ) from error
    except psycopg.errors.DiskFull as error:
        raise DatabaseFull(f"{database}: {_line(error)}") from error
    except _AWAY as error:
        raise DatabaseAway(f"{database}: {_line(error)}") from error
    except psycopg.Error as error:
        raise StateError(f"{database}: {_line(error)}") from error


def _line(error: BaseException | None) -> str:
    said = str(error)
    if isinstance(error, psycopg.Error) and error.diag.context:
        said = error.diag.message_primary or said  # or it would show the function that writes
    return " ".join(said.split())[:300] or type(error).__name__


def connect(database: Database, *, name: str = "recrawl", patience_s: float = inf) -> Connection:
    """Connect; every statement outside of a transaction stands for itself.

    Parameters
    ----------
    name : what the server's administrator sees
    patience_s : after so long without any answer to a statement the connection is given up

    Raises
    ------
    DatabaseAway
        It does not answer; where it answers and refuses the login, a LoginRefused.
    UnusableDatabase
        Its version is too old.
    """
    try:
        connection = Patient.connect(
            database.address,
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=10,
            application_name=name,
            **NOTICES,
        )
    except psycopg.Error as error:
        if _is_refusal(error):
            raise LoginRefused(
                f"{database} refuses the login ({_line(error)}); see that state in the "
                "configuration names the right user and an existing database, and that ~/.pgpass "
                "or PGPASSWORD has the password"
            ) from error
        is_crowded = _CROWDED.search(str(error))
        raise DatabaseAway(
            f"{database} has no connection left ({_line(error)}); raise max_connections there, or "
            "have a pooler in between, such as PgBouncer"
            if is_crowded
            else f"{database} cannot be reached ({_line(error)}); see that it runs, and that state "
            "in the configuration names it"
        ) from error
    if connection.info.server_version < _OLDEST:
        version = connection.info.server_version // 10_000
        connection.close()
        raise UnusableDatabase(f"{database} is PostgreSQL {version}; version 15 or later is needed")
    connection.patience_s = patience_s
    return connection


def _is_refusal(error: psycopg.Error) -> bool:
    if isinstance(error, psycopg.ProgrammingError):  # the address is none
        return True
    login = error.pgconn
    return (login is not None and login.needs_password) or bool(_REFUSED.search(str(error)))


def await_server(
    database: Database,
    say: Callable[[str], object],
    *,
    limit_s: float = PATIENCE_S,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Wait until a server lets this process in, as :func:`patiently` does.

    Parameters
    ----------
    database : that is waited for
    say, limit_s, sleep : see :func:`patiently`
    """

    def try_() -> None:
        connect(database, name="recrawl start").close()

    patiently(try_, database, say, limit_s=limit_s, sleep=sleep)


def patiently(
    try_: Callable[[], T],
    database: Database,
    say: Callable[[str], object],
    *,
    limit_s: float = PATIENCE_S,
    sleep: Callable[[float], object] = time.sleep,
) -> T:
    """Do what a start needs of a server, which may be started later than this process.

    Parameters
    ----------
    try_ : does it, or raises DatabaseAway; made again until it is done
    say : is told what is waited for and why, once for each reason
    limit_s : seconds until it is waited for no more
    sleep : takes the pauses between tries, which grow from half a second to ten

    Raises
    ------
    LoginRefused, DatabaseReadOnly, UnusableDatabase
        What it answers does not change by waiting.
    StateError
        It does not answer within the limit.
    """
    until_s, pause_s, told = time.monotonic() + limit_s, _LEAST_PAUSE_S, ""
    while True:
        try:
            return try_()
        except (LoginRefused, DatabaseReadOnly):
            raise
        except DatabaseAway as error:
            if time.monotonic() + pause_s > until_s:
                raise StateError(f"{error}. Waited {show_duration(limit_s)} for it") from error
            reason = _line(error.__cause__)
            if reason != told:
                say(f"waiting for the database at {database}: {reason}")
            told = reason
        sleep(pause_s)
        pause_s = min(2.0 * pause_s, _MOST_PAUSE_S)


def bound_silence(connection: Connection, idle_s: float) -> None:
    """Have the server end this transaction if nothing is heard of the client for so long.

    Who is cut off in the midst of a transaction would hold its locks for hours.

    Parameters
    ----------
    connection : within a transaction
    idle_s : seconds, of which whole milliseconds count; 0: no limit
    """
    connection.execute(
        "SELECT set_config('idle_in_transaction_session_timeout', %s, true)",
        (str(int(1000 * idle_s)),),
    )


def take_time(connection: Connection) -> None:
    """Have nothing of this transaction ended for how long it takes, whatever a user's settings say.

    What is done once, of all rows, takes as long as it takes.

    Parameters
    ----------
    connection : within a transaction
    """
    bound_silence(connection, 0.0)
    connection.execute("SELECT set_config('statement_timeout', '0', true)")


def now_s(connection: Connection) -> float:
    """Return the database's instant, in seconds since the epoch."""
    return float(_value(connection, _NOW))


def _value(connection: Connection, query: str) -> Any:
    row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]


def _version(connection: Connection) -> int:
    """Return the schema's version; 0: there is no crawl."""
    if _value(connection, "SELECT to_regclass('label')") is None:
        return 0
    return int(_value(connection, f"SELECT value FROM label WHERE name = '{_SCHEMA}'") or 0)


def check_schema(connection: Connection, database: Database) -> None:
    """See that there is a crawl of the version that this program writes.

    Parameters
    ----------
    connection : to ``database``, which messages name

    Raises
    ------
    UnusableDatabase
        There is none, it is another version's, or the tables are somebody else's.
    """
    with translated(database):
        version, known = _version(connection), len(migrations())
        if version == 0:
            raise UnusableDatabase(f"{database} holds no crawl: `recrawl run` makes one")
        if version > known:
            raise UnusableDatabase(
                f"{database} was written by a newer version of recrawl (schema {version}, this one "
                f"knows {known}); upgrade recrawl, or name another database"
            )
        if version < known:
            raise UnusableDatabase(
                f"{database} was written by an older version; run the crawl once first"
            )


def make_schema(connection: Connection, database: Database, shards: int) -> None:
    """Make or migrate the schema, all or nothing; processes that start together wait here.

    Parameters
    ----------
    shards : number of shards, fixed when it is made

    Raises
    ------
    UnusableDatabase
        The tables are of another program, of a newer version, or have another number of shards.
    """
    scripts = migrations()
    with translated(database), connection.transaction():
        take_time(connection)
        bound_silence(connection, _SILENCE_S)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version = _version(connection)
        if version == 0 and _value(connection, "SELECT to_regclass('page')") is not None:
            raise UnusableDatabase(
                f"{database} has tables of another program (page); name a database of its own, "
                "as made by `createdb crawl`"
            )
        if version > len(scripts):
            check_schema(connection, database)
        for number, script in enumerate(scripts[version:], start=version + 1):
            connection.execute(script.encode())
            put_label(connection, _SCHEMA, str(number))
        if version == 0:
            put_label(connection, "shards", str(shards))
            connection.execute(
                "INSERT INTO shard (id) SELECT * FROM generate_series(0, %s)", (shards - 1,)
            )
            connection.execute("INSERT INTO counter VALUES ('feed', 0)")
            connection.execute(f"INSERT INTO budget VALUES (1, 1.0, ({_NOW}))".encode())
        if version < len(scripts):
            put_label(connection, "version", VERSION)
        held = n_shards(connection)
        if held != shards:
            raise UnusableDatabase(
                f"{database} was made with {held} shards, and cluster.shards says {shards}; the "
                f"number is fixed: write shards = {held}, or `recrawl move` the crawl to a new "
                "database"
            )


def make_partitions(connection: Connection, from_s: float, to_s: float) -> None:
    """Have visits between two instants in a table of their own for each thirty days.

    A table is not made where such visits lie among the others already.

    Parameters
    ----------
    connection : within a transaction
    from_s, to_s : epoch seconds, both included
    """
    bound_silence(connection, _SILENCE_S)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    for month in range(int(from_s // MONTH_S), int(to_s // MONTH_S) + 1):
        name, first, end = f"visit_{month}", month * MONTH_S, (month + 1) * MONTH_S
        known = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL OR EXISTS "
            "(SELECT 1 FROM visit_other WHERE visited_at_s >= %s AND visited_at_s < %s)",
            (name, first, end),
        ).fetchone()
        if known is not None and not known[0]:
            bounds = f"FOR VALUES FROM ({first}) TO ({end})"
            connection.execute(f"CREATE TABLE {name} PARTITION OF visit {bounds}".encode())


def is_empty(connection: Connection) -> bool:
    """Tell whether there is no table of this program or another in a database."""
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
    return not _value(connection, tables)


def n_shards(connection: Connection) -> int:
    """Return the number of shards."""
    return int(_value(connection, "SELECT value FROM label WHERE name = 'shards'"))


def put_label(connection: Connection, name: str, value: str) -> None:
    """Say something of the crawl in its database.

    Parameters
    ----------
    connection : within a transaction
    name, value : the value replaces what the name said before
    """
    connection.execute(
        "INSERT INTO label VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )
