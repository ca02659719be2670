"""Sources that are probed on trips, where going there costs more than looking."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.probe.many import Request, SourceTable, open_sources, probe_many
from recrawl.errors import InputError
from recrawl.probing import ProbedSource, Profile, TripPlan, plan_trips
from recrawl.quantities import parse_duration_s, show_duration
from recrawl.tables.writing import check_out, write_batch

_MOST_CELLS = 20_000_000  # sources times squared grid: 160 MB
_MOST_POINTS = 1_999
_SHOWN = 60
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class TripCosts:
    """Costs of a trip and each probe on it, as written: update time, such as 2h; None: unsaid."""

    trip: str | None
    probe: str | None


def probe_all(request: Request, costs: TripCosts, *, as_json: bool) -> None:
    """Probe the sources of a table each for itself, or on trips of least cost where these cost.

    Raises
    ------
    InputError
        If an option or a column does not go with trips, or there are too many sources or times.
    """
    if costs.trip is not None:
        _probe_on_trips(request, costs, as_json=as_json)
    elif costs.probe is not None:
        raise InputError("--probe-cost: goes with --trip-cost")
    else:
        probe_many(request, as_json=as_json)


def _probe_on_trips(request: Request, costs: TripCosts, *, as_json: bool) -> None:
    trip_s, probe_s = _check(request, costs)
    table = open_sources(replace(request, grid=request.grid or "1h"))
    points = table.cells + 1
    if table.cells > _MOST_POINTS or len(table.names) * points**2 > _MOST_CELLS:
        raise InputError(
            f"--grid: {table.cells} times for {len(table.names)} sources are too many; at most "
            f"{_MOST_POINTS:,}, and {_MOST_CELLS:,} for sources times squared times"
        )
    sources = _sources(table)
    at = np.arange(points) * table.step_s
    plan = plan_trips(sources, at, trip_s, probe_s)
    apart = [plan_trips([source], at, trip_s, probe_s).cost for source in sources]
    if request.out is not None:
        write_batch(request.out, _rows(table, plan))
    if as_json:
        print_json(_as_json(table, plan, sum(apart)))
    else:
        _print(table, plan, sum(apart))


def _check(request: Request, costs: TripCosts) -> tuple[float, float]:
    given = {
        "--probes": request.probes,
        "--every": request.every,
        "--budget": request.budget,
        "--host-limit": request.host_limit,
        "--min-gap": request.min_gap,
    }
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}: leave it out, --trip-cost decides how many trips are made")
    check_out(request.out)
    trip_s = parse_duration_s(str(costs.trip), name="--trip-cost")
    probe_s = 0.0 if costs.probe is None else parse_duration_s(costs.probe, name="--probe-cost")
    if trip_s <= 0 and probe_s <= 0:
        raise InputError("--trip-cost: must be > 0 where probes cost nothing, such as 2h")
    return trip_s, probe_s


def _sources(table: SourceTable) -> list[ProbedSource]:
    """Return the sources in seconds, weights in their intensity."""
    edges = np.arange(table.cells + 1) * table.step_s
    found: list[ProbedSource] = []
    for batch in table():
        if np.any(batch.gaps > 1):
            name = table.names[len(found) + int(np.argmax(batch.gaps > 1))]
            raise InputError(
                f"min_gap of {name!r}: longer than the grid of {show_duration(table.step_s)}; "
                "trips know of no gaps, leave the column out or take a coarser --grid"
            )
        for rates, weight in zip(batch.updates, batch.weights, strict=True):
            intensity = Profile.steps(edges, weight * rates / table.step_s)
            worth = Profile.steps(edges, table.worth / table.step_s)
            found.append(ProbedSource(intensity, worth))
    return found


def _as_json(table: SourceTable, plan: TripPlan, apart: float) -> dict[str, object]:
    names = np.array(table.names)
    return {
        "sources": len(table.names),
        "trips": [
            {"at": float(at), "probed": names[probed].tolist()}
            for at, probed in zip(plan.trips, plan.probed, strict=True)
        ],
        "probes": dict(zip(table.names, plan.probed.sum(axis=0).tolist(), strict=True)),
        "cost": plan.cost,
        "bound": plan.bound,
        "gap": plan.gap,
        "cost_of_trips_for_each_alone": apart,
        "unit": "s",
        "period": table.cells * table.step_s,
    }


def _rows(table: SourceTable, plan: TripPlan) -> pa.RecordBatch:
    trips, sources = np.nonzero(plan.probed)
    return pa.record_batch(
        {
            "trip": pa.array(trips + 1, pa.int64()),
            "source": pa.array(np.array(table.names, dtype=object)[sources], pa.string()),
            "seconds_from_start": pa.array(plan.trips[trips], pa.float64()),
        }
    )


def _print(table: SourceTable, plan: TripPlan, apart: float) -> None:
    out, many = console(), len(table.names)
    period = show_duration(table.cells * table.step_s)
    out.print(f"{plan.trips.size} trips to {many} sources in {period}")
    shown = zip(plan.trips[:_SHOWN], plan.probed[:_SHOWN], strict=True)
    print_table(
        ["trip at", "sources probed", ""],
        [[_when(at), f"{probed.sum()}", _named(table, probed)] for at, probed in shown],
    )
    counts = plan.probed.sum(axis=0)
    most = np.argsort(-counts, kind="stable")[:20]
    print_table(["source", "probes"], [[table.names[s], str(counts[s])] for s in most])
    out.print(
        f"Cost {show_duration(plan.cost)} of update time, trips and probes included; no plan costs "
        f"less than {show_duration(plan.bound)} (gap {100 * plan.gap:.2g} %)."
    )
    out.print(f"Trips for each source alone cost {100 * (apart / plan.cost - 1):.1f} % more.")


def _when(at: float) -> str:
    """Return the day and time at which a trip is made; the end of the week is its last midnight."""
    day, rest = divmod(at, 86_400.0)
    if rest == 0:
        day, rest = day - 1, 86_400.0
    week = f"week {int(day // 7) + 1} " if day >= 7 else ""
    return f"{week}{_DAYS[int(day % 7)]} {int(rest // 3600):02d}:{int(rest % 3600 // 60):02d}"


def _named(table: SourceTable, probed: np.ndarray) -> str:
    names = [table.names[s] for s in np.flatnonzero(probed)]
    if len(names) == len(table.names):
        return "all"
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
