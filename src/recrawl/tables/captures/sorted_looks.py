"""Looks of any order and number, as visits by page and time; memory is bounded, the disk sorts."""

import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Self

import pyarrow as pa

from recrawl.crawler.control.answers.lifecycle import outcome_of_status
from recrawl.errors import StateError
from recrawl.tables.captures.looks import Look

SCHEMA: Final = pa.schema(
    [
        ("url", pa.string()),
        ("visited_at", pa.timestamp("us", tz="UTC")),
        ("outcome", pa.string()),
        ("status", pa.int64()),
        ("changed", pa.bool_()),
    ]
)
_BATCH: Final = 50_000
_MOST_AHEAD_S: Final = 86_400.0  # of a clock elsewhere
_Row = tuple[str, int, str, int | None, bool | None]


class SortedLooks:
    """Takes looks, and gives visits: in a temporary file, removed at the end.

    Attributes
    ----------
    n_pages, n_visits, n_changes, n_told : of the visits given; those that tell changed or not
    n_future : looks left out, as they are in the future
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="recrawl-history-")
        path = Path(self._folder.name) / "looks.sqlite3"
        self._db = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute("CREATE TABLE look (url TEXT, at_us INTEGER, mark BLOB, changed, status)")
        self.n_pages = self.n_visits = self.n_changes = self.n_told = self.n_future = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._folder.cleanup()

    def add(self, looks: Iterable[Look]) -> Iterator[int]:
        """Take looks; yield how many were taken, now and then.

        Raises
        ------
        StateError
            The disk for temporary files is full.
        """
        latest_s = time.time() + _MOST_AHEAD_S
        each = iter(looks)
        while part := list(islice(each, 10_000)):
            rows = [
                (look.url, round(1e6 * look.at_s), look.mark, look.changed, look.status)
                for look in part
                if 0.0 < look.at_s < latest_s
            ]
            self.n_future += len(part) - len(rows)
            try:
                self._db.execute("BEGIN")
                self._db.executemany("INSERT INTO look VALUES (?, ?, ?, ?, ?)", rows)
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                raise StateError(f"temporary files: {error}; set TMPDIR to a larger disk") from None
            yield len(part)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the visits, by page and then by time, as tables of :data:`SCHEMA`."""
        rows = self._visits()
        while part := list(islice(rows, _BATCH)):
            columns = list(zip(*part, strict=True))
            arrays = [pa.array(one, kind.type) for one, kind in zip(columns, SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)

    def _visits(self) -> Iterator[_Row]:
        url, at_us = None, -1
        mark: bytes | None = None
        began = False
        order = "SELECT * FROM look ORDER BY url, at_us, changed IS NULL, mark IS NULL"
        for row in self._db.execute(order):
            look = Look(row[0], row[1], row[2], None if row[3] is None else bool(row[3]), row[4])
            if look.url != url:
                url, at_us, mark, began = look.url, -1, None, False
                self.n_pages += 1
            if row[1] == at_us:  # the same capture, listed twice
                continue
            at_us = row[1]
            tells = look.mark is not None or look.changed is not None
            changed = look.changed
            if tells and not began:
                changed = None
            elif look.mark is not None:
                changed = look.mark != mark
            yield self._count(look, at_us, tells, changed, is_first=tells and not began)
            mark, began = look.mark or mark, began or tells

    def _count(
        self, look: Look, at_us: int, tells: bool, changed: bool | None, *, is_first: bool
    ) -> _Row:
        self.n_visits += 1
        self.n_changes += bool(changed)
        self.n_told += changed is not None
        if is_first:
            outcome = "new"
        elif tells:
            outcome = "changed" if changed else "unchanged"
        else:
            known = None if look.status is None else outcome_of_status(look.status)
            outcome = "failed" if known is None else known.value
        return look.url, at_us, outcome, look.status, changed
