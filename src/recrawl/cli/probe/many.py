"""Many sources under one budget of probes, from a table."""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from recrawl.cli.output import console, print_json, print_table, progress_console
from recrawl.cli.probe.source import LONGEST_PERIOD_S, Importance
from recrawl.cli.sizes import check_whole
from recrawl.crawler.settings.zones import find_zone
from recrawl.errors import InputError, InvalidModel, InvalidTable
from recrawl.probing import Profile, SourceBatch, allocate_probes, schedule_batches
from recrawl.quantities import parse_duration_s, parse_rate_per_s, show_duration
from recrawl.tables.event_logs import fit_log, read_event_log
from recrawl.tables.reading import open_parquet
from recrawl.whole_files import whole_file

_WEEK_S = 604_800.0
_ROWS = 4096
_SHOWN = 10_000
_MOST_CELLS = 2_000_000
_MOST_PROBES = 2**53


@dataclass(frozen=True)
class Request:
    """The options of the verb that many sources share."""

    path: Path
    probes: int | None
    every: str | None
    budget: str | None
    period: str | None
    min_gap: str | None
    importance: Importance
    zone: str | None
    grid: str | None
    host_limit: str | None
    threads: int
    out: Path | None


def names_several(path: Path) -> bool:
    """Whether a file is a table of patterns, or of updates of more than one source."""
    try:
        if "intensity" in _parquet_names(path):
            return True
    except OSError:
        return False
    if path.suffix.lower() in {".toml", ".json"}:
        return False
    try:
        return len({log.name for log in read_event_log(path)}) > 1
    except InputError:
        return False  # whoever reads it next says what is wrong


