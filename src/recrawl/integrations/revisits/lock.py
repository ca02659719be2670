"""The right to work on a state, which one process has at a time."""

import fcntl
import os
from pathlib import Path
from typing import IO

from recrawl.errors import StateError


class StateLock:
    """A lock file, held until :meth:`release` or the end of the process.

    Parameters
    ----------
    path : of the file; its directory is made if it is missing
    place : what messages call the place that people gave
    busy : what another process that holds it means, ``{holder}`` being that process

    Raises
    ------
    StateError
        Another process holds it, or the directory cannot be written.
    """

    def __init__(self, path: Path, place: str, busy: str) -> None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            number = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StateError(f"{place}: {path.parent}: {error.strerror}") from None
        self._file: IO[str] = os.fdopen(number, "r+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = self._file.read(80).strip() or "another process"
            self._file.close()
            told = busy.format(holder=holder)
            raise StateError(f"{place}: {path.parent}: {told}") from None
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()

    def release(self) -> None:
        """Let another process have it."""
        self._file.close()
