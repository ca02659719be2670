"""Adding what people asked for to a crawl's state, beside the crawl whether it runs or not."""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

from typing_extensions import override

from recrawl.crawler.frontier.store import Door, translated
from recrawl.crawler.frontier.worths import SqliteWorths


class TallyDoor(Door):
    """Adds counts of pages, and nothing else."""

    @override
    def _use(self, db: sqlite3.Connection, path: Path, statements: Mapping[str, str]) -> None:
        super()._use(db, path, statements)
        self._worths = SqliteWorths(db, path, self._writing, statements)

    def read_until_s(self, log: str) -> float:
        """Return up to which instant the log of a host was read."""
        with translated(self._path):
            row = self._row("label", name=f"log:{log}")
        return float("-inf") if row is None else float(row[0])

    def add(
        self,
        source: str,
        counts: Mapping[str, float],
        half_life_s: float,
        *,
        anew: bool = False,
        read_until: tuple[str, float] | None = None,
    ) -> int:
        """Add to the counts of a source by address; all or none. Return how many are known.

        Parameters
        ----------
        source : of ``recrawl.terms.COUNTED``
        counts : by address in normal form
        half_life_s : of older counts
        anew : these take the place of the source's earlier ones
        read_until : a log, and up to which instant it has been read now
        """
        with self._writing():
            if anew:
                self._worths.forget(source)
            known = self._worths.count(source, counts, time.time(), half_life_s)
            if read_until is not None:
                log, at_s = read_until
                self._run("save_label", name=f"log:{log}", value=repr(at_s))
        return known
