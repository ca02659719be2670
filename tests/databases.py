"""Databases for tests: one PostgreSQL server for the whole session, one database for each test."""

import itertools
from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres import Postgres, postgres

from recrawl.terms import Database

_NUMBERS = itertools.count(1)


class Server:
    """A server that gives out empty databases."""

    def __init__(self, server: Postgres) -> None:
        self.server = server

    def database(self) -> Database:
        """Return a new one."""
        name = f"crawl_{next(_NUMBERS)}"
        with psycopg.connect(self.server.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return Database(self.server.address.replace("/postgres?", f"/{name}?"))


@pytest.fixture(scope="session")
def databases() -> Iterator[Server]:
    """Give a server; its databases go with it."""
    with postgres() as server:
        yield Server(server)
