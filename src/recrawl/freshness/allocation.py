"""Crawl rates that no other rates can beat, under one budget or several that nest.

The problem is separable and concave, so one number, the price of a fetch, decides everything: given
the price each page decides alone. Finding the price takes a handful of passes over the pages, each
of which adds up demand; writing the rates and judging them takes one more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.freshness.certificate import Certificate, Judge
from recrawl.freshness.limits import Limit, Prices, grow_tree
from recrawl.freshness.objectives import (
    EVEN_AGE,
    EVEN_FRESHNESS,
    RANDOM_FRESHNESS,
    RANDOM_HARMONIC,
    Objective,
)
from recrawl.freshness.pages import Pages
from recrawl.freshness.passes import PART, Passes
from recrawl.kernels.arrays import Vector


@dataclass(frozen=True, eq=False)
class Plan:
    """Crawl rates, what they achieve, and the proof that nothing is better.

    Parameters
    ----------
    crawl_rates : shape (n,), 1/time
    price : worth of one more cost-weighted fetch per unit of time, in units of summed weight times
        measure; zero when the budget is more than the caps allow to spend
    host_prices : shape (n_hosts,), what a fetch costs the pages of each host: ``price`` where the
        host's cap does not bind, more where it does; empty without hosts
    host_loads : shape (n_hosts,), cost-weighted crawl rate of each host; empty where several
        hosts have no caps
    value : weighted average of the measure over all pages
    spent : cost-weighted crawl rate in total, at most the budget
    kkt_residual : greatest relative difference between marginal worth and price, over all pages
        that could move, or relative excess over a cap, whichever is more
    duality_gap : how far the rates can be from the optimum at most, relative to the objective; from
        the rates and prices alone, by weak duality
    n_never_visited : pages of rate zero
    passes : times that the pages were read to find the price
    """

    crawl_rates: Vector
    price: float
    host_prices: Vector
    host_loads: Vector
    value: float
    spent: float
    kkt_residual: float
    duality_gap: float
    n_never_visited: int
    passes: int


def solve_even_freshness(
    pages: Pages, budget: float, host_caps: ArrayLike | None = None, limits: Sequence[Limit] = ()
) -> Plan:
    r"""Maximise the weighted share of fresh pages when visits to each page are evenly spaced.

    Parameters
    ----------
    pages : n pages
    budget : total cost-weighted crawl rate, 1/time, > 0; the unit of time is that of ``pages``
    host_caps : shape (n_hosts,), 1/time, inf for none
    limits : coarser caps above the hosts, from fine to coarse

    Returns
    -------
    Plan
        Exact up to rounding; pages that change too fast for their weight get their least rate.

    Raises
    ------
    InvalidModel
        When a number is outside its domain, or the least rates exceed the budget or a cap; the
        message says which and by how much.
    NotConverged
        Never seen; the search is bracketed.

    Notes
    -----
    Maximises :math:`\sum_i w_i \frac{r_i}{d_i}(1 - e^{-d_i/r_i})` subject to
    :math:`\sum_i k_i r_i \le B`. With :math:`y_i = d_i / r_i` stationarity reads
    :math:`\frac{w_i}{d_i}\,(1 - (1 + y_i) e^{-y_i}) = p\,k_i`, and page i is left out when
    :math:`w_i / (d_i k_i) \le p`. O(n) time per pass, 5 to 9 passes; memory is the output.

    References
    ----------
    E. G. Coffman, Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", Journal
    of Scheduling 1(1), 1998. J. Cho, H. Garcia-Molina, "Effective page refresh policies for web
    crawlers", ACM TODS 28(4), 2003.
    """
    return solve(EVEN_FRESHNESS, pages, budget, host_caps, limits)


def solve_random_freshness(
    pages: Pages, budget: float, host_caps: ArrayLike | None = None, limits: Sequence[Limit] = ()
) -> Plan:
    r"""Maximise the weighted share of fresh pages when visits form Poisson processes.

    Parameters, returns and errors as :func:`solve_even_freshness`.

    Notes
    -----
    Maximises :math:`\sum_i w_i r_i / (r_i + d_i)`; the optimum is
    :math:`r_i = (\sqrt{w_i d_i / (k_i p)} - d_i)^+`.

    References
    ----------
    Y. Azar, E. Horvitz, E. Lubetzky, Y. Peres, D. Shahaf, "Tractable near-optimal policies for
    crawling", PNAS 115(32), 2018.
    """
    return solve(RANDOM_FRESHNESS, pages, budget, host_caps, limits)


def solve_harmonic(
    pages: Pages, budget: float, host_caps: ArrayLike | None = None, limits: Sequence[Limit] = ()
) -> Plan:
    r"""Minimise the weighted harmonic penalty when visits form Poisson processes; starves no page.

    Parameters, returns and errors as :func:`solve_even_freshness`.

    Notes
    -----
    A page that has changed n times since the last visit pays 1 + 1/2 + ... + 1/n, on average
    :math:`\log(1 + d_i / r_i)`; the optimum is
    :math:`r_i = (\sqrt{d_i^2 + 4 w_i d_i / (k_i p)} - d_i) / 2 > 0`.

    References
    ----------
    A. Kolobov, Y. Peres, C. Lu, E. Horvitz, "Staying up to date with online content changes using
    reinforcement learning for scheduling", NeurIPS 2019.
    """
    return solve(RANDOM_HARMONIC, pages, budget, host_caps, limits)


def solve_even_age(
    pages: Pages, budget: float, host_caps: ArrayLike | None = None, limits: Sequence[Limit] = ()
) -> Plan:
    r"""Minimise the weighted mean age of the copies when visits to each page are evenly spaced.

    Parameters, returns and errors as :func:`solve_even_freshness`.

    Notes
    -----
    Minimises :math:`\sum_i w_i (\frac{1}{2 r_i} - \frac{1}{d_i} + \frac{r_i}{d_i^2}
    (1 - e^{-d_i / r_i}))`; no page is left out.
    """
    return solve(EVEN_AGE, pages, budget, host_caps, limits)


def solve(
    objective: Objective,
    pages: Pages,
    budget: float,
    host_caps: ArrayLike | None = None,
    limits: Sequence[Limit] = (),
    *,
    threads: int = 1,
) -> Plan:
    """Solve for any objective; the named solvers are this with one objective each.

    Parameters, returns and errors as :func:`solve_even_freshness`. ``threads`` changes the time
    that it takes and nothing else.
    """
    tree = grow_tree(budget, pages.n_hosts, host_caps, limits)
    rates = np.empty(len(pages))
    parts = list(pages.slices(PART))
    passes = Passes(objective, parts, tree, threads=threads, rates=rates)
    prices = passes.find_prices()
    if not (prices.low.size == 1 and passes.written == prices.low[0] == prices.high[0]):
        passes.write(rates, prices.low, prices.high, prices.share)
    judge = Judge(objective, tree, prices)
    starts = range(0, len(pages), PART)
    pieces = (
        (part, rates[start : start + PART]) for start, part in zip(starts, parts, strict=True)
    )
    judge.add_all(pieces, threads)
    return _report(judge.verdict(), prices, rates, pages.n_hosts)


def _report(verdict: Certificate, prices: Prices, rates: Vector, n_hosts: int) -> Plan:
    by_host = prices.high.size > 1 or n_hosts == 1
    return Plan(
        crawl_rates=rates,
        price=float(prices.of_level[0][0]),
        host_prices=prices.high if by_host and n_hosts else np.full(n_hosts, prices.high[0]),
        host_loads=verdict.leaf_loads if by_host else np.zeros(0),
        value=verdict.value,
        spent=verdict.spent,
        kkt_residual=verdict.kkt_residual,
        duality_gap=verdict.duality_gap,
        n_never_visited=verdict.n_never_visited,
        passes=prices.passes,
    )
