"""Two servers: the optimum in closed form, for any convex costs."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.sequencing.costs import DistanceCosts

FARTHEST: Final = 1 << 40


@dataclass(frozen=True, eq=False)
class TwoServerOptimum:
    """The best order of two.

    Parameters
    ----------
    rare : the server that is used once in a period
    period : slots of a period; None when the rare server is best never used
    cost : average cost of a slot
    """

    rare: int
    period: int | None
    cost: float

    @property
    def sequence(self) -> Integers:
        """The period: the rare server once, then the other."""
        length = 1 if self.period is None else self.period
        order = np.full(length, 1 - self.rare)
        if self.period is not None:
            order[0] = self.rare
        return order


def solve_two(costs: DistanceCosts) -> TwoServerOptimum:
    r"""Find the best order of two servers.

    Parameters
    ----------
    costs : of 2 pages

    Returns
    -------
    TwoServerOptimum
        Least average cost over all policies.

    Notes
    -----
    With :math:`\hat f` the interpolation of f, :math:`F(p) = p\hat f(1/p)` is convex and piecewise
    linear with kinks at 1/n, and no order of density p costs less than :math:`F_0(p) + F_1(1-p)`
    (Jensen, on whole gaps); the balanced word attains both at once. The sum has kinks at 1/n and 1
    - 1/n only, so a period is (r, o, .., o) of length :math:`n = \min\{n \ge 2: W_r(n) \ge
    W_o(1)\}` with Whittle's index :math:`W(n) = nf(n+1) - (n+1)f(n)` and r the server of smaller
    W(1). W does not fall, so doubling and bisection find n in O(log n). This proves what the paper
    concludes for two servers without its Lemma 4.3, which does not hold as printed.

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no
    buffers", Journal of Applied Probability 37, 2000, sections 4 and 5.
    """
    if costs.n_pages != 2:
        raise InvalidModel(f"two servers are needed, got {costs.n_pages}")
    rare = 0 if _index(costs, 0, 1) <= _index(costs, 1, 1) else 1
    wanted = _index(costs, 1 - rare, 1)
    if -costs.offsets[rare] < wanted:  # the limit of its index
        cost = float(_cost(costs, 1 - rare, 1) + costs.slopes[rare])
        return TwoServerOptimum(rare, None, cost)
    low, high = 1, 2
    while _index(costs, rare, high) < wanted:
        low, high = high, 2 * high
        if high > FARTHEST:
            cost = float(_cost(costs, 1 - rare, 1) + costs.slopes[rare])
            return TwoServerOptimum(rare, None, cost)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _index(costs, rare, middle) < wanted else (low, middle)
    period = max(high, 2)
    often = 1 - rare
    total = _cost(costs, rare, period) + _cost(costs, often, 2)
    total += (period - 2) * _cost(costs, often, 1)
    return TwoServerOptimum(rare, period, float(total / period))


def density_cost(costs: DistanceCosts, count: int, length: int) -> float:
    """Return the least average cost of a slot over orders of one density.

    The balanced word (:func:`recrawl.sequencing.regular.regular_cycle`) attains it.

    Parameters
    ----------
    costs : of 2 servers
    count : slots of server 0 in one period, 0 < count < length
    length : slots of the period
    """
    if not 0 < count < length:
        raise InvalidModel(f"count must be in 1 .. {length - 1}, got {count}")
    total = 0.0
    for server, times in ((0, count), (1, length - count)):
        short, longer = length // times, length % times
        total += (times - longer) * _cost(costs, server, short)
        if longer:
            total += longer * _cost(costs, server, short + 1)
    return float(total / length)


def switching_rate(period: int) -> float:
    r"""Return the speed of the second server at which the best period becomes ``period + 1``.

    For Poisson arrivals and a first server of the arrivals' rate: Figure 1 of the paper, in closed
    form :math:`(1+\sqrt{1-K})/K - 1` with :math:`K = (n+2)2^{-(n+1)}`. The first is
    :math:`1+\sqrt2`.
    """
    if period < 2:
        raise InvalidModel(f"period must be >= 2, got {period}")
    k = (period + 2) * 2.0 ** -(period + 1)
    return float((1 + (1 - k) ** 0.5) / k - 1)


def _cost(costs: DistanceCosts, server: int, distance: int) -> float:
    return float(costs.at(np.array([server]), np.array([distance]))[0])


def _index(costs: DistanceCosts, server: int, n: int) -> float:
    return float(costs.index(np.array([server]), np.array([n]))[0])
