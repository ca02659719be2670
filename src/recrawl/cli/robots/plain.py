"""The verb ``robots`` for one class of robots and exponential times: the model of Talim."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from recrawl.cli.output import print_json, progress_console
from recrawl.cli.robots.options import FleetOptions
from recrawl.cli.robots.policy_file import read_policy_file
from recrawl.cli.robots.rates import Rates
from recrawl.cli.robots.report import (
    Answer,
    answer_json,
    plot_answer,
    print_answer,
    sensitivity,
    show_point,
)
from recrawl.crawler.control.fleet.careful import lookup_policy
from recrawl.errors import InputError
from recrawl.fleet import (
    ControlledBuffer,
    RobotOptimum,
    TradeOff,
    evaluate_policy,
    solve_robots,
    solve_robots_unrestricted,
    solve_static,
    sweep_weights,
)
from recrawl.simulation.controlled_queue import simulate_fleet


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """Rates, given or measured, and the other options of the command line."""

    rates: Rates
    options: FleetOptions
    plot: Path | None

    def model(self) -> ControlledBuffer:
        """Return the model, with more robots than can be worth having where none are given."""
        asked, fetch, index = self.options, self.rates.fetch, self.rates.index
        return ControlledBuffer(
            2 * math.ceil(index / fetch) + asked.capacity if asked.robots is None else asked.robots,
            asked.capacity,
            fetch,
            index,
            asked.starvation_weight or 0.0,
            asked.loss_weight,
            asked.holding_cost,
            asked.robot_cost,
        )


def advise_plain(request: PlainRequest, *, as_json: bool) -> None:
    """Solve, and print (or draw) the answer with all that was asked beside it."""
    asked, measured = request.options, request.rates.measured
    model = request.model()
    weights = _sweep_weights(asked.sweep) if asked.sweep is not None else None
    yours = read_policy_file(asked.policy) if asked.policy is not None else None
    unrestricted = asked.robots is None
    best = solve_robots_unrestricted(model) if unrestricted else solve_robots(model)
    static = solve_static(best.model)
    answer = Answer(best, static, request.rates.unit, unrestricted, measured)
    parts: dict[str, object] = {}
    if measured is not None:
        parts["rates"], parts["if_wrong"] = asdict(measured), sensitivity(best, measured)
    if yours is not None:
        parts["yours"] = [asdict(part) for part in evaluate_policy(best.model, yours(best.model))]
    if asked.simulate is not None:
        rng = np.random.default_rng(asked.seed)
        parts["simulation"] = asdict(
            simulate_fleet(best.model, lookup_policy(best), rng, events=asked.simulate)
        )
    points = None if weights is None else _swept(best, weights, unrestricted=unrestricted)
    if points is not None:
        parts["sweep"] = [show_point(point) for point in points]
    if request.plot is not None:
        plot_answer(request.plot, best, points)
    if as_json:
        print_json({**answer_json(answer), **parts})
    else:
        print_answer(answer, parts)


def _sweep_weights(text: str) -> list[float]:
    parts = text.split(":")
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        right = len(parts) == 3 and 0 < first <= last < math.inf and 1 <= count <= 10_000
    except (ValueError, IndexError):
        right = False
    if not right:
        raise InputError(
            f"--sweep: {text!r} is not first:last:how many with 0 < first <= last, such as 0.1:10:9"
        )
    return [float(weight) for weight in np.geomspace(first, last, count)]


def _swept(
    best: RobotOptimum, weights: Sequence[float], *, unrestricted: bool
) -> tuple[TradeOff, ...]:
    """Solve for each weight of starvation, with as many robots as the greatest is worth."""
    from rich.progress import track

    widest = replace(best.model, starvation_weight=max(weights))
    if unrestricted:
        widest = solve_robots_unrestricted(widest).model
    steps = track(
        weights, "solving", console=progress_console(), transient=True, disable=len(weights) < 3
    )
    return tuple(point for weight in steps for point in sweep_weights(widest, [weight]))
