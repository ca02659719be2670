"""A price that is exact but for rounding, from one that is nearly right; under freshness only.

Under freshness a page that comes in as the price falls does so with infinite steepness (like
1/log), which spoils every method that trusts slopes. So the pages whose reservation price is near
the price are set aside. The demand of the others is smooth: for random visits it is known for all
prices at once, for even visits a parabola through two points is right to far below the tolerance
of the search. What is found starts that search, which proves it or mends it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from recrawl.freshness.objectives import Objective
from recrawl.freshness.pages import Pages
from recrawl.freshness.threads import in_order
from recrawl.kernels.active import split_active
from recrawl.kernels.arrays import Vector
from recrawl.kernels.blocks import BLOCK
from recrawl.kernels.gaps import CLOSED_SQUARE, add_demand

_WIDTH = 0.02  # several standard errors of the price from a million pages
_FACTOR = 30.0  # the bracket beside the step from the first price to the second
_STEP = 64  # one page in so many tells how demand bends
_NARROWEST = 1e-6
_MAX_STEPS = 60
_ONE_LEAF = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Split:
    """Sums over the pages active throughout a bracket, and the pages inside it."""

    roots: float
    masses: float
    near: Pages


def refine_price(
    objective: Objective,
    parts: Iterable[Pages],
    budget: float,
    guess: tuple[float, float],
    threads: int,
) -> tuple[float, int]:
    """Return the price at which pages without bounds spend the budget, and the passes it took.

    Parameters
    ----------
    objective : freshness, for even or random visits
    parts : the pages
    budget : what they may spend
    guess : a price > 0, and the elasticity of demand there
    threads : parts to work on at once

    Notes
    -----
    O(n) time in one pass (random visits) or three (even visits), and memory for the pages near the
    price. A bad guess makes the answer less good, never wrong: it is only where the search starts.
    """
    if objective.form == CLOSED_SQUARE:
        split = _split(parts, (guess[0] * (1 - _WIDTH), guess[0] * (1 + _WIDTH)), threads)
        return _usable(_close_square(split, budget, guess[0]), guess[0]), 1
    return _refine_even(objective, parts, budget, guess, threads)


def _close_square(split: _Split, budget: float, price: float) -> float:
    """Solve for random visits, where demand is roots / sqrt(p) - masses over the active pages.

    Newton's method in the root of the price; the demand is convex and piecewise linear in its
    inverse, so that it ends after a few steps.
    """
    masses, reservation = _masses_and_reservations(split.near)
    roots, root_price = np.sqrt(reservation) * masses, np.sqrt(price)
    for _ in range(_MAX_STEPS):
        active = roots > root_price * masses
        following = (split.roots + roots[active].sum()) / (
            budget + split.masses + masses[active].sum()
        )
        if abs(following - root_price) <= 1e-15 * root_price:
            break
        root_price = following
    return float(root_price**2)


def _refine_even(
    objective: Objective,
    parts: Iterable[Pages],
    budget: float,
    guess: tuple[float, float],
    threads: int,
) -> tuple[float, int]:
    """Draw a parabola through two points of the smooth demand, and solve with the rest exactly."""
    first, elasticity = guess
    at_first = _total_demand(objective, parts, first, threads)
    second = _usable(first * (at_first / budget) ** (1 / elasticity), first)
    if second == first or not 0.5 < second / first < 2:
        return second, 1
    at_second = _total_demand(objective, parts, second, threads)
    width = max(_FACTOR * abs(second / first - 1), _NARROWEST)
    if width > _WIDTH:
        return second, 2
    bracket = (second * (1 - width), second * (1 + width))
    near = _split(parts, bracket, threads).near
    aside = [_demand(objective, near, p) for p in (first, second)]
    smooth = (at_first - aside[0], at_second - aside[1])
    bend = _bend(objective, parts, bracket)
    return _usable(_cross(objective, near, budget, (first, second), (*smooth, bend)), second), 3


def _cross(
    objective: Objective,
    near: Pages,
    budget: float,
    prices: tuple[float, float],
    smooth: tuple[float, float, float],
) -> float:
    """Bisect for the price at which the parabola and the pages near it spend the budget together.

    The parabola is in the inverse root of the price, in which demand bends least.
    """
    x = np.asarray(prices) ** -0.5
    slope = (smooth[1] - smooth[0]) / (x[1] - x[0])
    reach = abs(np.log(prices[1] / prices[0]))
    low, high = prices[1] * np.exp(-reach), prices[1] * np.exp(reach)
    for _ in range(_MAX_STEPS):
        middle = (low + high) / 2
        to_first, to_second = middle**-0.5 - x
        parabola = smooth[1] + (slope + smooth[2] * to_first) * to_second
        spent = parabola + _demand(objective, near, middle)
        low, high = (middle, high) if spent > budget else (low, middle)
    return float(low)


def _bend(objective: Objective, parts: Iterable[Pages], bracket: tuple[float, float]) -> float:
    """Half the second derivative of the smooth demand by the inverse root, from a sample."""
    sample = Pages.join([part.part(slice(None, None, _STEP)) for part in parts])
    _, reservation = _masses_and_reservations(sample)
    far = sample.part(np.flatnonzero((reservation < bracket[0]) | (reservation > bracket[1])))
    x = np.array([bracket[0], sum(bracket) / 2, bracket[1]]) ** -0.5
    left, middle, right = (_demand(objective, far, price) for price in x**-2)
    divided = ((right - middle) / (x[2] - x[1]) - (middle - left) / (x[1] - x[0])) / (x[2] - x[0])
    return float(_STEP * divided)


def _masses_and_reservations(pages: Pages) -> tuple[Vector, Vector]:
    """Return change rate x cost, and the price above which a page is never visited."""
    masses, costs = pages.change_rates, pages.fetch_costs
    if costs is not None:
        masses = masses * costs
    with np.errstate(divide="ignore", invalid="ignore"):
        return masses, (1.0 if pages.weights is None else pages.weights) / masses


def _total_demand(
    objective: Objective, parts: Iterable[Pages], price: float, threads: int
) -> float:
    return sum(in_order(lambda part: _demand(objective, part, price), parts, threads))


def _demand(objective: Objective, pages: Pages, price: float) -> float:
    loads = np.zeros(1)
    add_demand(objective.law, pages.columns(), _ONE_LEAF, np.array([price]), loads)
    return float(loads[0])


def _split(parts: Iterable[Pages], bracket: tuple[float, float], threads: int) -> _Split:
    splits = list(in_order(lambda part: _split_part(part, bracket), parts, threads))
    return _Split(
        sum(one.roots for one in splits),
        sum(one.masses for one in splits),
        Pages.join([one.near for one in splits]),
    )


def _split_part(part: Pages, bracket: tuple[float, float]) -> _Split:
    """Split one part; with more room where the pages inside are more than expected."""
    change, weight, cost, _, _ = part.columns()
    for room in (len(part) // 16 + 2 * BLOCK, len(part) + BLOCK):
        kept = np.empty(room, dtype=np.int64)
        roots, masses, n_kept = split_active(change, weight, cost, bracket, kept)
        if n_kept >= 0:
            break
    return _Split(roots, masses, part.part(kept[:n_kept]))


def _usable(price: float, otherwise: float) -> float:
    return price if np.isfinite(price) and price > 0 else otherwise
