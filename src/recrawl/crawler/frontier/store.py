"""Opening the SQLite file: migrations, versions, and what can be wrong with it.

One process writes a state directory at a time, held by a lock on the file ``lock`` in it; any
number may read.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recrawl.crawler.frontier.sql import migrations, numbered, queries
from recrawl.errors import DamagedState, StateError
from recrawl.held_files import StateLock, is_held, owner_words

DATABASE = "state.sqlite3"
# Of what is no number or text Python looks for how it is adapted, in two places where nothing is,
# which takes as long as the rest of binding it three times over: unless that is known.
for _kind in (type(None), bytes):
    sqlite3.register_adapter(_kind, lambda value: value)
_COPY = "state-before-schema-"  # and the number of the one that it has not


def lock_state(
    directory: Path,
    name: str = "lock",
    way_out: str = "stop that crawl first, or choose another directory",
) -> StateLock:
    """Take a right to a state directory: to write it, unless another is named.

    Parameters
    ----------
    name : of the file that is locked: each stands for another right
    way_out : what to do where another process has it

    Raises
    ------
    StateError
        Another process holds it, or the directory cannot be written.
    """
    called = f"state directory {directory}"
    return StateLock(directory / name, called, f" is in use by {{holder}}; {way_out}")


def holder(directory: Path) -> int | None:
    """Return the process that writes a state directory, or None; the lock is only looked at.

    Its number is that within its own container. Older versions have no sign beside the lock, which
    is looked for in the system's table; of other containers that holds none. Where there is no
    table, a process of the number that the lock file names is taken for the writer.
    """
    path = directory / "lock"
    try:
        number = int(path.read_text(encoding="utf-8").removeprefix("process "))
        inode = path.stat().st_ino
    except (OSError, ValueError):
        return None
    if is_held(path):
        return number
    with contextlib.suppress(OSError, ValueError, IndexError):
        locks = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
        held = {int(line.split()[5].rsplit(":", 1)[1]) for line in locks if " FLOCK " in line}
        return number if inode in held else None
    with contextlib.suppress(OSError):
        os.kill(number, 0)
        return number
    return None


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into messages that say which file and what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        # A write-ahead log that cannot grow is reported as an I/O error.
        if "full" in text or ("I/O" in text and _is_full(path)):
            raise StateError(
                f"{path}: the disk is full; make room and start again: "
                "nothing acknowledged was lost"
            ) from error
        if "locked" in text:
            raise StateError(f"{path} is locked by another process") from error
        if "malformed" in text or "no such table" in text or "no such column" in text:
            raise DamagedState(_corrupt(path, text)) from error
        if "readonly" in text or ("unable to open" in text and _is_denied(path)):
            text += f"; {owner_words(path.parent)}"
        raise StateError(f"{path}: {text}") from error
    except PermissionError as error:
        raise StateError(
            f"{path}: this user may not read or write it; {owner_words(path.parent)}"
        ) from error
    except sqlite3.DatabaseError as error:
        raise DamagedState(_corrupt(path, str(error))) from error
    except ValueError as error:  # a state or kind that there is none of, or text that is no UTF-8
        raise DamagedState(_corrupt(path, str(error))) from error


def _is_denied(path: Path) -> bool:
    files = path.parent.glob(f"{path.name}*")
    return not all(os.access(file, os.R_OK | os.W_OK) for file in files)


def inode_of(path: Path) -> int | None:
    """Return the number of the file that has a name now; None where there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


@contextlib.contextmanager
def transaction(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Do all of it or nothing; within a transaction, go on with that one.

    Parameters
    ----------
    db : in autocommit mode, or within a transaction
    path : of its file, for messages
    """
    if db.in_transaction:
        yield
        return
    with translated(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.OperationalError):  # a failed COMMIT did so by itself
                db.execute("ROLLBACK")
            raise


class Statements:
    """Statements by their names, over one connection."""

    _db: sqlite3.Connection
    _path: Path
    _q: Mapping[str, str]

    def _run(self, name: str, /, **parameters: object) -> sqlite3.Cursor:
        return self._db.execute(self._q[name], parameters)

    def _run_each(
        self, name: str, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]
    ) -> None:
        """Run a statement for each row of parameters, of which this is the order."""
        self._db.executemany(numbered(self._q[name], names), rows)

    def _rows(self, name: str, /, **parameters: object) -> list[Any]:
        with translated(self._path):
            return self._run(name, **parameters).fetchall()

    def _row(self, name: str, /, **parameters: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._run(name, **parameters).fetchone()
        return row

    def _one(self, name: str, /, **parameters: object) -> tuple[Any, ...]:
        row = self._row(name, **parameters)
        if row is None:
            raise KeyError(f"{name}: {parameters}")
        return row

    def _value(self, name: str, /, **parameters: object) -> int:
        return int(self._one(name, **parameters)[0])


class Part(Statements):
    """Part of a frontier, over its connection.

    Parameters
    ----------
    db, path : of the state
    writing : begins and ends a transaction
    statements : by name; default: those of SQLite
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        path: Path,
        writing: Callable[[], contextlib.AbstractContextManager[None]],
        statements: Mapping[str, str] | None = None,
    ) -> None:
        self._db = db
        self._path = path
        self._writing = writing
        self._q = queries() if statements is None else statements


