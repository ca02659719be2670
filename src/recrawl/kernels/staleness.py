"""Dimensionless losses and worths by crawl rate, and the certificate of a plan.

With y = change rate / crawl rate (the mean number of changes between visits) each measure is a
function of y alone, up to one factor of the change rate for the age. The functions of even spacing
are combinations of phi_1, phi_2, phi_3 of exponential integrators, phi_k(y) = integral over [0, 1]
of exp(-y (1 - s)) s**(k-1) / (k-1)!, which a short series gives without cancellation for small y.
"""

import math
from typing import TypeAlias

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.blocks import BLOCK, LANES, fold, spread, window
from recrawl.kernels.compile import kernel, sized_kernel

Columns: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector]

# Number of each (measure, spacing) that a loop below understands.
EVEN_STALENESS, RANDOM_STALENESS = 0, 1
EVEN_HARMONIC, RANDOM_HARMONIC = 2, 3
EVEN_AGE, RANDOM_AGE = 4, 5
FAMILIES = {
    ("freshness", "even"): EVEN_STALENESS,
    ("freshness", "random"): RANDOM_STALENESS,
    ("harmonic", "even"): EVEN_HARMONIC,
    ("harmonic", "random"): RANDOM_HARMONIC,
    ("age", "even"): EVEN_AGE,
    ("age", "random"): RANDOM_AGE,
}
_EULER = 0.5772156649015329
_TERMS = tuple((-1.0) ** n / math.factorial(n + 3) for n in range(12))
_INVERSE_FACTORIALS = tuple(1.0 / math.factorial(n) for n in range(14))
_FARTHEST = 708.0  # exp(-y) is a normal number up to here, and nothing beside 1 long before
_PER_LOG2 = 1.4426950408889634
_LOG2_HIGH, _LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFT = 1.5 * 2.0**52  # adding it rounds to a whole number, which is then in the low bits
_SHIFT_BITS = 0x4338000000000000


@kernel
def _ein(y: float) -> float:
    """Integral over [0, y] of (1 - exp(-t)) / t: the mean harmonic number of a Poisson count."""
    if y < 4.0:
        term, total = y, y
        for n in range(2, 60):
            term *= -y / n
            total += term / n
            if abs(term) < 1e-18 * total:
                break
        return total
    if y > 45.0:
        return math.log(y) + _EULER
    # exponential integral E1 by its continued fraction, from the far end
    fraction = 0.0
    for n in range(60, 0, -1):
        fraction = n / (1.0 + n / (y + fraction))
    return math.log(y) + _EULER + math.exp(-y) / (y + fraction)


@sized_kernel(lambda y, *_: 10.0 * y.size)
def fill_entire_exponential(y: Vector, out: Vector) -> None:
    """Fill Ein(y) for a vector.

    Parameters
    ----------
    y : shape (n,), >= 0
    out : shape (n,), is written
    """
    for j in range(y.size):
        out[j] = _ein(y[j])


@kernel
def _fill_decay(y: Vector, count: int, decay: Vector) -> None:
    """Fill exp(-y) for a block of y >= 0, to one unit in the last place; below 1e-307 it may be 0.

    Written without a call and without a branch, so that a processor does several at once: with k
    the whole number next to y / log 2, exp(-y) = 2**-k exp(-(y - k log 2)), a short series.
    """
    shifted = np.empty(BLOCK)
    for j in range(count):
        near = y[j] if y[j] < _FARTHEST else _FARTHEST
        shifted[j] = near * _PER_LOG2 + _SHIFT
    bits = shifted.view(np.int64)
    for j in range(count):
        k = shifted[j] - _SHIFT
        near = y[j] if y[j] < _FARTHEST else _FARTHEST
        x = (k * _LOG2_HIGH - near) + k * _LOG2_LOW
        total = _INVERSE_FACTORIALS[13]
        total = total * x + _INVERSE_FACTORIALS[12]
        total = total * x + _INVERSE_FACTORIALS[11]
        total = total * x + _INVERSE_FACTORIALS[10]
        total = total * x + _INVERSE_FACTORIALS[9]
        total = total * x + _INVERSE_FACTORIALS[8]
        total = total * x + _INVERSE_FACTORIALS[7]
        total = total * x + _INVERSE_FACTORIALS[6]
        total = total * x + _INVERSE_FACTORIALS[5]
        total = total * x + _INVERSE_FACTORIALS[4]
        total = total * x + _INVERSE_FACTORIALS[3]
        total = total * x + _INVERSE_FACTORIALS[2]
        decay[j] = (total * x + 1.0) * x + 1.0
    for j in range(count):
        bits[j] = (1023 - (bits[j] - _SHIFT_BITS)) << 52
    for j in range(count):
        decay[j] *= shifted[j]


