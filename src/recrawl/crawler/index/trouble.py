"""Faults of an index on disk, in words that say what to do."""

import contextlib
import errno
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from recrawl.errors import TOO_FEW_THREADS, DamagedState, StateError
from recrawl.held_files import owner_words

_DO = {
    "full": "the disk is full; make room and start again: nothing acknowledged was lost",
    "busy": "another process writes it; stop that crawl first, or choose another state directory",
    "denied": "this user may not read or write it",
    "read-only": "it lies on a disk that cannot be written, and its readers need a lock there; "
    "mount it writable, or copy the state directory elsewhere",
    "many": "too many files are open; raise the limit (`ulimit -n 4096`) and start again",
    "threads": TOO_FEW_THREADS,
    "gone": "its directory was removed or moved while the crawl wrote to it",
    "ended": "its writer ended, as it does where files cannot be written; start again: nothing "
    "acknowledged was lost",
    "damaged": "`recrawl check` tells what is damaged; with --repair it keeps what is sound and "
    "has the rest fetched again",
}
_SIGNS = (
    ("full", ("No space left", "code: 28", "StorageFull", "quota", "disk is full")),
    ("denied", ("Permission denied", "PermissionDenied")),
    ("read-only", ("Read-only file system",)),
    ("many", ("Too many open files",)),
    ("threads", ("Failed to spawn", "Resource temporarily unavailable", "new thread")),
    ("busy", ("LockBusy", "Lockfile")),  # behind what may be why there is no lock
    ("ended", ("index writer was killed",)),  # which does not say why
)
_LEAST_FREE = 16 << 20  # bytes, for what a commit writes: with fewer the disk was full
_ERRNO = {
    errno.ENOSPC: "full",
    errno.EROFS: "read-only",
    errno.EDQUOT: "full",
    errno.EMFILE: "many",
    errno.ENFILE: "many",
}


@contextlib.contextmanager
def translated(directory: Path) -> Iterator[None]:
    """Turn what tantivy and the disk say into a message with the way out."""
    try:
        yield
    except (OSError, ValueError, sqlite3.Error) as error:
        kind = _kind(error, directory)
        words = f"index {directory}: {_words(error, kind)}"
        if kind == "denied":
            words += f"; {owner_words(directory.parent)}"
        raise (DamagedState if kind == "damaged" else StateError)(words) from error


def _kind(error: OSError | ValueError | sqlite3.Error, directory: Path) -> str:
    kind = _ERRNO.get(error.errno or 0) if isinstance(error, OSError) else None
    if isinstance(error, PermissionError):
        kind = "denied"
    text = str(error)
    kind = kind or next((name for name, signs in _SIGNS if any(s in text for s in signs)), None)
    if kind in (None, "ended") and not directory.is_dir():
        return "gone"
    if kind == "ended" and shutil.disk_usage(directory).free < _LEAST_FREE:
        return "full"
    return kind or "damaged"


def _words(error: OSError | ValueError | sqlite3.Error, kind: str) -> str:
    words = _DO[kind]
    if "index writer was killed" in str(error):  # which says nothing more
        return words
    return f"{error}. {words[0].upper() if words[0] != '`' else '`'}{words[1:]}"
