"""How long to wait at a price: inverse worth of a visit, demand at prices, rates.

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
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel

__all__ = ["BLOCK", "CLOSED_HARMONIC", "CLOSED_SQUARE", "TABLE", "add_demand", "write_rates"]

Vector: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Columns: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector]
Law: TypeAlias = tuple[int, int, Vector, Integers, Vector]

BLOCK = 1024
TABLE, CLOSED_SQUARE, CLOSED_HARMONIC = 0, 1, 2
_SEGMENT_SHIFT = 48  # 52 mantissa bits less the four that number the sixteen segments
_MANTISSA = (1 << _SEGMENT_SHIFT) - 1
_TO_UNIT = 2.0 ** (1 - _SEGMENT_SHIFT)


@kernel
def _look_up(law: Law, kappa: Vector, count: int, u: Vector, inverse_gaps: Vector) -> None:
    """Read 1/y for a block of kappa from the table.

    ``shape`` is (first segment number, length of the low part, first number and length of the
    high part); the high part, for a worth that is bounded by one, is indexed by 1 - kappa.
    ``tails`` holds scale and power of 1/y below the table and above it.
    """
    coefficients, shape, tails = law[2], law[3], law[4]
    first, n_low, first_high, n_high = shape[0], shape[1], shape[2], shape[3]
    bounded = n_high > 0
    for j in range(count):
        x = kappa[j]
        u[j] = 1.0 - x if bounded and x >= 0.5 else x
    bits = u.view(np.int64)
    for j in range(count):
        number = bits[j] >> _SEGMENT_SHIFT
        if bounded and kappa[j] >= 0.5:
            row = n_low + min(max(number - first_high, 0), n_high - 1)
        else:
            row = min(max(number - first, 0), n_low - 1)
        x = (bits[j] & _MANTISSA) * _TO_UNIT - 1.0
        c = coefficients[row]
        low = c[0] + x * (c[1] + x * (c[2] + x * c[3]))
        high = c[4] + x * (c[5] + x * (c[6] + x * c[7]))
        square = x * x
        inverse_gaps[j] = low + square * square * high
    smallest, largest = tails[0], tails[3]
    for j in range(count):
        x = kappa[j]
        if not smallest <= x < largest:
            if x >= largest:
                inverse_gaps[j] = 0.0 if bounded else tails[4] * x ** tails[5]
            elif x >= 0.0:
                inverse_gaps[j] = tails[1] * x ** tails[2]
            else:  # 0/0: neither weight nor change, no reason to visit
                inverse_gaps[j] = 0.0


@kernel
def _invert(law: Law, kappa: Vector, count: int, u: Vector, inverse_gaps: Vector) -> None:
    """Fill 1/y where worth(y) = kappa; zero where no age is worth a visit."""
    form = law[0]
    if form == CLOSED_SQUARE:  # worth = (y / (1 + y))**2
        for j in range(count):
            root = np.sqrt(kappa[j])
            inverse_gaps[j] = (1.0 - root) / root if root < 1.0 else 0.0
    elif form == CLOSED_HARMONIC:  # worth = y**2 / (1 + y)
        for j in range(count):
            x = kappa[j]
            inverse_gaps[j] = 2.0 / (x + np.sqrt(x) * np.sqrt(x + 4.0)) if x >= 0.0 else 0.0
    else:
        _look_up(law, kappa, count, u, inverse_gaps)


@kernel
def _block_rates(
    law: Law, columns: Columns, leaf: Integers, prices: Vector, scratch: Vector, rates: Vector
) -> None:
    """Fill ``rates`` with what the pages of one block ask at the price of their leaf."""
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
    for j in range(count):
        asked = change[j] * inverse_gaps[j] if change[j] > 0.0 else 0.0
        rates[j] = min(max(asked, low[j]), high[j])


@kernel
def _window(column: Vector, n: int, start: int, count: int) -> Vector:
    """Take a block of a real column, or the head of a constant one."""
    if column.size == n:
        return column[start : start + count]
    return column[:count]


@kernel
def _block(pages: Columns, start: int, count: int) -> Columns:
    """Take a block of all columns."""
    n = pages[0].size
    return (
        _window(pages[0], n, start, count),
        _window(pages[1], n, start, count),
        _window(pages[2], n, start, count),
        _window(pages[3], n, start, count),
        _window(pages[4], n, start, count),
    )


@kernel
def _dot(cost: Vector, rates: Vector, count: int) -> float:
    """Sum in four lanes, which a processor adds at once and rounds better than one."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = count - count % 4
    for j in range(0, whole, 4):
        s0 += cost[j] * rates[j]
        s1 += cost[j + 1] * rates[j + 1]
        s2 += cost[j + 2] * rates[j + 2]
        s3 += cost[j + 3] * rates[j + 3]
    for j in range(whole, count):
        s0 += cost[j] * rates[j]
    return (s0 + s1) + (s2 + s3)


@kernel
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
    rates = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        columns = _block(pages, start, count)
        leaves = leaf[start : start + count]
        _block_rates(law, columns, leaves, prices, scratch, rates)
        cost = columns[2]
        if prices.size == 1:
            loads[0] += _dot(cost, rates, count)
        else:
            for j in range(count):
                loads[leaves[j]] += cost[j] * rates[j]


@kernel
def write_rates(
    law: Law,
    pages: Columns,
    leaf: Integers,
    low_prices: Vector,
    high_prices: Vector,
    shares: Vector,
    rates: Vector,
) -> None:
    """Write the crawl rate of each page: ``share`` of its demand at the low end, the rest high.

    The two ends differ only where the budget falls inside the last bit of the price.
    """
    n = pages[0].size
    scratch = np.empty((3, BLOCK))
    other = np.empty(BLOCK)
    blended = False
    for node in range(shares.size):
        blended = blended or low_prices[node] != high_prices[node]
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        columns = _block(pages, start, count)
        leaves = leaf[start : start + count]
        block = rates[start : start + count]
        _block_rates(law, columns, leaves, low_prices, scratch, block)
        if blended:
            _block_rates(law, columns, leaves, high_prices, scratch, other)
            for j in range(count):
                share = shares[leaves[j]] if shares.size > 1 else shares[0]
                if block[j] != other[j]:
                    block[j] = share * block[j] + (1.0 - share) * other[j]
