"""The two classic policies that plans are compared with: uniform and proportional rates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from recrawl.freshness.limits import Limit, Tree, grow_tree
from recrawl.freshness.pages import Pages
from recrawl.kernels.arrays import Vector


def allocate_uniformly(
    pages: Pages, budget: float, host_caps: ArrayLike | None = None, limits: Sequence[Limit] = ()
) -> Vector:
    """Crawl every page equally often.

    Parameters
    ----------
    pages : n pages; bounds on single rates are not looked at
    budget : total cost-weighted crawl rate, 1/time, > 0
    host_caps, limits : as in the solvers; hosts that would exceed a cap are slowed down to it, and
        what they leave goes to all others alike

    Returns
    -------
    crawl rates, shape (n,), 1/time, spending the budget exactly unless the caps forbid it
    """
    return _allocate(np.ones(len(pages)), pages, budget, host_caps, limits)


def allocate_proportionally(
    pages: Pages, budget: float, host_caps: ArrayLike | None = None, limits: Sequence[Limit] = ()
) -> Vector:
    """Crawl every page in proportion to its change rate.

    Parameters and returns as :func:`allocate_uniformly`. This is what adaptive rules settle at that
    lengthen the interval of an unchanged page and shorten that of a changed one.

    References
    ----------
    J. Cho, H. Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28(4),
    2003, prove that it is never fresher than uniform rates where all pages weigh the same; with
    weights it can be.
    """
    changes = bool(np.any(pages.change_rates > 0))
    shape = pages.change_rates if changes else np.ones(len(pages))
    return _allocate(shape, pages, budget, host_caps, limits)


def _allocate(
    shape: Vector,
    pages: Pages,
    budget: float,
    host_caps: ArrayLike | None,
    limits: Sequence[Limit],
) -> Vector:
    tree = grow_tree(budget, pages.n_hosts, host_caps, limits)
    cost: Vector = np.asarray(shape if pages.fetch_costs is None else shape * pages.fetch_costs)
    if tree.n_leaves == 1:
        return np.asarray(shape * share_out(tree, np.array([cost.sum()]))[0])
    masses = np.bincount(pages.leaves(), weights=cost, minlength=tree.n_leaves)
    factors = share_out(tree, masses.astype(np.float64))
    return np.asarray(shape * factors[pages.leaves()])


def share_out(tree: Tree, masses: Vector) -> Vector:
    """Return the factor by which each leaf's rates are scaled to share the budget alike.

    Parameters
    ----------
    tree : budget and caps
    masses : shape (n_leaves,), what each leaf spends at factor one

    Notes
    -----
    From the root down, as for prices: one common factor at which the tree spends the budget while
    every cap below is kept; a node that would exceed its cap gets a smaller factor of its own.
    """
    factors = np.full(masses.size, np.inf)
    for level, caps in enumerate(tree.caps):
        above = tree.ancestors[level]
        least = np.full(caps.size, np.inf)
        np.minimum.at(least, above, factors)
        factors = _fit_level(tree, level, masses, least)[above]
    return factors


def _fit_level(tree: Tree, level: int, masses: Vector, inherited: Vector) -> Vector:
    """Lower the factor of each node of a level until it keeps its cap."""
    above, caps = tree.ancestors[level], tree.caps[level]
    mass = np.zeros(caps.size)
    np.add.at(mass, above, masses)
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = np.where(mass > 0, caps / mass, np.inf)  # caps below can only raise it
    low = np.minimum(smallest, inherited)
    high = np.minimum(np.where(np.isfinite(low), low * 2.0**80, low), inherited)
    for _ in range(120):
        middle = np.where(low < high, np.sqrt(low) * np.sqrt(high), low)
        with np.errstate(invalid="ignore"):
            spent = np.nan_to_num(masses * middle[above], nan=0.0)
        fits = tree.roll_up(spent, level) <= caps
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low
