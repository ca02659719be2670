"""One budget shared by several owners of pages: each says what it would take at every price.

One price for all is what makes the sum of what pages bring greatest. An owner need not tell its
pages for that: its demand at some prices is enough, and each finds its own part of the budget at
the price at which all demands together meet it.

References
----------
R. Busa-Fekete et al., "Web crawling with several noisy signals", arXiv 2502.02430 (2025): one
price decentralises the decision.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

PRICES: Final = np.logspace(-3.0, 11.0, 64)  # of a visit, in weight times seconds
_RATIOS: Final = np.logspace(-12.0, 6.0, 1_801)  # of change rate to weight, 1/s
_X: Final = np.logspace(-7.0, 2.0, 4_001)  # changes expected between two visits
# Share of what a visit can be worth at most that it is worth after so many changes are expected.
_WORTH: Final = -np.expm1(-_X) - _X * np.exp(-_X)
_LEAST: Final = 0.05  # of the budget, by shards alone: what nobody knows of yet must be found


@dataclass(frozen=True, slots=True)
class Told:
    """Demand and size of an owner of pages.

    Parameters
    ----------
    demand : visits per second at each of :data:`PRICES`; None: it has no plan yet
    pages : that are kept fresh
    backlog : that wait for their first visit
    shards : that it owns
    """

    demand: NDArray[np.float64] | None
    pages: int
    backlog: int
    shards: int


def demand_at_prices(
    change_rates: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return how many visits per second pages would take at each of :data:`PRICES`.

    Parameters
    ----------
    change_rates : shape (n,), 1/s, > 0
    weights : shape (n,), > 0

    Returns
    -------
    shape (64,), 1/s, not increasing; exact but for bins of change rate over weight 2 % wide

    Notes
    -----
    A visit after :math:`x` expected changes is worth :math:`w/\delta\,(1-e^{-x}(1+x))`; a page is
    visited when that reaches the price, at the rate :math:`\delta/x`. O(n).
    """
    ratios = np.log10(np.clip(change_rates / weights, _RATIOS[0], _RATIOS[-1]))
    bins = np.rint((ratios + 12.0) * 100.0).astype(np.int64)
    rates = np.bincount(bins, weights=change_rates, minlength=len(_RATIOS))
    reached = PRICES[:, None] * _RATIOS[None, :]
    x = np.exp(np.interp(np.log(reached), np.log(_WORTH), np.log(_X)))
    demand: NDArray[np.float64] = np.where(reached < 1.0, rates / x, 0.0).sum(axis=1)
    return demand


def parts_of_budget(told: Mapping[int, Told], budget: float) -> dict[int, float]:
    """Return the part of the budget of each owner, 1/s; they add up to it.

    By the demand of each at the price at which all together take the budget; what waits for its
    first visit counts as much as it is of all pages, a half at most; by shards while one of them
    has no plan.

    Parameters
    ----------
    told : by the number of the owner
    budget : visits per second of all together, >= 0
    """
    shards = max(sum(one.shards for one in told.values()), 1)
    even = {number: one.shards / shards for number, one in told.items()}
    owners = {number: one.demand for number, one in told.items() if one.shards}
    demands = {number: one for number, one in owners.items() if one is not None}
    if not demands or len(demands) < len(owners):
        return {number: budget * share for number, share in even.items()}
    total = np.sum(list(demands.values()), axis=0)
    backlog = sum(one.backlog for one in told.values())
    pages = sum(one.pages for one in told.values())
    first = min(backlog / max(backlog + pages, 1), 0.5)
    place = float(np.interp(-(1.0 - first) * budget, -total, np.arange(len(total))))
    taken = {n: float(np.interp(place, np.arange(len(one)), one)) for n, one in demands.items()}
    all_taken = sum(taken.values())
    parts = {}
    for number, one in told.items():
        known = taken.get(number, 0.0) / all_taken if all_taken > 0.0 else even[number]
        new = one.backlog / max(backlog, 1)
        by_worth = (1.0 - first) * known + first * new
        parts[number] = budget * (_LEAST * even[number] + (1.0 - _LEAST) * by_worth)
    return parts
