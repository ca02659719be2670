"""Answer of the verb ``robots``: one JSON object, or tables and a small picture for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.cli.figures import new_figure, save_figure
from recrawl.cli.output import console, print_table
from recrawl.cli.robots.pictures import draw_trade_off, terminal_curve
from recrawl.drawing import draw_policy
from recrawl.fleet import (
    FleetMeasures,
    MeasuredRate,
    RobotOptimum,
    StaticOptimum,
    TradeOff,
    evaluate_policy,
    solve_robots,
)

_MOST_ROWS = 40
_MOST_POLICY_BITS = 20_000


@dataclass(frozen=True, slots=True)
class MeasuredRates:
    """Rates from a log; the index rate is None when it was given."""

    fetch: MeasuredRate
    index: MeasuredRate | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The optimum, the best fixed number beside it, and where the rates come from.

    ``is_free`` says that there were as many robots as wanted; ``unit`` is the unit of time.
    """

    best: RobotOptimum
    static: StaticOptimum
    unit: str
    is_free: bool
    measured: MeasuredRates | None

    @property
    def gain_percent(self) -> float:
        """Extra cost of the best fixed number, in percent of the cost of the optimal control."""
        if self.best.cost == 0:
            return 0.0 if self.static.cost == 0 else math.inf
        return 100 * (self.static.cost / self.best.cost - 1)


def sensitivity(best: RobotOptimum, measured: MeasuredRates) -> list[dict[str, object]]:
    """Return what the advice costs if the true rates are at the ends of their intervals."""
    index = measured.index
    speed = float(np.asarray(best.model.index_rate))
    corners = (
        (measured.fetch.low, index.high if index else speed),
        (measured.fetch.high, index.low if index else speed),
    )
    found = []
    for fetch, service in corners:
        there = replace(best.model, fetch_rate=fetch, index_rate=service)
        optimum, (ours, *_) = solve_robots(there), evaluate_policy(there, best.policy)
        found.append(
            {
                "fetch_rate": fetch,
                "index_rate": service,
                "target": optimum.targets,
                "cost": optimum.cost,
                "cost_of_advice": ours.cost,
                "regret_percent": 100 * (ours.cost / optimum.cost - 1) if optimum.cost else 0.0,
            }
        )
    return found


def show_point(point: TradeOff) -> dict[str, object]:
    """Return one point of a sweep for JSON."""
    return {
        "starvation_weight": point.starvation_weight,
        "static": asdict(point.static),
        "dynamic": asdict(point.dynamic),
        "target": point.targets,
    }


def answer_json(answer: Answer) -> dict[str, object]:
    """Return the answer for JSON: keys ``static`` and ``dynamic`` are the contract."""
    best = answer.best
    curves = best.policy.switching_curves()
    is_small = best.policy.arrival.size <= _MOST_POLICY_BITS
    return {
        "model": asdict(best.model) | {"unit": answer.unit},
        "static": asdict(answer.static),
        "dynamic": {**asdict(best.measures), "target": best.targets},
        "gain_percent": answer.gain_percent,
        "curves": {"departure": curves.departure, "arrival": curves.arrival} if curves else None,
        "policy": {
            "arrival": best.policy.arrival.astype(int).tolist(),
            "departure": best.policy.departure.astype(int).tolist(),
        }
        if is_small
        else None,
        "certificate": {
            "residual": best.residual,
            "iterations": best.iterations,
            "is_curve": best.is_curve,
            "states": best.values.size - 1,
        },
    }


def plot_answer(path: Path, best: RobotOptimum, points: Sequence[TradeOff] | None) -> None:
    """Draw the policy, or the trade-off where there was a sweep."""
    if points is not None:
        figure, panels = new_figure(1)
        draw_trade_off(panels[0], points)
    else:
        figure, panels = new_figure(2)
        draw_policy(panels, best.policy, f"cost {best.cost:.5g}")
    save_figure(figure, path)


