"""From estimates to due times: one plan for all pages, within the budget and the hosts' limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.control.lifecycle import RevisitRules
from recrawl.freshness import (
    Pages,
    Plan,
    allocate_proportionally,
    allocate_uniformly,
    solve_even_freshness,
)

__all__ = ["ALLOCATORS", "Allocator", "PlanInputs", "Schedule", "plan_visits"]

Vector = NDArray[np.float64]
Allocator = Callable[[Pages, float, Vector | None], Plan]

ALLOCATORS: Mapping[str, Allocator] = {
    "even-freshness": solve_even_freshness,
    "uniform": allocate_uniformly,
    "proportional": allocate_proportionally,
}


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
    hosts: NDArray[np.int64]
    last_visits: Vector
    host_caps: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A plan and the due times that follow: the last visit plus one interval."""

    plan: Plan
    due: Vector


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
    measure : a name in ``ALLOCATORS``

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
    per_host = np.maximum(np.bincount(inputs.hosts, minlength=len(inputs.host_caps)), 1)
    floor = min(1.0 / rules.max_interval_s, 0.5 * budget / n)
    ceilings = np.full(n, 1.0 / rules.min_interval_s)
    floors = np.minimum(floor, 0.5 * (inputs.host_caps / per_host)[inputs.hosts])
    pages = Pages(
        inputs.change_rates,
        weights=inputs.weights if np.any(inputs.weights > 0) else np.ones(n),
        min_rates=np.minimum(floors, ceilings),
        max_rates=ceilings,
        hosts=inputs.hosts,
    )
    plan = ALLOCATORS[measure](pages, budget, inputs.host_caps)
    with np.errstate(divide="ignore"):
        intervals = np.clip(1.0 / plan.crawl_rates, rules.min_interval_s, rules.max_interval_s)
    return Schedule(plan, inputs.last_visits + intervals)
