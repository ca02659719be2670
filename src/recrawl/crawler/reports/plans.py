"""Plans for another budget or another delay: solved, never applied."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.robots_txt import crawl_delay_of
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.planning import MEASURES, PlanInputs, plan_visits
from recrawl.crawler.control.revisiting.revisit_policy import Schedule
from recrawl.crawler.facts import SettingsFacts
from recrawl.terms import HostRecord, PlanRecord


@dataclass(frozen=True, slots=True, eq=False)
class PlanQuestion:
    """Inputs of a plan, as a state tells them.

    Parameters
    ----------
    inputs : of the plan
    host_ids : shape (n_hosts,)
    servers : shape (n_hosts,), the row of ``inputs.host_caps`` of each: its own, or that of all
        that are asked as one with it
    crawl_delays_s : of each row, what robots.txt asks for; the longest of these hosts
    delay_s : the crawl's own
    budget_per_s : of all requests
    revisit_share : of it, for visits of known pages
    rules : bounds on intervals
    measure : a name in ``control.planning.MEASURES``
    """

    inputs: PlanInputs
    host_ids: NDArray[np.int64]
    servers: NDArray[np.int64]
    crawl_delays_s: NDArray[np.float64]
    delay_s: float
    budget_per_s: float
    revisit_share: float
    rules: RevisitRules
    measure: str


def plan_question(
    pages: PlannedPages,
    hosts: Sequence[HostRecord],
    plan: PlanRecord | None,
    settings: SettingsFacts,
    *,
    agent: str,
    now_s: float,
) -> PlanQuestion | None:
    """Return what the next plan of a crawl would be solved from; None while there is nothing.

    Parameters
    ----------
    pages, hosts, plan, settings : of the state
    agent : the crawler's name, by which robots.txt speaks to it
    now_s : the instant
    """
    budget = settings.budget_per_s or 0.0
    if not len(pages.page_ids) or budget <= 0.0:
        return None
    host_ids, rows = np.unique(pages.host_ids, return_inverse=True)
    by_id = {record.host_id: record for record in hosts}
    known = [by_id.get(host) for host in host_ids.tolist()]
    ips = [host.ip_address if settings.per_address and host else None for host in known]
    names = [number if ip is None else ip for number, ip in enumerate(ips)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    servers = np.array([numbers[name] for name in names], np.int64)
    crawl_delays = np.zeros(len(numbers))
    np.maximum.at(crawl_delays, servers, [_crawl_delay_s(host, agent) for host in known])
    rates = pages.change_rates_per_s
    delay_s = 1.0 if settings.delay_s is None else settings.delay_s
    least_s = 600.0 if settings.min_interval_s is None else settings.min_interval_s
    return PlanQuestion(
        inputs=PlanInputs(
            change_rates=np.where(np.isnan(rates), settings.prior_rate_per_s, rates),
            weights=pages.weights,
            hosts=servers[rows],
            last_visits=np.minimum(pages.last_visit_s, now_s),
            host_caps=_caps(crawl_delays, delay_s),
        ),
        host_ids=host_ids,
        servers=servers,
        crawl_delays_s=crawl_delays,
        delay_s=delay_s,
        budget_per_s=budget,
        revisit_share=min(1.0, plan.budget_per_s / budget) if plan else 1.0,
        rules=RevisitRules(min_interval_s=least_s, max_interval_s=settings.max_interval_s),
        # Decided visit by visit, the long run is that of the plan which is solved at once.
        measure=plan.measure if plan and plan.measure in MEASURES else "even-freshness",
    )


def solve_what_if(question: PlanQuestion, budget_per_s: float, delay_s: float) -> Schedule:
    """Return the plan for another budget of all requests and another least delay of hosts.

    Parameters
    ----------
    question : whose budget and delay are put aside
    budget_per_s : requests per second
    delay_s : seconds between two requests to a host; more where its robots.txt asks for more
    """
    inputs = replace(question.inputs, host_caps=_caps(question.crawl_delays_s, delay_s))
    return plan_visits(
        inputs, budget_per_s * question.revisit_share, question.rules, measure=question.measure
    )


def trade_off(question: PlanQuestion, factors: Sequence[float]) -> list[dict[str, float]]:
    """Return the freshness and price that multiples of the budget would buy.

    Parameters
    ----------
    question : whose budget they are multiples of
    factors : > 0
    """
    told = []
    for factor in factors:
        budget = factor * question.budget_per_s
        schedule = solve_what_if(question, budget, question.delay_s)
        told.append({"budget": budget, "freshness": schedule.freshness, "price": schedule.price})
    return told


def _crawl_delay_s(host: HostRecord | None, agent: str) -> float:
    """Return the rest that a host asks for, or shows to want."""
    return 0.0 if host is None else max(crawl_delay_of(host, agent), host.rest_s)


def _caps(crawl_delays_s: NDArray[np.float64], delay_s: float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return 1.0 / np.maximum(crawl_delays_s, delay_s)
