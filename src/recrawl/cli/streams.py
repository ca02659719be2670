"""Standard streams that may be closed, full, left by their reader, or of an odd encoding."""

import io
import os
import sys

__all__ = ["close_stdout", "is_unheard", "open_streams"]


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


def close_stdout() -> None:
    """Have what waits to be written go nowhere, or it would be tried again at the very end."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
