"""The verb ``robots`` where the time until a page is indexed has a price of its own."""

import math
from dataclasses import asdict

import numpy as np

from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.robots.pictures import terminal_curve
from recrawl.cli.robots.plain import PlainRequest
from recrawl.cli.robots.report import plot_answer, print_parts
from recrawl.crawler.control.fleet.careful import lookup_policy
from recrawl.errors import InputError
from recrawl.fleet import ResponseOptimum, StaticOptimum, solve_response, solve_static_response
from recrawl.simulation.controlled_queue import simulate_fleet


def advise_response(request: PlainRequest, weight: float, *, as_json: bool) -> None:
    """Solve for the cost that holds the response time, and print the answer with its gap.

    Raises
    ------
    InputError
        If an option does not go with a response time, or the weight is no price.
    """
    _check(request, weight)
    model = request.model()
    best, static = solve_response(model, weight), solve_static_response(model, weight)
    parts: dict[str, object] = {}
    if request.options.simulate is not None:
        rng = np.random.default_rng(request.options.seed)
        control = lookup_policy(best.optimum)
        seen = asdict(simulate_fleet(model, control, rng, events=request.options.simulate))
        seen["cost_but_response"] = seen.pop("cost")
        parts["simulation"] = seen
    if request.plot is not None:
        plot_answer(request.plot, best.optimum, None)
    if as_json:
        print_json({**_as_json(best, static), **parts})
    else:
        _print(request, best, static)
        print_parts(parts, request.rates.unit)


def _check(request: PlainRequest, weight: float) -> None:
    if not (math.isfinite(weight) and 1e-30 <= weight <= 1e30):
        raise InputError(f"--response-weight: {weight:g} must be between 1e-30 and 1e+30")
    asked = request.options
    if asked.robots is None:
        raise InputError("--robots: missing; say how many there are, such as 16")
    for name, given in (("--policy", asked.policy), ("--sweep", asked.sweep)):
        if given is not None:
            raise InputError(f"{name}: is for costs without a response time; leave it out")


def _gain(best: ResponseOptimum, static: StaticOptimum) -> float:
    return 100 * (static.cost / best.cost - 1)


def _as_json(best: ResponseOptimum, static: StaticOptimum) -> dict[str, object]:
    return {
        "static": asdict(static),
        "dynamic": {
            **asdict(best.optimum.measures),
            "cost": best.cost,
            "target": best.optimum.targets,
        },
        "gain_percent": _gain(best, static),
        "certificate": {
            "bound": best.bound,
            "gap": best.gap,
            "controls": best.solutions,
            "is_curve": best.optimum.is_curve,
        },
    }


def _print(request: PlainRequest, best: ResponseOptimum, static: StaticOptimum) -> None:
    told, out, unit = best.optimum.measures, console(), request.rates.unit
    asked = request.options
    active = f"{told.robots_min} to {told.robots_max}, mean {told.robots_mean:.1f}"
    rows = [
        ("best fixed number", static.cost, static.starvation, static.loss_rate, f"{static.robots}"),
        ("control", best.cost, told.starvation, told.loss_rate, active),
    ]
    print_table(
        ["", "cost", "idle", "lost pages", "robots"],
        [
            [name, f"{cost:.5g}", f"{100 * idle:.4g} %", f"{lost:.5g}", robots]
            for name, cost, idle, lost, robots in rows
        ],
        title=f"{asked.robots} robots, a buffer of {asked.buffer} pages, response time in the "
        f"cost (costs and losses per {unit})",
    )
    times = "units of time" if unit == "unit of time" else unit
    out.print(f"The best fixed number costs {_gain(best, static):.4g} % more.")
    out.print(
        f"Under control a page is indexed {told.response_time:.4g} {times} after it came; "
        f"{told.throughput:.4g} are indexed per {unit}."
    )
    out.print()
    for line in terminal_curve(best.optimum.targets):
        out.print(line)
    out.print("After each event start a robot if fewer are active.")
    if not best.optimum.is_curve:
        out.print("No single curve is this control; Python holds its tables.")
    out.print(
        f"No control costs less than {best.bound:.6g}: this one is at most "
        f"{100 * best.gap:.2g} % dearer ({best.solutions} controls solved for)."
    )