@kernel
def _phi3(y: float) -> float:
    """Sum over n of (-y)**n / (n + 3)!, for 0 <= y <= 1/2; twelve terms reach rounding."""
    total = _TERMS[11]
    total = total * y + _TERMS[10]
    total = total * y + _TERMS[9]
    total = total * y + _TERMS[8]
    total = total * y + _TERMS[7]
    total = total * y + _TERMS[6]
    total = total * y + _TERMS[5]
    total = total * y + _TERMS[4]
    total = total * y + _TERMS[3]
    total = total * y + _TERMS[2]
    total = total * y + _TERMS[1]
    return total * y + _TERMS[0]


@kernel
def _fill_even(
    family: int, y: Vector, count: int, fresh: Vector, loss: Vector, worth: Vector
) -> None:
    """Fill fresh share, loss and worth for even spacing; the series below 1/2, the rest above."""
    decay = np.empty(BLOCK)
    _fill_decay(y, count, decay)
    if family == EVEN_AGE:
        for j in range(count):
            z = y[j] if y[j] < 0.5 else 0.5
            phi3 = _phi3(z)
            phi2 = 0.5 - z * phi3
            f = (1.0 - decay[j]) / y[j]
            g = 1.0 - (1.0 + (y[j] if y[j] < _FARTHEST else _FARTHEST)) * decay[j]
            near = y[j] < 0.5
            fresh[j] = 1.0 - z * phi2 if near else f
            loss[j] = z * z * phi3 if near else y[j] * 0.5 - (1.0 - f)
            worth[j] = z * z * z * (phi2 - phi3) if near else y[j] * y[j] * 0.5 - g
        return
    for j in range(count):
        z = y[j] if y[j] < 0.5 else 0.5
        phi2 = 0.5 - z * _phi3(z)
        phi1 = 1.0 - z * phi2
        f = (1.0 - decay[j]) / y[j]
        near = y[j] < 0.5
        fresh[j] = phi1 if near else f
        loss[j] = z * phi2 if near else 1.0 - f
        g = 1.0 - (1.0 + (y[j] if y[j] < _FARTHEST else _FARTHEST)) * decay[j]
        worth[j] = z * z * (phi1 - phi2) if near else g
    if family == EVEN_HARMONIC:
        for j in range(count):
            stale = loss[j]
            loss[j] = _ein(y[j]) - stale
            worth[j] = y[j] * stale


@sized_kernel(lambda _, y, *rest: 10.0 * y.size)
def fill_loss_and_worth(
    family: int, y: Vector, count: int, fresh: Vector, loss: Vector, worth: Vector
) -> None:
    """Fill fresh share, loss and worth of a visit for a block of y; the age lacks its 1/rate.

    Parameters
    ----------
    family : number of measure and spacing, see ``FAMILIES``
    y : shape (n,), change rate / crawl rate, >= 0; inf: never visited
    count : how many of y are looked at, from the first, <= n
    fresh, loss, worth : shape (n,), are written
    """
    if family == RANDOM_STALENESS:
        for j in range(count):
            f = 1.0 / (1.0 + y[j])
            s = y[j] * f if y[j] < 1e300 else 1.0
            fresh[j], loss[j], worth[j] = f, s, s * s
    elif family == RANDOM_HARMONIC:
        for j in range(count):
            f = 1.0 / (1.0 + y[j])
            s = y[j] * f if y[j] < 1e300 else 1.0
            fresh[j], loss[j], worth[j] = f, math.log1p(y[j]), y[j] * s
    elif family == RANDOM_AGE:
        for j in range(count):
            f = 1.0 / (1.0 + y[j])
            s = y[j] * f if y[j] < 1e300 else 1.0
            fresh[j], loss[j], worth[j] = f, y[j] * s, y[j] * s * s * (2.0 + y[j])
    else:
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            block = slice(start, stop)
            _fill_even(family, y[block], stop - start, fresh[block], loss[block], worth[block])


@kernel
def _weigh(
    family: int, power: int, change: Vector, weight: Vector, rate: Vector, work: Vector
) -> None:
    """Fill work[3] with weighted values and work[4] with marginal worths of a block."""
    count = change.size
    values, marginals = work[3], work[4]
    if family == RANDOM_STALENESS:
        for j in range(count):
            cycle = 1.0 / (rate[j] + change[j])
            fresh = rate[j] * cycle if change[j] > 0.0 else 1.0
            values[j] = weight[j] * fresh
            marginals[j] = weight[j] * change[j] * cycle * cycle if change[j] > 0.0 else 0.0
        return
    for j in range(count):
        work[0, j] = change[j] / rate[j] if change[j] > 0.0 else 0.0
    fill_loss_and_worth(family, work[0], count, work[1], work[2], work[3])
    kept = work[2] if family > RANDOM_STALENESS else work[1]
    for j in range(count):
        scale = 1.0 / change[j] if change[j] > 0.0 else 0.0
        value, marginal = kept[j], work[3, j] * scale
        if power == 2:
            value *= scale
            marginal *= scale
        values[j] = weight[j] * value if weight[j] > 0.0 else 0.0
        marginals[j] = weight[j] * marginal if weight[j] > 0.0 else 0.0


