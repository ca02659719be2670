"""Files that stand for a right, which one process has at a time."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from recrawl.errors import StateError


class StateLock:
    """A right to work on a state, held until :meth:`release` or the end of the process.

    Parameters
    ----------
    path : of the file that is locked; its directory is made if it is missing
    called : what messages call the place
    busy : what is said where another process has it, ``{holder}`` being that process

    Raises
    ------
    StateError
        Another process has it, or the directory cannot be written.
    """

    def __init__(self, path: Path, called: str, busy: str) -> None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            number = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
            self._file: IO[str] = os.fdopen(number, "a+", encoding="utf-8")
        except OSError as error:
            raise StateError(f"{called}: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read(80).strip() or "another process"
            self._file.close()
            raise StateError(f"{called}{busy.replace('{holder}', holder)}") from error
        with suppress(OSError):  # a full disk must not keep us from saying so later
            self._file.truncate(0)
            self._file.write(f"process {os.getpid()}")
            self._file.flush()

    def release(self) -> None:
        """Let another process have it."""
        self._file.close()
