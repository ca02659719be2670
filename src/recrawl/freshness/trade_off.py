"""The trade-off between budget and freshness: its points, and its slope, which is the price."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.freshness.allocation import solve
from recrawl.freshness.limits import Limit
from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.kernels.arrays import Vector


@dataclass(frozen=True, eq=False)
class TradeOffCurve:
    """The best value for each budget.

    Parameters
    ----------
    budgets : shape (m,), 1/time
    values : shape (m,), weighted average of the measure over all pages
    slopes : shape (m,), derivative of ``values`` by the budget: the price over the total weight,
        negative where less is better
    never_visited : shape (m,), share of pages left out
    """

    budgets: Vector
    values: Vector
    slopes: Vector
    never_visited: Vector


def trace_trade_off(
    objective: Objective,
    pages: Pages,
    budgets: ArrayLike,
    host_caps: ArrayLike | None = None,
    limits: Sequence[Limit] = (),
) -> TradeOffCurve:
    """Solve for each of several budgets.

    Parameters
    ----------
    objective, pages, host_caps, limits : as :func:`recrawl.freshness.solve_even_freshness`
    budgets : shape (m,), 1/time, > 0

    Returns
    -------
    TradeOffCurve
        Concave for freshness, convex for losses: each further fetch buys less.
    """
    chosen = np.asarray(budgets, dtype=np.float64)
    plans = [solve(objective, pages, float(budget), host_caps, limits) for budget in chosen]
    sign = -1.0 if objective.is_loss else 1.0
    weight = pages.total_weight()
    return TradeOffCurve(
        budgets=chosen,
        values=np.array([plan.value for plan in plans]),
        slopes=np.array([sign * plan.price / weight for plan in plans]),
        never_visited=np.array([plan.n_never_visited / len(pages) for plan in plans]),
    )
