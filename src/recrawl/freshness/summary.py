"""A small table that asks for nearly what all pages together ask for, at any price.

Pages with nearly the same ratio of weight to cost and change rate respond alike to the price. The
summary keeps, for each of 256 classes per octave of that ratio, the total of change rate x cost and
the mean ratio. Summaries add, so partitions on several machines are summed up in place and merged;
the price that a merged summary gives is off by about 1e-4 and starts the exact search.
"""

from dataclasses import dataclass

import numpy as np

from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.freshness.prices import search_prices
from recrawl.kernels.arrays import Flags, Vector
from recrawl.kernels.classes import CLASSES, add_to_classes
from recrawl.kernels.gaps import add_demand

__all__ = ["DemandSummary"]

_STEP = 5e-3


@dataclass(frozen=True, eq=False)
class DemandSummary:
    """Total demand of many pages as a function of the price, in little memory.

    Parameters
    ----------
    objective : the worth of visits that the demand follows from
    classes : shape (CLASSES, 2), change rate x fetch cost summed over the pages of a class, and the
        same times the square root (for the age: the cube root) of the ratio
        weight / (cost x change rate**power), which makes the sum over a class exact where the ratio
        is far above the price
    """

    objective: Objective
    classes: Vector

    @classmethod
    def empty(cls, objective: Objective) -> "DemandSummary":
        """Return the summary of no pages."""
        return cls(objective, np.zeros((CLASSES, 2)))

    @classmethod
    def of(cls, objective: Objective, pages: Pages) -> "DemandSummary":
        """Sum up pages; bounds on rates are left out of account. O(n) time, constant memory."""
        summary = cls.empty(objective)
        change, weight, cost, _, _ = pages.columns()
        add_to_classes(objective.power, change, weight, cost, summary.classes)
        return summary

    def __add__(self, other: "DemandSummary") -> "DemandSummary":
        return DemandSummary(self.objective, self.classes + other.classes)

    def representatives(self) -> Pages | None:
        """Return one page for each class that is not empty; None when all are."""
        used = np.flatnonzero(self.classes[:, 0] > 0)
        if not used.size:
            return None
        masses, moments = self.classes[used].T
        power = self.objective.power
        return Pages(masses, (moments / masses) ** (power + 1) * masses**power)

    def estimate_price(self, budget: float) -> tuple[float, float]:
        """Return the price at which the demand is about the budget, and the elasticity there.

        A start for the exact search, good to about 1e-4 on its own; 1 and 1/2
        for pages that ask for nothing at any price.
        """
        pages = self.representatives()
        return (1.0, 0.5) if pages is None else start_price(self.objective, pages, budget)


def start_price(objective: Objective, pages: Pages, budget: float) -> tuple[float, float]:
    """Find the price of a few pages without bounds, and the elasticity of their demand there."""
    leaf = np.zeros(1, dtype=np.int64)
    columns = (*pages.columns()[:3], *Pages(np.ones(1)).columns()[3:])

    def demand(prices: Vector, _: Flags) -> tuple[Vector, Vector]:
        loads = np.zeros(1)
        add_demand(objective.law, columns, leaf, prices, loads)
        return loads, loads

    target = np.array([budget])
    ends = (np.zeros(1), np.zeros(1))
    first = np.array([_uniform_price(objective, pages, budget)])
    found = search_prices(demand, target, first, np.zeros(1), leaves=lambda mask: mask, ends=ends)
    price = float(found.low[0])
    every = np.ones(1, dtype=bool)
    before, after = (
        float(demand(np.array([price * factor]), every)[0][0]) for factor in (1 - _STEP, 1 + _STEP)
    )
    usable = 0 < after < before
    return price, float(np.log(before / after) / (2 * _STEP)) if usable else 0.5


def _uniform_price(objective: Objective, pages: Pages, budget: float) -> float:
    """Mean worth of one more fetch when all pages, which change, are visited equally often."""
    change, weight = pages.columns()[:2]
    worth = objective.worth(change * (len(pages) / budget)) / change**objective.power
    price = float(np.mean(weight * worth))
    return min(max(price, 1e-290), 1e290)
