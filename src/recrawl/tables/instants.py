"""Columns of times in tables that people bring: each instant with its zone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recrawl.errors import InvalidTable
from recrawl.tables.columns import plain

_LATEST_S = 221_845_392_000.0  # no calendar here goes beyond the year 9999


def instants(table: pa.Table, name: str, path: Path) -> NDArray[np.float64]:
    """Return a column of times as seconds since the epoch.

    Parameters
    ----------
    table : the table
    name : of the column: texts or timestamps with a time zone or Z, or seconds since the epoch
    path : what messages call the table

    Raises
    ------
    InvalidTable
        If a time is missing, naive or no time at all; the message names row and value.
    """
    column = plain(table.column(name)).combine_chunks()
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidTable(f"{path}, column {name}, row {row + 1}: the time is missing")
    if pa.types.is_string(column.type):
        naive = pc.invert(pc.match_substring_regex(column, r"([zZ]|[+-]\d\d:?\d\d)\s*$"))
        rows = np.flatnonzero(np.asarray(pc.fill_null(naive, True).to_numpy(zero_copy_only=False)))
        if rows.size:
            _naive(path, name, int(rows[0]), column[int(rows[0])].as_py())
        try:
            column = _times(column)
        except pa.ArrowInvalid:
            raise InvalidTable(
                f"{path}, column {name}, row {_first_wrong(column) + 1}: is no time; write times "
                "as 2026-08-22T09:30:00Z"
            ) from None
    if pa.types.is_date(column.type) or (
        pa.types.is_timestamp(column.type) and column.type.tz is None
    ):
        _naive(path, name, 0, column[0].as_py() if len(column) else "")
    if pa.types.is_timestamp(column.type):
        micros = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC"), safe=False), pa.int64())
        return np.asarray(micros.to_numpy(zero_copy_only=False), dtype=np.float64) / 1e6
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if not any(is_one(column.type) for is_one in kinds):
        raise InvalidTable(f"{path}, column {name}: holds no timestamps")
    values = np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    wrong = np.flatnonzero(~(np.abs(values) <= _LATEST_S))
    if wrong.size:
        raise InvalidTable(
            f"{path}, column {name}, row {wrong[0] + 1}: {values[wrong[0]]:g} is no time; numbers "
            "are seconds since 1970, before the year 9000"
        )
    return np.asarray(values, dtype=np.float64)


def _times(column: pa.Array) -> pa.Array:
    """Read texts: to the nanosecond only where it must be, as such times end in the year 2262."""
    try:
        return pc.cast(column, pa.timestamp("us", tz="UTC"))
    except pa.ArrowInvalid:
        return pc.cast(column, pa.timestamp("ns", tz="UTC"))


def _first_wrong(column: pa.Array) -> int:
    """Return the first row that is no time, by halving: Arrow does not say which."""
    first, last = 0, len(column)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            _times(column[first:middle])
        except pa.ArrowInvalid:
            last = middle
        else:
            first = middle
    return first


def _naive(path: Path, name: str, row: int, value: object) -> None:
    raise InvalidTable(
        f"{path}, column {name}, row {row + 1}: {value} has no time zone; write times as "
        "2026-08-22T09:30:00Z or with an offset such as +02:00"
    )
