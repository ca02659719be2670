"""Status of a crawl and its index, as one mapping of plain values."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from recrawl.crawler.control.addresses.intake import REFUSALS
from recrawl.crawler.control.dispatching.robots_txt import crawl_delay_of
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.estimate import FreshnessEstimate, estimate_freshness
from recrawl.crawler.control.worth.announced import unannounced
from recrawl.crawler.facts import MEASURES, CrawlFacts, SolvedFacts
from recrawl.crawler.ports import Frontier
from recrawl.crawler.reports.activity import activity_report
from recrawl.crawler.reports.moves import moved_away
from recrawl.crawler.reports.progress import fetch_price, first_pass_of, price_words, why_idle
from recrawl.crawler.reports.sharing import Sharing
from recrawl.quantities import show_duration, show_measured_rate, show_rate
from recrawl.terms import Announcer, HostRecord, Outcome, PageState

MEASURE_WORDS: Final[Mapping[str, tuple[str, Callable[[float], str]]]] = {
    "starvation": ("indexer idle", lambda value: f"{value:.1%}"),
    "loss_rate": ("pages lost", show_measured_rate),
    "throughput": ("pages indexed", show_measured_rate),
    "buffer_mean": ("pages in the buffer", lambda value: f"{value:.2f}"),
    "robots_mean": ("robots active", lambda value: f"{value:.2f}"),
    "sojourn_s": ("wait for the index", show_duration),
    "obsolete_share": ("gone stale in the buffer", lambda value: f"{value:.2%}"),
}

_MOST_REFUSALS: Final = 20
_MOST_READ: Final = 1_000  # robots.txt files
_MOST_SLOWED: Final = 5


def instant_of(facts: CrawlFacts) -> float:
    """Return the instant that a state is looked at: a clock of its own may be ahead of ours."""
    return max(time.time(), facts.instant.now_s or 0.0)


def believed_rates(pages: PlannedPages) -> tuple[np.ndarray, np.ndarray]:
    """Return change rates and standard errors of their logarithms; unknown pages are typical."""
    known = ~np.isnan(pages.change_rates_per_s)
    told = np.sort(pages.change_rates_per_s[known])  # np.median loads the arrays with masks
    typical = float(told[(told.size - 1) // 2] + told[told.size // 2]) / 2 if told.size else 1e-6
    rates = np.where(known, pages.change_rates_per_s, typical)
    doubts = np.where(known, np.log(np.where(known, pages.change_rate_factors, 1.0)), 1.4)
    return rates, doubts


def freshness_of(
    pages: PlannedPages, announcers: Mapping[int, Announcer], now_s: float
) -> FreshnessEstimate | None:
    """Return the estimated freshness of the index at an instant, with its interval.

    Parameters
    ----------
    pages : that are kept fresh; with none, there is no estimate
    announcers : by the id of a host
    now_s : epoch seconds
    """
    if not len(pages.page_ids):
        return None
    rates, doubts = believed_rates(pages)
    told = unannounced(pages, announcers, pages.seen_s, now_s)
    return estimate_freshness(rates, doubts, pages.weights, *told)


def status_report(
    frontier: Frontier,
    *,
    now_s: float | None = None,
    pages: PlannedPages | None = None,
    agent: str = "recrawl",
) -> dict[str, Any]:
    """Return pages, visits, budget, price, freshness and control of a crawl.

    Parameters
    ----------
    frontier : of the crawl, opened for reading
    now_s : the instant; default: now
    pages : as they were then; default: read now
    agent : the crawler's name, by which robots.txt files speak to it
    """
    plan, refused = frontier.last_plan(), frontier.refused()
    facts = frontier.facts()
    now_s = instant_of(facts) if now_s is None else now_s
    budget = facts.settings.budget_per_s
    fetches = {outcome.value: n for outcome, n in frontier.n_visits_by_outcome().items()}
    # What is no request, or none that the budget bounds, is no part of it.
    beside = (Outcome.DISALLOWED, Outcome.NEW if facts.settings.first_free else None)
    recent = frontier.n_visits_by_outcome(since_s=now_s - 3600.0)
    spent = sum(n for outcome, n in recent.items() if outcome not in beside)
    asked = sum(n for outcome, n in fetches.items() if outcome != "disallowed")
    pages = frontier.planned_pages() if pages is None else pages
    estimate = freshness_of(pages, frontier.announcers(), now_s)
    price = fetch_price(plan, facts.plan)
    not_modified = fetches.get("not-modified", 0)
    revisits = not_modified + fetches.get("unchanged", 0) + fetches.get("changed", 0)
    counts, hosts = frontier.n_pages_by_state(), frontier.hosts()
    fetched_s = frontier.last_fetch_s()
    last_fetch_s = facts.instant.now_s if fetched_s is None else fetched_s
    return {
        "at": now_s,
        "pages": {state.value: n for state, n in sorted(counts.items())},
        "first_pass": first_pass_of(counts, refused),
        "idle": why_idle(now_s, last_fetch_s, hosts, facts.settings, counts),
        "due": frontier.n_due(now_s),
        "overdue": frontier.n_due(now_s - 3600.0),
        # As it was when the crawl last ran: what has grown old since waits for nothing but that.
        "closed": frontier.n_closed(last_fetch_s or 0.0) if plan and plan.price > 0.0 else 0,
        "fetches": fetches,
        "revisits": revisits,
        "not_modified_share": not_modified / asked if asked else 0.0,
        "budget": budget,
        "budget_used": spent / (budget * 3600.0) if budget else None,
        "first_visits_are_free": facts.settings.first_free,
        "planned_budget": plan.budget_per_s if plan else None,
        "price": price,
        "price_words": None if price is None else price_words(price),
        "price_set_by": bound_words(facts) if plan else None,
        "planned_freshness": plan.freshness if plan else None,
        "planned_at": plan.solved_at_s if plan else None,
        "freshness": estimate.value if estimate else None,
        "freshness_low": estimate.low if estimate else None,
        "freshness_high": estimate.high if estimate else None,
        "weight": float(pages.weights.sum()),
        "control": control_report(facts),
        "activity": activity_report(frontier, plan, now_s=now_s),
        "moved_away": moved_away(frontier) if counts.get(PageState.MOVED) else [],
        "refused": [
            {"host": host, "addresses": n, "why": REFUSALS.get(why, why)}
            for host, why, n in refused[:_MOST_REFUSALS]
        ],
        "hosts_slowed": [
            {"host": host.host, "rest_s": host.rest_s}
            for host in sorted(hosts, key=lambda host: -host.rest_s)[:_MOST_SLOWED]
            if host.rest_s > 0.0
        ],
        "hosts_patient": [
            {"host": host, "delay_s": delay_s}
            for host, delay_s in _patient(hosts, agent, facts.settings.delay_s or 0.0)
        ],
        "hosts_blocked": [
            {"host": host.host, "until": host.blocked_until_s, "why": host.blocked_why}
            for host in Sharing(hosts, facts.settings, now_s).blocked()
        ],
    }


def _patient(hosts: Sequence[HostRecord], agent: str, delay_s: float) -> list[tuple[str, float]]:
    """Return the hosts whose robots.txt asks for more than the delay, the longest first.

    Of the first thousand: rules are read for it, and this is asked for every second.
    """
    asked = ((host.host, crawl_delay_of(host, agent)) for host in hosts[:_MOST_READ])
    longer = sorted((one for one in asked if one[1] > delay_s), key=lambda one: -one[1])
    return longer[:_MOST_SLOWED]


def control_report(facts: CrawlFacts) -> dict[str, Any] | None:
    """Return what the control predicts and what happened since it was adopted, if there is one."""
    solved, predicted, measured = facts.solved, facts.predicted, facts.measured
    if not (facts.control.known and solved and predicted and measured):
        return None
    measures = beside(asdict(predicted), asdict(measured))
    return {
        "seconds": measured.seconds,
        "fetch_rate": solved.fetch_rate,
        "index_rate": solved.index_rate,
        "model": model_words(solved),
        "dropped": facts.control.dropped,
        "measures": measures,
        "parted": parted(measures, measured.seconds),
    }


def beside(
    predicted: Mapping[str, float], measured: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return each measure as predicted and as measured, and how long pages wait for the index.

    What waits is what comes times that (Little).

    Parameters
    ----------
    predicted, measured : values by the names in MEASURES; others are not looked at
    """
    sides = {"predicted": predicted, "measured": measured}
    waits = {
        side: told["buffer_mean"] / max(told["throughput"], 1e-12) for side, told in sides.items()
    }
    return {name: {side: told[name] for side, told in sides.items()} for name in MEASURES} | {
        "sojourn_s": waits
    }


