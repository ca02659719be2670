"""``recrawl robots MODEL.toml --replay LOG``: what is promised, beside what the log makes of it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.cli.output import console, print_table
from recrawl.errors import InputError, InvalidModel
from recrawl.fleet.bursty import BufferMeasures, BurstyBuffer, BurstyOptimum
from recrawl.learning.batch_log import BatchLog, split_log
from recrawl.quantities import parse_duration_s
from recrawl.simulation.log_replay import replay_log


@dataclass(frozen=True, eq=False, slots=True)
class Replayed:
    """A log as it is replayed: batches, the robots that brought them, indexing times."""

    path: Path
    batches: BatchLog
    robots: int
    services: NDArray[np.float64]


def read_replayed(path: Path, merge: str | None) -> Replayed:
    """Read a log with times of arrival, a fixed number of robots and indexing times.

    Raises
    ------
    InputError
        If a column is missing or the number of robots changes; names file and column.
    """
    from recrawl.cli.robots.arrival_log import read_arrival_log  # who replays needs tables

    times, active, seconds = read_arrival_log(path, None)
    if np.any(active != active[0]):
        raise InputError(
            f"{path}, column robots: {int(active.min())} to {int(active.max())} robots; a log is "
            "replayed for one number of robots, so split it"
        )
    if seconds is None:
        raise InputError(f"{path}: no column index_seconds, so nothing says how long indexing took")
    try:
        batches = split_log(times, merge=parse_duration_s(merge, name="--merge") if merge else 0.0)
    except InvalidModel as error:
        raise InvalidModel(f"{path}: {error}") from error
    return Replayed(path, batches, int(active[0]), seconds)


def replay_found(
    model: BurstyBuffer, optimum: BurstyOptimum, chosen: BufferMeasures, log: Replayed
) -> dict[str, object]:
    """Return the best fixed number and the control that was chosen, as promised and on the log."""
    fixed = min(optimum.fixed, key=lambda robots: optimum.fixed[robots].cost)
    arms = {"best fixed number": optimum.fixed[fixed], "control": chosen}
    rows: list[dict[str, Any]] = []
    for name, promised in arms.items():
        try:
            seen = replay_log(
                model, promised.robots_by_length, log.batches, log.robots, log.services
            )
        except InvalidModel as error:
            raise InvalidModel(f"{log.path}: {error}") from error
        rows.append(
            {
                "what": name,
                "robots_by_length": promised.robots_by_length,
                "promised": {
                    key: getattr(promised, key)
                    for key in ("cost", "starvation", "loss", "robots_mean")
                },
                "on_the_log": asdict(seen),
            }
        )
    return {
        "log": str(log.path),
        "pages": int(rows[0]["on_the_log"]["pages"]),
        "robots_in_log": log.robots,
        "fixed_robots": fixed,
        "arms": rows,
        "gain_promised_percent": 100 * (optimum.fixed[fixed].cost / chosen.cost - 1),
        "gain_on_the_log_percent": 100 * (_cost(rows[0]) / _cost(rows[1]) - 1),
    }


def _cost(row: dict[str, Any]) -> float:
    return float(row["on_the_log"]["cost"]["mean"])


def print_replayed(part: dict[str, Any]) -> None:
    """Print both arms, promised and on the log."""
    rows = []
    for arm in part["arms"]:
        name = arm["what"]
        if name == "best fixed number":
            name = f"{part['fixed_robots']} always"
        promised, seen = arm["promised"], arm["on_the_log"]
        rows.append([name, "promised", f"{promised['cost']:.5g}", *_shares(promised)])
        told = {key: seen[key]["mean"] for key in ("starvation", "loss", "robots_mean")}
        cost = seen["cost"]
        rows.append(
            ["", "on the log", f"{cost['mean']:.5g} ± {cost['half_width']:.2g}", *_shares(told)]
        )
    print_table(
        ["", "", "cost J", "idle", "lost", "robots"],
        rows,
        title=f"The log itself: {part['pages']:,} pages of {part['robots_in_log']} robots",
    )
    console().print(
        f"The best fixed number costs {part['gain_promised_percent']:.3g} % more by the model, "
        f"{part['gain_on_the_log_percent']:.3g} % more on the log."
    )


def _shares(given: dict[str, float]) -> list[str]:
    shares = [f"{100 * given[key]:.3g} %" for key in ("starvation", "loss")]
    return [*shares, f"{given['robots_mean']:.4g}"]
