r"""Several robots that work through one list, wherever they are: what their order costs.

Coffman, Liu and Weber leave open what distributed robots do. M of them take the next page of a
common list whenever they are free; each access takes an exponential time. Then accesses end as
those of one robot that is M times as fast, in an order that does not depend on the times: whichever
of the M in service is the next to end is drawn by lot. So what no order of that robot can beat no
list of the M can, and an access that started d slots after another ends :math:`d + G' - G` slots
after it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing.bounds import bound_whole_gaps
from recrawl.sequencing.costs import AgeingCosts
from recrawl.sequencing.evaluation import check_sequence, find_distances


@dataclass(frozen=True, slots=True)
class SharedCost:
    """Bounds on the cost of a list that several robots work through.

    Parameters
    ----------
    bound : no list of these robots costs less, in whatever order
    most : this list costs no more
    """

    bound: float
    most: float

    @property
    def gap(self) -> float:
        """Bound on the excess over the cost of the best list, relative."""
        return self.most / self.bound - 1 if self.bound > 0 else np.inf


def shared_costs(
    change_rates: ArrayLike, weights: ArrayLike, mean_access_time: float, robots: int
) -> AgeingCosts:
    """Return what distances cost between accesses as they end, of so many robots.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, > 0
    weights : shape (n,), > 0
    mean_access_time : of one robot, > 0; access times are exponential
    robots : M, >= 1
    """
    _check_robots(robots)
    if not (np.isfinite(mean_access_time) and mean_access_time > 0):
        raise InvalidModel(f"mean_access_time must be finite and > 0, got {mean_access_time:g}")
    law = PhaseType.exponential(mean_access_time / robots)
    return AgeingCosts.obsolescence(change_rates, weights, law)


def bound_shared_list(costs: AgeingCosts, sequence: ArrayLike, robots: int) -> SharedCost:
    r"""Bound what a list costs that is repeated for ever and worked through by several robots.

    Parameters
    ----------
    costs : of :func:`shared_costs`
    sequence : shape (K,), the list
    robots : M, >= 1

    Notes
    -----
    Of two accesses in succession of a page, d apart in the list, the earlier ends before the later
    starts, or is one of two in service that end in either order alike. With :math:`q = 1 - 1/M` and
    G geometric of mean M, :math:`\varphi(z) = E z^G = (z/M)/(1 - qz)`, the slots T between their
    ends have

    .. math:: E h^T = \varphi(h) \sum_{a=1}^{d} \tfrac1M q^{a-1} h^{d-a}
        + \tfrac12 q^d [\varphi(h) + \varphi(1/h)].

    T is negative where the later one overtakes. In the order in which they end, distances are
    majorised by these (m of them lie in at most m steps that go up), so that :math:`\sum (1 - h^T)`
    is only greater: the cost is at most that by T. A page for which h <= q, or that would cost more
    than never being fresh, counts as never fresh. O(K + n).
    """
    _check_robots(robots)
    order = check_sequence(sequence, costs.n_pages)
    distances = find_distances(order, costs.n_pages)
    fresh = costs.worths[order] * (1.0 - _kept(costs.decays[order], distances, robots))
    per_page = np.bincount(order, fresh, costs.n_pages) / order.size
    counts = np.bincount(order, minlength=costs.n_pages)
    paid = costs.slopes - np.clip(per_page, 0.0, costs.slopes)
    most = float(np.where(counts > 0, paid, costs.slopes).sum())
    return SharedCost(bound_whole_gaps(costs).cost, most)


def complete_shared_list(
    sequence: ArrayLike, robots: int, count: int, random: np.random.Generator
) -> Integers:
    """Draw the order in which accesses end, of a list that several robots work through.

    Parameters
    ----------
    sequence : shape (K,), page numbers, repeated for ever
    robots : M, >= 1
    count : accesses to return, >= 1
    random : draws which robot ends next

    Returns
    -------
    array, shape (count,)
        Pages, beginning when all robots are busy.
    """
    _check_robots(robots)
    order = np.asarray(sequence, dtype=np.int64)
    busy = order[np.arange(robots) % order.size].tolist()
    started = np.arange(robots, robots + count) % order.size
    ended = np.empty(count, dtype=np.int64)
    ends = random.integers(robots, size=count)
    for slot, (robot, page) in enumerate(zip(ends.tolist(), order[started].tolist(), strict=True)):
        ended[slot] = busy[robot]
        busy[robot] = page
    return ended


def _kept(decays: Vector, distances: Integers, robots: int) -> Vector:
    """Return E h^T for each access; infinite where it has no mean."""
    h, q, d = np.exp(-decays), 1.0 - 1.0 / robots, distances.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        later = h / robots / (1.0 - q * h)
        apart = np.where(
            np.abs(h - q) > 1e-6, (h**d - q**d) / (h - q), d * (0.5 * (h + q)) ** (d - 1.0)
        )
        both = 0.5 * q**d * (later + 1.0 / robots / (h - q)) if robots > 1 else 0.0
    return np.where((h > q) | (robots == 1), later * apart / robots + both, np.inf)


def _check_robots(robots: int) -> None:
    if robots < 1:
        raise InvalidModel(f"robots must be at least 1, got {robots}")
