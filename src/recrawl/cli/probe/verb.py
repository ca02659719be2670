"""The verb ``probe``: exactly when to look at a source, or at many."""

import datetime as dt
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.probe.pictures import draw_schedule, terminal_week
from recrawl.cli.probe.source import (
    LONGEST_PERIOD_S,
    GivenSource,
    Importance,
    read_source,
    repeat_to,
)
from recrawl.cli.probe.writer import WallTimes, check_out, period_start, write_schedule
from recrawl.cli.sizes import check_whole
from recrawl.errors import InputError, InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.probing import (
    ProbedSource,
    Profile,
    evaluate_schedule,
    improve_blocks,
    schedule_first_arrival,
    schedule_threshold,
    schedule_uniform,
    solve_at_most,
    solve_continuous,
    solve_continuous_with_gap,
    solve_exactly,
)
from recrawl.quantities import parse_duration_s, parse_rate_per_s
from recrawl.quantities import show_duration as show

_MOST_PROBES = 100_000
_MOST_CELLS = 2_000_000
_MOST_CONTINUOUS = 400  # probes up to which continuous time is quick
_POLICIES = {
    "uniform": schedule_uniform,
    "threshold": schedule_threshold,
    "first arrival": schedule_first_arrival,
}


@dataclass(frozen=True, eq=False)
class _Found:
    """A schedule, how it was found, and how far from the best it can be."""

    source: ProbedSource
    probes: Vector
    cost: float
    above_best: float | None
    how: str
    bounds: tuple[float, float] | None = None  # of a grid: Proposition 8, and the sharper one


