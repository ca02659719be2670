"""`recrawl status`: how the crawl and its index are doing."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from cyclopts import Parameter

from recrawl.cli.crawler.place import state_directory
from recrawl.cli.output import console, print_json, print_table
from recrawl.control.estimate import estimate_freshness
from recrawl.ports import Frontier
from recrawl.quantities import show_duration, show_rate
from recrawl.wiring.stores import open_frontier

__all__ = ["status"]

_TROUBLE = ("failed", "server-error", "throttled", "denied")


def status(
    *,
    config: Path | None = None,
    state: Path | None = None,
    model: Annotated[bool, Parameter(negative="")] = False,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Tell how the crawl and its index are doing; works beside a running crawl.

    Parameters
    ----------
    config
        Configuration of the crawl.  [default: recrawl.toml]
    state
        State directory of the crawl, instead of a configuration.
    model
        Show what the robots' control predicts beside what was measured under it.
    json_
        Print one JSON object and nothing else.
    """
    frontier = open_frontier(state_directory(config, state), read_only=True)
    try:
        report = _report(frontier)
    finally:
        frontier.close()
    if json_:
        print_json(report)
    elif model:
        _show_model(report["control"])
    else:
        _show(report)
    return 0


def _report(frontier: Frontier) -> dict[str, Any]:
    plan = frontier.last_plan()
    facts = frontier.facts()
    # A crawl on a clock of its own may be ahead of ours.
    now_s = max(time.time(), facts.get("now_s", 0.0))
    budget = facts.get("budget_per_s")
    fetches = {outcome.value: n for outcome, n in frontier.n_visits_by_outcome().items()}
    recent = frontier.n_visits_by_outcome(since_s=now_s - 3600.0)
    asked = sum(n for outcome, n in fetches.items() if outcome != "disallowed")
    due = frontier.n_due(now_s)
    overdue = frontier.n_due(now_s - 3600.0)
    pages = frontier.planned_pages()
    estimate = None
    if len(pages.page_ids):
        known = ~np.isnan(pages.change_rates_per_s)
        typical = float(np.median(pages.change_rates_per_s[known])) if known.any() else 1e-6
        estimate = estimate_freshness(
            np.where(known, pages.change_rates_per_s, typical),
            np.where(known, np.log(np.where(known, pages.change_rate_factors, 1.0)), 1.4),
            pages.weights,
            pages.last_visit_s,
            now_s,
        )
    not_modified = fetches.get("not-modified", 0)
    return {
        "at": now_s,
        "pages": {state.value: n for state, n in sorted(frontier.n_pages_by_state().items())},
        "due": due,
        "overdue": overdue,
        "fetches": fetches,
        "not_modified_share": not_modified / asked if asked else 0.0,
        "budget": budget,
        "budget_used": sum(recent.values()) / (budget * 3600.0) if budget else None,
        "planned_budget": plan.budget_per_s if plan else None,
        "price": plan.price if plan else None,
        "planned_freshness": plan.freshness if plan else None,
        "planned_at": plan.solved_at_s if plan else None,
        "freshness": estimate.value if estimate else None,
        "freshness_low": estimate.low if estimate else None,
        "freshness_high": estimate.high if estimate else None,
        "weight": float(pages.weights.sum()),
        "control": _control(facts),
        "hosts_blocked": [
            {"host": host.host, "until": host.blocked_until_s, "why": host.blocked_why}
            for host in frontier.hosts()
            if host.blocked_until_s > now_s
        ],
    }


def _control(facts: Mapping[str, float]) -> dict[str, Any] | None:
    """Return what the control predicts and what happened since it was adopted, if there is one."""
    if "measured_seconds" not in facts:
        return None
    rows = {
        name: (facts[f"predicted_{name}"], facts[f"measured_{name}"])
        for name in ("starvation", "loss_rate", "throughput", "buffer_mean", "robots_mean")
    }
    return {
        "seconds": facts["measured_seconds"],
        "fetch_rate": facts["control_fetch_rate"],
        "index_rate": facts["control_index_rate"],
        "dropped": bool(facts.get("control_dropped")),
        "measures": {name: {"predicted": p, "measured": m} for name, (p, m) in rows.items()},
        "parted": _parted(facts),
    }


