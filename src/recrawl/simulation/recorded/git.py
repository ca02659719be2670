"""File histories from a git repository: when each changed, and what it held.

Repositories are hostile input. git only lists and prints here: nothing is checked out, no hook,
filter, pager or signature program of the repository runs, and no network is reached. Names that
are no plain paths, symbolic links and submodules are left out.
"""

import os
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Final, NamedTuple

from recrawl.errors import InputError, StateError
from recrawl.simulation.recorded.log import PageHistory, RecordedLog

_OFF: Final = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false", "-c", "protocol.allow=never"),
    *("-c", "safe.directory=*"),
)
_PIECE: Final = 1 << 16
_LONGEST_NAME: Final = 1_000
_DEEPEST: Final = 50  # folders in each other
_MOST_ENTRIES: Final = 3_000_000  # files touched by commits, over all of history
_PLAIN_MODES: Final = (b"100644", b"100755")


class _Entry(NamedTuple):
    """A file that a commit touched; ``before``: its name, where it was moved."""

    mode: bytes
    blob: bytes
    kind: bytes
    name: bytes
    before: bytes | None


def read_log(repo: Path, paths: Sequence[str] = (), *, renames: bool = False) -> RecordedLog:
    """Read when files changed, along the main line.

    Parameters
    ----------
    repo : a repository on this machine
    paths : only files that match these
    renames : tell which file became which, where a commit moved it

    Raises
    ------
    InputError
        Not a repository, damaged, or larger than three million changes of files.
    StateError
        git cannot be run.

    Notes
    -----
    Commits whose clocks ran backwards count as made when the one before was. Read as a stream:
    memory grows with changes of files only.
    """
    if not repo.is_dir():
        raise InputError(f"{repo}: there is no such directory")
    options = ["-M", "-l200"] if renames else ["--no-renames"]
    arguments = ["log", "--reverse", "--first-parent", "--diff-merges=first-parent", *options]
    mark = secrets.token_hex(8)  # that no name of a file can hold
    arguments += ["--raw", "-z", "--no-abbrev", f"--format={mark}%ct", "--", *paths]
    files: dict[str, PageHistory] = {}
    now, commits, n_left_out, n_entries = 0, 0, 0, 0
    with TemporaryFile() as said, _git(repo, arguments, said=said) as process:
        assert process.stdout is not None
        for at, entries in _commits(process.stdout, mark.encode()):
            commits += 1
            now = max(now, _instant(repo, at))
            n_entries += len(entries)
            if n_entries > _MOST_ENTRIES:
                process.kill()
                raise InputError(
                    f"{repo}: more than {_MOST_ENTRIES:,} changes of files; name paths"
                )
            for mode, blob, kind, name, before in entries:
                place = _path_of(name)
                if place is None or (kind != b"D" and mode not in _PLAIN_MODES):
                    n_left_out += 1
                    continue
                if before is not None and (old := _path_of(before)) is not None and old in files:
                    _note(files[old], now, None, len(entries))
                    files[old].moved_to[now] = place
                held = None if kind == b"D" else blob.decode("ascii", "replace")
                _note(files.setdefault(place, PageHistory()), now, held, len(entries))
        _finish(repo, process, said)
    return RecordedLog(files, commits, now, n_left_out)


def _note(file: PageHistory, at_s: int, blob: str | None, touched: int) -> None:
    before = file.blobs[-1] if file.blobs else None
    if blob == before:  # only its mode changed, or it had not been there
        return
    if file.at_s and file.at_s[-1] == at_s:
        file.blobs[-1], file.with_others[-1] = blob, touched
        return
    file.at_s.append(at_s)
    file.blobs.append(blob)
    file.with_others.append(touched)


def _instant(repo: Path, field_: bytes) -> int:
    try:
        return int(field_)
    except ValueError:
        raise InputError(f"{repo}: git's log cannot be read") from None


def _commits(stream: IO[bytes], mark: bytes) -> Iterator[tuple[bytes, list[_Entry]]]:
    """Instant of each commit, and the files that it touched.

    A commit of more files than may be read is told in part: its reader ends there.
    """
    at: bytes | None = None
    entries: list[_Entry] = []
    fields = _fields(stream)
    for one in fields:
        if one.startswith(mark):
            if at is not None:
                yield at, entries
            at, entries = one[len(mark) :], []
            continue
        told = one.split()
        if len(told) != 5 or not told[0].startswith(b":"):
            continue
        kind = told[4][:1]
        name, before = next(fields, b""), None
        if kind in (b"R", b"C"):
            before, name = (name if kind == b"R" else None), next(fields, b"")
        entries.append(_Entry(told[1], told[3], kind, name, before))
        if at is not None and len(entries) > _MOST_ENTRIES:
            break
    if at is not None:
        yield at, entries


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the fields between zero bytes; none is longer than a name and what is told of it."""
    held = b""
    while piece := stream.read(_PIECE):
        *whole, held = (held + piece).split(b"\0")
        for one in whole:
            yield one.strip(b"\n")
    if held:
        yield held.strip(b"\n")


def _path_of(name: bytes) -> str | None:
    """Return a name as a path, or nothing where an address could not have it."""
    try:
        path = name.decode("utf-8")
    except UnicodeDecodeError:
        return None
    parts = path.split("/")
    if len(name) > _LONGEST_NAME or len(parts) > _DEEPEST:
        return None
    if any(part in ("", ".", "..") for part in parts):
        return None
    return path if path.isprintable() and "\\" not in path else None


def _git(
    repo: Path, arguments: Sequence[str], *, said: IO[bytes] | None = None, asked: bool = False
) -> subprocess.Popen[bytes]:
    quiet = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    command = ["git", "--no-pager", "--no-replace-objects", *_OFF, "-C", str(repo), *arguments]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE if asked else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said or subprocess.DEVNULL,
            env={**kept, **quiet},
        )
    except OSError as error:
        raise StateError(f"git cannot be run: {error.strerror}") from error


def _finish(repo: Path, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    if process.wait():
        said.seek(0)
        lines = said.read(_PIECE).decode(errors="replace").strip().splitlines()
        raise InputError(f"{repo}: git says: {lines[-1] if lines else process.returncode}")


class Blobs:
    """Contents of a repository's files, by name of blob; one git process for all.

    Parameters
    ----------
    repo : the repository
    max_bytes : of a file; larger ones are not read
    """

    are_pages = False

    def __init__(self, repo: Path, max_bytes: int) -> None:
        self._repo, self._max_bytes = repo, max_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = Lock()

    def read(self, blob: str) -> bytes | None:
        """Return what a blob holds; None: it is missing, damaged, or larger than may be read."""
        with self._turn:
            told = self._ask(f"info {blob}")
            if len(told) != 3 or told[1] != b"blob" or int(told[2]) > self._max_bytes:
                return None
            told = self._ask(f"contents {blob}")
            if len(told) != 3:
                return None
            assert self._process is not None
            assert self._process.stdout is not None
            content = self._process.stdout.read(int(told[2]) + 1)
            return content[:-1] if len(content) == int(told[2]) + 1 else None

    def _ask(self, line: str) -> list[bytes]:
        if self._process is None or self._process.poll() is not None:
            arguments = ["cat-file", "--batch-command", "--buffer"]
            self._process = _git(self._repo, arguments, asked=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{line}\nflush\n".encode())
            self._process.stdin.flush()
            return self._process.stdout.readline(4096).split()
        except OSError:
            return []

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process.wait()
