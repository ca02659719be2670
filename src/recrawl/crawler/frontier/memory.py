"""A frontier in memory, for tests and for runs in virtual time: the durable one without a file."""

import sqlite3
from pathlib import Path

from recrawl.crawler.frontier.sql import migrations
from recrawl.crawler.frontier.sqlite import SqliteFrontier

_NOWHERE = Path(":memory:")


class MemoryFrontier(SqliteFrontier):
    """The pages of a crawl, kept by nobody."""

    def __init__(self) -> None:
        self._lock = None
        db = sqlite3.connect(_NOWHERE, isolation_level=None, check_same_thread=False)
        for script in migrations():
            db.executescript(f"BEGIN;\n{script}\nCOMMIT;")
        self._begin(db, _NOWHERE)
        self._learn(read_only=False)

    def __del__(self) -> None:
        self._db.close()  # nobody is asked to
