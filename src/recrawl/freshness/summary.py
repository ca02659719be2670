"""A small table that asks for nearly what all pages together ask for, at any price.

Pages with nearly the same ratio of weight to cost and change rate respond alike to the price. The
summary keeps, for each of 64 classes per octave of that ratio, the total of change rate x cost and
the mean ratio. Summaries add, so partitions on several machines are summed up in place and merged;
the price that a merged summary gives is off by about 1e-5 and starts the exact search.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.kernels.classes import CLASSES, add_to_classes
from recrawl.kernels.gaps import add_demand

__all__ = ["DemandSummary"]

Vector: TypeAlias = NDArray[np.float64]

_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class DemandSummary:
    """Total demand of many pages as a function of the price, in little memory.

    Parameters
    ----------
    objective : the worth of visits that the demand follows from
    masses : shape (CLASSES,), change rate x fetch cost, summed
    moments : shape (CLASSES,), the same times the ratio weight / (cost x change rate**power)
    """

    objective: Objective
    masses: Vector
    moments: Vector

    @classmethod
    def empty(cls, objective: Objective) -> "DemandSummary":
        """Return the summary of no pages."""
        return cls(objective, np.zeros(CLASSES), np.zeros(CLASSES))

    @classmethod
    def of(cls, objective: Objective, pages: Pages, sample: int | None = None) -> "DemandSummary":
        """Sum up pages, or about ``sample`` of them spread evenly and scaled up.

        O(n) time; memory independent of n. Bounds on rates are left out of account.
        """
        summary = cls.empty(objective)
        step = 1 if sample is None else max(1, len(pages) // sample)
        change, weight, cost, _, _ = pages.columns()
        add_to_classes(objective.power, step, change, weight, cost, summary.masses, summary.moments)
        return summary

    def __add__(self, other: "DemandSummary") -> "DemandSummary":
        return DemandSummary(
            self.objective, self.masses + other.masses, self.moments + other.moments
        )

    def demand(self, price: float) -> float:
        """Cost-weighted crawl rate that the pages ask for at a price, nearly."""
        loads = np.zeros(1)
        leaf = np.zeros(1, dtype=np.int64)
        self._add(np.array([price]), leaf, loads)
        return float(loads[0])

    def _add(self, prices: Vector, leaf: NDArray[np.int64], loads: Vector) -> None:
        objective = self.objective
        masses, ratios = self._representatives()
        weights = ratios * masses**objective.power
        columns = Pages(masses, weights).columns()
        add_demand(objective.law, columns, leaf, prices, loads)

    def _representatives(self) -> tuple[Vector, Vector]:
        used = self.masses > 0
        return self.masses[used], self.moments[used] / self.masses[used]

    def estimate_price(self, budget: float) -> tuple[float, float]:
        """Return the price at which the demand is about the budget, and the elasticity there.

        A start for the exact search, so it stops at six digits; 1 and 1/2 for pages without demand.
        """
        masses, ratios = self._representatives()
        if not masses.size:
            return 1.0, 0.5
        low, high = np.log(ratios.min()) - 60, np.log(ratios.max()) + 60
        for _ in range(60):
            middle = (low + high) / 2
            if self.demand(float(np.exp(middle))) > budget:
                low = middle
            else:
                high = middle
            if high - low < 1e-7:
                break
        price = float(np.exp((low + high) / 2))
        before, after = self.demand(price * (1 - _STEP)), self.demand(price * (1 + _STEP))
        if not 0 < after < before:
            return price, 0.5
        return price, float(np.log(before / after) / (2 * _STEP))
