"""Plans for tables that do not fit into memory: prices first, then rates part by part.

What is kept of the pages is a summary and, for tables with host caps, a few numbers per host; the
rates exist only for the part in hand. The same solver as in memory does the work.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.freshness.certificate import Certificate, Judge
from recrawl.freshness.limits import Limit, Prices, Tree, grow_tree
from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.freshness.passes import Passes
from recrawl.freshness.threads import Elsewhere
from recrawl.kernels.arrays import Vector
from recrawl.kernels.gaps import write_rates
from recrawl.kernels.staleness import certify


@dataclass(frozen=True, eq=False)
class PriceList:
    """The prices of a plan; with them every part of the table is planned on its own.

    Parameters
    ----------
    objective : what was optimised
    tree : the budget and the caps
    prices : the price at each node
    n_pages : pages in all parts
    passes : times that the parts were read
    """

    objective: Objective
    tree: Tree
    prices: Prices
    n_pages: int
    passes: int

    @property
    def price(self) -> float:
        """Worth of one more fetch per unit of time, see :class:`recrawl.freshness.Plan`."""
        return float(self.prices.of_level[0][0])

    @property
    def host_prices(self) -> Vector:
        """Price of a fetch for each host's pages; one number when there are no caps."""
        return self.prices.high

    def rates(self, part: Pages) -> Vector:
        """Crawl rates of some of the pages, shape (n,), 1/time; O(n)."""
        rates = np.empty(len(part))
        ends = (self.prices.low, self.prices.high, self.prices.share)
        loads = np.zeros(self.tree.n_leaves)
        leaves = part.leaves() if self.tree.n_leaves > 1 else np.zeros(1, dtype=np.int64)
        write_rates(self.objective.law, part.columns(), leaves, ends, rates, loads)
        return rates

    def certify(self, pieces: Iterable[tuple[Pages, Vector]], threads: int = 1) -> Certificate:
        """Judge the rates of all parts: what they achieve, and how far from optimal at most."""
        judge = Judge(self.objective, self.tree, self.prices)
        judge.add_all(pieces, threads)
        return judge.verdict()


def solve_prices(  # noqa: PLR0913 - the last two are for messages only
    objective: Objective,
    parts: Iterable[Pages] | Elsewhere[Pages],
    budget: float,
    *,
    n_hosts: int = 0,
    host_caps: ArrayLike | None = None,
    limits: Sequence[Limit] = (),
    threads: int = 1,
    name_node: Callable[[str, int], str] | None = None,
    show_rate: Callable[[float], str] = "{:g}".format,
) -> PriceList:
    """Find the prices of a plan by passes over parts of a table.

    Parameters
    ----------
    objective : see :mod:`recrawl.freshness.objectives`
    parts : pages in parts of any size; iterated over once for each pass, in the same order, with
        hosts numbered alike throughout; parts elsewhere know no hosts
    budget : total cost-weighted crawl rate, 1/time, > 0
    n_hosts : number of hosts, when there are caps
    host_caps : shape (n_hosts,), inf for none
    limits : coarser caps above the hosts, from fine to coarse
    threads : parts to work on at once
    name_node : (name of the level, number) -> how messages call a cap
    show_rate : how messages write a rate

    Returns
    -------
    PriceList
        The same prices as from one table in memory, to rounding, however the table is cut.

    Raises
    ------
    InvalidModel
        As :func:`recrawl.freshness.solve_even_freshness`.

    Notes
    -----
    Memory: two parts per thread, 8 MB for the summary and O(n_hosts). Time: 4 to 8 passes without
    caps, about 10 more with them; hosts that are slow to settle are finished on a copy of their
    pages, of at most two million.
    """
    tree = grow_tree(budget, n_hosts, host_caps, limits)
    passes = Passes(
        objective, parts, tree, threads=threads, name_node=name_node, show_rate=show_rate
    )
    prices = passes.find_prices()
    return PriceList(objective, tree, prices, passes.n_pages, prices.passes)


def average_value(
    objective: Objective, pieces: Iterable[tuple[Pages, Vector]]
) -> tuple[float, int]:
    """Return the weighted average of the measure at any given rates, and how many are zero.

    Parameters
    ----------
    objective : measure and spacing
    pieces : pages and their crawl rates, shape (n,) each, >= 0

    Raises
    ------
    InvalidModel
        When a rate is negative or NaN, or all weights are zero.
    """
    sums = np.zeros(7)
    leaf, price = np.zeros(1, dtype=np.int64), np.ones(1)
    for pages, rates in pieces:
        if rates.shape != (len(pages),) or not np.all(rates >= 0):
            raise InvalidModel("crawl_rates must be >= 0, one for each page")
        loads = np.zeros(1)
        certify(objective.family, objective.power, pages.columns(), leaf, price, rates, loads, sums)
    if not sums[0] > 0:
        raise InvalidModel("weights: at least one must be > 0")
    return float(sums[1] / sums[0]), int(sums[6])
