"""A state moved from one machine's folder to a database that several share, and back."""

import contextlib
from pathlib import Path

from recrawl.crawler.database.connections import (
    check_schema,
    connect,
    is_empty,
    make_schema,
    take_time,
    translated,
)
from recrawl.crawler.frontier.postgres.moving import rows_from_database, rows_into_database
from recrawl.crawler.frontier.postgres.reading import is_alive
from recrawl.crawler.frontier.store import DATABASE, lock_state, open_state
from recrawl.crawler.frontier.store import translated as told
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.index.schema import index_exists
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.wiring.upkeep import beside
from recrawl.errors import InputError, StateError
from recrawl.terms import Database


def move_into_database(state: Path, database: Database, shards: int) -> int:
    """Copy a state directory into a database, all or nothing; return how many pages.

    Parameters
    ----------
    state : the directory; nobody may crawl it meanwhile
    database : without any table
    shards : number of shards, fixed when it is made

    Raises
    ------
    InputError
        The database holds something already.
    StateError
        There is no crawl, it runs, or the database cannot be used.
    """
    if not (state / DATABASE).exists():
        raise InputError(f"{state} holds no crawl: {DATABASE} is not there")
    with contextlib.ExitStack() as stack:
        lock = lock_state(state)
        stack.callback(lock.release)
        db = stack.enter_context(contextlib.closing(open_state(state / DATABASE, read_only=True)))
        connection = stack.enter_context(contextlib.closing(connect(database)))
        with translated(database):
            if not is_empty(connection):
                raise InputError(f"{database} is not empty; make one with `createdb`, and name it")
        with translated(database), told(state / DATABASE), connection.transaction():
            make_schema(connection, database, shards)  # all or nothing, the tables included
            take_time(connection)
            n_pages = rows_into_database(db, connection, shards)
            take_time(connection)
            if index_exists(state / "index"):
                source = TantivyIndex(state / "index", read_only=True)
                stack.callback(source.close)
                _copy_index(source, PostgresIndex(database, within=connection))
    return n_pages


def _copy_index(source: TantivyIndex | PostgresIndex, target: TantivyIndex | PostgresIndex) -> None:
    target.own_text.take_over(source.own_text)
    copies = (source.whole(url) for url in [url for url, _ in source.urls()])
    target.bring(copy for copy in copies if copy is not None)


def move_from_database(database: Database, state: Path) -> int:
    """Copy a database into a state directory, all or nothing; return how many pages.

    Parameters
    ----------
    database : into which nobody crawls meanwhile
    state : the directory, which is not there or empty

    Raises
    ------
    InputError
        There is something at ``state``.
    StateError
        The database holds no crawl, or processes crawl into it.
    """
    with beside(state) as part, contextlib.closing(connect(database)) as connection:
        check_schema(connection, database)
        if is_alive(database):
            raise StateError(f"processes crawl into {database}; stop them first")
        with (
            contextlib.closing(open_state(part / DATABASE)) as db,
            translated(database),
            connection.transaction(),
            told(part / DATABASE),
        ):
            take_time(connection)
            db.execute("BEGIN IMMEDIATE")
            n_pages = rows_from_database(connection, db)
            db.execute("COMMIT")
        with (
            contextlib.closing(PostgresIndex(database)) as source,
            contextlib.closing(TantivyIndex(part / "index")) as target,
        ):
            _copy_index(source, target)
    return n_pages
