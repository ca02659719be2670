"""What a crawl rate achieves: dimensionless losses, worths, and the certificate of a plan.

With y = change rate / crawl rate (the mean number of changes between visits) each measure is a
function of y alone, up to one factor of the change rate for the age. The functions of even spacing
are combinations of phi_1, phi_2, phi_3 of exponential integrators, phi_k(y) = integral over [0, 1]
of exp(-y (1 - s)) s**(k-1) / (k-1)!, which a short series gives without cancellation for small y.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel

__all__ = ["FAMILIES", "certify", "fill_entire_exponential", "fill_loss_and_worth"]

Vector: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
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
_TERMS = np.array([(-1.0) ** n / math.factorial(n + 3) for n in range(12)])
_BLOCK = 1024


@kernel
def _phi3(y: float) -> float:
    """Sum over n of (-y)**n / (n + 3)!, for 0 <= y < 1/2; twelve terms reach rounding."""
    total = 0.0
    for n in range(11, -1, -1):
        total = total * y + _TERMS[n]
    return total


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


@kernel
def fill_entire_exponential(y: Vector, out: Vector) -> None:
    """Fill Ein(y) for a vector."""
    for j in range(y.size):
        out[j] = _ein(y[j])


@kernel
def _even_parts(y: float) -> tuple[float, float, float, float, float]:
    """Return fresh share, stale share, its worth, age and its worth, all for even spacing."""
    if y < 0.5:
        phi3 = _phi3(y)
        phi2 = 0.5 - y * phi3
        phi1 = 1.0 - y * phi2
        square = y * y
        return phi1, y * phi2, square * (phi1 - phi2), square * phi3, square * y * (phi2 - phi3)
    if y < 700.0:
        e = math.exp(-y)
        fresh = (1.0 - e) / y
        worth = 1.0 - (1.0 + y) * e
        return fresh, 1.0 - fresh, worth, y * 0.5 - (1.0 - fresh), y * y * 0.5 - worth
    fresh = 1.0 / y
    return fresh, 1.0 - fresh, 1.0, y * 0.5 - (1.0 - fresh), y * y * 0.5 - 1.0


@kernel
def fill_loss_and_worth(
    family: int, y: Vector, count: int, fresh: Vector, loss: Vector, worth: Vector
) -> None:
    """Fill fresh share, loss and worth of a visit for a block of y; the age lacks its 1/rate."""
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
        for j in range(count):
            f, s, g, age, age_worth = _even_parts(y[j])
            fresh[j] = f
            if family == EVEN_STALENESS:
                loss[j], worth[j] = s, g
            elif family == EVEN_HARMONIC:
                loss[j], worth[j] = _ein(y[j]) - s, y[j] * s
            else:
                loss[j], worth[j] = age, age_worth


@kernel
def _window(column: Vector, n: int, start: int, count: int) -> Vector:
    """Take a block of a real column, or the head of a constant one."""
    if column.size == n:
        return column[start : start + count]
    return column[:count]


@kernel
def _sum(values: Vector, count: int) -> float:
    """Sum in four lanes, which a processor adds at once and rounds better than one."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = count - count % 4
    for j in range(0, whole, 4):
        s0 += values[j]
        s1 += values[j + 1]
        s2 += values[j + 2]
        s3 += values[j + 3]
    for j in range(whole, count):
        s0 += values[j]
    return (s0 + s1) + (s2 + s3)


@kernel
def _dot(cost: Vector, rates: Vector, count: int) -> float:
    """Sum of products in four lanes."""
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
def _largest(values: Vector, count: int) -> float:
    """Return the largest of non-negative values, in four lanes."""
    m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
    whole = count - count % 4
    for j in range(0, whole, 4):
        m0 = values[j] if values[j] > m0 else m0
        m1 = values[j + 1] if values[j + 1] > m1 else m1
        m2 = values[j + 2] if values[j + 2] > m2 else m2
        m3 = values[j + 3] if values[j + 3] > m3 else m3
    for j in range(whole, count):
        m0 = max(m0, values[j])
    return max(m0, m1, m2, m3)


@kernel
def _compare(
    due: Vector, rate: Vector, low: Vector, high: Vector, work: Vector, sums: Vector
) -> None:
    """Add what one block says about complementary slackness; marginal worths are in work[4]."""
    count = due.size
    slack, spent, excess, short, marginal = work[0], work[1], work[2], work[3], work[4]
    for j in range(count):
        free = 1.0 if marginal[j] > 0.0 else 0.0
        paid = marginal[j] / due[j] - 1.0 if due[j] > 0.0 else free
        above = rate[j] - low[j]
        slack[j] = max(0.0, due[j] - marginal[j]) * above
        spent[j] = due[j] * above
        excess[j] = paid if rate[j] < high[j] else 0.0
        short[j] = -paid if above > 0.0 else 0.0
    sums[2] += _sum(slack, count)
    sums[3] += _sum(spent, count)
    sums[4] = max(sums[4], _largest(excess, count))
    sums[5] = max(sums[5], _largest(short, count))
    n_unseen = 0
    for j in range(count):
        n_unseen += rate[j] == 0.0
    sums[6] += n_unseen


@kernel
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

    Adds the cost-weighted rate of each leaf to ``loads`` and to ``sums``: [0] weight, [1] weighted
    value, [2] complementary slack of the pages, [3] price-weighted rate above the floors, [6] pages
    never visited; raises [4] to the greatest relative excess of marginal worth over price among
    pages below their cap, and [5] to the greatest shortfall among pages above their floor.
    """
    n = pages[0].size
    work = np.empty((6, _BLOCK))
    for start in range(0, n, _BLOCK):
        count = min(_BLOCK, n - start)
        weight = _window(pages[1], n, start, count)
        cost = _window(pages[2], n, start, count)
        low = _window(pages[3], n, start, count)
        high = _window(pages[4], n, start, count)
        rate = rates[start : start + count]
        _weigh(family, power, pages[0][start : start + count], weight, rate, work)
        due = work[5][:count]
        if prices.size == 1:
            for j in range(count):
                due[j] = prices[0] * cost[j]
            loads[0] += _dot(cost, rate, count)
        else:
            for j in range(count):
                node = leaf[start + j]
                due[j] = prices[node] * cost[j]
                loads[node] += cost[j] * rate[j]
        sums[0] += _sum(weight, count)
        sums[1] += _sum(work[3], count)
        _compare(due, rate, low, high, work, sums)
