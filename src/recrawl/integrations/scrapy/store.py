"""Requests and visits in SQLite: one file that the spiders of a project share.

Who holds a spider's lock file is the only one that hands out its requests, so no lease is kept.
"""

import contextlib
from pathlib import Path
from typing import Final

import xxhash
from typing_extensions import override

from recrawl.errors import StateError
from recrawl.held_files import StateLock
from recrawl.integrations.revisits.requests import KeptRequests
from recrawl.integrations.revisits.store import Row

STORE: Final = "scrapy.sqlite3"


class SpiderLock(StateLock):
    """The right to hand out the requests of a spider, held until ``release`` or the end.

    Raises
    ------
    StateError
        Another process holds it, or the directory cannot be written.
    """

    def __init__(self, directory: Path, spider: str) -> None:
        name = f"spider-{xxhash.xxh3_64_hexdigest(spider.encode())}.lock"
        super().__init__(
            directory / name,
            f"RECRAWL_STATE: {directory}",
            f": spider {spider} runs already, in {{holder}}; stop that crawl first, or give this "
            "one a state of its own",
        )


class RequestStore(KeptRequests):
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

    @override
    def complete(self, page: Row, visit: Row) -> None:
        """Keep what came of a visit; what cannot be put on disk is told by what is asked next."""
        with contextlib.suppress(StateError):
            super().complete(page, visit)
