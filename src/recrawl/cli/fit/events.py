"""``recrawl fit events``: the weekly pattern of a source's updates."""

from pathlib import Path

import msgspec
import numpy as np

from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table
from recrawl.crawler.settings.zones import find_zone
from recrawl.errors import InputError, InvalidTable
from recrawl.learning.probe_results import ProbedIntensity
from recrawl.learning.weekly_intensity import WeeklyIntensity
from recrawl.tables.event_logs import fit_log, fit_probe_results, read_event_log, read_probe_results
from recrawl.whole_files import whole_file

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LEVELS = " ▁▂▃▄▅▆▇█"


def main(
    log: Path,
    /,
    *,
    name: str | None = None,
    tz: str = "UTC",
    out: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Learn when in the week a source is updated, no finer than its record allows.

    The number of cells of the week is the one that best predicts weeks left out, and cells with
    few events are drawn towards coarser ones.

    Parameters
    ----------
    log
        One timestamp per update (column at), or one row per probe (columns probed_at and
        changed). Times need a time zone or Z.
    name
        Which source, where the table has a column of names.
    tz
        Time zone of the source's clock, such as Europe/Paris; summer time is heeded.
    out
        Write the pattern into this .json file, for recrawl probe.
    """
    find_zone(tz)
    if out is not None and out.suffix.lower() != ".json":
        raise InputError(f"--out: {out}: the pattern is written as .json")
    results = read_probe_results(log)
    if results is not None:
        found = fit_probe_results(*results, tz)
        answer = _from_probes(found, results[0].size, tz)
    else:
        logs = read_event_log(log, name)
        if len(logs) > 1:
            shown = ", ".join(one.name for one in logs[:10])
            raise InvalidTable(f"{log}: has {len(logs)} sources; say one with --name: {shown}")
        fitted, _ = fit_log(logs[0], tz)
        answer = _from_events(fitted, tz)
    if out is not None:
        _write(out, answer, tz)
    if json:
        print_json(answer)
    else:
        _print(answer)


def _pattern(rates: np.ndarray) -> dict[str, object]:
    return {
        "unit": "s",
        "period": 604_800.0,
        "breaks": (np.arange(169) * 3600.0).tolist(),
        "intensity": rates.tolist(),
    }


def _from_events(found: WeeklyIntensity, zone: str) -> dict[str, object]:
    return {
        **_pattern(found.rates),
        "time_zone": zone,
        "events": found.events,
        "model": found.chosen,
        "cells": found.n_cells,
        "prior_events": found.strength,
        "held_out": found.scores,
        "dispersion_day": found.dispersion_day,
        "dispersion_week": found.dispersion_week,
        "trend_per_week": found.trend,
        "trend_error": found.trend_error,
        "has_trend": found.has_trend,
        "level_now": found.level_now,
    }


def _from_probes(found: ProbedIntensity, n: int, zone: str) -> dict[str, object]:
    return {
        **_pattern(found.rates),
        "time_zone": zone,
        "probes": n,
        "model": found.chosen,
        "prior_events": found.strength,
        "held_out": found.scores,
    }


def _write(path: Path, answer: dict[str, object], zone: str) -> None:
    keep = {key: answer[key] for key in ("unit", "period", "breaks", "intensity")}
    level = answer.get("level_now", 1.0)
    if answer.get("has_trend", False):
        rates = keep["intensity"]
        assert isinstance(rates, list)
        assert isinstance(level, float)
        keep["intensity"] = [rate * level for rate in rates]
    with whole_file(path, option="--out", raises=InputError) as part:
        part.write_bytes(msgspec.json.encode({**keep, "time_zone": zone}))


def _print(answer: dict[str, object]) -> None:
    out = console()
    rates = np.array(answer["intensity"]) * 86_400.0
    told = f"{answer['events']} updates" if "events" in answer else f"{answer['probes']} probes"
    out.print(
        f"{told}, {rates.mean():.4g} updates a day on average; model: {answer['model']}",
    )
    rows = []
    for day, row in zip(_DAYS, rates.reshape(7, 24), strict=True):
        levels = np.ceil(row / rates.max() * (len(_LEVELS) - 1) - 1e-9).astype(int)
        rows.append([day, "".join(_LEVELS[level] for level in levels), f"{row.mean():.4g}"])
    print_table(
        ["", "0 h to 24 h", "updates a day"], rows, title=f"On the clock of {answer['time_zone']}"
    )
    scores = answer["held_out"]
    assert isinstance(scores, dict)
    best = sorted(scores.items(), key=lambda pair: -pair[1])[:5]
    print_table(
        ["best models", "held-out gain (nats an event)"],
        [[model, f"{gain:.4f}"] for model, gain in best],
    )
    if "events" in answer:
        _print_quality(answer)


def _print_quality(answer: dict[str, object]) -> None:
    out = console()
    by_day, by_week = float(str(answer["dispersion_day"])), float(str(answer["dispersion_week"]))
    trend = float(str(answer["trend_per_week"]))
    out.print(
        f"Variance over mean, around pattern and trend: {by_day:.2f} a day, {by_week:.2f} a week "
        "(1 if updates came independently).",
    )
    if by_week > 1.5:
        out.print(
            "Updates come in bursts. That does not change the expected cost of a schedule, for "
            "which only the pattern counts; but what a week really costs varies about "
            f"{by_week**0.5:.1f} times as much, and the record says as much as one with "
            f"{float(str(answer['events'])) / by_week:.0f} independent updates.",
        )
    if answer["has_trend"]:
        yearly = 100 * (np.exp(np.clip(trend * 52.18, -50, 50)) - 1)
        out.print(
            f"Trend: {yearly:+.3g} % a year; the rate at the end is "
            f"{float(str(answer['level_now'])):.2f} times the mean, and that is what --out writes.",
        )
    else:
        out.print("No trend beyond three standard errors.")
