"""Notes on hosts in a file beside the index that one process writes."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from recrawl.crawler.index.files import opened_or_anew
from recrawl.crawler.index.repeats.notes import decoded, decoded_rows

T = TypeVar("T")

_FILE: Final = "notes.sqlite3"
_MOST: Final = 20_000  # hosts of a kind; those that were written longest ago go first
_SCHEMA: Final = """
PRAGMA synchronous = OFF; -- what is lost is learned anew
CREATE TABLE IF NOT EXISTS note (
    n INTEGER PRIMARY KEY, kind TEXT NOT NULL, host TEXT NOT NULL, notes BLOB NOT NULL,
    UNIQUE (kind, host)
) STRICT;
"""


class NoteFile:
    """All notes of an index in one file, of which a write costs what has changed.

    Parameters
    ----------
    directory : of the index; what cannot be read there is learned anew
    read_only : nothing is made or mended
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        self._directory, path = directory, directory / _FILE
        self._read_only = read_only
        if read_only:
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro" if path.exists() else ":memory:",
                uri=True,
                check_same_thread=False,
            )
            return
        self._db = opened_or_anew(path, _SCHEMA, "note")

    def shelf(self, name: str, kind: Any) -> "FileShelf[Any]":
        """Return the shelf of these notes among others.

        Parameters
        ----------
        kind : type of the notes
        """
        shelf = FileShelf[Any](self._db, name, kind)
        if not self._read_only:
            self._take_over(self._directory / f"{name}.json", shelf, kind)
        return shelf

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def _take_over(self, path: Path, shelf: "FileShelf[Any]", kind: Any) -> None:
        """Take in what another version wrote, in JSON."""
        with contextlib.suppress(OSError, msgspec.DecodeError):
            shelf.write(msgspec.json.decode(path.read_bytes(), type=dict[str, kind]))
        path.unlink(missing_ok=True)


class FileShelf(Generic[T]):
    """Rows of one kind in a :class:`NoteFile`."""

    def __init__(self, db: sqlite3.Connection, name: str, kind: Any) -> None:
        self._db, self._name, self._kind = db, name, kind

    def read(self, host: str) -> T | None:
        """Return the notes on a host; None: there are none that can be read."""
        query = "SELECT notes FROM note WHERE kind = ? AND host = ?"
        with contextlib.suppress(sqlite3.DatabaseError):
            row = self._db.execute(query, (self._name, host)).fetchone()
            return None if row is None else decoded(row[0], self._kind)
        return None

    def every(self) -> Iterator[tuple[str, T]]:
        """Iterate over all hosts and the notes on them."""
        rows: list[tuple[str, bytes]] = []
        with contextlib.suppress(sqlite3.DatabaseError):
            query = "SELECT host, notes FROM note WHERE kind = ?"
            rows = self._db.execute(query, (self._name,)).fetchall()
        yield from decoded_rows(rows, self._kind)

    def write(self, changed: Mapping[str, T]) -> None:
        """Write these at once, and forget those written longest ago where there are too many."""
        rows = [
            (self._name, host, msgspec.msgpack.encode(notes)) for host, notes in changed.items()
        ]
        oldest = (
            "DELETE FROM note WHERE n IN (SELECT n FROM note WHERE kind = ?1 ORDER BY n LIMIT "
            "max((SELECT count(*) FROM note WHERE kind = ?1) - ?2, 0))"
        )
        with contextlib.suppress(sqlite3.DatabaseError), self._db:
            self._db.executemany("REPLACE INTO note (kind, host, notes) VALUES (?, ?, ?)", rows)
            self._db.execute(oldest, (self._name, _MOST))