class Door(Statements):
    """A way into a crawl's state for small additions, beside the process that writes it.

    Parameters
    ----------
    directory : of the state

    Raises
    ------
    StateError
        There is no crawl, it is damaged, or of another version.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / DATABASE
        self._use(open_beside(path), path, queries())

    def _use(self, db: sqlite3.Connection, path: Path, statements: Mapping[str, str]) -> None:
        """Go through this connection, with its dialect of the statements."""
        self._db, self._path, self._q = db, path, statements

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        return transaction(self._db, self._path)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _is_full(path: Path) -> bool:
    return shutil.disk_usage(path.parent).free < 2**20


def _corrupt(path: Path, text: str) -> str:
    return (
        f"{path} is damaged ({text}); `recrawl restore` brings a backup back, and `recrawl check "
        "--repair` keeps what can be read. Nothing was changed"
    )


def open_state(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open or create the database, of the version that this program writes.

    Parameters
    ----------
    path : of the file
    read_only : it is neither created nor brought up to date

    Raises
    ------
    StateError
        Damaged, another user's, on a full disk, or written by a newer version; with ``read_only``
        also not there, empty, or written by an older version.
    """
    with translated(path):
        if read_only and not path.exists():
            raise StateError(f"{path.parent} holds no crawl: {path.name} is not there")
        if not read_only and not path.exists():
            os.close(_private(path, os.O_CREAT | os.O_WRONLY))
        source = f"file:{_quoted(path)}?mode=ro" if read_only else f"file:{_quoted(path)}"
        connection = sqlite3.connect(
            source, uri=True, isolation_level=None, check_same_thread=False, timeout=10.0
        )
        try:
            _migrate(connection, path, read_only=read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def open_beside(path: Path) -> sqlite3.Connection:
    """Open the database for small additions beside the process that writes it.

    Raises
    ------
    StateError
        Not there, damaged, or of another version.
    """
    open_state(path, read_only=True).close()
    with translated(path):
        source = f"file:{_quoted(path)}?mode=rw"
        return sqlite3.connect(
            source, uri=True, isolation_level=None, check_same_thread=False, timeout=10.0
        )


def _quoted(path: Path) -> str:
    return path.resolve().as_posix().replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def copy_database(path: Path, target: Path) -> None:
    """Copy a database as it is at one instant, while others go on writing it.

    The copy is there in full or not at all.

    Parameters
    ----------
    path : of the database
    target : of the copy, in a folder that is there; a file there is replaced
    """
    part = target.with_name(f"{target.name}.part")
    with translated(path):
        part.unlink(missing_ok=True)
        os.close(_private(part, os.O_CREAT | os.O_WRONLY))
        source = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True, timeout=10.0)
        with contextlib.closing(source), contextlib.closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
        os.replace(part, target)


def drop_copies(directory: Path) -> None:
    """Remove the copies that were made before migrations."""
    for path in directory.glob(f"{_COPY}*.sqlite3"):
        path.unlink(missing_ok=True)


def _private(path: str | Path, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _writer(connection: sqlite3.Connection) -> str:
    """Name the program that wrote a database, as far as it says so itself."""
    with contextlib.suppress(sqlite3.DatabaseError):
        row = connection.execute("SELECT value FROM label WHERE name = 'version'").fetchone()
        if row is not None:
            return f"recrawl {row[0]}, a newer version"
    return "a newer version of recrawl"


def _migrate(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    scripts = migrations()
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(scripts):
        raise StateError(
            f"{path} was written by {_writer(connection)} (schema {version}, this one knows "
            f"{len(scripts)}); upgrade recrawl, or choose another state directory"
        )
    if read_only:
        if not path.stat().st_size:
            raise StateError(
                f"{path} is empty: nothing was crawled, or it was lost; `recrawl restore` brings a "
                "backup back, and `recrawl check --repair` takes pages in from an index beside it"
            )
        if version < len(scripts):
            raise StateError(f"{path} was written by an older version; run the crawl once first")
        connection.execute("SELECT count(*) FROM plan").fetchone()
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -4096")
    if 0 < version < len(scripts):
        copy_database(path, path.with_name(f"{_COPY}{version + 1}.sqlite3"))
    for number, script in enumerate(scripts[version:], start=version + 1):
        connection.executescript(f"BEGIN;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")
    connection.execute("SELECT count(*) FROM plan").fetchone()
