"""Turns at work that only one process does at a time, and who has each now."""

import contextlib
import os
import platform
import threading
import uuid
from typing import Final

from recrawl.crawler.database.connections import Connection, check_schema, connect, translated
from recrawl.errors import StateError
from recrawl.terms import Database
from recrawl.uptime import monotonic_s

_LEASE_S: Final = 60.0  # how long a turn stays a process's without being renewed
_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
_TAKE: Final = (
    f"INSERT INTO turn VALUES (%(name)s, %(holder)s, {_NOW} + %(lease_s)s) "
    "ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_s = excluded.until_s "
    f"WHERE turn.holder = excluded.holder OR turn.until_s < {_NOW} RETURNING 1"
)
_RELEASE: Final = "DELETE FROM turn WHERE name = %(name)s AND holder = %(holder)s"


class DatabaseTurn:
    """A turn in a shared database: taken when nobody has it, renewed until :meth:`end`.

    A process that is not heard of for as long as the lease loses its turn to the next that asks.

    Parameters
    ----------
    database : shared
    name : of what is done in turn
    """

    def __init__(self, database: Database, name: str) -> None:
        self.name = name
        self.holder = f"{platform.node()}, process {os.getpid()}, {uuid.uuid4().hex}"
        self._database = database
        self._until_s = float("-inf")
        self._ended = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name=f"turn-{name}", daemon=True)

    @property
    def is_held(self) -> bool:
        """Whether it is this process's turn."""
        return monotonic_s() < self._until_s

    def begin(self, *, at_once: bool) -> None:
        """Take the turn as soon as it is free.

        Parameters
        ----------
        at_once : now, or not at all

        Raises
        ------
        StateError
            Another process has it, or the database cannot be used, and it was to be at once.
        """
        if at_once:
            self._take()
            if not self.is_held:
                raise StateError(
                    f"{self._database}: another process delivers the changes; one does at a time"
                )
        self._keeper.start()

    def end(self) -> None:
        """Let another process have it."""
        self._ended.set()
        self._keeper.join()
        if self.is_held:
            with contextlib.suppress(StateError):
                self._asked(_RELEASE)

    def _keep(self) -> None:
        while not self._ended.wait(_LEASE_S / 6.0 if self.is_held else 1.0):
            with contextlib.suppress(StateError):  # not there yet, or away: it may come back
                self._take()

    def _take(self) -> None:
        asked_s = monotonic_s()
        is_held = self._asked(_TAKE)
        # One sixth less than it lasts there, where what is done last is to be written down.
        self._until_s = asked_s + _LEASE_S * 5.0 / 6.0 if is_held else float("-inf")

    def _connected(self) -> Connection:
        return connect(self._database, name="recrawl turn", patience_s=_LEASE_S / 2.0)

    def _asked(self, query: str) -> bool:
        named = {"name": self.name, "holder": self.holder, "lease_s": _LEASE_S}
        with contextlib.closing(self._connected()) as connection:
            check_schema(connection, self._database)
            with translated(self._database):
                return connection.execute(query.encode(), named).rowcount > 0
