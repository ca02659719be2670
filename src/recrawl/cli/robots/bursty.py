"""``recrawl robots MODEL.toml``: the best control of a buffer with bursts and stale pages."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.cli.figures import check_picture
from recrawl.cli.output import print_json, progress_console, say
from recrawl.cli.robots.bursty_report import Found, draw_found, print_found
from recrawl.cli.robots.model_file import EXAMPLE, read_model
from recrawl.cli.robots.options import ModelOptions
from recrawl.cli.robots.replayed import Replayed, read_replayed, replay_found
from recrawl.errors import InputError, InvalidModel
from recrawl.fleet.bursty import (
    MOST_STATES,
    STUDIES,
    BufferMeasures,
    BurstyBuffer,
    StudyPoint,
    evaluate_closed,
    evaluate_map,
    follow_sojourns,
    list_maps,
    list_thresholds,
    robots_from_thresholds,
    solve_bursty,
    solve_constrained,
    study_buffer,
    trade_off_front,
)
from recrawl.processes.phase_type import PhaseType

if TYPE_CHECKING:
    from recrawl.fleet.bursty.search import MapTable

_MOST_POINTS = 10_000


def write_example(path: Path | None) -> None:
    """Write the commented example to a file, or to stdout."""
    if path is None:
        say(EXAMPLE.rstrip("\n"))
        return
    if path.exists():
        raise InputError(f"{path}: exists already; give a new name, or none to print the example")
    try:
        path.write_text(EXAMPLE)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def read_map(model: BurstyBuffer, text: str) -> tuple[int, ...]:
    """Read robots at 0, 1, ... pages, such as 3,3,3,1 or 3*25,2*4,1*72, or a threshold rule.

    A threshold rule is written as the paper does: 4,3,1:0,2 has 4 robots at 0 pages, 3 up to 2,
    then 1.
    """
    if ":" in text:
        return _read_rule(model, text)
    out: list[int] = []
    for part in text.split(","):
        robots, _, times = part.partition("*")
        try:
            out += [int(robots)] * min(int(times or 1), model.levels + 1)
        except ValueError:
            raise InputError(
                f"--map: {part!r} is no number of robots; write 3,3,3,1 or 3*25,2*4,1*72"
            ) from None
    model.modes(out)
    return tuple(out)


def _read_rule(model: BurstyBuffer, text: str) -> tuple[int, ...]:
    used, _, last = text.partition(":")
    try:
        robots = [int(part) for part in used.split(",")]
        thresholds = [int(part) for part in last.split(",")]
    except ValueError:
        raise InputError(
            f"--map: {text!r} is no threshold rule; write robots:thresholds, such as 4,3,1:0,2"
        ) from None
    found = robots_from_thresholds(model, robots, thresholds)
    model.modes(found)
    return found


def advise_bursty(path: Path, asked: ModelOptions, plot: Path | None, *, as_json: bool) -> None:
    """Solve a model and print the answer, and draw it where a picture is wanted."""
    check_picture(plot)
    model = read_model(path)
    found = _solve(model, asked)
    if plot is not None:
        draw_found(plot, found)
    if as_json:
        print_json({"model": str(path), **found.as_json()})
    else:
        print_found(found)


def _solve(model: BurstyBuffer, asked: ModelOptions) -> Found:
    log = _log(model, asked)
    yours = read_map(model, asked.map) if asked.map else None
    parts: dict[str, object] = {}
    if asked.window is not None:
        return _closed(model, yours, asked.window)
    if model.phases[2] > 1 and model.states > MOST_STATES:
        evaluate_map(model, (model.robots[0],) * model.levels)  # says what it would take
    optimum = solve_bursty(model)
    chosen = optimum.best
    if yours is not None:
        parts["yours"] = asdict(evaluate_map(model, yours))
        chosen = evaluate_map(model, yours)
    parts |= _asked_for(model, asked, chosen)
    if log is not None:
        parts["replay"] = replay_found(model, optimum, chosen, log)
    return Found(model, optimum, parts)


def _asked_for(
    model: BurstyBuffer, asked: ModelOptions, chosen: BufferMeasures
) -> dict[str, object]:
    parts: dict[str, object] = {}
    if asked.limit:
        parts["constrained"] = _constrained(model, asked.limit)
    if asked.front is not None:
        parts["front"] = _front(model, asked.front)
    if asked.study is not None:
        parts["study"] = _study(model, asked.study)
    if asked.times is not None:
        parts["stays"] = _stays(model, chosen.robots_by_length, asked.times)
    return parts


def _log(model: BurstyBuffer, asked: ModelOptions) -> Replayed | None:
    if asked.replay is None:
        if asked.merge is not None:
            raise InputError("--merge: goes with --replay")
        return None
    if asked.window is not None or model.obsolescence is not None:
        raise InputError("--replay: a log does not tell when pages would have gone stale")
    return read_replayed(asked.replay, asked.merge)


def _closed(model: BurstyBuffer, yours: tuple[int, ...] | None, window: int) -> Found:
    """Evaluate by window closure: the map given, or the best one of the exponential twin."""
    law = model.obsolescence
    note = "the map that was given"
    if law is None:
        raise InputError("--window: pages of this model never go stale; leave it out")
    if yours is None:
        twin = replace(model, obsolescence=PhaseType.exponential(law.mean))
        yours = solve_bursty(twin, full_information=False, maps=False).best.robots_by_length
        note = "the best thresholds if obsolescence were exponential with the same mean"
    closed = evaluate_closed(model, yours, window=window)
    fixed = {
        r: evaluate_closed(model, (r,) * model.levels, window=window, estimate=False).measures
        for r in model.robots
    }
    return Found(model, None, {"closed": asdict(closed), "of": note}, fixed)


def _table(model: BurstyBuffer) -> "MapTable":
    try:
        return list_maps(model)
    except InvalidModel:
        return list_thresholds(model)


def _constrained(model: BurstyBuffer, limits: Sequence[str]) -> dict[str, object]:
    read: dict[str, float] = {}
    for limit in limits:
        name, sign, value = limit.partition("=")
        try:
            read[name] = float(value)
        except ValueError:
            sign = ""
        if not sign or not math.isfinite(read[name]):
            raise InputError(f"--limit: {limit!r} is not measure=value, such as loss=0.1")
    table = _table(model)
    found = solve_constrained(table, read)
    kept = None
    if found.number is not None:
        kept = asdict(evaluate_map(model, table.robots_by_length(found.number)))
    mixture = [
        {"share": share, "robots_by_length": table.robots_by_length(number)}
        for share, number in found.mixture
    ]
    return {
        "limits": read,
        "best": kept,
        "bound": found.bound,
        "multipliers": found.multipliers,
        "mixture": mixture,
    }


def _front(model: BurstyBuffer, text: str) -> list[dict[str, object]]:
    names = text.split(",")
    if len(names) != 2:
        raise InputError(f"--front: {text!r} is not two measures, such as loss,starvation")
    table = _table(model)
    first, second, cost = (table.measure(name) for name in (*names, "cost"))
    return [
        {
            names[0]: float(first[k]),
            names[1]: float(second[k]),
            "cost": float(cost[k]),
            "robots_by_length": table.robots_by_length(int(k)),
        }
        for k in trade_off_front(table, names[0], names[1])
    ]


def _study(model: BurstyBuffer, text: str) -> list[dict[str, object]]:
    what, _, values = text.partition("=")
    if what not in STUDIES:
        raise InputError(f"--study: {what!r} cannot be varied; {', '.join(STUDIES)} can")
    from rich.progress import track

    wanted = _values(values, whole=what == "capacity")
    points = study_buffer(model, what, wanted)
    steps = track(points, what, total=len(wanted), console=progress_console(), transient=True)
    return [_study_row(model, what, point) for point in steps]


def _study_row(model: BurstyBuffer, what: str, point: StudyPoint) -> dict[str, object]:
    fixed = dict(zip(map(str, model.robots), point.fixed, strict=True))
    gain = point.gain_percent
    return {
        "what": what,
        "value": point.value,
        "best": asdict(point.best),
        "fixed": fixed,
        "gain_percent": gain,
    }


def _values(text: str, *, whole: bool) -> list[float]:
    """Read first:last:how many (even steps), or a list."""
    try:
        if ":" in text:
            first, last, *count = text.split(":")
            steps = int(count[0]) if count else round(float(last) - float(first)) + 1
            if not 1 <= steps <= _MOST_POINTS:
                raise InputError(
                    f"--study: {text!r} makes {steps} values; at least 1 and at most {_MOST_POINTS}"
                )
            found = [float(x) for x in np.linspace(float(first), float(last), steps)]
        else:
            found = [float(x) for x in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(math.isfinite(x) for x in found):
        raise InputError(
            f"--study: {text!r} is not first:last:how many or a list, such as capacity=1:30 or "
            "service-scv=0.5,1,2,4"
        )
    return [float(round(x)) for x in found] if whole else found


def _stays(model: BurstyBuffer, robots: Sequence[int], text: str) -> dict[str, object]:
    try:
        times = [float(x) for x in text.split(",")]
    except ValueError:
        times = []
    if not times or min(times) < 0 or not all(math.isfinite(t) for t in times):
        raise InputError(f"--times: {text!r} is not a list of times >= 0, such as 0.5,1,2")
    stays = follow_sojourns(model, robots)
    return {
        "times": times,
        **{
            which: stays.distribution(times, which=which).tolist()
            for which in ("served", "obsolete", "accepted")
        },
    }
