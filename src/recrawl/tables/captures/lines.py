"""Lines of a file of any size, compressed or not; none is read that is longer than a line can be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from recrawl.errors import InvalidTable
from recrawl.tables.access_logs import open_log
from recrawl.tables.captures.looks import Tally

__all__ = ["read_lines"]

_LONGEST: Final = 1 << 20


def read_lines(path: Path, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line that is not empty; the tally has how far it is.

    Raises
    ------
    InvalidTable
        The file cannot be read.
    """
    before, number, goes_on = tally.done_bytes, 0, False
    with open_log(path) as file:
        raw = getattr(file, "fileobj", None) or file
        while line := file.readline(_LONGEST):
            whole = line.endswith(b"\n") or len(line) < _LONGEST
            if goes_on:  # the rest of one that was too long
                goes_on = not whole
                continue
            number += 1
            tally.done_bytes = before + raw.tell()
            if not whole:
                goes_on = True
                tally.n_records += 1
                tally.bad(path, f"line {number}", f"is longer than {_LONGEST:,} bytes")
            elif line.strip():
                if number == 1 and line.startswith(b"PAR1"):
                    raise InvalidTable(f"{path}: is a Parquet file; recrawl history from-visits")
                yield number, line
    tally.done_bytes = before + path.stat().st_size