def _parquet_names(path: Path) -> list[str]:
    """Names of the columns, where it is a Parquet file."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return []
    with open_parquet(path) as table:
        return list(table.schema_arrow.names)


@dataclass(frozen=True, eq=False)
class SourceTable:
    """Sources as batches on one grid, read again at each call."""

    request: Request
    cells: int
    step_s: float
    worth: np.ndarray
    names: list[str]
    hosts: list[str]
    learned: np.ndarray | None

    def __call__(self) -> Iterator[SourceBatch]:
        """Read all of them once."""
        if self.learned is not None:
            yield from self._from_rates()
        else:
            yield from self._from_parquet()

    def _gaps(self, given: np.ndarray | None, m: int) -> np.ndarray:
        floor = (
            parse_duration_s(self.request.min_gap, name="--min-gap")
            if self.request.min_gap is not None
            else 0.0
        )
        seconds = np.maximum(np.zeros(m) if given is None else given, floor)
        return np.maximum(np.ceil(seconds / self.step_s - 1e-9), 1).astype(np.int32)

    def _from_rates(self) -> Iterator[SourceBatch]:
        assert self.learned is not None
        rates = _on_grid(self.learned, self.cells, self.step_s)
        yield SourceBatch.of(rates, self.worth[None], gaps=self._gaps(None, rates.shape[0]))

    def _from_parquet(self) -> Iterator[SourceBatch]:
        number = {host: at for at, host in enumerate(self.hosts)}
        first = 0
        with open_parquet(self.request.path) as file:
            for batch in file.iter_batches(batch_size=_ROWS):
                rates = _rates(self.request.path, batch, first)
                columns = {
                    name: _numbers(self.request.path, batch, name, first)
                    for name in ("weight", "min_gap", "max_probes")
                }
                m = rates.shape[0]
                names = batch.column("host").to_pylist() if "host" in batch.schema.names else []
                most = columns["max_probes"]
                try:
                    yield SourceBatch.of(
                        _on_grid(rates, self.cells, self.step_s),
                        self.worth[None],
                        weights=1.0 if columns["weight"] is None else columns["weight"],
                        gaps=self._gaps(columns["min_gap"], m),
                        most=None if most is None else most.astype(np.int64),
                        hosts=np.array([number.get(str(host), -1) for host in names] or [-1] * m),
                    )
                except InvalidModel as error:
                    last = first + m
                    raise InvalidTable(
                        f"{self.request.path}, rows {first + 1} to {last}: {error}"
                    ) from error
                first += m


def _rates(path: Path, batch: pa.RecordBatch, first: int) -> np.ndarray:
    column = batch.column("intensity")
    if not (pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)):
        raise InvalidTable(f"{path}: column intensity must hold lists of numbers, updates per day")
    lengths = np.asarray(pa.compute.list_value_length(column).to_numpy(zero_copy_only=False))
    wrong = np.flatnonzero(lengths != 168)
    if wrong.size:
        raise InvalidTable(
            f"{path}, row {first + int(wrong[0]) + 1}, column intensity: has {lengths[wrong[0]]} "
            "values; one for each of the 168 hours of a week is needed, Monday 0:00 first"
        )
    values = np.asarray(
        column.flatten().cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    )
    rates: np.ndarray = values.reshape(-1, 168)
    bad = np.argwhere(~(np.isfinite(rates) & (rates >= 0)))
    if bad.size:
        row, hour = map(int, bad[0])
        raise InvalidTable(
            f"{path}, row {first + row + 1}, column intensity: hour {hour} is "
            f"{rates[row, hour]:g}; must be finite and >= 0"
        )
    return np.asarray(rates / 86_400.0, dtype=np.float64)


def _numbers(path: Path, batch: pa.RecordBatch, name: str, first: int) -> np.ndarray | None:
    if name not in batch.schema.names:
        return None
    values = np.asarray(
        batch.column(name).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    )
    least = 0.0 if name == "min_gap" else 1.0 if name == "max_probes" else 1e-300
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= least)))
    if bad.size:
        raise InvalidTable(
            f"{path}, row {first + int(bad[0]) + 1}, column {name}: {values[bad[0]]:g} must be "
            f"finite and {'>= 0' if least == 0 else '>= 1' if least == 1 else '> 0'}"
        )
    return np.asarray(values, dtype=np.float64)


def _on_grid(rates: np.ndarray, cells: int, step_s: float) -> np.ndarray:
    """Expected updates in each grid cell from rates per second in each hour of the week."""
    hours = np.arange(169) * 3600.0
    edges = np.arange(cells + 1) * step_s
    cumulated = np.concatenate(
        [np.zeros((rates.shape[0], 1)), np.cumsum(rates * 3600.0, axis=1)], axis=1
    )
    whole, phase = np.divmod(edges, _WEEK_S)
    at = np.clip(np.searchsorted(hours, phase, side="right") - 1, 0, 167)
    share = (phase - hours[at]) / 3600.0
    values = cumulated[:, at] + share * (cumulated[:, at + 1] - cumulated[:, at])
    found = np.maximum(np.diff(values + whole * cumulated[:, -1:], axis=1), 0.0)
    return np.asarray(found, dtype=np.float64)


def open_sources(request: Request) -> SourceTable:
    """Return the sources of a file on one grid: patterns as written, or learned from updates."""
    period_s = parse_duration_s(request.period or "1w", name="--period")
    if not 0 < period_s <= LONGEST_PERIOD_S or period_s % _WEEK_S:
        raise InputError(
            f"--period: {request.period}: for many sources it must be whole weeks, 10y at most"
        )
    step_s = parse_duration_s(request.grid or "15min", name="--grid")
    if step_s <= 0 or period_s % step_s:
        raise InputError(f"--grid: {request.grid} does not divide the period")
    cells = round(period_s / step_s)
    if cells > _MOST_CELLS:
        raise InputError(f"--grid: {request.grid} makes more than {_MOST_CELLS:,} times; coarser")
    worth = request.importance.over_week(86_400.0) or Profile.constant(1.0, _WEEK_S)
    steps = np.diff(worth.integral(np.arange(cells + 1) * step_s))
    if "intensity" in _parquet_names(request.path):
        with open_parquet(request.path) as file:
            columns = file.schema_arrow.names
            label = next((c for c in ("source", "url", "feed") if c in columns), None)
            wanted = [c for c in (label, "host") if c is not None and c in columns]
            table = file.read(columns=wanted) if wanted else None
            n = file.metadata.num_rows
        names = table.column(label).to_pylist() if table is not None and label else range(n)
        known: list[str] = []
        if table is not None and "host" in columns:
            known = [str(host) for host in table.column("host").unique().to_pylist()]
        return SourceTable(request, cells, step_s, steps, list(map(str, names)), known, None)
    if request.host_limit is not None:
        raise InputError("--host-limit: needs a table of patterns with a column host")
    find_zone(request.zone or "UTC")
    logs = [log for log in read_event_log(request.path) if log.times_s[-1] > log.times_s[0]]
    if not logs:
        raise InvalidTable(
            f"{request.path}: no source has updates at two times; a rate needs a longer record"
        )
    rates = np.array([fit_log(log, request.zone or "UTC")[0].rates for log in logs])
    return SourceTable(request, cells, step_s, steps, [log.name for log in logs], [], rates)


def _budget(request: Request, table: SourceTable) -> int:
    n, period_s = len(table.names), table.cells * table.step_s
    if sum(option is not None for option in (request.probes, request.every, request.budget)) != 1:
        raise InputError("give one of --probes 40, --every 6h and --budget 5000/w")
    if request.probes is not None:
        return check_whole("--probes", request.probes, table.cells) * n
    if request.every is not None:
        between = parse_duration_s(request.every, name="--every")
        if between < table.step_s:
            raise InputError(
                f"--every: {request.every} is finer than the grid of {show_duration(table.step_s)}"
            )
        return math.floor(n * period_s / between)
    wanted = parse_rate_per_s(str(request.budget), name="--budget") * period_s
    if not 1 <= wanted + 1e-9 <= _MOST_PROBES:
        raise InputError(f"--budget: {request.budget} makes {wanted:.3g} probes in the period")
    return math.floor(wanted + 1e-9)


def probe_many(request: Request, *, as_json: bool) -> None:
    """Share a budget over the sources of a table, and print or write what each gets."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    check_whole("--threads", request.threads, 1024)
    if request.out is not None and request.out.suffix.lower() != ".csv":
        raise InputError(f"--out: {request.out}: schedules of many sources are written as .csv")
    table = open_sources(request)
    budget = _budget(request, table)
    limits = None
    if request.host_limit is not None:
        if not table.hosts:
            raise InputError("--host-limit: needs a table of patterns with a column host")
        rate = parse_rate_per_s(request.host_limit, name="--host-limit")
        most = math.floor(rate * table.cells * table.step_s + 1e-9)
        limits = dict.fromkeys(range(len(table.hosts)), most)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    stderr = progress_console()
    quiet = not stderr.is_terminal
    with Progress(*columns, console=stderr, transient=True, disable=quiet) as bar:
        task = bar.add_task("reading")

        def progress(rounds: int, unsettled: int) -> None:
            bar.update(task, description=f"price {rounds}: {unsettled} sources not settled")

        found = allocate_probes(
            table, budget, host_limits=limits, threads=request.threads, progress=progress
        )
        if request.out is not None:
            bar.update(task, description=f"writing {request.out}")
            _write(request.out, table, schedule_batches(table, found))
    uniform = _uniform_cost(table, budget)
    answer = {
        "sources": len(table.names),
        "budget": budget,
        "spent": int(found.counts.sum()),
        "expected_cost": found.total_cost,
        "uniform_cost": uniform,
        "price": found.price,
        "integrality_gap": found.integrality_gap,
        "hosts_at_limit": sorted(table.hosts[host] for host in found.host_prices),
        "unit": "s",
        "period": table.cells * table.step_s,
    }
    if len(table.names) <= _SHOWN:
        answer["probes"] = dict(zip(table.names, found.counts.tolist(), strict=True))
    if as_json:
        print_json(answer)
        return
    _print(answer, table, found.counts, found.costs)


