"""The proof that rates are optimal, computed from rates and prices by the forward formulas alone.

For a concave objective F and prices p, weak duality bounds the optimum by
F(r) + sum over pages of (p k - m)(r - floor) + sum over caps of price x slack, where m is the
marginal worth at r and the prices are first raised by the largest relative excess of m over p k,
so that no page would rather have more. Nothing here uses the inverse that produced the rates.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from recrawl.freshness.limits import Prices, Tree
from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.freshness.threads import in_order
from recrawl.kernels.arrays import Vector
from recrawl.kernels.staleness import certify


@dataclass(frozen=True, eq=False)
class Certificate:
    """Value of rates and how far they can be from the best; see :class:`Plan` for the terms."""

    value: float
    spent: float
    kkt_residual: float
    duality_gap: float
    n_never_visited: int
    leaf_loads: Vector


class Judge:
    """Collects the certificate part by part; the parts may come in any order."""

    def __init__(self, objective: Objective, tree: Tree, prices: Prices) -> None:
        self._objective = objective
        self._tree = tree
        self._prices = prices
        self._loads = np.zeros(tree.n_leaves)
        self._sums = np.zeros(7)

    def add(self, pages: Pages, rates: Vector) -> None:
        """Take in some pages and their rates."""
        self._join(self._judge((pages, rates)))

    def add_all(self, pieces: Iterable[tuple[Pages, Vector]], threads: int) -> None:
        """Take in many pieces, several at once."""
        for judged in in_order(self._judge, pieces, threads):
            self._join(judged)

    def join(self, other: "Judge") -> None:
        """Take in what another has collected, by the same prices."""
        self._join((other._loads, other._sums))

    def _judge(self, piece: tuple[Pages, Vector]) -> tuple[Vector, Vector]:
        pages, rates = piece
        leaves = pages.leaves() if self._tree.n_leaves > 1 else np.zeros(1, dtype=np.int64)
        loads, sums = np.zeros(self._loads.size), np.zeros(7)
        family, power = self._objective.family, self._objective.power
        certify(family, power, pages.columns(), leaves, self._prices.high, rates, loads, sums)
        return loads, sums

    def _join(self, judged: tuple[Vector, Vector]) -> None:
        loads, sums = judged
        worst = np.maximum(self._sums[4:6], sums[4:6])
        self._sums += sums
        self._sums[4:6] = worst
        self._loads += loads

    def verdict(self) -> Certificate:
        """Put the parts together."""
        weight, value, slack, spent_above, over, under, unseen = self._sums
        tree, of_level = self._tree, self._prices.of_level
        excess, unused = 0.0, 0.0
        load = self._loads
        for level in range(len(tree.caps) - 1, -1, -1):
            caps = tree.caps[level]
            above = of_level[level - 1][tree.parents[level]] if level else np.zeros(1)
            own = of_level[level] - above
            with np.errstate(all="ignore"):
                left = np.where(own > 0, own * np.abs(caps - load), 0.0)
                too_much = np.where(load > caps, (load - caps) / np.maximum(caps, 1e-300), 0.0)
                idle = np.where((own > 0) & (caps > 0), np.abs(caps - load) / caps, 0.0)
            unused += float(left.sum())
            excess = max(excess, float(np.max(too_much)), float(np.max(idle)))
            if level:
                load = tree.gather(load, level)
        gap = float(slack + over * spent_above + (1 + over) * unused)
        return Certificate(
            value=float(value / weight),
            spent=float(self._loads.sum()),
            kkt_residual=float(max(over, under, excess)),
            duality_gap=float(gap / value) if value > 0 else gap,
            n_never_visited=int(unseen),
            leaf_loads=self._loads,
        )
