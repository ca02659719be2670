"""The answer of ``recrawl robots MODEL.toml``: JSON, tables for people, pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.cli.figures import new_figure, save_figure
from recrawl.cli.output import console, print_table
from recrawl.cli.robots.pictures import terminal_curve
from recrawl.cli.robots.replayed import print_replayed
from recrawl.drawing import add_legend
from recrawl.fleet.bursty import BufferMeasures, BurstyBuffer, BurstyOptimum, count_maps

HEADINGS = ("", "cost J", "idle", "lost", "stale", "robots", "pages", "stay of served")


@dataclass(frozen=True, slots=True)
class Found:
    """The optimum (None with window closure), what else was asked, and the fixed numbers."""

    model: BurstyBuffer
    optimum: BurstyOptimum | None
    parts: Mapping[str, Any]
    closed_fixed: Mapping[int, BufferMeasures] = field(default_factory=dict)

    @property
    def fixed(self) -> Mapping[int, BufferMeasures]:
        """Measures of each fixed number of robots."""
        return self.optimum.fixed if self.optimum is not None else self.closed_fixed

    def as_json(self) -> dict[str, object]:
        """Return the contract: ``best`` and ``fixed``, and more."""
        fixed = {str(robots): asdict(measures) for robots, measures in self.fixed.items()}
        if self.optimum is None:
            closed = self.parts["closed"]
            return {"best": closed["measures"], "fixed": fixed, **self.parts}
        rules, maps = count_maps(self.model)
        seen = self.optimum.full_information
        return {
            "best": asdict(self.optimum.best),
            "fixed": fixed,
            "thresholds": asdict(self.optimum.thresholds),
            "subsets": [asdict(one) for one in self.optimum.subsets],
            "proven": {
                "among_thresholds": self.optimum.all_thresholds,
                "among_maps": self.optimum.all_maps,
                "thresholds": str(rules),
                "maps": str(maps),
            },
            "full_information": {"cost": seen.cost, "is_bound": seen.is_bound} if seen else None,
            **self.parts,
        }


def show_map(robots: Sequence[int]) -> str:
    """Write a map by its stretches: 3 robots up to 2 pages, then 1."""
    out: list[str] = []
    n = -1
    for count, part in groupby(robots):
        n += len(list(part))
        word = "" if out else " robots"
        pages = " pages" if not out else ""
        end = n == len(robots) - 1
        out.append(f"{count}{word}" if end else f"{count}{word} up to {n}{pages}")
    return ", then ".join(out)


def measure_rows(named: Mapping[str, BufferMeasures | Mapping[str, Any]]) -> list[list[str]]:
    """Return a row of the table of measures for each."""
    rows = []
    for name, given in named.items():
        m = given if isinstance(given, Mapping) else asdict(given)
        rows.append(
            [
                name,
                f"{m['cost']:.5g}",
                *(f"{100 * m[key]:.3g} %" for key in ("starvation", "loss", "obsolescence")),
                *(f"{m[key]:.4g}" for key in ("robots_mean", "buffer_mean", "sojourn_served")),
            ]
        )
    return rows


def print_found(found: Found) -> None:
    """Print the answer for people."""
    out, model = console(), found.model
    w, m, v = model.phases
    named: dict[str, Any] = {f"{r} always": measures for r, measures in found.fixed.items()}
    optimum = found.optimum
    if optimum is None:
        named["by window closure"] = found.parts["closed"]["measures"]
    else:
        named["best thresholds"] = optimum.thresholds
        if optimum.best.robots_by_length != optimum.thresholds.robots_by_length:
            named["best map"] = optimum.best
    if "yours" in found.parts:
        named["yours"] = found.parts["yours"]
    print_table(
        HEADINGS,
        measure_rows(named),
        title=f"A buffer of {model.capacity} pages; {w} arrival, {m} service, {v} obsolescence "
        f"phases, {model.states:,} states"
        if model.states < 10**15
        else "A large buffer",
    )
    if optimum is None:
        _print_closed(found)
        return
    _print_optimum(model, optimum)
    for name, show in (
        ("constrained", _print_constrained),
        ("front", _print_front),
        ("study", _print_study),
        ("stays", _print_stays),
        ("replay", print_replayed),
    ):
        if name in found.parts:
            show(found.parts[name])
    out.print("Costs are per unit of time of the model; stays in its unit of time.")


def _print_optimum(model: BurstyBuffer, optimum: BurstyOptimum) -> None:
    out = console()
    best, rules = optimum.best, optimum.thresholds
    out.print(f"Best thresholds: {show_map(rules.robots_by_length)}.")
    if best is not rules:
        robots = " ".join(map(str, best.robots_by_length))
        out.print(
            f"A map that is no threshold rule costs less: {robots} robots at 0, 1, ... pages; "
            f"J = {best.cost:.6g} against {rules.cost:.6g}.",
        )
    for line in terminal_curve(best.robots_by_length):
        out.print(line)
    n_rules, n_maps = count_maps(model)
    proof = (
        f"the least of all {n_maps:,} maps"
        if optimum.all_maps
        else f"the least of all {n_rules:,} threshold rules; other maps were searched locally"
        if optimum.all_thresholds
        else "a local optimum: no shift of a boundary, no switch at one improves it"
    )
    out.print(f"Proof: {proof}.")
    if optimum.full_information is not None:
        bound = "No control" if optimum.full_information.is_bound else "A control"
        could = "could do better than" if optimum.full_information.is_bound else "could reach"
        out.print(
            f"{bound} that sees every phase {could} J = {optimum.full_information.cost:.6g}.",
        )
    if optimum.subsets:
        rows = [
            [
                " or ".join(map(str, one.robots)),
                ", ".join(map(str, one.thresholds)) or "-",
                f"{one.cost:.6g}",
            ]
            for one in optimum.subsets
        ]
        print_table(["robots", "thresholds", "cost J"], rows, title="Best thresholds by robots")


def _print_closed(found: Found) -> None:
    closed, out = found.parts["closed"], console()
    robots = closed["measures"]["robots_by_length"]
    out.print(f"Map: {show_map(robots)} ({found.parts['of']}).")
    errors = ", ".join(f"{name} {error:.1g}" for name, error in closed["errors"].items())
    out.print(
        f"Approximate: the oldest {closed['window']} pages keep their phases, of the others only "
        f"counts are kept. Estimated errors (change from a window one shorter): {errors}.",
    )


def _print_constrained(part: Mapping[str, Any]) -> None:
    out = console()
    limits = ", ".join(f"{name} <= {value:g}" for name, value in part["limits"].items())
    if part["best"] is None:
        out.print(f"No single map keeps {limits}; mixtures do.")
    else:
        robots = show_map(part["best"]["robots_by_length"])
        out.print(
            f"Best within {limits}: J = {part['best']['cost']:.6g} with {robots}.",
        )
    prices = ", ".join(f"{name} {price:.5g}" for name, price in part["multipliers"].items())
    out.print(
        f"No choice among maps does better than J = {part['bound']:.6g} on average. "
        f"Multipliers (what a unit of each limit is worth): {prices}.",
    )


def _print_front(part: Sequence[Mapping[str, Any]]) -> None:
    names = [name for name in part[0] if name not in ("cost", "robots_by_length")]
    rows = [
        [
            *(f"{one[name]:.5g}" for name in names),
            f"{one['cost']:.5g}",
            show_map(one["robots_by_length"]),
        ]
        for one in part
    ]
    print_table([*names, "cost J", "robots by pages"], rows, title="Maps that none beats in both")


def _print_study(part: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        [
            f"{one['value']:g}",
            f"{one['best']['cost']:.5g}",
            *(f"{value:.5g}" for value in one["fixed"].values()),
            f"{one['gain_percent']:.3g}",
            show_map(one["best"]["robots_by_length"]),
        ]
        for one in part
    ]
    fixed = [f"{robots} always" for robots in part[0]["fixed"]]
    print_table([part[0]["what"], "J", *fixed, "gain %", "robots by pages"], rows)


def _print_stays(part: Mapping[str, Any]) -> None:
    rows = [
        [f"{t:g}", *(f"{part[which][k]:.6f}" for which in ("served", "obsolete", "accepted"))]
        for k, t in enumerate(part["times"])
    ]
    print_table(["stay up to", "served", "stale", "either"], rows, title="P(stay <= t)")


def draw_found(path: Path, found: Found) -> None:
    """Draw what was asked: the map and its lengths, or the study, or the front."""
    if "study" in found.parts:
        figure, panels = new_figure(1)
        part = found.parts["study"]
        values = [one["value"] for one in part]
        panels[0].plot(values, [one["best"]["cost"] for one in part], "o-", label="thresholds")
        for robots in part[0]["fixed"]:
            panels[0].plot(
                values, [one["fixed"][robots] for one in part], ":", label=f"{robots} always"
            )
        panels[0].set_xlabel(part[0]["what"])
        panels[0].set_ylabel("cost J")
        if all(float(value).is_integer() for value in values):
            panels[0].locator_params(axis="x", integer=True)
        add_legend(panels[0])
    elif "front" in found.parts:
        figure, panels = new_figure(1)
        part = found.parts["front"]
        first, second = list(part[0])[:2]
        panels[0].plot([one[first] for one in part], [one[second] for one in part], "o-")
        panels[0].set_xlabel(first)
        panels[0].set_ylabel(second)
    else:
        figure, panels = new_figure(2)
        best = found.as_json()["best"]
        assert isinstance(best, dict)
        pages = np.arange(len(best["robots_by_length"]))
        panels[0].step(pages, best["robots_by_length"], where="mid")
        panels[0].set_ylabel("robots")
        panels[0].locator_params(integer=True)
        panels[0].set_title(f"J = {best['cost']:.6g}", fontsize=10)
        panels[1].bar(pages, best["length_distribution"], color="#1f5fa8")
        panels[1].set_ylabel("fraction of time")
        for panel in panels:
            panel.set_xlabel("pages in the system")
    save_figure(figure, path)
