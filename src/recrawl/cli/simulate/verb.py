"""The verb ``simulate``: a buffer model event by event, beside the theory."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.cli.figures import check_picture, new_figure, save_figure
from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table, progress_console
from recrawl.cli.robots.bursty import read_map
from recrawl.cli.robots.bursty_report import show_map
from recrawl.cli.robots.model_file import read_model
from recrawl.cli.sizes import check_seed, check_whole
from recrawl.drawing import add_legend
from recrawl.errors import InputError
from recrawl.fleet.bursty import (
    MOST_STATES,
    BufferMeasures,
    BurstyBuffer,
    evaluate_map,
    follow_sojourns,
    solve_bursty,
)
from recrawl.kernels.compile import require_compiler
from recrawl.simulation.bursty_queue import SimulatedBuffer, simulate_bursty

if TYPE_CHECKING:
    from recrawl.simulation.controlled_queue import Interval

_MEASURES = {
    "cost": "cost J",
    "arrival_rate": "pages brought per unit of time",
    "loss": "P(lost)",
    "obsolescence": "P(stale)",
    "success": "P(served)",
    "starvation": "fraction of time idle",
    "robots_mean": "robots active",
    "buffer_mean": "pages in the system",
    "sojourn_served": "stay of the served",
    "sojourn_obsolete": "stay of the stale",
}
_FEWEST, _MOST_EVENTS = 3_200, 100_000_000_000
_MOST_FOR_STAYS = 2_000_000  # states; each point of a distribution takes some 30 passes over them


def main(
    model_file: Path,
    /,
    *,
    map: str | None = None,  # noqa: A002 - what it is called
    events: int = 10_000_000,
    seed: int = 0,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Simulate a buffer model, and print the exact measures beside what was seen.

    Parameters
    ----------
    model_file
        The model; recrawl robots --example shows one.
    map
        Robots at 0, 1, ... pages, such as 3,3,3,1 or 3*25,1*76, or robots and thresholds,
        4,3,1:0,2; left out: the best thresholds.
    events
        Events to simulate: arrivals, services, pages going stale, moves of phases.
    seed
        Seed of the random numbers.
    plot
        Draw the distributions of the stay into this .png, .svg or .pdf file.
    """
    require_compiler()
    check_picture(plot)
    check_whole("--events", events, _MOST_EVENTS, least=_FEWEST)
    check_seed(seed)
    model = read_model(model_file)
    fits = model.phases[2] == 1 or model.states <= MOST_STATES
    if map is not None:
        robots = read_map(model, map)
    elif fits:
        robots = solve_bursty(model, full_information=False, maps=False).best.robots_by_length
    else:
        raise InputError(
            f"--map: the exact chain is too large to find the best thresholds ({model.capacity} "
            "pages); give the robots at 0, 1, ... pages"
        )
    theory = evaluate_map(model, robots) if fits else None
    mean = theory.sojourn_served if theory is not None else model.service.mean * 2
    times = [round(mean * share, 6) for share in (0.25, 0.5, 1.0, 2.0, 4.0)]
    found = _run(model, robots, times, events, seed)
    exact = {}
    if theory is not None and model.states <= _MOST_FOR_STAYS:
        stays = follow_sojourns(model, robots)
        exact = {
            which: stays.distribution(times, which=which).tolist()
            for which in ("served", "obsolete")
        }
    if plot is not None:
        _draw(plot, found, exact)
    if json:
        print_json(_as_json(model_file, robots, theory, found, exact, seed))
    else:
        _print(robots, theory, found, exact)


def _run(
    model: BurstyBuffer, robots: tuple[int, ...], times: list[float], events: int, seed: int
) -> SimulatedBuffer:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("simulating", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
    )
    rng = np.random.default_rng(seed)
    with Progress(
        *columns, TimeRemainingColumn(), console=progress_console(), transient=True
    ) as progress:
        task = progress.add_task("", total=events, rate="")

        def advance(done: int) -> None:
            speed = progress.tasks[0].speed or 0.0
            progress.update(task, completed=done, rate=f"{speed / 1e6:.1f} M events/s")

        return simulate_bursty(model, robots, rng, events=events, times=times, progress=advance)


def _as_json(
    path: Path,
    robots: tuple[int, ...],
    theory: BufferMeasures | None,
    found: SimulatedBuffer,
    exact: dict[str, list[float]],
    seed: int,
) -> dict[str, object]:
    return {
        "model": str(path),
        "robots_by_length": robots,
        "events": found.events,
        "seed": seed,
        "simulation": {name: asdict(getattr(found, name)) for name in _MEASURES},
        "theory": asdict(theory) if theory is not None else None,
        "stays": {
            "times": found.times,
            "served": [asdict(part) for part in found.served_within],
            "obsolete": [asdict(part) for part in found.obsolete_within],
            "theory": exact or None,
        },
    }


def _print(
    robots: tuple[int, ...],
    theory: BufferMeasures | None,
    found: SimulatedBuffer,
    exact: dict[str, list[float]],
) -> None:
    rows = []
    for name, shown in _MEASURES.items():
        value = getattr(theory, name) if theory is not None else None
        rows.append(_row(shown, getattr(found, name), value))
    title = f"{found.events:,} events; {show_map(robots)}"
    print_table(["", "simulated", "95 % ±", "theory", "off by"], rows, title=title)
    table = []
    for k, t in enumerate(found.times):
        for which, seen in (("served", found.served_within), ("obsolete", found.obsolete_within)):
            value = exact[which][k] if exact else None
            name = "stale" if which == "obsolete" else which
            table.append(_row(f"{name}, up to {t:g}", seen[k], value))
    print_table(["P(stay <= t)", "simulated", "95 % ±", "theory", "off by"], table)
    told = (
        "'off by' is in units of the interval's half width."
        if theory is not None
        else ("The exact chain is too large for theory: only the simulation is shown.")
    )
    console().print(told)


def _row(name: str, seen: "Interval", value: float | None) -> list[str]:
    known = ["-", "-"]
    if value is not None:
        off = (seen.mean - value) / seen.half_width if seen.half_width > 0 else 0.0
        known = [f"{value:.6g}", f"{off:+.2f}"]
    return [name, f"{seen.mean:.6g}", f"{seen.half_width:.2g}", *known]


def _draw(path: Path, found: SimulatedBuffer, exact: dict[str, list[float]]) -> None:
    figure, panels = new_figure(2)
    sides = (("served", found.served_within), ("obsolete", found.obsolete_within))
    for panel, (which, seen) in zip(panels, sides, strict=True):
        panel.errorbar(
            found.times,
            [part.mean for part in seen],
            yerr=[part.half_width for part in seen],
            fmt="o",
            label="simulated",
        )
        if exact:
            panel.plot(found.times, exact[which], "-", label="theory")
        panel.set_xlabel("time in the system")
        panel.set_title("served" if which == "served" else "gone stale", fontsize=10)
        panel.set_ylabel("P(stay <= t)")
        panel.set_ylim(0, 1.02)
        add_legend(panel)
    save_figure(figure, path)
