"""Standard streams that may be closed, full, left by their reader, or of an odd encoding."""

import io
import os
import sys
from pathlib import Path
from typing import TextIO

from typing_extensions import Buffer, override


class _Lossy(io.FileIO):
    """A file that loses what a full disk does not take, and goes on once there is room.

    What is told beside the work must not end the work. A reader that has left is told of, as it
    ends a verb before a pipe.
    """

    @override
    def write(self, data: Buffer, /) -> int:
        try:
            n_written = super().write(data)
        except BrokenPipeError:
            raise
        except OSError:
            n_written = None
        # None: nothing could be written now, as to a terminal that takes no more for the moment.
        return memoryview(data).nbytes if n_written is None else n_written


def _text(raw: io.FileIO, encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=True
    )


def open_log(path: Path) -> TextIO:
    """Open a log to append to: each line is written at once, or lost where the disk is full."""
    return _text(_Lossy(path, "a"))


def open_streams() -> None:
    """Make sure that there is a standard input, output and error, and that they take any text.

    A stream that was closed is replaced by nothing. Otherwise the next file that is opened would
    get its number, and be written to by whoever prints.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        raw = _Lossy(sys.stderr.fileno(), "w", closefd=False)
        sys.stderr = _text(raw, sys.stderr.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_unheard(error: OSError) -> bool:
    """Tell whether an error comes from standard output: not even a line end goes there."""
    if isinstance(error, BrokenPipeError):
        return True
    if error.filename is not None:
        return False
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def close_stream(stream: TextIO) -> None:
    """Have what waits to be written go nowhere, or it would be tried again at the very end.

    Parameters
    ----------
    stream : standard output, or standard error
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
