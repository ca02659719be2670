"""Waiting for room on the disk of a database, with what is to be written at hand.

A server whose disk is full keeps what it has and refuses more. What a crawl has fetched by then is
kept, not asked for again, and written once there is room. Little is fetched meanwhile, as the
thread that hands out pages is the one that waits.
"""

import threading
from collections.abc import Callable
from typing import Final

from recrawl.crawler.database.connections import translated
from recrawl.errors import DatabaseFull
from recrawl.terms import Database

_AGAIN_S: Final = 1.0  # between two tries


class Room:
    """Of one process, for all its threads."""

    def __init__(self) -> None:
        self.lacks = ""  # what a database said to what waits for room; "": nothing does
        self._no_longer = threading.Event()

    def hurry(self) -> None:
        """Wait no longer, now and later: this process is to end."""
        self._no_longer.set()

    def awaited(self, database: Database, transaction: Callable[[], None]) -> None:
        """Have a transaction made, again and again as long as the disk is full.

        Parameters
        ----------
        transaction : which changes nothing but the database, and fails as a whole

        Raises
        ------
        DatabaseFull
            There is no room, and this process is to end.
        StateError
            The transaction failed for another reason.
        """
        while True:
            try:
                with translated(database):
                    transaction()
            except DatabaseFull as error:
                self.lacks = f"{error}; nothing is fetched until there is room"
                if self._no_longer.wait(_AGAIN_S):
                    raise
            else:
                self.lacks = ""
                return