def bound_words(facts: CrawlFacts) -> str:
    """Say what sets the number of requests that the plan in force counts on, and so its price."""
    plan = facts.plan
    if plan.plan_bound_per_s is None:
        return "the budget"
    rate = show_measured_rate(plan.plan_bound_per_s)
    if plan.plan_bound_by_robots:
        robots = facts.settings.robots or 0.0
        return f"the robots: {rate} is all that {robots:.0f} of them can fetch"
    if plan.plan_bound_by_indexer:
        return f"the indexer: it keeps up with {rate}"
    # That of the crawl: a process of several plans with its share.
    budget = facts.settings.budget_per_s
    return "the budget" if budget is None else f"the budget of {show_rate(budget)}"


def model_words(solved: SolvedFacts) -> str:
    """Say which model of robots and indexer the control in force is the optimum of, and why."""
    if not solved.is_general:
        return "simple: times vary about as much as exponential ones"
    return (
        f"general: indexing times vary {solved.service_variation:.2g} times as much as exponential "
        f"ones, times between arrivals {solved.arrival_variation:.2g} times (neighbours correlated "
        f"by {solved.arrival_correlation:.2f})"
    )


def parted(measures: Mapping[str, Mapping[str, float]], seconds: float) -> list[str]:
    """Name the measures in which theory and practice part by more than chance would explain.

    A busy period of a buffer of K pages is about 2 K pages long; 20 pages make one observation.

    Parameters
    ----------
    measures : as :func:`beside` returns them
    seconds : in which they were measured; too few for 500 pages: nothing is named
    """
    pages = seconds * measures["throughput"]["measured"]
    if pages < 500:
        return []
    allowed = 0.1 + 4.0 * (pages / 20.0) ** -0.5
    parted = []
    for name in ("throughput", "buffer_mean", "robots_mean"):
        predicted, measured = measures[name]["predicted"], measures[name]["measured"]
        if abs(measured - predicted) > allowed * max(predicted, 1e-9):
            parted.append(name)
    idle = measures["starvation"]
    if abs(idle["measured"] - idle["predicted"]) > 0.5 * allowed:
        parted.append("starvation")
    return parted
