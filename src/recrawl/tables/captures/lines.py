"""Files of any size, compressed by gzip or not; no line is held that is longer than one can be."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from recrawl.errors import InvalidTable
from recrawl.tables.captures.looks import Tally

_LONGEST: Final = 1 << 20


@contextmanager
def open_counted(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file; yield what it holds, and the file itself, which tells how far it is read.

    Raises
    ------
    InvalidTable
        It cannot be read.
    """
    try:
        with path.open("rb") as raw:
            is_packed = raw.peek(2)[:2] == b"\x1f\x8b"  # nothing is read twice: it may be a pipe
            if not is_packed:
                yield raw, raw
                return
            with gzip.open(raw) as unpacked:
                yield unpacked, raw  # type: ignore[misc] # it reads as any other
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidTable(f"{path}: is no whole gzip file ({error})") from None
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror or error}") from None


def read_lines(path: Path, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line that is not empty.

    Parameters
    ----------
    path : the file, compressed by gzip or not
    tally : counts and complaints, is written; it has how far the reader is

    Raises
    ------
    InvalidTable
        The file cannot be read.
    """
    before, number, goes_on = tally.done_bytes, 0, False
    with open_counted(path) as (file, raw):
        while line := file.readline(_LONGEST):
            whole = line.endswith(b"\n") or len(line) < _LONGEST
            if goes_on:  # the rest of one that was too long
                goes_on = not whole
                continue
            number += 1
            line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            tally.done_bytes = before + _place(raw)
            if not whole:
                goes_on = True
                tally.n_records += 1
                tally.bad(path, f"line {number}", f"is longer than {_LONGEST:,} bytes")
            elif line.strip():
                if number == 1 and line.startswith(b"PAR1"):
                    raise InvalidTable(
                        f"{path}: is a Parquet file, for recrawl history from-visits"
                    )
                yield number, line
        tally.done_bytes = before + _place(raw)


def _place(file: IO[bytes]) -> int:
    """Return how far a file is read, where it can tell."""
    return file.tell() if file.seekable() else 0
