"""Tables of arrivals and of service times that people bring: Parquet, CSV or JSON Lines."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recrawl.errors import InvalidTable
from recrawl.tables.columns import plain
from recrawl.tables.complaints import told_columns
from recrawl.tables.reading import read_table

_TIMES = ("arrived_at", "delivered_at", "timestamp", "time")
_SECONDS = ("index_seconds", "service_seconds", "seconds")


def read_arrival_log(
    path: Path, robots: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Read one row per delivered page: times in seconds, robots active, service times if any.

    Parameters
    ----------
    path : a table with a column ``arrived_at`` (ISO 8601 UTC, or seconds), ``robots`` (active
        since the row before) and, if wanted, ``index_seconds``
    robots : how many were active all the time, for a log without the column

    Raises
    ------
    InvalidTable
        If the file cannot be read or a column is missing or holds a value outside its domain; the
        message names file, column and row (the first row of data is row 1).
    """
    table = read_table(path)
    name = _column(table, _TIMES, path)
    times = _numbers(table, name, path)
    if times.size < 3:
        raise InvalidTable(f"{path}: at least 3 arrivals are needed, got {times.size}")
    falls = np.flatnonzero(np.diff(times) < 0)
    if falls.size:
        raise InvalidTable(
            f"{path}, column {name}, row {falls[0] + 2}: the time is before that of the row above; "
            "rows must be in the order of arrival"
        )
    if "robots" in table.column_names:
        active = _numbers(table, "robots", path)
        wrong = np.flatnonzero((active < 1) | (active != np.floor(active)))
        if wrong.size:
            raise InvalidTable(
                f"{path}, column robots, row {wrong[0] + 1}: {active[wrong[0]]:g} is not a whole "
                "number of at least 1"
            )
    elif robots is not None:
        active = np.full(times.size, robots)
    else:
        raise InvalidTable(
            f"{path}: no column robots (robots active since the row before), and no "
            "--robots-in-log that says how many were active all the time"
        )
    service = next((column for column in _SECONDS if column in table.column_names), None)
    seconds = _service(table, service, path) if service is not None else None
    return times, active.astype(np.int64), seconds


def read_service_times(path: Path) -> NDArray[np.float64]:
    """Read how long the indexer took over each page, in seconds: column ``index_seconds``.

    Raises
    ------
    InvalidTable
        If the file cannot be read, or the column is missing or holds a negative value.
    """
    table = read_table(path)
    return _service(table, _column(table, _SECONDS, path), path)


def _service(table: pa.Table, name: str, path: Path) -> NDArray[np.float64]:
    seconds = _numbers(table, name, path)
    wrong = np.flatnonzero(seconds < 0)
    if wrong.size:
        raise InvalidTable(
            f"{path}, column {name}, row {wrong[0] + 1}: {seconds[wrong[0]]:g} is negative; "
            "durations are in seconds, >= 0"
        )
    if seconds.size < 2:
        raise InvalidTable(f"{path}, column {name}: at least 2 durations are needed")
    return seconds


def _column(table: pa.Table, names: tuple[str, ...], path: Path) -> str:
    for name in names:
        if name in table.column_names:
            return name
    raise InvalidTable(f"{path}: no column {names[0]}; {told_columns(table.column_names)}")


def _numbers(table: pa.Table, name: str, path: Path) -> NDArray[np.float64]:
    column = plain(table.column(name)).combine_chunks()
    if pa.types.is_date(column.type):
        column = pc.cast(column, pa.timestamp("us"))
    if pa.types.is_string(column.type):
        try:
            column = pc.cast(column, pa.timestamp("us", tz="UTC"))
        except pa.ArrowInvalid:
            raise InvalidTable(
                f"{path}, column {name}: holds a text that is no time; write times as "
                "2026-08-22T09:30:00Z"
            ) from None
    if pa.types.is_timestamp(column.type):
        micros = pc.cast(
            pc.cast(column, pa.timestamp("us", tz=column.type.tz), safe=False), pa.int64()
        )
        values = np.asarray(micros.to_numpy(zero_copy_only=False), dtype=np.float64) / 1e6
    else:
        try:
            values = np.asarray(
                pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False),
                dtype=np.float64,
            )
        except pa.ArrowException as error:
            raise InvalidTable(f"{path}, column {name}: holds no numbers or times") from error
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InvalidTable(f"{path}, column {name}, row {wrong[0] + 1}: empty or not finite")
    return values
