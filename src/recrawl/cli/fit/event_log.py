"""Logs of updates and of probe results that people bring: Parquet, CSV or JSON Lines."""

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, json, parquet

from recrawl.errors import InvalidTable
from recrawl.processes.fitting.probe_results import ProbedIntensity, estimate_from_probes
from recrawl.processes.fitting.weekly_intensity import WeeklyIntensity, estimate_weekly_intensity
from recrawl.processes.local_clock import WEEK_S, LocalClock
from recrawl.wiring.zones import find_zone, local_clock

__all__ = ["EventLog", "fit_log", "fit_probe_results", "read_event_log", "read_probe_results"]

_TIMES = ("at", "timestamp", "time", "updated_at", "changed_at", "published_at", "date")
_NAMES = ("source", "trace", "url", "feed", "page")
_VISITS = ("probed_at", "visited_at", *_TIMES)


@dataclass(frozen=True, eq=False)
class EventLog:
    """Times of the updates of one source, seconds since the epoch, in order."""

    path: Path
    name: str
    times_s: NDArray[np.float64]


def read_event_log(path: Path, source: str | None = None) -> list[EventLog]:
    """Read one timestamp per update; with a column of names, one log for each source.

    Raises
    ------
    InvalidTable
        If the file cannot be read, is empty, or a time is missing, naive or out of order.
    """
    table = _read(path)
    column = _time_column(table, _TIMES, path)
    times = _instants(table, column, path)
    if times.size == 0:
        raise InvalidTable(f"{path}: holds no event; one timestamp per update is needed")
    label = next((name for name in _NAMES if name in table.column_names), None)
    if label is None:
        if source is not None:
            raise InvalidTable(f"{path}: no column {_NAMES[0]}, so there is no source {source!r}")
        _require_order(times, np.arange(times.size), path, column)
        return [EventLog(path, path.stem, times)]
    names = np.asarray(table.column(label).cast(pa.string()).to_numpy(zero_copy_only=False))
    known, first = np.unique(names.astype(str), return_index=True)
    known = known[np.argsort(first)]
    if source is not None and source not in known:
        shown = ", ".join(known[:10]) + (", ..." if known.size > 10 else "")
        raise InvalidTable(f"{path}: no source {source!r}; there are {shown}")
    logs = []
    for name in known if source is None else [source]:
        rows = np.flatnonzero(names == name)
        _require_order(times[rows], rows, path, column)
        logs.append(EventLog(path, str(name), times[rows]))
    return logs


def read_probe_results(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Read times of probes and whether each found something new; None if no column says so.

    Raises
    ------
    InvalidTable
        As :func:`read_event_log`.
    """
    table = _read(path)
    if "changed" not in table.column_names:
        return None
    column = _time_column(table, _VISITS, path)
    times = _instants(table, column, path)
    _require_order(times, np.arange(times.size), path, column)
    values = table.column("changed")
    try:
        changed = np.asarray(pc.cast(values, pa.bool_()).to_numpy(zero_copy_only=False), np.bool_)
    except pa.ArrowException as error:
        raise InvalidTable(f"{path}, column changed: must hold true or false") from error
    if times.size < 10 or values.null_count:
        raise InvalidTable(f"{path}: at least 10 probes with known results are needed")
    return times, changed


def fit_log(log: EventLog, zone: str) -> tuple[WeeklyIntensity, LocalClock]:
    """Weekly intensity (per second) on the clock of a time zone, from first to last event."""
    where = find_zone(zone)
    first, last = float(log.times_s[0]), float(log.times_s[-1])
    if last <= first:
        raise InvalidTable(
            f"{log.path}: {log.times_s.size} event(s) at one time; a rate needs a longer record"
        )
    clock = local_clock(where, first, last)
    exposure, first_week = clock.observed(first, last + 1.0)
    local = clock.local_s(log.times_s) - first_week * WEEK_S
    cell = np.clip((local // 3600.0).astype(np.int64), 0, exposure.size - 1)
    counts = np.bincount(cell, minlength=exposure.size).reshape(exposure.shape).astype(np.float64)
    # An event in the hour that the clocks repeat or skip counts where its exposure is.
    exposure = np.where((counts > 0) & (exposure <= 0), 1.0, exposure)
    return estimate_weekly_intensity(counts, exposure), clock


def fit_probe_results(
    times_s: NDArray[np.float64], changed: NDArray[np.bool_], zone: str
) -> ProbedIntensity:
    """Weekly intensity (per second) from probes; the first probe only starts the clock."""
    clock = local_clock(find_zone(zone), float(times_s[0]), float(times_s[-1]))
    exposure = clock.weekly_exposure(times_s)
    seen = exposure.sum(axis=1) > 0
    return estimate_from_probes(exposure[seen], changed[1:][seen])


def _read(path: Path) -> pa.Table:
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


def _time_column(table: pa.Table, names: tuple[str, ...], path: Path) -> str:
    for name in names:
        if name in table.column_names:
            return name
    for field in table.schema:
        if pa.types.is_timestamp(field.type):
            return str(field.name)
    if table.num_columns == 1:
        return str(table.column_names[0])
    raise InvalidTable(
        f"{path}: no column {names[0]} with timestamps; the columns are "
        f"{', '.join(table.column_names) or 'none'}"
    )


def _instants(table: pa.Table, name: str, path: Path) -> NDArray[np.float64]:
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


def _require_order(
    times: NDArray[np.float64], rows: NDArray[np.int64], path: Path, name: str
) -> None:
    falls = np.flatnonzero(np.diff(times) < 0)
    if falls.size:
        raise InvalidTable(
            f"{path}, column {name}, row {int(rows[falls[0] + 1]) + 1}: the time is before that of "
            "the row above; events must be in order"
        )
