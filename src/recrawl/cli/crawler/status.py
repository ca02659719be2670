"""`recrawl status`: how the crawl and its index are doing."""

import time
from pathlib import Path
from typing import Annotated, Any

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
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Tell how the crawl and its index are doing; works beside a running crawl.

    Parameters
    ----------
    config
        Configuration of the crawl.  [default: recrawl.toml]
    state
        State directory of the crawl, instead of a configuration.
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
        "hosts_blocked": [
            {"host": host.host, "until": host.blocked_until_s, "why": host.blocked_why}
            for host in frontier.hosts()
            if host.blocked_until_s > now_s
        ],
    }


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
