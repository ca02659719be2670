"""The files of an index: which of them count, whether their bytes are sound, and a copy of them.

tantivy writes a file once and never changes it; ``meta.json``, replaced by one rename, names the
segments that count. Every file of a segment ends with a checksum of its bytes:
a JSON object that holds it, the length of that object, and a mark, the last two as little-endian
32-bit integers.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from recrawl.errors import DamagedState, StateError

_META: Final = "meta.json"
_MANAGED: Final = ".managed.json"  # what tantivy may collect
_META_LOCK: Final = ".tantivy-meta.lock"  # held while files of a commit are opened, or collected
_PARTS: Final = ("term", "idx", "pos", "store", "fast", "fieldnorm")
_OWN: Final = re.compile(r"[0-9a-f]{32}\..+|\.tmp\w+")
_MARK: Final = 1337
_TAIL: Final = struct.Struct("<II")
_CHUNK: Final = 2**20


def write_whole(path: Path, text: str) -> None:
    """Write a small file so that it is there in full or not at all, whenever the process ends."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def opened_or_anew(path: Path, schema: str, table: str) -> sqlite3.Connection:
    """Open a database beside the index; as what it holds can be learned anew, a damaged one goes.

    Parameters
    ----------
    schema : that makes what is missing
    table : that is looked through
    """
    try:
        return _looked_through(path, schema, table)
    except sqlite3.DatabaseError:
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        return _looked_through(path, schema, table)


def _looked_through(path: Path, schema: str, table: str) -> sqlite3.Connection:
    with contextlib.ExitStack() as unless_whole:
        opened = sqlite3.connect(path, check_same_thread=False)
        unless_whole.callback(opened.close)
        opened.executescript(schema)
        opened.execute(f"SELECT count(*) FROM {table}")
        unless_whole.pop_all()
    return opened


def named_files(directory: Path) -> dict[str, list[str]]:
    """Return the files that make up the index, by the segments of the last commit.

    Raises
    ------
    DamagedState
        ``meta.json`` is.
    """
    return {segment: _files_of(entry) for segment, entry in _segments(_meta(directory)).items()}


def has_copies(directory: Path) -> bool:
    """Tell whether an index holds anything, by its list of segments alone."""
    try:
        return bool(_meta(directory).get("segments"))
    except StateError:
        return True  # damaged, which an empty one would not be worth
    except (FileNotFoundError, NotADirectoryError):
        return False


def is_of_tantivy(name: str) -> bool:
    """Tell whether a file of an index's directory is tantivy's, by its name."""
    return bool(_OWN.fullmatch(name)) or name in {_META, _MANAGED} or name.startswith(".tantivy")


def orphans(directory: Path) -> list[str]:
    """Return files of tantivy's that the last commit does not name: a killed process left them.

    While somebody writes the index these are also the files of the commit under way.
    """
    named = {name for names in named_files(directory).values() for name in names}
    return sorted(
        entry.name
        for entry in directory.iterdir()
        if _OWN.fullmatch(entry.name) and entry.name not in named
    )


def collect(directory: Path) -> list[str]:
    """Remove the orphans, and return their names; only for whoever holds the right to write.

    Numbers of operations are given out anew after a kill, and so are the names of files that hold
    deletions: one that is there already would end every later commit.
    """
    with _settled(directory):
        names = orphans(directory)
        for name in names:
            (directory / name).unlink(missing_ok=True)
    return names


def mend_list(directory: Path) -> bool:
    """Write the list of files that may be collected anew if it cannot be read; tell if so."""
    path = directory / _MANAGED
    try:
        read = json.loads(path.read_bytes())
        if isinstance(read, list) and all(isinstance(name, str) for name in read):
            return False
    except FileNotFoundError:
        return False
    except ValueError:
        pass
    names = [name for names in named_files(directory).values() for name in names]
    write_whole(path, json.dumps([*names, _META]))
    return True


def damaged_files(directory: Path) -> list[tuple[str, str]]:
    """Return files that are missing or whose bytes changed since they were written, with why.

    Every byte of the index is read.
    """
    with _settled(directory):
        handles = _opened(directory)
    found = []
    for name, handle in handles.items():
        if handle is None:
            found.append((name, "is missing"))
            continue
        with handle:
            why = _why_damaged(handle)
        if why is not None:
            found.append((name, why))
    return found


