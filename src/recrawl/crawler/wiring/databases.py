"""Adapters of a state in PostgreSQL."""

import importlib.util
from types import ModuleType

from recrawl.crawler.ports import StatePlace
from recrawl.errors import InvalidSettings
from recrawl.terms import Database


def check_state(state: StatePlace) -> None:
    """See that what a state needs is installed.

    Raises
    ------
    InvalidSettings
        It is not.
    """
    if isinstance(state, Database) and importlib.util.find_spec("psycopg") is None:
        raise InvalidSettings(f"state: {state} needs one more package: install recrawl[postgresql]")


def adapters(database: Database) -> ModuleType:
    """Return the adapters over PostgreSQL; only who has such a state needs their library.

    Raises
    ------
    InvalidSettings
        It is not installed.
    """
    check_state(database)
    from recrawl.crawler.frontier.postgres import reading

    return reading
