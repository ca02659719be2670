"""Anchor texts of pages: the texts of links that lead there, kept beside the index.

Words that lead to many pages ("next", "here") name none of them.
"""

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from recrawl.crawler.index.files import opened_or_anew
from recrawl.crawler.index.words import as_name

_FILE: Final = "anchors.sqlite3"
_MOST: Final = 2_000_000  # texts that are kept in all
_MOST_OF_PAGE: Final = 8
_SHOWN: Final = 6  # that count as text of a page
_GENERIC: Final = 5  # pages that a text leads to, from which on it names none
_MOST_LINKS: Final = 300  # of a page
_SHORTEST, _LONGEST = 2, 80  # characters
_REMEMBERED: Final = 19_000  # links that need no look: half a MiB
_SCHEMA: Final = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; -- what is lost is learned anew
CREATE TABLE IF NOT EXISTS anchor (
    target TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (target, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (text TEXT PRIMARY KEY, targets INTEGER NOT NULL)
STRICT, WITHOUT ROWID;
"""


class Anchors:
    """Texts of links by the page that they lead to; bounded in number and length.

    Parameters
    ----------
    directory : where they are kept; what cannot be read is learned anew
    """

    def __init__(self, directory: Path) -> None:
        self._db = opened_or_anew(directory / _FILE, _SCHEMA, "anchor")
        self._n = int(self._db.execute("SELECT count(*) FROM anchor").fetchone()[0])
        self._known: set[int] = set()

    def learn(self, links: Iterable[tuple[str, str]]) -> list[str]:
        """Take in links of a page, address and text; return pages that got another name."""
        named: list[str] = []
        for target, words in list(links)[:_MOST_LINKS]:
            text = " ".join(words.split())
            mark = hash((target, text))
            if mark in self._known or not _SHORTEST <= len(text) <= _LONGEST or not as_name(text):
                continue
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known.add(mark)
            if self._add(target, text):
                named.append(target)
        return named

    def of(self, target: str) -> list[str]:
        """Return what a page is called by others, but for words that lead to many pages."""
        query = (
            "SELECT anchor.text FROM anchor JOIN said ON said.text = anchor.text "
            "WHERE target = ? AND targets < ? ORDER BY targets, length(anchor.text) LIMIT ?"
        )
        return [str(row[0]) for row in self._db.execute(query, (target, _GENERIC, _SHOWN))]

    def save(self) -> None:
        """Keep what was learned."""
        if self._db.in_transaction:
            self._db.commit()

    def close(self) -> None:
        """Release the file."""
        with contextlib.suppress(sqlite3.DatabaseError):
            self.save()
        self._db.close()

    def _add(self, target: str, text: str) -> bool:
        if self._n >= _MOST:
            return False
        of_page = "SELECT count(*) FROM anchor WHERE target = ?"
        if self._db.execute(of_page, (target,)).fetchone()[0] >= _MOST_OF_PAGE:
            return False
        insert = "INSERT OR IGNORE INTO anchor VALUES (?, ?)"
        if not self._db.execute(insert, (target, text)).rowcount:
            return False
        self._n += 1
        count = (
            "INSERT INTO said VALUES (?, 1) ON CONFLICT (text) DO UPDATE SET targets = targets + 1 "
            "RETURNING targets"
        )
        return bool(self._db.execute(count, (text,)).fetchone()[0] < _GENERIC)
