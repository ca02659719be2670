"""Requests and visits in SQLite: one file that the spiders of a project share.

Who holds a spider's lock file is the only one that hands out its requests, so no lease is kept.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import xxhash

from recrawl.integrations.revisits.lock import StateLock
from recrawl.integrations.revisits.store import PageRow, VisitStore

__all__ = ["STORE", "Found", "RequestStore", "SpiderLock"]

STORE: Final = "scrapy.sqlite3"


@dataclass(frozen=True, slots=True)
class Found:
    """What the store says of an address that a spider asks for."""

    due_s: float
    visits: int
    request: bytes


class SpiderLock(StateLock):
    """The right to hand out the requests of a spider, held until ``release`` or the end.

    Raises
    ------
    StateError
        Another process holds it, or the directory cannot be written.
    """

    def __init__(self, directory: Path, spider: str) -> None:
        name = f"spider-{xxhash.xxh3_64_hexdigest(spider.encode())}.lock"
        shown = spider.replace("{", "{{").replace("}", "}}")
        super().__init__(
            directory / name,
            "RECRAWL_STATE",
            f"spider {shown} runs already, in {{holder}}; stop that crawl first, or give this one "
            "a state of its own",
        )


class RequestStore(VisitStore):
    """The file of a state directory that holds what spiders ask for.

    Parameters
    ----------
    directory : state directory, made if it is missing
    read_only : only look

    Raises
    ------
    StateError
        Not there (read only), damaged, of another version, or on a full disk.
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        sql = "recrawl.integrations.scrapy.sql"
        whose = "Scrapy spiders"
        super().__init__(directory / STORE, "RECRAWL_STATE", whose, sql, read_only=read_only)

    def find(self, page_id: int) -> Found | None:
        """Return what is known of a page; None: it is new."""
        added = self._added.get(page_id)
        if added is not None:
            return Found(added["now_s"], 0, added["request"])
        with self._translated():
            row = self._db.execute(self._q["find"], {"id": page_id}).fetchone()
        return None if row is None else Found(*row)

    def reword(self, page_id: int, request: bytes, priority: int) -> None:
        """Keep the request of a known page as its spider makes it now."""
        added = self._added.get(page_id)
        if added is not None:
            added.update(request=request, priority=priority)
            return
        self._write("reword", {"id": page_id, "request": request, "priority": priority})

    def due(self, spider: str, due_by_s: float, *, first: bool, limit: int) -> list[PageRow]:
        """Return pages that are due: never visited ones by priority, others as they are late."""
        self.flush()
        name = "first_visits" if first else "revisits"
        return self.rows(name, spider=spider, due_by_s=due_by_s, limit=limit)
