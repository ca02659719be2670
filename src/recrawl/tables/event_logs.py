"""Logs of updates and of probe results that people bring: Parquet, CSV or JSON Lines."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recrawl.crawler.settings.zones import find_zone
from recrawl.crawler.wiring.zones import local_clock
from recrawl.errors import InvalidTable
from recrawl.learning.probe_results import ProbedIntensity, estimate_from_probes
from recrawl.learning.weekly_intensity import WeeklyIntensity, estimate_weekly_intensity
from recrawl.processes.local_clock import WEEK_S, LocalClock
from recrawl.tables.columns import truths
from recrawl.tables.complaints import told_columns
from recrawl.tables.instants import instants
from recrawl.tables.reading import read_table

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

    Parameters
    ----------
    path : of the table
    source : name of the only one wanted; None: all

    Raises
    ------
    InvalidTable
        If the file cannot be read, is empty, or a time is missing, naive or out of order.
    """
    table = read_table(path, first_name=_TIMES[0])
    column = _time_column(table, _TIMES, path)
    times = instants(table, column, path)
    if times.size == 0:
        raise InvalidTable(f"{path}: holds no event; one timestamp per update is needed")
    if "changed" in table.column_names:  # no updates, but results of probes
        _require_one_source(table, path)
    label = _label(table)
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
    table = read_table(path, first_name=_TIMES[0])
    if "changed" not in table.column_names:
        return None
    _require_one_source(table, path)
    column = _time_column(table, _VISITS, path)
    times = instants(table, column, path)
    _require_order(times, np.arange(times.size), path, column)
    changed = truths(table.column("changed"), "changed", path)
    if times.size < 10 or None in changed:
        raise InvalidTable(f"{path}: at least 10 probes with known results are needed")
    return times, np.array(changed, np.bool_)


def fit_log(log: EventLog, zone: str) -> tuple[WeeklyIntensity, LocalClock]:
    """Weekly intensity (per second) on the clock of a time zone, from first to last event.

    Parameters
    ----------
    log : at two instants or more
    zone : name of the time zone, as ``Europe/Berlin``
    """
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
    """Weekly intensity (per second) from probes.

    Parameters
    ----------
    times_s : shape (n,), seconds since the epoch, in order
    changed : shape (n,), whether each probe found something new; the first only starts the clock
    zone : name of the source's time zone, as ``Europe/Berlin``
    """
    clock = local_clock(find_zone(zone), float(times_s[0]), float(times_s[-1]))
    exposure = clock.weekly_exposure(times_s)
    seen = exposure.sum(axis=1) > 0
    return estimate_from_probes(exposure[seen], changed[1:][seen])


def _label(table: pa.Table) -> str | None:
    """Return the column that names the source of each row; None: there is none."""
    return next((name for name in _NAMES if name in table.column_names), None)


def _require_one_source(table: pa.Table, path: Path) -> None:
    label = _label(table)
    n_sources = len(pc.unique(table.column(label))) if label else 1
    if n_sources > 1:
        raise InvalidTable(
            f"{path}, column {label}: has {n_sources} sources; probes of one are needed, so leave "
            "the rows of the others out"
        )


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
        f"{path}: no column {names[0]} with timestamps; {told_columns(table.column_names)}"
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