def _uniform_cost(table: SourceTable, budget: int) -> float:
    """Every source probed evenly and equally often, on the same grid."""
    n = max(budget // max(len(table.names), 1), 1)
    at = np.unique(np.ceil(np.arange(1, n + 1) * table.cells / n - 1e-9).astype(int))
    total = 0.0
    A = np.concatenate([[0.0], np.cumsum(table.worth)])
    for batch in table():
        L = np.concatenate([np.zeros((batch.size, 1)), np.cumsum(batch.updates, axis=1)], axis=1)
        constant = np.sum(batch.updates * (A[:-1] + 0.5 * table.worth), axis=1)
        L_at = np.concatenate([np.zeros((batch.size, 1)), L[:, at]], axis=1)
        total += float(np.sum(batch.weights * (np.diff(L_at, axis=1) @ A[at] - constant)))
    return total


def _write(path: Path, table: SourceTable, schedules: Iterator[object]) -> None:
    whole = whole_file(path, option="--out", raises=InputError)
    with whole as to, to.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["source", "seconds_from_start"])
        first = 0
        for part in schedules:
            starts, points = part.starts, part.points  # type: ignore[attr-defined]
            for s in range(starts.size - 1):
                name = table.names[first + s]
                for point in points[starts[s] : starts[s + 1]]:
                    rows.writerow([name, f"{point * table.step_s:g}"])
            first += starts.size - 1


def _print(
    answer: dict[str, object], table: SourceTable, counts: np.ndarray, costs: np.ndarray
) -> None:
    out = console()
    cost, uniform = float(str(answer["expected_cost"])), float(str(answer["uniform_cost"]))
    out.print(
        f"{answer['sources']} sources, {answer['spent']} of {answer['budget']} probes in "
        f"{show_duration(table.cells * table.step_s)}",
    )
    order = np.argsort(-counts)[:20]
    rows = [[table.names[s], str(counts[s]), show_duration(costs[s])] for s in order]
    print_table(["source", "probes", "cost (update time)"], rows)
    out.print(
        f"The same number for every source, evenly, costs {100 * (uniform / cost - 1):.1f} % more. "
        f"One more probe would buy {show_duration(float(str(answer['price'])))} of update time.",
    )