def print_answer(answer: Answer, parts: Mapping[str, object]) -> None:
    """Print the answer for people."""
    best, unit, out = answer.best, answer.unit, console()
    measures, static = best.measures, answer.static
    available = "As many robots as wanted" if answer.is_free else f"{best.model.robots} robots"
    if answer.measured is not None:
        _print_rates(answer.measured)
    print_table(
        ["", "cost", "idle", "lost pages", "robots"],
        [
            [
                "best fixed number",
                _figure(static.cost),
                _percent(static.starvation),
                _figure(static.loss_rate),
                str(static.robots),
            ],
            [
                "optimal control",
                _figure(measures.cost),
                _percent(measures.starvation),
                _figure(measures.loss_rate),
                f"{measures.robots_min} to {measures.robots_max}, mean {measures.robots_mean:.1f}",
            ],
        ],
        title=f"{available}, a buffer of {best.model.buffer} pages (costs and losses per {unit})",
    )
    out.print(f"The best fixed number costs {answer.gain_percent:.4g} % more.")
    out.print(
        f"Under control {measures.buffer_mean:.4g} pages wait on average, each for "
        f"{measures.response_time:.4g} {_units(unit)}; "
        f"{measures.throughput:.4g} are indexed per {unit}."
    )
    out.print()
    for line in terminal_curve(best.targets):
        out.print(line)
    _print_targets(best)
    if not best.is_curve:
        out.print("With these costs no single curve is optimal; --json holds the exact tables.")
    out.print(
        f"Every action of all {best.values.size - 1} states was compared: nothing is better "
        f"(largest relative gain of another action {best.residual:.1e})."
    )
    print_parts(parts, unit)


def _print_targets(best: RobotOptimum) -> None:
    size = len(best.targets)
    shown = sorted({round(q) for q in np.linspace(0, size - 1, min(size, _MOST_ROWS))})
    note = "" if len(shown) == size else f" ({len(shown)} of {size} lengths)"
    print_table(
        ["pages in the buffer", "robots to aim for"],
        [[str(q), str(best.targets[q])] for q in shown],
        title=f"What to do{note}: after each event start a robot if fewer are active",
    )


def _print_rates(measured: MeasuredRates) -> None:
    rows = [("one robot fetches", measured.fetch)]
    if measured.index is not None:
        rows.append(("the indexer takes", measured.index))
    print_table(
        ["measured", "pages per s", "95 % interval", "pages", "variation (Poisson: 1)"],
        [
            [
                name,
                f"{rate.rate:.5g}",
                f"{rate.low:.4g} to {rate.high:.4g}",
                str(rate.events),
                f"{rate.variation:.2f}",
            ]
            for name, rate in rows
        ],
        title="Rates from the log",
    )


def print_parts(parts: Mapping[str, object], unit: str) -> None:
    """Print what was asked for beside the answer."""
    out = console()
    wrong = parts.get("if_wrong")
    if isinstance(wrong, list):
        most = max(float(corner["regret_percent"]) for corner in wrong)
        out.print(
            f"If the true rates lie at the ends of their intervals, this advice costs at most "
            f"{most:.2g} % more than the best one would."
        )
    yours = parts.get("yours")
    if isinstance(yours, list):
        names = list(FleetMeasures.__dataclass_fields__)[:9]
        print_table(
            ["your policy", *(f"class {n + 1}" for n in range(len(yours)))],
            [[name, *(_figure(part[name]) for part in yours)] for name in names],
            title=f"Your policy, per {unit}"
            + (": it depends on the start which class it ends in" if len(yours) > 1 else ""),
        )
    simulated = parts.get("simulation")
    if isinstance(simulated, dict):
        print_simulated(simulated)
    points = parts.get("sweep")
    if isinstance(points, list):
        print_table(
            ["weight", "fixed: robots", "idle", "lost", "control: idle", "lost", "gain %"],
            [_sweep_row(point) for point in points],
            title=f"Trade-off between starvation and loss (pages per {unit})",
        )


def print_simulated(simulated: Mapping[str, Any]) -> None:
    """Print what was seen, with its error."""
    print_table(
        ["simulated", "mean", "95 % ±"],
        [
            [name, f"{part['mean']:.6g}", f"{part['half_width']:.2g}"]
            for name, part in simulated.items()
            if isinstance(part, dict)
        ],
        title=f"{simulated['events']} simulated events",
    )


def _sweep_row(point: Mapping[str, object]) -> list[str]:
    fixed, control = point["static"], point["dynamic"]
    assert isinstance(fixed, dict)
    assert isinstance(control, dict)
    gain = 100 * (fixed["cost"] / control["cost"] - 1) if control["cost"] else 0.0
    return [
        f"{point['starvation_weight']:.4g}",
        str(fixed["robots"]),
        _percent(fixed["starvation"]),
        _figure(fixed["loss_rate"]),
        _percent(control["starvation"]),
        _figure(control["loss_rate"]),
        f"{gain:.4g}",
    ]


def _figure(value: float) -> str:
    return f"{value:.5g}"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _units(unit: str) -> str:
    return "units of time" if unit == "unit of time" else unit