def _parted(facts: Mapping[str, float]) -> list[str]:
    """Name the measures in which theory and practice part by more than chance would explain.

    A busy period of the buffer is about 2 K pages long; so many pages make one observation.
    """
    pages = facts["measured_seconds"] * facts["measured_throughput"]
    if pages < 500:
        return []
    allowed = 0.1 + 4.0 * (pages / 20.0) ** -0.5
    parted = []
    for name in ("throughput", "buffer_mean", "robots_mean"):
        predicted, measured = facts[f"predicted_{name}"], facts[f"measured_{name}"]
        if abs(measured - predicted) > allowed * max(predicted, 1e-9):
            parted.append(name)
    if abs(facts["measured_starvation"] - facts["predicted_starvation"]) > 0.5 * allowed:
        parted.append("starvation")
    return parted


_WORDS: Final[Mapping[str, tuple[str, Callable[[float], str]]]] = {
    "starvation": ("indexer idle", lambda value: f"{value:.1%}"),
    "loss_rate": ("pages lost", show_rate),
    "throughput": ("pages indexed", show_rate),
    "buffer_mean": ("pages in the buffer", lambda value: f"{value:.2f}"),
    "robots_mean": ("robots active", lambda value: f"{value:.2f}"),
}


def _show_model(control: dict[str, Any] | None) -> None:
    out = console()
    if control is None:
        out.print(
            "No model yet: robots run while the buffer has room. Under \\[buffer] control = "
            '"optimal" another control is solved once 50 pages were fetched and indexed, where it '
            "could spare the indexer a fiftieth of its time."
        )
        return
    measures = control["measures"]
    print_table(
        ("", "predicted", "measured"),
        [
            (label, show(measures[name]["predicted"]), show(measures[name]["measured"]))
            for name, (label, show) in _WORDS.items()
        ],
    )
    fetch, index = control["fetch_rate"], control["index_rate"]
    out.print(
        f"For {show_rate(fetch)} of a robot and {show_rate(index)} of the indexer, as measured; "
        f"followed for {show_duration(control['seconds'])}"
    )
    if control["dropped"]:
        out.print(
            "This control lost far more pages than it predicted and was dropped: robots run while "
            "the buffer has room."
        )
    if control["parted"]:
        apart = ", ".join(_WORDS[name][0] for name in control["parted"])
        out.print(
            f"Theory and practice part in: {apart}. The model knows exponential times and robots "
            "that always find work; a budget, polite hosts or unchanged pages keep them waiting"
        )


def _show(report: dict[str, Any]) -> None:
    out = console()
    pages = report["pages"]
    print_table(
        ("pages", ""),
        [(name, f"{n:,}") for name, n in pages.items()]
        + [("due now", f"{report['due']:,}"), ("due for over an hour", f"{report['overdue']:,}")],
    )
    total = sum(report["fetches"].values())
    print_table(
        ("visits", "", ""),
        [
            (name, f"{n:,}", f"{n / total:.1%}")
            for name, n in sorted(report["fetches"].items(), key=lambda item: -item[1])
        ],
    )
    if report["freshness"] is not None:
        half = (report["freshness_high"] - report["freshness_low"]) / 2
        out.print(
            f"Estimated freshness: {report['freshness']:.1%} ± {half:.1%} of the index, by weight"
        )
    if report["budget"]:
        used = min(report["budget_used"], 1.0)
        out.print(f"Budget: {show_rate(report['budget'])}, {used:.0%} used in the last hour")
    if report["price"] is not None:
        budget = report["planned_budget"]
        worth = 100 * report["price"] / max(report["weight"], 1e-300)  # points, of a fetch a second
        out.print(
            f"Plan: {report['planned_freshness']:.1%} fresh with {show_rate(budget)} for revisits; "
            f"20 % more would buy about {0.2 * budget * worth:.2f} points"
        )
        out.print(f"Price: one more fetch a day is worth {worth / 86_400:.3g} points of freshness")
    else:
        out.print("No plan yet: it follows once pages have been visited")
    for host in report["hosts_blocked"]:
        left = show_duration(host["until"] - report["at"])
        out.print(f"Blocked: {host['host']} for {left}: {host['why']}")
