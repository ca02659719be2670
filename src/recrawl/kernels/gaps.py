"""Gaps of visits at a price: inverse worth of a visit, demand at prices, rates.

Every objective of ``recrawl.freshness`` values the next visit to a page whose copy has normalised
age y = change rate x time by ``weight / change_rate**power * worth(y)``. At a price the visit is
due when that reaches ``price * fetch_cost``, so with

    kappa = price * fetch_cost * change_rate**power / weight      and      worth(y) = kappa

the crawl rate is ``change_rate / y``. Two objectives have a closed inverse; the others read 1/y
from a table of polynomials (see ``recrawl.freshness.objectives``), sixteen to each octave of
kappa, which costs no logarithm and no exponential and is exact to a few units in the last place.

All loops work in blocks that stay in the first-level cache. A column that is missing is given as a
constant array of ``BLOCK`` values; where its length equals that of the table, nothing differs.
"""

from typing import TypeAlias

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.blocks import BLOCK, LANES, fold, spread, window
from recrawl.kernels.compile import kernel, sized_kernel

Columns: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector]
Law: TypeAlias = tuple[int, int, Vector, Integers, Vector]

TABLE, CLOSED_SQUARE, CLOSED_HARMONIC = 0, 1, 2
_SEGMENT_SHIFT = 48  # 52 mantissa bits less the four that number the sixteen segments
_MANTISSA = (1 << _SEGMENT_SHIFT) - 1
_TO_UNIT = 2.0 ** (1 - _SEGMENT_SHIFT)
_N = tuple(np.uint64(i) for i in range(8))  # unsigned, so that an index is not tested for its sign


@kernel
def _follow_tails(
    tails: Vector, bounded: bool, kappa: Vector, count: int, inverse_gaps: Vector
) -> None:
    """Fill 1/y by its leading power where kappa is beyond the table; zero where it is 0/0."""
    for j in range(count):
        x = kappa[j]
        if x < tails[0]:
            inverse_gaps[j] = tails[1] * x ** tails[2]
        elif x >= tails[3] and not bounded:
            inverse_gaps[j] = tails[4] * x ** tails[5]
        elif not x >= tails[0]:  # neither weight nor change: no reason to visit
            inverse_gaps[j] = 0.0


@kernel
def _look_up(law: Law, kappa: Vector, count: int, u: Vector, inverse_gaps: Vector) -> None:
    """Read 1/y for a block of kappa from the table.

    ``shape`` is (first segment number, length of the low part, first number and length of the
    high part); the high part, for a worth that is bounded by one, is indexed by 1 - kappa.
    ``tails`` holds scale and power of 1/y below the table and above it.
    """
    coefficients, shape, tails = law[2].ravel(), law[3], law[4]
    first, n_low, first_high, n_high = shape[0], shape[1], shape[2], shape[3]
    bounded = n_high > 0
    split = 0.5 if bounded else np.inf
    smallest, largest = tails[0], tails[3]
    for j in range(count):
        x = kappa[j]
        u[j] = 1.0 - x if x >= split else x
    bits = u.view(np.int64)
    for j in range(count):
        is_high = kappa[j] >= split
        origin = first_high if is_high else first
        last = n_high - 1 if is_high else n_low - 1
        base = n_low if is_high else 0
        c = np.uint64((base + min(max((bits[j] >> _SEGMENT_SHIFT) - origin, 0), last)) * 8)
        x = (bits[j] & _MANTISSA) * _TO_UNIT - 1.0
        low = coefficients[c + _N[1]] + x * (coefficients[c + _N[2]] + x * coefficients[c + _N[3]])
        high = coefficients[c + _N[5]] + x * (coefficients[c + _N[6]] + x * coefficients[c + _N[7]])
        low = coefficients[c] + x * low
        high = coefficients[c + _N[4]] + x * high
        square = x * x
        value = low + square * square * high
        inverse_gaps[j] = value if kappa[j] < largest else 0.0
    n_inside = 0
    for j in range(count):
        n_inside += (kappa[j] < largest or bounded) and kappa[j] >= smallest
    if n_inside < count:
        _follow_tails(tails, bounded, kappa, count, inverse_gaps)


@kernel
def _invert(law: Law, kappa: Vector, count: int, u: Vector, inverse_gaps: Vector) -> None:
    """Fill 1/y where worth(y) = kappa; zero where no age is worth a visit."""
    if law[0] == CLOSED_HARMONIC:  # worth = y**2 / (1 + y)
        for j in range(count):
            x = kappa[j]
            inverse_gaps[j] = 2.0 / (x + np.sqrt(x) * np.sqrt(x + 4.0)) if x >= 0.0 else 0.0
    else:
        _look_up(law, kappa, count, u, inverse_gaps)


@kernel
def _square_rates(
    columns: Columns, bare: bool, leaf: Integers, prices: Vector, root: Vector
) -> None:
    """Fill cost x rate under worth (y / (1 + y))**2, that is sqrt(w d k / p) - d k, within bounds.

    This is the form without a division; a price of zero asks for all there is.
    """
    change, weight, cost, low, high = columns
    count = change.size
    if bare and prices.size == 1:
        reciprocal = 1.0 / prices[0]
        for j in range(count):
            asked = np.sqrt(weight[j] * change[j] * reciprocal) - change[j]
            root[j] = asked if asked > 0.0 else 0.0
        return
    if prices.size == 1:
        reciprocal = 1.0 / prices[0]
        for j in range(count):
            root[j] = np.sqrt(weight[j] * change[j] * cost[j] * reciprocal)
    else:
        for j in range(count):
            root[j] = np.sqrt(weight[j] * change[j] * cost[j] / prices[leaf[j]])
    for j in range(count):
        asked = root[j] - change[j] * cost[j]
        asked = asked if asked > low[j] * cost[j] else low[j] * cost[j]
        most = high[j] * cost[j]
        root[j] = asked if asked < most else most


