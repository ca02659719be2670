"""``recrawl fit arrivals``: from a crawler's log of deliveries to a batch Markovian process."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from recrawl.cli.figures import check_picture
from recrawl.cli.fit.fit_pictures import draw_arrivals
from recrawl.cli.fit.service_times import print_candidates
from recrawl.cli.fit.toml_parts import show_arrivals, write_toml
from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.robots.arrival_log import read_arrival_log
from recrawl.errors import InputError, InvalidModel
from recrawl.learning.batch_log import BatchLog, split_log
from recrawl.learning.erlang_branches import BranchFit, select_dependent_branches
from recrawl.learning.order_two import correlation_bound, fit_order_two
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.quantities import parse_duration_s

_LAGS = 8


@dataclass(frozen=True, slots=True)
class ArrivalsFit:
    """The chosen process of batches, how it was found, and what it does not match."""

    process: MarkovianArrivals
    method: str
    candidates: Sequence[BranchFit]
    said: Sequence[str]
    exponential_will_do: bool


def main(  # noqa: PLR0913 - the options of the verb
    log: Path,
    /,
    *,
    stop: str | None = None,
    merge: str | None = None,
    method: Literal["auto", "moments", "likelihood"] = "auto",
    order: int = 3,
    robots: str | None = None,
    out: Path | None = None,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Learn a batch Markovian arrival process from the times at which pages were delivered.

    Long gaps (the crawler had stopped) are cut out, short ones join pages into batches; the times
    between batches are fitted with their correlations, the batch sizes by their shares.

    Parameters
    ----------
    log
        Table with one row per page: column arrived_at (ISO 8601 UTC, or seconds); robots, if
        there, must be the same in all rows.
    stop
        Gaps longer than that are stops, such as 1h; left out: thirty times the 99th percentile.
    merge
        Gaps of at most that are within a batch, such as 50ms; left out: simultaneous pages only.
    method
        auto: two phases by moments and correlations if that matches, else by likelihood.
    order
        Most phases of a fit by likelihood; 1 to 6.
    robots
        Write processes for so many robots, in proportion to those of the log: 1,2,3,4.
    out
        Write the process into this .toml file, to be put into a MODEL.toml.
    plot
        Draw quantiles, correlations and batch sizes into this .png, .svg or .pdf file.
    """
    check_picture(plot)
    if not 1 <= order <= 6:
        raise InputError(f"--order: must be 1 to 6, got {order}")
    times, active, _ = read_arrival_log(log, 1)
    if np.any(active != active[0]):
        raise InputError(
            f"{log}, column robots: {int(active.min())} to {int(active.max())} robots; a process "
            "belongs to one number of robots, so split the log"
        )
    scale = _scale(robots, int(active[0]))
    try:
        batches = split_log(
            times,
            stop=parse_duration_s(stop, name="--stop") if stop else None,
            merge=parse_duration_s(merge, name="--merge") if merge else 0.0,
        )
    except InvalidModel as error:
        raise InvalidModel(f"{log}: {error}") from error
    fit = _fit(batches, method, order)
    whole = BatchArrivals.of(fit.process, batches.size_law)
    modes = [BatchArrivals(share * whole.matrices) for share in scale]
    if out is not None:
        write_toml(out, show_arrivals(modes))
    if plot is not None:
        draw_arrivals(plot, batches, fit.process)
    if json:
        print_json(_as_json(log, batches, fit, whole))
    else:
        _print(log, batches, fit, whole)


def _scale(text: str | None, seen: int) -> list[float]:
    if text is None:
        return [1.0]
    try:
        wanted = [int(part) for part in text.split(",")]
    except ValueError:
        wanted = []
    if not wanted or min(wanted) < 1:
        raise InputError(f"--robots: {text!r} is not a list of numbers >= 1, such as 1,2,3,4")
    return [count / seen for count in wanted]


