"""An owner's copy of its shards, as it comes from the database: pages first, then their hosts."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from recrawl.crawler.database.connections import Connection, translated
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres.tables import APPENDED, KEPT, LATE, PAGE
from recrawl.crawler.frontier.sql import migrations
from recrawl.crawler.ports import LATEST_VISITS

__all__ = ["Loading", "private_copy"]

_SLICE: Final = 1_000  # pages that are copied at once, between two calls of a crawl


def private_copy(memory_bytes: int) -> sqlite3.Connection:
    """Return an empty state without a file name.

    Parameters
    ----------
    memory_bytes : that it may keep in memory
    """
    # SQLite's own unnamed databases look through all that they hold at every commit.
    handle, name = tempfile.mkstemp(prefix="recrawl-copy-")
    os.close(handle)
    db = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = MEMORY")
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA synchronous = OFF")
    for script in migrations():
        db.executescript(f"BEGIN;\n{script}\nCOMMIT;")
    db.execute(f"PRAGMA cache_size = -{max(memory_bytes // 1024, 1024)}")
    os.unlink(name)  # it goes with the process, whatever ends that
    db.execute("DROP INDEX visit_by_time")  # only readers ask for visits by time
