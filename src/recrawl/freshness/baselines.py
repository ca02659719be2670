"""The two classic policies that plans are compared with: uniform and proportional rates."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel
from recrawl.freshness.pages import Pages

__all__ = ["allocate_proportionally", "allocate_uniformly"]

Vector: TypeAlias = NDArray[np.float64]


def allocate_uniformly(pages: Pages, budget: float) -> Vector:
    """Crawl every page equally often.

    Parameters
    ----------
    pages : n pages; bounds and hosts are not looked at
    budget : total cost-weighted crawl rate, 1/time, > 0

    Returns
    -------
    crawl rates, shape (n,), 1/time, spending the budget exactly
    """
    return _scale(np.ones(len(pages)), pages, budget)


def allocate_proportionally(pages: Pages, budget: float) -> Vector:
    """Crawl every page in proportion to its change rate.

    Parameters and returns as :func:`allocate_uniformly`. This is what adaptive rules settle at that
    lengthen the interval of an unchanged page and shorten that of a changed one.

    References
    ----------
    J. Cho, H. Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28(4),
    2003, prove that it is never fresher than uniform rates.
    """
    if not np.any(pages.change_rates > 0):
        return allocate_uniformly(pages, budget)
    return _scale(pages.change_rates, pages, budget)


def _scale(shape: Vector, pages: Pages, budget: float) -> Vector:
    if not (np.isfinite(budget) and budget > 0):
        raise InvalidModel(f"budget must be finite and > 0, got {budget:g}")
    cost = shape.sum() if pages.fetch_costs is None else shape @ pages.fetch_costs
    return shape * (budget / cost)