def main(  # noqa: PLR0913 - the options of the verb
    source: Path,
    /,
    *,
    probes: int | None = None,
    every: str | None = None,
    budget: str | None = None,
    period: str | None = None,
    min_gap: str | None = None,
    at_most: bool = False,
    work_hours: str | None = None,
    preference: float | None = None,
    tz: str | None = None,
    start: str | None = None,
    grid: str | None = None,
    name: str | None = None,
    host_limit: str | None = None,
    trip_cost: str | None = None,
    probe_cost: str | None = None,
    threads: int = 2,
    out: Path | None = None,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Decide exactly when to probe a source whose updates come and go with the clock.

    Parameters
    ----------
    source
        A pattern (JSON or TOML, as recrawl fit events writes it), a log with one timestamp per
        update, a log of probes with a column changed, or a printed pattern: dbworld, micronet.
        A table with several sources shares one budget over them.
    probes
        Probes in one period; with several sources, on average for each.
    every
        Instead: one probe in so much time on average, such as 6h.
    budget
        Instead: so many probes per time, such as 40/w; with several sources, for all together.
    period
        Length of the schedule, which then repeats, such as 4w; a week unless said.
    min_gap
        Least time between two probes, such as 30m.
    at_most
        Use fewer probes where a gap would make the last ones harmful.
    work_hours
        Hours of Monday to Friday at which being up to date matters more, such as 9-18.
    preference
        How many times more it matters then; 3 unless said.
    tz
        Time zone of the source's clock, such as Europe/Paris; UTC unless known.
    start
        Where the period starts: mon .. sun, with a time if wanted ("wed 09:00"), or a date.
    grid
        Probe only at multiples of this, such as 15min.
    name
        Which source, where the table has a column of names.
    host_limit
        Most probes per time of the sources of one host, such as 1000/d.
    trip_cost
        Several sources are probed on trips, each of which costs as much as an update that waits so
        long, such as 2h; how many are made follows from it.
    probe_cost
        What each probe on a trip costs besides, such as 15min; nothing unless said.
    threads
        Processor cores to use, for many sources.
    out
        Write the schedule into this .json, .csv, .ics or .cron file.
    plot
        Draw the schedule and the cost against the number into this .png, .svg or .pdf file.
    """
    importance = Importance(work_hours, preference)
    if _is_many(source, name):
        from recrawl.cli.probe.many import Request
        from recrawl.cli.probe.trips import TripCosts, probe_all

        if plot is not None or start is not None:
            raise InputError("--plot and --start are for one source; say which with --name")
        request = Request(
            source, probes, every, budget, period, min_gap, importance, tz, grid, host_limit,
            threads, out,
        )  # fmt: skip
        probe_all(request, TripCosts(trip_cost, probe_cost), as_json=json)
        return
    check_whole("--threads", threads, 1024)
    if out is not None:
        check_out(out)
    _refuse_for_one(host_limit, trip_cost, probe_cost)
    given = read_source(source, tz, name)
    model, shift_s, monday = _model(given, period, min_gap, importance, start)
    n = _number(probes, every, budget, model.period * given.unit_s)
    found = _solve(model, n, grid, given.unit_s, at_most=at_most)
    times = WallTimes(
        name or source.stem, given.zone, shift_s, monday,
        found.probes * given.unit_s, model.period * given.unit_s,
    )  # fmt: skip
    answer = _answer(found, given, grid, times)
    if plot is not None:
        draw_schedule(plot, model, found.probes, _curves(model, found), given.unit_s)
    if out is not None:
        write_schedule(out, times, answer)
    if json:
        print_json(answer)
    else:
        _print(found, given, answer, times)


def _refuse_for_one(host_limit: str | None, trip_cost: str | None, probe_cost: str | None) -> None:
    of_several = (("host-limit", host_limit), ("trip-cost", trip_cost), ("probe-cost", probe_cost))
    for option, value in of_several:
        if value is not None:
            raise InputError(f"--{option}: is for tables of several sources")


def _is_many(source: Path, name: str | None) -> bool:
    from recrawl.cli.probe.many import names_several

    return name is None and source.exists() and names_several(source)


def _model(
    given: GivenSource,
    period: str | None,
    min_gap: str | None,
    importance: Importance,
    start: str | None,
) -> tuple[ProbedSource, float, dt.date]:
    unit = given.unit_s
    said = importance.over_week(86_400.0 / unit)
    if said is not None and given.importance is not None:
        raise InputError("--work-hours: leave it out, the pattern has an importance of its own")
    worth = said if said is not None else given.importance
    length = (
        parse_duration_s(period, name="--period") / unit
        if period is not None
        else max(given.intensity.period, worth.period if worth else 0.0)
    )
    if not 0 < length * unit <= LONGEST_PERIOD_S:
        raise InputError(f"--period: must be > 0 and at most 10y, got {period}")
    shift_s, monday = period_start(start)
    intensity = repeat_to(given.intensity, length, "intensity").start_at(shift_s / unit)
    if worth is not None:
        worth = repeat_to(worth, length, "importance").start_at(shift_s / unit)
    gap = parse_duration_s(min_gap, name="--min-gap") / unit if min_gap is not None else 0.0
    try:
        model = ProbedSource(intensity, worth or Profile.constant(1.0, length), gap)
    except InvalidModel as error:
        raise InputError(str(error)) from error
    return model, shift_s, monday


def _number(probes: int | None, every: str | None, budget: str | None, period_s: float) -> int:
    given = [option is not None for option in (probes, every, budget)]
    if sum(given) != 1:
        raise InputError("give one of --probes 40, --every 6h and --budget 40/w")
    if probes is not None:
        number: float = probes
    elif every is not None:
        between = parse_duration_s(every, name="--every")
        if between <= 0:
            raise InputError(f"--every: must be > 0, got {every}")
        number = math.floor(period_s / between * (1 + 1e-12))
    else:
        number = math.floor(parse_rate_per_s(str(budget), name="--budget") * period_s * (1 + 1e-12))
    if number > _MOST_PROBES:
        raise InputError(
            f"{'--probes' if probes is not None else '--every or --budget'}: {number:.6g} probes "
            f"in one period; at most {_MOST_PROBES:,}"
        )
    if number < 1:
        raise InputError(
            f"{'--probes' if probes is not None else '--every or --budget'}: {int(number)} probes "
            "in one period; at least 1 is needed"
        )
    return int(number)


def _solve(
    model: ProbedSource, n: int, grid: str | None, unit_s: float, *, at_most: bool
) -> _Found:
    steps = model.intensity.is_steps and model.importance.is_steps
    if grid is None and not at_most:
        if model.gap == 0 and steps and n <= _MOST_CONTINUOUS:
            best = solve_continuous(model, n)
            return _Found(model, best.probes, best.cost, best.gap_to_bound, "continuous time")
        if model.gap > 0:
            bounded = solve_continuous_with_gap(model, n)
            return _Found(
                model, bounded.probes, bounded.cost, bounded.gap_to_bound, "continuous time"
            )
    step_s = parse_duration_s(grid, name="--grid") if grid is not None else 60.0
    cells = model.period * unit_s / step_s if step_s > 0 else 0.0
    if cells > _MOST_CELLS:
        raise InputError(f"--grid: {grid or '1min'} makes more than {_MOST_CELLS:,} times; coarser")
    if cells < 1 or abs(cells - round(cells)) > 1e-6 * cells:
        raise InputError(f"--grid: {grid or '1min'} does not divide the period")
    count = max(round(cells), n) if grid is None else round(cells)
    solve = solve_at_most if at_most else solve_exactly
    found = solve(model, n, count)
    bounds = (found.published_bound, found.sharper_bound)
    above = min(bounds)
    if grid is None and not at_most:
        better = improve_blocks(model, found.probes)
        return _Found(model, better.probes, better.cost, above, "1min grid, improved", bounds)
    return _Found(
        model, found.probes, found.cost, above if math.isfinite(above) else None,
        f"grid of {show(step_s)}", bounds,
    )  # fmt: skip


def _more(found: _Found, grid: str | None, unit_s: float) -> float | None:
    """Return what one more probe would save, or None where it does not fit."""
    n = found.probes.size
    if n + 1 > found.source.max_probes:
        return None
    try:
        return found.cost - _solve(found.source, n + 1, grid, unit_s, at_most=False).cost
    except InvalidModel:
        return None


def _answer(
    found: _Found, given: GivenSource, grid: str | None, times: WallTimes
) -> dict[str, object]:
    model, n = found.source, found.probes.size
    limits = [limit / given.unit_s for limit in (600.0, 3600.0, 21_600.0)]
    ours = evaluate_schedule(model, found.probes, limits)
    free = model.with_gap(0.0)
    policies = {}
    for name, make in _POLICIES.items():
        schedule = make(free, n)
        measures = evaluate_schedule(free, schedule)
        policies[name.replace(" ", "_")] = {"expected_cost": measures.cost, "delay": measures.delay}
    uniform = evaluate_schedule(free, schedule_uniform(free, n), limits)
    return {
        "probes": found.probes.tolist(),
        "expected_cost": found.cost,
        "uniform_cost": uniform.cost,
        "price": _more(found, grid, given.unit_s),
        "unit": given.unit,
        "period": model.period,
        "min_gap": model.gap,
        "time_zone": given.zone,
        "updates": ours.updates,
        "delay": ours.delay,
        "uniform_delay": uniform.delay,
        "seen_within": [
            {"time": limit, "share": share, "uniform_share": uniform.seen_within[limit]}
            for limit, share in ours.seen_within.items()
        ],
        "policies": policies,
        "above_best_at_most": found.above_best,
        "published_bound": found.bounds[0] if found.bounds else None,
        "sharper_bound": found.bounds[1] if found.bounds else None,
        "found_by": found.how,
        "learned": given.told,
        "local_times": times.lines(),
    }


def _curves(model: ProbedSource, found: _Found) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    n = found.probes.size
    top = min(2 * n, int(min(model.max_probes, 1e6)))
    numbers = np.unique(np.linspace(max(1, n // 4), max(top, 1), 24).astype(int))
    free = model.with_gap(0.0)
    curves = {
        name: (numbers, np.array([free.cost(make(free, int(k))) for k in numbers]))
        for name, make in _POLICIES.items()
    }
    cells = max(2016, 4 * top)
    best = []
    for k in numbers:
        try:
            best.append(solve_exactly(model, int(k), cells).cost)
        except InvalidModel:
            best.append(np.nan)
    return {"optimal": (numbers, np.array(best)), **curves}


def _print(found: _Found, given: GivenSource, answer: dict[str, object], times: WallTimes) -> None:
    out = console()
    model, unit_s = found.source, given.unit_s
    out.print(
        f"{found.probes.size} probes in {show(model.period * unit_s)}, {given.told}; "
        f"{model.updates:.4g} updates expected",
    )
    out.print()
    for line in terminal_week(model, found.probes):
        out.print(line)
    free = model.with_gap(0.0)
    limits = [limit / unit_s for limit in (600.0, 3600.0, 21_600.0)]
    rows = []
    schedules = {"optimal": found.probes}
    schedules |= {name: make(free, found.probes.size) for name, make in _POLICIES.items()}
    for name, schedule in schedules.items():
        measures = evaluate_schedule(free, schedule, limits)
        shares = [f"{100 * share:.0f} %" for share in measures.seen_within.values()]
        cost = show(measures.cost) if given.unit == "s" else f"{measures.cost:.5g}"
        rows.append([name, cost, show(measures.delay * unit_s), *shares])
    unit = "" if given.unit == "s" else f" [{given.unit}]"
    heads = ["schedule", f"expected cost{unit}", "mean delay", "seen in 10 min", "1 h", "6 h"]
    print_table(heads, rows)
    _print_remarks(found, given, answer)
    columns = 2 if found.probes.size > 12 else 1
    lines = times.lines()
    height = -(-len(lines) // columns)
    shown = [[f"{i + 1:>3}  {line}" for i, line in enumerate(lines)][c * height : (c + 1) * height]
             for c in range(columns)]  # fmt: skip
    out.print(f"Probe at ({given.zone}):")
    for row in range(height):
        out.print(
            "   ".join(f"{part[row]:<24}" for part in shown if row < len(part)).rstrip(),
        )


def _print_remarks(found: _Found, given: GivenSource, answer: dict[str, object]) -> None:
    out = console()
    uniform, cost = float(str(answer["uniform_cost"])), found.cost
    if cost > 0:
        out.print(f"Uniform probes cost {100 * (uniform / cost - 1):.1f} % more.")
    price = answer["price"]
    if isinstance(price, float):
        share = f" ({100 * price / cost:.1f} %)" if cost > 0 else ""
        word = "buy" if price >= 0 else "harm: it would add"
        size = show(abs(price)) if given.unit == "s" else f"{abs(price):.4g} {given.unit}"
        out.print(f"One more probe would {word} {size} of cost{share}.")
    else:
        out.print("One more probe does not fit.")
    if found.above_best is not None:
        out.print(
            f"Found by {found.how}; no schedule of so many probes is cheaper by more than "
            f"{show(found.above_best * given.unit_s)}.",
        )
    out.print()
