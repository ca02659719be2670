"""A program that answers every line that it reads with one line, and never outlives us."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from recrawl.errors import StateError

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
_GUARDIAN: Final = Path(__file__).with_name("guardian.py")


class LineProgram:
    """A command that is started with the first line, and again after :meth:`close`.

    Parameters
    ----------
    command : program and arguments; no shell
    key : of the configuration, for messages
    """

    def __init__(self, command: Sequence[str], *, key: str) -> None:
        self._command = list(command)
        self._key = key
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline = -1  # closed by our end, whichever that is

    def ask(self, lines: Sequence[bytes], *, timeout_s: float) -> list[bytes]:
        """Write lines, each with its end, and return the answers in order.

        The command may read as many as it likes before it answers.

        Raises
        ------
        StateError
            It cannot be started.
        OSError, ValueError
            It ended, is late (``TimeoutError``), or says more than it may: it is to be closed.
        """
        until_s = time.monotonic() + timeout_s
        stdin, stdout = self._pipes()
        unsent, answers = memoryview(b"".join(lines)), bytearray()
        left, most = len(lines), MAX_ANSWER_BYTES
        with selectors.DefaultSelector() as ready:
            ready.register(stdin, selectors.EVENT_WRITE)
            ready.register(stdout, selectors.EVENT_READ)
            while left > 0:
                events = ready.select(max(until_s - time.monotonic(), 0.0))
                if not events:
                    raise TimeoutError(f"no answer within {timeout_s:g} s")
                for key, _ in events:
                    if key.fileobj is stdin:
                        unsent = unsent[os.write(key.fd, unsent) :]
                        if not unsent:
                            ready.unregister(stdin)
                        continue
                    piece = os.read(key.fd, 65_536)
                    if not piece:
                        raise OSError("it ended")
                    answers += piece
                    left -= piece.count(b"\n")
                    if len(answers) > most:
                        raise ValueError(f"an answer of more than {most} bytes")
        told = bytes(answers).split(b"\n")
        if left < 0 or told[-1]:
            raise ValueError("more answers than lines")
        return told[:-1]

    def close(self) -> None:
        """End the command, at once."""
        process, self._process = self._process, None  # two threads may come here at a time
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started, too
            process.communicate()
            os.close(self._lifeline)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = self._started()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)
        return stdin, stdout

    def _started(self) -> subprocess.Popen[bytes]:
        """Start the command under a guardian, which ends it when we end without a word."""
        if shutil.which(self._command[0]) is None:
            raise StateError(
                f"{self._key}: {self._command[0]!r} cannot be started: no such program"
            )
        theirs, self._lifeline = os.pipe()
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARDIAN), str(theirs), *self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                process_group=0,  # Ctrl-C is for the crawl, which ends it in order
                pass_fds=(theirs,),
            )
        except OSError as error:
            os.close(self._lifeline)
            raise StateError(
                f"{self._key}: {self._command[0]!r} cannot be started: {error.strerror}"
            ) from error
        finally:
            os.close(theirs)
