"""Tables with times that people bring: Parquet, CSV or JSON Lines, each instant with its zone."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, json, parquet

from recrawl.errors import InvalidTable

__all__ = ["instants", "read_table"]


def read_table(path: Path) -> pa.Table:
    """Read a table whole, its format recognised by content.

    Raises
    ------
    InvalidTable
        If the file cannot be read, is empty or holds none of the three.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidTable(f"{path}: cannot be read: {error.strerror}") from error
    if not content.strip():
        raise InvalidTable(f"{path}: is empty; one timestamp per update is needed")
    try:
        if content[:4] == b"PAR1":
            return parquet.read_table(io.BytesIO(content))
        if content.lstrip()[:1] == b"{":
            return json.read_json(io.BytesIO(content))
        return _read_csv(content)
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidTable(f"{path}: not Parquet, CSV or JSON Lines: {reason}") from error


def _read_csv(content: bytes) -> pa.Table:
    """Read CSV; a file whose first line is already a timestamp has one column without a name."""
    first = content.lstrip()[:4]
    if first.isdigit() and b"," not in content.split(b"\n", 1)[0]:
        return csv.read_csv(io.BytesIO(content), csv.ReadOptions(column_names=["at"]))
    return csv.read_csv(io.BytesIO(content))


def instants(table: pa.Table, name: str, path: Path) -> NDArray[np.float64]:
    """Return a column of times as seconds since the epoch; each needs a time zone or Z.

    Raises
    ------
    InvalidTable
        If a time is missing, naive or no time at all; the message names row and value.
    """
    column = table.column(name).combine_chunks()
    if pa.types.is_string(column.type):
        naive = pc.invert(pc.match_substring_regex(column, r"([zZ]|[+-]\d\d:?\d\d)\s*$"))
        rows = np.flatnonzero(np.asarray(pc.fill_null(naive, True).to_numpy(zero_copy_only=False)))
        if rows.size:
            _naive(path, name, int(rows[0]), column[int(rows[0])].as_py())
        try:
            column = pc.cast(column, pa.timestamp("us", tz="UTC"))
        except pa.ArrowInvalid as error:
            raise InvalidTable(f"{path}, column {name}: {error}") from error
    if pa.types.is_date(column.type) or (
        pa.types.is_timestamp(column.type) and column.type.tz is None
    ):
        _naive(path, name, 0, column[0].as_py() if len(column) else "")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidTable(f"{path}, column {name}, row {row + 1}: the time is missing")
    if pa.types.is_timestamp(column.type):
        micros = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
        return np.asarray(micros.to_numpy(zero_copy_only=False), dtype=np.float64) / 1e6
    try:
        values = np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowException as error:
        raise InvalidTable(f"{path}, column {name}: holds no timestamps") from error
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InvalidTable(f"{path}, column {name}, row {wrong[0] + 1}: not a finite time")
    return np.asarray(values, dtype=np.float64)


def _naive(path: Path, name: str, row: int, value: object) -> None:
    raise InvalidTable(
        f"{path}, column {name}, row {row + 1}: {value} has no time zone; write times as "
        "2026-08-22T09:30:00Z or with an offset such as +02:00"
    )