@kernel
def _block_rates(
    law: Law,
    columns: Columns,
    bare: bool,
    leaf: Integers,
    prices: Vector,
    scratch: Vector,
    rates: Vector,
) -> None:
    """Fill ``rates`` with cost x rate that the pages of one block ask at their leaf's price."""
    if law[0] == CLOSED_SQUARE:
        _square_rates(columns, bare, leaf, prices, rates)
        return
    change, weight, cost, low, high = columns
    kappa, u, inverse_gaps = scratch[0], scratch[1], scratch[2]
    count = change.size
    if prices.size == 1:
        price = prices[0]
        for j in range(count):
            kappa[j] = price * cost[j] * change[j] / weight[j]
    else:
        for j in range(count):
            kappa[j] = prices[leaf[j]] * cost[j] * change[j] / weight[j]
    if law[1] == 2:
        for j in range(count):
            kappa[j] *= change[j]
    _invert(law, kappa, count, u, inverse_gaps)
    if bare:
        for j in range(count):
            rates[j] = change[j] * inverse_gaps[j] if change[j] > 0.0 else 0.0
        return
    for j in range(count):
        asked = change[j] * inverse_gaps[j] if change[j] > 0.0 else 0.0
        asked = asked if asked > low[j] else low[j]
        rates[j] = cost[j] * (asked if asked < high[j] else high[j])


@kernel
def _block(pages: Columns, start: int, count: int) -> Columns:
    """Take a block of all columns."""
    n = pages[0].size
    return (
        window(pages[0], n, start, count),
        window(pages[1], n, start, count),
        window(pages[2], n, start, count),
        window(pages[3], n, start, count),
        window(pages[4], n, start, count),
    )


@kernel
def _is_bare(pages: Columns) -> bool:
    """Whether neither fetch costs nor bounds are given, which saves a division and more."""
    n = pages[0].size
    return pages[2].size != n and pages[3].size != n and pages[4].size != n


@kernel
def _add_loads(spent: Vector, leaf: Integers, loads: Vector, lanes: Vector) -> None:
    """Add what the pages of a block spend to their leaves; of one leaf to its lanes."""
    count = spent.size
    if loads.size == 1:
        spread(spent, count, lanes)
    else:
        for j in range(count):
            loads[leaf[j]] += spent[j]


@sized_kernel(lambda _, pages, *rest: 8.0 * pages[0].size)
def add_demand(law: Law, pages: Columns, leaf: Integers, prices: Vector, loads: Vector) -> None:
    """Add to ``loads`` the cost-weighted crawl rate that each leaf asks at its price.

    Parameters
    ----------
    law : form, power and table of the objective, see ``recrawl.freshness.objectives.Objective``
    pages : change rates, weights, fetch costs, least and greatest rates
    leaf : leaf of each page; not read when there is one price
    prices, loads : shape (n_leaves,)
    """
    n = pages[0].size
    scratch = np.empty((3, BLOCK))
    spent, lanes = np.empty(BLOCK), np.zeros(LANES)
    bare = _is_bare(pages)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        leaves = leaf[start : start + count]
        block = spent[:count]
        _block_rates(law, _block(pages, start, count), bare, leaves, prices, scratch, block)
        _add_loads(block, leaves, loads, lanes)
    loads[0] += fold(lanes)


@sized_kernel(lambda _, pages, *rest: 10.0 * pages[0].size)
def write_rates(
    law: Law,
    pages: Columns,
    leaf: Integers,
    ends: tuple[Vector, Vector, Vector],
    rates: Vector,
    loads: Vector,
) -> None:
    """Write the crawl rate of each page and add to the loads of the leaves.

    The two ends differ only where the budget falls inside the last bit of the price.

    Parameters
    ----------
    law, pages, leaf : as for :func:`add_demand`
    ends : low prices, high prices and shares of the leaves, shape (n_leaves,) each: a page gets
        ``share`` of its demand at the low end, the rest of that at the high end
    rates : shape (n,), 1/time, is written
    loads : shape (n_leaves,), cost-weighted crawl rates, is added to
    """
    n = pages[0].size
    low_prices, high_prices, shares = ends
    scratch = np.empty((3, BLOCK))
    spent, other, lanes = np.empty(BLOCK), np.empty(BLOCK), np.zeros(LANES)
    blended, bare = False, _is_bare(pages)
    for node in range(shares.size):
        blended = blended or low_prices[node] != high_prices[node]
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        columns = _block(pages, start, count)
        leaves = leaf[start : start + count]
        block = rates[start : start + count] if bare else spent[:count]
        _block_rates(law, columns, bare, leaves, low_prices, scratch, block)
        if blended:
            _block_rates(law, columns, bare, leaves, high_prices, scratch, other[:count])
            for j in range(count):
                share = shares[leaves[j]] if shares.size > 1 else shares[0]
                if block[j] != other[j]:
                    block[j] = share * block[j] + (1.0 - share) * other[j]
        _add_loads(block, leaves, loads, lanes)
        if bare:
            continue
        cost, low, high = columns[2], columns[3], columns[4]
        for j in range(count):  # a page at a bound gets the bound itself, not a rounding of it
            rate = block[j] / cost[j]
            rate = low[j] if block[j] <= low[j] * cost[j] else rate
            rates[start + j] = high[j] if block[j] >= high[j] * cost[j] else rate
    loads[0] += fold(lanes)