def _fit(log: BatchLog, method: str, order: int) -> ArrivalsFit:
    scv = log.squared_variation
    seen, errors = log.correlations(_LAGS), log.correlation_errors(_LAGS)
    said: list[str] = []
    if method != "likelihood":
        try:
            two = fit_order_two(log.mean, scv, seen)
        except InvalidModel as error:
            if method == "moments":
                raise
            said.append(f"two phases by moments: {error}")
        else:
            off = _off(log, two.process)
            correlated = np.any(np.abs(seen[:4]) > 3 * errors[:4])
            if method == "moments" or (correlated and not off and not two.said):
                return ArrivalsFit(two.process, "moments", (), (*said, *off, *two.said), False)
            said += two.said
    candidates = select_dependent_branches(log.intervals, log.starts, order=order)
    best = candidates[0]
    said += _off(log, best.process)
    fitted = best.time_law.squared_variation
    if abs(fitted / scv - 1) > 0.25:
        said.append(f"squared variation {scv:.4g} of the log, {fitted:.4g} of the fit")
    exponential = best.stages == (1,)
    return ArrivalsFit(best.process, "likelihood", candidates, said, exponential)


def _off(log: BatchLog, process: MarkovianArrivals) -> list[str]:
    """Say which correlations a process does not match, if any."""
    apart = np.abs(process.correlations(_LAGS) - log.correlations(_LAGS))
    off = np.flatnonzero(apart > 3 * log.correlation_errors(_LAGS))
    lags = ", ".join(str(k + 1) for k in off)
    return [f"correlations at lags {lags} are off by over 3 standard errors"] if off.size else []


def _as_json(
    log: Path, batches: BatchLog, fit: ArrivalsFit, whole: BatchArrivals
) -> dict[str, object]:
    return {
        "log": str(log),
        "arrivals": int(batches.sizes.sum()),
        "batches": int(batches.sizes.size),
        "intervals": int(batches.intervals.size),
        "merged_gaps": batches.merged,
        "stops": batches.stops.tolist(),
        "batch_sizes": batches.size_law.tolist(),
        "mean": batches.mean,
        "variance": float(batches.intervals.var()),
        "squared_variation": batches.squared_variation,
        "correlations": batches.correlations(_LAGS).tolist(),
        "correlation_errors": batches.correlation_errors(_LAGS).tolist(),
        "correlation_bound": correlation_bound(max(batches.squared_variation, 1.0)),
        "method": fit.method,
        "D": whole.matrices.tolist(),
        "rate": whole.rate,
        "batch_rate": whole.batch_rate,
        "fitted": {
            "mean": 1 / whole.batch_rate,
            "variance": whole.interval_variance,
            "correlations": whole.correlations(_LAGS).tolist(),
        },
        "candidates": [
            {
                "stages": one.stages,
                "log_likelihood": one.log_likelihood,
                "bic": one.bic,
                "iterations": one.iterations,
                "gain": one.gain if math.isfinite(one.gain) else None,
            }
            for one in fit.candidates
        ],
        "not_matched": list(fit.said),
        "exponential_will_do": fit.exponential_will_do,
    }


def _print(log: Path, batches: BatchLog, fit: ArrivalsFit, whole: BatchArrivals) -> None:
    out = console()
    stops = f"{batches.stops.size} stops cut out" + (
        f" (shortest {batches.stops.min():.4g} s)" if batches.stops.size else ""
    )
    out.print(
        f"{log}: {batches.sizes.sum():,} pages in {batches.sizes.size:,} batches; "
        f"{batches.merged:,} gaps merged, {stops}.",
    )
    errors = batches.correlation_errors(_LAGS)
    seen, fitted = batches.correlations(_LAGS), whole.correlations(_LAGS)
    rows = [
        ["mean time between batches, s", f"{batches.mean:.6g}", "", f"{1 / whole.batch_rate:.6g}"],
        [
            "squared variation",
            f"{batches.squared_variation:.5g}",
            "",
            f"{whole.interval_variance * whole.batch_rate**2:.5g}",
        ],
    ]
    rows += [
        [
            f"correlation, lag {k + 1}",
            f"{seen[k]:+.4f}",
            f"{errors[k]:.4f}",
            f"{fitted[k]:+.4f}",
        ]
        for k in range(_LAGS)
    ]
    print_table(["", "log", "error", "fit"], rows)
    sizes = " ".join(f"{share:.4g}" for share in batches.size_law[:12])
    out.print(f"Batches of 1, 2, ...: {sizes}")
    if fit.candidates:
        print_candidates(fit.candidates)
    phases = whole.phases
    out.print(f"Chosen: {phases} phase{'s' * (phases > 1)}, by {fit.method}.")
    for said in fit.said:
        out.print(f"Not matched: {said}.")
    if fit.exponential_will_do:
        out.print("A Poisson process of batches is good enough for this log.")
    else:
        out.print("Exponential, independent times are not good enough for this log.")
    out.print(show_arrivals([whole]))