def set_aside(directory: Path, segments: list[str], aside: Path) -> None:
    """Take segments out of the index; what is left of their files is moved.

    Parameters
    ----------
    directory : of the index, which nobody writes to meanwhile
    segments : as :func:`named_files` names them
    aside : directory that they go to; is made where it is missing
    """
    meta = _meta(directory)
    kept = [entry for entry in meta["segments"] if _hex(entry) not in segments]
    names = named_files(directory)
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(directory / _META, json.dumps(meta | {"segments": kept}))
    for segment in segments:
        for name in names[segment]:
            with contextlib.suppress(FileNotFoundError):
                os.replace(directory / name, aside / name)


def snapshot(directory: Path, target: Path) -> None:
    """Copy the index as its last commit left it, while it may go on being written.

    Everything is opened while nothing can be collected; what is open stays readable.

    Parameters
    ----------
    directory : of the index
    target : where nothing may be yet; is made
    """
    with _settled(directory):
        meta = (directory / _META).read_bytes()
        handles = _opened(directory)
    target.mkdir(mode=0o700, parents=True)
    for name, handle in handles.items():
        if handle is None:
            raise StateError(f"index {directory}: {name} is missing; `recrawl check` tells more")
        with handle, (target / name).open("wb") as copy:
            shutil.copyfileobj(handle, copy, _CHUNK)
    (target / _META).write_bytes(meta)
    (target / _MANAGED).write_text(json.dumps([*handles, _META]), encoding="utf-8")
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(directory / "language", target / "language")


def _opened(directory: Path) -> dict[str, IO[bytes] | None]:
    """Open every file of the last commit; None: it is not there."""
    handles: dict[str, IO[bytes] | None] = {}
    for names in named_files(directory).values():
        for name in names:
            try:
                handles[name] = (directory / name).open("rb")
            except FileNotFoundError:
                handles[name] = None
    return handles


def _why_damaged(handle: IO[bytes]) -> str | None:
    size = handle.seek(0, os.SEEK_END)
    try:
        handle.seek(max(size - _TAIL.size, 0))
        length, mark = _TAIL.unpack(handle.read(_TAIL.size))
        if mark != _MARK or length + _TAIL.size > size:
            return "is cut short or overwritten at its end"
        handle.seek(size - _TAIL.size - length)
        expected = int(json.loads(handle.read(length))["crc"])
    except (ValueError, KeyError, TypeError, struct.error):
        return "is cut short or overwritten at its end"
    handle.seek(0)
    left, checksum = size - _TAIL.size - length, 0
    while left > 0 and (chunk := handle.read(min(left, _CHUNK))):
        checksum = zlib.crc32(chunk, checksum)
        left -= len(chunk)
    return None if checksum == expected else "has other bytes than were written"


def _meta(directory: Path) -> dict[str, Any]:
    try:
        read = json.loads((directory / _META).read_bytes())
        for entry in read["segments"]:
            _files_of(entry)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedState(
            f"index {directory}: {_META} is damaged ({error}); `recrawl check --repair` begins a "
            "new index and has its pages fetched again"
        ) from error
    else:
        return dict(read)


def _segments(meta: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {_hex(entry): entry for entry in meta["segments"]}


def _hex(entry: dict[str, Any]) -> str:
    return str(entry["segment_id"]).replace("-", "")


def _files_of(entry: dict[str, Any]) -> list[str]:
    segment, deletes = _hex(entry), entry["deletes"]
    names = [f"{segment}.{part}" for part in _PARTS]
    return names if deletes is None else [*names, f"{segment}.{deletes['opstamp']}.del"]


@contextlib.contextmanager
def _settled(directory: Path) -> Iterator[None]:
    """Keep tantivy, here and elsewhere, from collecting files meanwhile."""
    with contextlib.ExitStack() as stack:
        try:
            lock = stack.enter_context((directory / _META_LOCK).open("ab"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:  # only looked at: at worst a file goes away
            if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise
        yield
