"""Lower bounds on all orders: even gaps of any length, and of whole slots."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.freshness.even_accesses import share_accesses
from recrawl.kernels.arrays import Vector
from recrawl.kernels.distances import integer_gaps
from recrawl.sequencing.costs import AgeingCosts, DistanceCosts


@dataclass(frozen=True, eq=False)
class OrderBound:
    """A lower bound on the cost of every order.

    Parameters
    ----------
    cost : no order costs less
    price : what one more slot would be worth, the multiplier
    gaps : shape (n,), the gap that each page would have; infinite for pages left out
    """

    cost: float
    price: float
    gaps: Vector

    @property
    def frequencies(self) -> Vector:
        """Inverse gaps; they sum to 1 for :func:`bound_even_gaps`."""
        return np.asarray(1 / self.gaps)


def bound_even_gaps(costs: AgeingCosts) -> OrderBound:
    r"""Return C*: the least of :math:`\sum_i x_i f_i(1/x_i)` over :math:`\sum x_i = 1`.

    Notes
    -----
    Theorem 3.4 of Coffman et al. for any weights: by convexity even gaps are best for a page alone,
    and all pages share the slots. O(n).
    """
    shares, price = share_accesses(costs.worths, costs.decays)
    with np.errstate(divide="ignore"):
        return OrderBound(costs.even_cost(shares), price, 1 / shares)


def bound_whole_gaps(costs: AgeingCosts) -> OrderBound:
    r"""Return C**: as :func:`bound_even_gaps`, but gaps must be whole numbers of slots.

    Notes
    -----
    Lagrange: :math:`\max_p \sum_i \min_d (f_i(d) + p)/d - p`. The minimum is at
    :math:`W_i(d-1) \le p \le W_i(d)` with Whittle's index W, the dual is concave and piecewise
    linear in p, and any p gives a bound. O(n) for each of some 60 prices.
    """
    start = bound_even_gaps(costs)
    gaps, rates = start.gaps.copy(), -np.expm1(-costs.decays)
    best = (-np.inf, start.price)

    def visits(price: float) -> float:
        nonlocal best
        value, total = integer_gaps(costs.worths, costs.decays, rates, price, gaps)
        best = max(best, (value - price, price))
        return total

    low = high = start.price
    step = 1e-4
    asked = visits(start.price)
    while asked > 1 and visits(high) > 1:  # dearer, until the slots suffice
        low, high, step = high, high * (1 + step), 4 * step
    while asked < 1 and visits(low) < 1:
        high, low, step = low, low / (1 + step), 4 * step
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if visits(middle) > 1 else (low, middle)
    integer_gaps(costs.worths, costs.decays, rates, best[1], gaps)
    cost = float(costs.slopes.sum() + costs.per_access + best[0])
    return OrderBound(max(cost, start.cost), best[1], gaps)


def bound_frequencies(costs: AgeingCosts, frequencies: Vector) -> float:
    r"""Return what no order with these frequencies can beat.

    Parameters
    ----------
    costs : of n pages
    frequencies : shape (n,), shares of all slots, >= 0, summing to 1

    Notes
    -----
    Whole gaps of mean 1/f cost least when they are its floor and its ceiling (Jensen), which
    sharpens Theorem 3.3 of Coffman et al. O(n).
    """
    used = np.flatnonzero(frequencies > 0)
    mean = 1 / frequencies[used]
    below = np.floor(mean)
    part = mean - below
    at_below = costs.at(used, below.astype(np.int64))
    between = at_below + part * (costs.at(used, below.astype(np.int64) + 1) - at_below)
    return float(frequencies[used] @ between + costs.slopes[frequencies == 0].sum())


def bound_table_gaps(costs: DistanceCosts, longest: int) -> OrderBound:
    """Return C** of any convex costs, with gaps up to a longest or none at all.

    Parameters
    ----------
    costs : of n pages
    longest : slots of the longest gap tried, >= 1; the table's own if less

    Raises
    ------
    InvalidModel
        When a page wants a gap that the table does not reach.
    """
    table, steps = costs.tabulate(longest), np.arange(1, longest + 1)
    width = table.shape[1]
    if width < longest:
        steps = steps[:width]

    def gaps_at(price: float) -> tuple[float, Vector]:
        ratios = (table + price) / steps
        chosen = ratios.argmin(axis=1)
        least = ratios[np.arange(costs.n_pages), chosen]
        never = costs.slopes <= least
        gaps = np.where(never, np.inf, steps[chosen])
        return float(np.minimum(least, costs.slopes).sum() - price), gaps

    size = float(np.abs(table).max()) + 1e-300
    low, high = -size, size
    while (1 / gaps_at(high)[1]).sum() > 1 and high < 1e12 * size:
        high *= 2
    while (1 / gaps_at(low)[1]).sum() < 1 and low > -1e12 * size:
        low *= 2
    best = max((gaps_at(price)[0], price) for price in (low, high))
    while high - low > 1e-15 * size:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        value, gaps = gaps_at(middle)
        best = max(best, (value, middle))
        low, high = (middle, high) if (1 / gaps).sum() > 1 else (low, middle)
    value, gaps = gaps_at(best[1])
    if np.any(gaps == width):
        page = int(np.argmax(gaps == width))
        raise InvalidModel(f"page {page} wants a gap of {width} or more: the table must be longer")
    return OrderBound(value, best[1], gaps)
