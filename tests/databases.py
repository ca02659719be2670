"""Databases for tests: one PostgreSQL server for the whole session, one database for each test."""

import itertools
from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres import Postgres, postgres

from recrawl.crawler.database.membership import Membership
from recrawl.terms import Database

_NUMBERS = itertools.count(1)


class Server:
    """A server that gives out empty databases."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self._made: set[int] = set()

    def database(self) -> Database:
        """Return a new one."""
        return self._new(f"crawl_{next(_NUMBERS)}", "template1")

    def made(self, shards: int) -> Database:
        """Return a new one in which everything is made for so many shards, which takes a while."""
        model = f"made_{shards}"
        if shards not in self._made:
            Membership(self._new(model, "template1"), shards=shards).close()
            self._made.add(shards)
        return self._new(f"crawl_{next(_NUMBERS)}", model)

    def _new(self, name: str, model: str) -> Database:
        with psycopg.connect(self.server.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {model}".encode())
        return Database(self.server.address.replace("/postgres?", f"/{name}?"))


@pytest.fixture(scope="session")
def databases() -> Iterator[Server]:
    """Give a server; its databases go with it."""
    with postgres() as server:
        yield Server(server)
