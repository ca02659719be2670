r"""The greedy policy, and how far from the best it can be: Coffman, Liu and Weber's open question.

They close with greedy policies that "seem to perform remarkably well", without a bound. There is
one for greed in the right currency: the next access goes to the page for which the root of its
worth times the chance that it is stale is greatest. That is one step of policy improvement on
independent draws at their best frequencies, so it never costs more than these, whose cost is known;
and these cost at most twice what any order does.
"""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.freshness.drawn_accesses import draw_accesses
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.orders import serve_greediest
from recrawl.sequencing.bounds import bound_whole_gaps
from recrawl.sequencing.costs import AgeingCosts
from recrawl.sequencing.evaluation import evaluate_cycle
from recrawl.sequencing.streams import KeptStream


class GreedyStream(KeptStream):
    r"""Accesses by what they gain at once, at any number of slots provably no worse than draws.

    Parameters
    ----------
    costs : worths and decays of the pages

    Notes
    -----
    The page of greatest :math:`\min(a, \sqrt{a p})\,(1 - h^d)` at its age d is served, with the
    price p of an access of the best independent draws: pages that these never draw count by their
    worth, all others by its root. Where all worths are equal (weights in proportion to change
    rates) it is the page that is stale with the greatest chance. It needs no frequencies. O(n) a
    step: for few pages.
    """

    _ARRAYS = ("scores", "decays", "ages")

    def __init__(self, costs: AgeingCosts) -> None:
        _, price = draw_accesses(costs.worths, costs.decays)
        self._scores, self._decays = _scores(costs, price), costs.decays
        # golden-spread first ages, so that equal pages are not all served together
        phases = np.arange(1, costs.n_pages + 1) * ((5**0.5 - 1) / 2) % 1
        self._ages = 1 + (phases * costs.n_pages).astype(np.int64)

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        serve_greediest(self._scores, self._decays, self._ages, out)
        return out


@dataclass(frozen=True, slots=True)
class GreedyBound:
    """Bounds on the long-run cost of the greedy policy.

    Parameters
    ----------
    bound : no order costs less
    most : the greedy policy costs no more; it is the exact cost of the best independent draws
    start : over T slots from any ages it costs at most ``T * most + start``
    """

    bound: float
    most: float
    start: float

    @property
    def gap(self) -> float:
        """Bound on the greedy order's excess over the best cost, relative."""
        return self.most / self.bound - 1 if self.bound > 0 else np.inf


def bound_greedy(costs: AgeingCosts) -> GreedyBound:
    r"""Bound what the greedy policy costs, before it is run.

    Parameters
    ----------
    costs : of n pages

    Returns
    -------
    GreedyBound
        For costs of obsolescence ``most`` is at most twice the bound C* of even gaps, whatever the
        pages, weights and access times.

    Notes
    -----
    Let each access be drawn with frequencies x, and let d be the age of a page. What is to come
    costs :math:`cd + \beta h^d` more than average, :math:`\beta = xa/(1 - h + xh)`, so serving a
    page now is worth :math:`m(1 - h^d)` with :math:`m = a(1-h)/(1-h+xh)`, which at the best x is
    :math:`\min(a, \sqrt{ap})`. Serving the page that is worth most costs, slot by slot, no more
    than drawing; what is summed up differs by :math:`\sum m(1-x)h^d` at both ends.

    Twice: with :math:`z = \ell/x` of the even optimum draws cost :math:`c - xa\,(1-h)/(1-h+xh)` at
    most, even gaps :math:`c - xa(1 - e^{-z})`. As :math:`c \ge a\ell` (Jensen) and :math:`h/(1-h)
    \le 1/\ell`, twice the one less the other is at least :math:`xa\,[z + z/(1+z) - 2(1 -
    e^{-z})]`, which is 0 at z = 0 and rises by :math:`1 + (1+z)^{-2} - 2e^{-z} \ge (1 -
    1/(1+z))^2`. O(n log n).

    References
    ----------
    E. G. Coffman, Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", Journal
    of Scheduling 1(1), 1998, sections 4 and 6.
    """
    shares, price = draw_accesses(costs.worths, costs.decays)
    ends = _scores(costs, price) * (1 - shares) * np.exp(-costs.decays)
    most = costs.random_cost(shares)
    return GreedyBound(min(bound_whole_gaps(costs).cost, most), most, float(ends.sum()))


@dataclass(frozen=True, eq=False, slots=True)
class GreedyCycle:
    """A stretch of the greedy policy that is repeated for ever.

    Parameters
    ----------
    sequence : shape (K,), page numbers
    cost : of repeating it, exact
    bound : no order costs less
    """

    sequence: Integers
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """Bound on the excess over the cost of the best order, relative."""
        return self.cost / self.bound - 1 if self.bound > 0 else np.inf


def greedy_cycle(costs: AgeingCosts, length: int) -> GreedyCycle:
    """Repeat a stretch of the greedy policy, with the gap that follows from what it costs.

    Parameters
    ----------
    costs : of n pages
    length : slots of the stretch, >= 1; it begins after as many

    Notes
    -----
    The cost is evaluated from the sequence alone, ends of the stretch included, and no order of any
    frequencies costs less than the bound, C** of :func:`recrawl.sequencing.bounds.
    bound_whole_gaps`. O(n length).
    """
    if length < 1:
        raise InvalidModel(f"length must be at least 1, got {length}")
    sequence = GreedyStream(costs).take(2 * length)[length:]
    return GreedyCycle(sequence, evaluate_cycle(costs, sequence).cost, bound_whole_gaps(costs).cost)


def _scores(costs: AgeingCosts, price: float) -> Vector:
    """Return what an access of a page that is surely stale is worth against independent draws."""
    return np.asarray(np.minimum(costs.worths, np.sqrt(costs.worths * price)))