@kernel
def _compare(
    due: Vector, rate: Vector, low: Vector, high: Vector, work: Vector, lanes: Vector, sums: Vector
) -> None:
    """Add what one block says about complementary slackness; marginal worths are in work[4]."""
    count = due.size
    slack, spent, marginal = work[0], work[1], work[4]
    most, least = 1.0 + sums[4], 1.0 - sums[5]
    n_worse, n_unseen = 0, 0
    for j in range(count):
        above = rate[j] - low[j]
        short = due[j] - marginal[j]
        slack[j] = short * above if short > 0.0 else 0.0
        spent[j] = due[j] * above
        n_worse += (rate[j] < high[j]) & (marginal[j] > due[j] * most)
        n_worse += (above > 0.0) & (marginal[j] < due[j] * least)
    for j in range(count):
        n_unseen += rate[j] == 0.0
    sums[6] += n_unseen
    spread(slack, count, lanes[2])
    spread(spent, count, lanes[3])
    if n_worse:
        _measure_worst(due, rate, low, high, marginal, sums)


@kernel
def _compare_bare(price: float, rate: Vector, work: Vector, lanes: Vector, sums: Vector) -> None:
    """Do the same where all pages owe one price and have no bounds; what is spent follows later."""
    count = rate.size
    slack, marginal = work[0], work[4]
    most, least = price * (1.0 + sums[4]), price * (1.0 - sums[5])
    n_worse, n_unseen = 0, 0
    for j in range(count):
        short = price - marginal[j]
        slack[j] = short * rate[j] if short > 0.0 else 0.0
        n_worse += (marginal[j] > most) | ((rate[j] > 0.0) & (marginal[j] < least))
    for j in range(count):
        n_unseen += rate[j] == 0.0
    sums[6] += n_unseen
    spread(slack, count, lanes[2])
    if n_worse:
        work[5, :count] = price
        work[0, :count] = 0.0
        work[1, :count] = np.inf
        _measure_worst(work[5][:count], rate, work[0], work[1], marginal, sums)


@kernel
def _measure_worst(
    due: Vector, rate: Vector, low: Vector, high: Vector, marginal: Vector, sums: Vector
) -> None:
    """Raise the greatest excess and shortfall.

    This has the quotients, and is called seldom: only for a block that is worse than all before it.
    """
    for j in range(due.size):
        free = 1.0 if marginal[j] > 0.0 else 0.0
        paid = marginal[j] / due[j] - 1.0 if due[j] > 0.0 else free
        if rate[j] < high[j]:
            sums[4] = max(sums[4], paid)
        if rate[j] > low[j]:
            sums[5] = max(sums[5], -paid)


@sized_kernel(lambda _, __, pages, *rest: 20.0 * pages[0].size)
def certify(
    family: int,
    power: int,
    pages: Columns,
    leaf: Integers,
    prices: Vector,
    rates: Vector,
    loads: Vector,
    sums: Vector,
) -> None:
    """Judge finished rates by the forward formulas alone.

    Parameters
    ----------
    family : number of measure and spacing, see ``FAMILIES``
    power : of the change rate in the worth of a visit: 2 for the age, else 1
    pages : change rates, weights, fetch costs, least and greatest rates: shape (n,) each, or, but
        for the first, a constant column of 1,024 where all pages are alike
    leaf : shape (n,), leaf of each page; not read where there is one price
    prices : shape (n_leaves,), marginal worth per fetch cost, >= 0
    rates : shape (n,), crawl rates, 1/time, >= 0
    loads : shape (n_leaves,), the cost-weighted rate of each leaf is added
    sums : shape (7,); added are [0] weight, [1] weighted value, [2] complementary slack of the
        pages, [3] price-weighted rate above the floors, [6] pages never visited; raised are [4] to
        the greatest relative excess of marginal worth over price among pages below their cap, and
        [5] to the greatest shortfall among pages above their floor
    """
    n = pages[0].size
    work, lanes = np.empty((6, BLOCK)), np.zeros((5, LANES))
    bare = prices.size == 1 and pages[2].size != n and pages[3].size != n and pages[4].size != n
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        weight = window(pages[1], n, start, count)
        cost = window(pages[2], n, start, count)
        rate = rates[start : start + count]
        _weigh(family, power, pages[0][start : start + count], weight, rate, work)
        spread(weight, count, lanes[0])
        spread(work[3], count, lanes[1])
        if bare:
            spread(rate, count, lanes[4])
            _compare_bare(prices[0], rate, work, lanes, sums)
            continue
        due, spent = work[5][:count], work[0]
        for j in range(count):
            spent[j] = cost[j] * rate[j]
        if prices.size == 1:
            for j in range(count):
                due[j] = prices[0] * cost[j]
            spread(spent, count, lanes[4])
        else:
            for j in range(count):
                node = leaf[start + j]
                due[j] = prices[node] * cost[j]
                loads[node] += spent[j]
        low = window(pages[3], n, start, count)
        high = window(pages[4], n, start, count)
        _compare(due, rate, low, high, work, lanes, sums)
    in_all = fold(lanes[4])
    loads[0] += in_all
    for i in range(3):
        sums[i] += fold(lanes[i])
    sums[3] += prices[0] * in_all if bare else fold(lanes[3])
