r"""Content whose worth fades: news that count for hours, posts that are read on their first day.

New items come to a page at a rate, and each is worth less and less, by half in every half-life,
from the instant it comes. A visit brings in all that have come since the visit before. That is the
problem of freshness in other words: an item that comes in a gap I between visits is found, on
average, with the share :math:`(1 - e^{-\delta I})/(\delta I)` of its worth left, the freshness of a
page that changes at rate :math:`\delta = \ln 2 / \text{half-life}`. So a page that fades is planned
like one that changes at the rate of its fading, whose weight grows with its items.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.freshness.allocation import Plan, solve_even_freshness, solve_random_freshness
from recrawl.freshness.limits import Limit
from recrawl.freshness.pages import Pages
from recrawl.kernels.arrays import Vector


def fading_pages(
    item_rates: ArrayLike,
    half_lives: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    fetch_costs: ArrayLike | None = None,
    min_rates: ArrayLike | None = None,
    max_rates: ArrayLike | None = None,
    hosts: ArrayLike | None = None,
) -> Pages:
    r"""Return the pages of the problem of freshness that is the same.

    Parameters
    ----------
    item_rates : shape (n,), 1/time, >= 0; new items of each page per unit of time
    half_lives : shape (n,) or one number, time, > 0, finite
    weights : shape (n,), >= 0; worth of having a new item, per unit of time; 1 when left out
    fetch_costs, min_rates, max_rates, hosts : as of :class:`Pages`

    Notes
    -----
    Change rates :math:`\delta`, weights :math:`w \lambda / \delta`: an item that is had at once is
    worth :math:`w / \delta` in all.
    """
    items = np.asarray(item_rates, dtype=np.float64)
    lives = np.broadcast_to(np.asarray(half_lives, dtype=np.float64), items.shape)
    if items.ndim != 1 or not np.all(np.isfinite(items) & (items >= 0)):
        raise InvalidModel("item_rates must be a vector of finite numbers >= 0")
    if not np.all(np.isfinite(lives) & (lives > 0)):
        page = int(np.argmin(np.isfinite(lives) & (lives > 0)))
        raise InvalidModel(f"half_lives of page {page} must be finite and > 0: {lives[page]:g}")
    worth = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Pages(*as_changes(items, lives, worth), fetch_costs, min_rates, max_rates, hosts)


def as_changes(rates: Vector, half_lives: Vector, weights: Vector | None) -> tuple[Vector, Vector]:
    r"""Return change rates and weights under which freshness is the worth of what fades.

    Parameters
    ----------
    rates : shape (n,), 1/time, >= 0; new items where a page fades, changes where it does not
    half_lives : shape (n,), time, > 0; nan where a page does not fade, which stays as it is
    weights : shape (n,), >= 0; None: 1 for all

    Notes
    -----
    Both are in weight times time: an item had at once is worth :math:`w / \delta` in all, a page
    that is fresh for a time t is worth :math:`w t`. So one price holds for pages of either kind.
    """
    worth = np.ones(rates.shape) if weights is None else weights
    fades, decay = np.isfinite(half_lives), math.log(2.0) / half_lives
    return np.where(fades, decay, rates), np.where(fades, worth * rates / decay, worth)


def solve_fading(
    pages: Pages,
    budget: float,
    host_caps: ArrayLike | None = None,
    limits: Sequence[Limit] = (),
    *,
    spacing: str = "even",
) -> Plan:
    """Find the crawl rates that bring in the most worth of content that fades.

    Parameters
    ----------
    pages : of :func:`fading_pages`
    budget, host_caps, limits : as of :func:`solve_even_freshness`
    spacing : ``even`` visits, or ``random`` ones (a Poisson process)

    Returns
    -------
    Plan
        Exact up to rounding. ``value`` is the share of the worth of all items that is had.

    References
    ----------
    K. Avrachenkov and V. Borkar, "Whittle index policy for crawling ephemeral content", IEEE
    Transactions on Control of Network Systems 5(1), 2018 (the model; rates here are its fluid
    limit, and the index policy is :func:`fading_index`).
    """
    if spacing not in ("even", "random"):
        raise InvalidModel(f"spacing must be 'even' or 'random', got {spacing!r}")
    solver = solve_even_freshness if spacing == "even" else solve_random_freshness
    return solver(pages, budget, host_caps, limits)


def fading_index(
    item_rates: ArrayLike, half_lives: ArrayLike, weights: ArrayLike, ages: ArrayLike
) -> Vector:
    r"""Return what a visit is worth now.

    Parameters
    ----------
    item_rates, half_lives, weights : shape (n,) or one number; as of :func:`fading_pages`
    ages : shape (n,) or one number, time since the visit before, >= 0

    Notes
    -----
    Whittle's index :math:`w\lambda\,[1 - (1 + \delta t) e^{-\delta t}]/\delta^2`, in weight times
    time: rising in t, up to :math:`w\lambda/\delta^2`. A page is due when it reaches the price.
    """
    decay = math.log(2.0) / np.asarray(half_lives, dtype=np.float64)
    z = decay * np.asarray(ages, dtype=np.float64)
    gained = np.where(z > 1e-4, -np.expm1(-z) - z * np.exp(-z), z * z * (0.5 - z / 3.0))
    return np.asarray(np.asarray(weights) * np.asarray(item_rates) * gained / decay**2)


def fading_interval(worths: Vector, half_lives: Vector) -> Vector:
    r"""Return the time at which a visit is worth the price; infinite where it never is.

    Parameters
    ----------
    worths : shape (n,), >= 0; :math:`w \lambda` in units of the price, 1/time**2
    half_lives : shape (n,), time, > 0
    """
    decay = math.log(2.0) / half_lives
    with np.errstate(divide="ignore"):
        share = decay**2 / worths
    z = np.where(share < 0.5, np.sqrt(2.0 * share), 2.0 - np.log1p(-np.minimum(share, 0.999999)))
    for _ in range(50):  # Newton in z; the index bends once
        missing = share - (-np.expm1(-z) - z * np.exp(-z))
        move = missing / np.maximum(z * np.exp(-z), 1e-300)
        z = z + np.clip(move, -0.5 * z, np.maximum(z, 1.0))
        if not np.any((np.abs(move) > 1e-10 * z) & (share < 1.0)):
            break
    return np.where(share < 1.0, z / decay, np.inf)
