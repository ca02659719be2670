"""Addresses by crawl and queue, in the file that keeps them, their visits and plans."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from typing_extensions import override

from recrawl.integrations.revisits.store import PageRow, Row, VisitStore

_FILE: Final = "urlfrontier.sqlite3"


class FrontierStore(VisitStore):
    """The file of a state directory.

    Parameters
    ----------
    directory : state directory, made if it is missing

    Raises
    ------
    StateError
        Damaged, of another version, or on a full disk.
    """

    def __init__(self, directory: Path) -> None:
        sql = "recrawl.integrations.urlfrontier.sql"
        super().__init__(directory / _FILE, "--state", "a frontier service", sql)
        # Addresses come in an order of their own: what they touch is all over the file.
        self._db.execute("PRAGMA cache_size = -262144")  # KiB
        self._db.execute("PRAGMA wal_autocheckpoint = 16384")  # pages
        self._n_visited: int | None = None

    @override
    def n_visited(self) -> int:
        if self._n_visited is None:  # counting costs a look at every page
            self._n_visited = super().n_visited()
        return self._n_visited

    def known_ids(self, ids: Iterable[int]) -> set[int]:
        """Return those of some pages that the store holds."""
        listed = json.dumps(list(ids))
        return {row[0] for row in self.rows("known_ids", ids=listed)} if listed != "[]" else set()

    def known_pages(self, ids: Iterable[int]) -> dict[int, PageRow]:
        """Return those of some pages that the store holds, with all that it holds of them."""
        listed = json.dumps(list(ids))
        return {row["id"]: row for row in self.rows("known_pages", ids=listed)}

    def put(self, added: Sequence[Row], completed: Sequence[tuple[Row, Row, bytes]]) -> None:
        """Keep new pages, and visits with what clients gave back; on disk when this returns.

        Parameters
        ----------
        added : new pages
        completed : page, visit, and the address with its metadata
        """
        if not added and not completed:
            return
        with self._writing():
            self._db.executemany(self._q["add"], added)
            if completed:
                self._db.executemany(self._q["complete"], [page for page, _, _ in completed])
                self._db.executemany(self._q["add_visit"], [visit for _, visit, _ in completed])
                self._db.executemany(
                    self._q["put_back"],
                    [{"id": page["page_id"], "request": kept} for page, _, kept in completed],
                )

    def count_first_visits(self, n: int) -> None:
        """Note that pages were visited that were not before."""
        self._n_visited = self.n_visited() + n

    def say(self, row: Row) -> None:
        """Keep what was said of a queue."""
        with self._writing():
            self._db.execute(self._q["say_of_queue"], row)

    def said(self, name: str, otherwise: float) -> float:
        """Return what was said of all queues."""
        return self._fact(name, otherwise)

    def say_of_all(self, name: str, value: float) -> None:
        """Keep what was said of all queues."""
        with self._writing():
            self._save_fact(name, value)

    def forget(self, crawl: str, name: str | None, before_s: float, *, whole: bool) -> int:
        """Drop the pages of a queue, or of a crawl, found before an instant; return how many.

        Parameters
        ----------
        whole : drop what was said of the queues as well
        """
        which = {"crawl": crawl, "name": name, "before_s": before_s}
        with self._writing():
            self._db.execute(self._q["forget_visits"], which)
            n = self._db.execute(self._q["forget_pages"], which).rowcount
            if whole:
                self._db.execute(self._q["forget_queue"], {"crawl": crawl, "name": name})
        self._n_visited = None
        return n
