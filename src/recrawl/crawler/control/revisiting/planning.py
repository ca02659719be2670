"""From estimates to due times: one plan for all pages, within the budget and the hosts' limits."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.revisit_policy import Schedule
from recrawl.freshness import (
    Pages,
    allocate_proportionally,
    allocate_uniformly,
    solve_even_freshness,
)
from recrawl.kernels.arrays import Integers, Vector

MEASURES: Final = ("even-freshness", "uniform", "proportional")


@dataclass(frozen=True, slots=True, eq=False)
class PlanInputs:
    """The columns that a plan is made from, one row per page. Times in any one unit.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, >= 0
    weights : shape (n,), >= 0
    hosts : shape (n,), number of the host
    last_visits : shape (n,), instants
    host_caps : shape (n_hosts,), visits per time that politeness allows; inf: any
    """

    change_rates: Vector
    weights: Vector
    hosts: Integers
    last_visits: Vector
    host_caps: Vector


def plan_visits(
    inputs: PlanInputs, budget: float, rules: RevisitRules, *, measure: str = "even-freshness"
) -> Schedule:
    """Return the best crawl rates within the budget, and when each page is due.

    Parameters
    ----------
    inputs : n pages
    budget : visits per time, > 0
    rules : bounds on intervals. The longest interval is kept as far as half of the budget, and of
        each host's limit, goes; beyond that it gives way.
    measure : one of ``MEASURES``

    Raises
    ------
    InvalidModel
        A number is outside its domain.

    Notes
    -----
    Pages that no budget could keep fresh get the floor of one visit per longest interval, so
    nothing starves. O(n) memory, O(n) time per pass of the solver.
    """
    n = len(inputs.change_rates)
    of_host = np.bincount(inputs.hosts)[inputs.hosts]
    floor = min(1.0 / rules.max_interval_s, 0.5 * budget / max(n, 1))
    ceilings = np.full(n, 1.0 / rules.min_interval_s)
    floors = np.minimum(floor, 0.5 * inputs.host_caps[inputs.hosts] / of_host)
    floors = np.minimum(floors, ceilings)
    pages = Pages(
        inputs.change_rates,
        weights=inputs.weights if np.any(inputs.weights > 0) else np.ones(n),
        min_rates=floors,
        max_rates=ceilings,
        hosts=inputs.hosts,
    )
    rates, price, freshness, n_never, host_prices = _allocate(
        pages, budget, inputs.host_caps, measure
    )
    with np.errstate(divide="ignore"):
        # Where a floor gave way, so does the longest interval: more would be due than is paid for.
        longest = np.maximum(1.0 / floors, rules.max_interval_s)
        intervals = np.clip(1.0 / rates, rules.min_interval_s, longest)
    due = inputs.last_visits + intervals
    return Schedule(rates, due, price, freshness, n_never, host_prices)


def _allocate(
    pages: Pages, budget: float, host_caps: Vector, measure: str
) -> tuple[Vector, float, float, int, Vector]:
    if measure == "even-freshness":
        plan = solve_even_freshness(pages, budget, host_caps)
        return (
            plan.crawl_rates, plan.price, plan.value, plan.n_never_visited, plan.host_prices
        )  # fmt: skip
    allocate = {"uniform": allocate_uniformly, "proportional": allocate_proportionally}[measure]
    rates = allocate(pages, budget)
    fresh = even_freshness(pages.change_rates, rates)
    value = float(np.average(fresh, weights=pages.weights))
    return rates, 0.0, value, int(np.sum(rates == 0)), np.zeros(0)


def even_freshness(change_rates: Vector, crawl_rates: Vector) -> Vector:
    """Share of time each page is fresh when its visits are evenly spaced: (1 - exp(-y)) / y.

    Parameters
    ----------
    change_rates, crawl_rates : shape (n,), 1/time in one unit, >= 0; y is the first over the second
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        y = change_rates / crawl_rates
        return np.where(y > 0, -np.expm1(-y) / y, 1.0)
