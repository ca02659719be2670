"""Asking a crawl for visits from another process, whether it runs now or later."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from recrawl.crawler.frontier.sql import queries
from recrawl.crawler.frontier.store import DATABASE, open_beside, translated
from recrawl.terms import VisitAnswer

__all__ = ["VisitDoor"]


class VisitDoor:
    """Adds to the visits that a crawl was asked for, and to nothing else.

    Parameters
    ----------
    directory : of the state

    Raises
    ------
    StateError
        There is no crawl, it is damaged, or of another version.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / DATABASE
        self._db = open_beside(self._path)
        self._q = queries()

    def ask(self, urls: Sequence[str], *, is_signal: bool = False) -> list[int]:
        """Ask for visits of addresses in normal form; return the number of each. All or none.

        Parameters
        ----------
        is_signal : see :meth:`recrawl.crawler.ports.Frontier.ask`
        """
        now_s = time.time()
        with translated(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                rows = [{"url": url, "now_s": now_s, "is_signal": is_signal} for url in urls]
                numbers = [int(self._db.execute(self._q["ask"], row).fetchone()[0]) for row in rows]
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        return numbers

    def answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        """Return what came of visits that were asked for."""
        with translated(self._path):
            rows = self._db.execute(self._q["answers"], {"numbers": json.dumps(list(numbers))})
            return [VisitAnswer(*row) for row in rows]

    def close(self) -> None:
        """Close the file."""
        self._db.close()
