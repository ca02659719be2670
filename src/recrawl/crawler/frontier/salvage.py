"""Check of a SQLite file: is it whole, and if not, salvage of every row that can be read."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from recrawl.crawler.control.urls import host_of
from recrawl.crawler.frontier.store import open_state, translated
from recrawl.terms import ChangeKind, Kind, Outcome, PageState

_MOST: Final = 20  # faults that are told
_TABLES: Final = (
    "host", "page", "visit", "plan", "fact", "refusal", "label", "indexing", "asked",
    "difference", "subscription", "link_list", "tally", "belief", "host_belief", "feed",
    "delivery", "dead_letter",
)  # fmt: skip
# Columns of a table of older files, of which `page` has the columns now.
_BIRTH: Final = "page_id INTEGER PRIMARY KEY, n REAL, exposure_s REAL, again REAL, lead_s REAL"
_AROUND: Final = {  # what SQLite says of the disk and the system, and not of the file
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY,
}  # fmt: skip
_UNREADABLE: Final = {  # but for these: bytes of the file that the disk does not give back
    sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS,
    sqlite3.SQLITE_IOERR_DATA,
}  # fmt: skip
_WORDS: Final = {  # words that only a crawl writes, by table and column
    ("page", "state"): frozenset(PageState),
    ("page", "kind"): frozenset(Kind),
    ("visit", "outcome"): frozenset(Outcome),
    ("feed", "kind"): frozenset(ChangeKind),
}


def database_faults(path: Path) -> list[str]:
    """Return what is wrong with the file, in SQLite's words; empty if it is whole.

    Raises
    ------
    StateError
        It cannot be looked through, as on a full disk: nothing is known of the file.
    """
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as opened:
            rows = opened.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
            faults = [row[0] for row in rows if row[0] != "ok"]
            if not faults:
                lost = opened.execute("PRAGMA foreign_key_check").fetchmany(_MOST)
                faults = [f"row {row[1]} of {row[0]} belongs to no {row[2]}" for row in lost]
            for (table, column), known in {} if faults else _WORDS.items():
                query = f"SELECT DISTINCT {column} FROM {table}"
                said = {row[0] for row in opened.execute(query)}
                faults += [
                    f"{table}.{column} says {word!r}"
                    for word in sorted(said - set(known), key=repr)
                ]
    except (sqlite3.DatabaseError, ValueError) as error:
        if not _is_damage(error):
            with translated(path):
                raise
        return [str(error)]
    return faults


def _is_damage(error: sqlite3.DatabaseError | ValueError) -> bool:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code in _UNREADABLE or code & 0xFF not in _AROUND


def reindexed(path: Path) -> bool:
    """Make the file's own indexes anew; True if it is whole afterwards."""
    with contextlib.suppress(sqlite3.DatabaseError):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as opened:
            opened.execute("REINDEX")
        return not database_faults(path)
    return False


def salvaged(damaged: Path, target: Path) -> dict[str, int]:
    """Copy every row that can be read and belongs to a page into a new file.

    Parameters
    ----------
    damaged : the file, which is only read
    target : path of the new file

    Returns
    -------
    Rows by table; nothing where the damaged file does not even tell its tables.

    Raises
    ------
    StateError
        The new file cannot be written, as on a full disk.
    """
    counts: dict[str, int] = {}
    uri = f"{damaged.resolve().as_uri()}?mode=ro"
    with translated(target), contextlib.closing(open_state(target)) as new:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as old:
            old.text_factory = lambda text: text.decode("utf-8", "replace")
            new.execute(f"CREATE TEMP TABLE birth ({_BIRTH})")
            for table in (*_TABLES, "birth"):
                new.execute("BEGIN")
                counts[table] = _copied(old, new, table)
                new.execute("COMMIT")
        new.execute("BEGIN")
        _connect(new)
        new.execute("COMMIT")
    return counts


def _copied(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    known = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
    try:
        there = {row[1] for row in old.execute(f"PRAGMA table_info({table})")}
    except sqlite3.DatabaseError:
        return 0
    columns = [name for name in known if name in there]
    if not columns:
        return 0
    places = ", ".join("?" * len(columns))
    insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})"
    copied = 0
    for row in _readable(old, table, columns):
        told = dict(zip(columns, row, strict=True))
        if any(told[column] not in said for (of, column), said in _WORDS.items() if of == table):
            continue
        with contextlib.suppress(sqlite3.IntegrityError, sqlite3.DataError):
            copied += new.execute(insert, row).rowcount
    return copied


def _readable(old: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield rows in their order; where a page of the file cannot be read, look behind it."""
    names = ", ".join(columns)
    if table in (
        "refusal",
        "label",
        "fact",
        "tally",
        "delivery",
    ):  # not all of them have row numbers
        with contextlib.suppress(sqlite3.DatabaseError):
            yield from old.execute(f"SELECT {names} FROM {table}")
        return
    query = f"SELECT rowid, {names} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?"
    after, step, limit = -1, 1, 1_000
    while step < 2**40:
        try:
            rows = old.execute(query, (after, limit)).fetchall()
        except (sqlite3.DatabaseError, OverflowError):
            if limit > 1:
                limit = max(limit // 10, 1)
                continue
            after, step = after + step, 2 * step
            continue
        if not rows:
            return
        for row in rows:
            yield row[1:]
        after, step, limit = rows[-1][0], 1, min(limit * 10, 1_000)


def _connect(new: sqlite3.Connection) -> None:
    """Give pages whose host was lost another, and drop what belongs to no page."""
    lost = new.execute("SELECT id, url FROM page WHERE host_id NOT IN (SELECT id FROM host)")
    for page_id, url in lost.fetchall():
        host = host_of(url)
        new.execute("INSERT OR IGNORE INTO host (host) VALUES (?)", (host,))
        new.execute(
            "UPDATE page SET host_id = (SELECT id FROM host WHERE host = ?) WHERE id = ?",
            (host, page_id),
        )
    of_pages = "visit indexing asked difference link_list tally belief feed"
    for table in of_pages.split():
        new.execute(f"DELETE FROM {table} WHERE page_id NOT IN (SELECT id FROM page)")
    new.execute("DELETE FROM host_belief WHERE host_id NOT IN (SELECT id FROM host)")
    new.execute(
        "UPDATE page SET births = n, exposure_s = birth.exposure_s, births_again = again, "
        "births_lead_s = lead_s FROM birth WHERE birth.page_id = page.id"
    )
