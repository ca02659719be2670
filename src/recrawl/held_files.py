"""Files that stand for a right, which one process has at a time."""

import fcntl
import os
import shlex
import struct
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from recrawl.errors import StateError

# A second lock says to whoever looks, in whichever container, that the first is held: that one
# cannot be looked at but by trying to take it, which would be in the way of who wants it.
_SIGN: Final = "hhqqi0q"  # type, of how many bytes from where; 0: all


def is_held(path: Path) -> bool:
    """Tell whether a process has the right that a file stands for; the lock is only looked at."""
    try:
        with path.open("rb") as opened:
            asked = struct.pack(_SIGN, fcntl.F_RDLCK, 0, 0, 0, 0)
            told = fcntl.fcntl(opened, fcntl.F_OFD_GETLK, asked)
    except (OSError, AttributeError):  # only Linux has it
        return False
    return bool(struct.unpack(_SIGN, told)[0] != fcntl.F_UNLCK)


def owner_words(state: Path) -> str:
    """Say what makes a state directory usable for whoever may not read or write what is in it.

    Whoever crawls as root in another's directory leaves files there that are not the owner's.
    """
    with suppress(OSError):
        is_own = state.stat().st_uid == os.geteuid()
        if is_own and any(path.lstat().st_uid != os.geteuid() for path in state.rglob("*")):
            name = shlex.quote(str(state))
            return f"files of another user lie there: chown -R --reference={name} {name}"
    return "run as the owner of the state directory, where it can be written"


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
        with suppress(OSError, AttributeError):  # not every disk has it, and only Linux
            sign = struct.pack(_SIGN, fcntl.F_WRLCK, 0, 0, 0, 0)
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, sign)
        with suppress(OSError):  # a full disk must not keep us from saying so later
            self._file.truncate(0)
            self._file.write(f"process {os.getpid()}")
            self._file.flush()

    def release(self) -> None:
        """Let another process have it."""
        self._file.close()
