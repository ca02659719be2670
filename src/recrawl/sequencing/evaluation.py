"""What an order costs: cycles by their distances, streams by their regret, random draws."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.distances import cyclic_distances, running_distances
from recrawl.sequencing.costs import AgeingCosts, DistanceCosts
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.streams import AccessStream

__all__ = [
    "OrderCost",
    "check_sequence",
    "evaluate_cycle",
    "evaluate_random",
    "find_distances",
    "measure_stream",
]

Vector: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OrderCost:
    """What an order costs, and how even it is.

    Parameters
    ----------
    cost : average cost of a slot
    frequencies : shape (n,), shares of all slots
    worst_spacing : the greatest distance, in units of what its page has on average
    unevenness : squared relative deviation of distances, averaged over accesses; 0 is even, and
        independent draws of rare pages have 1
    idle : share of slots in which nothing was served
    """

    cost: float
    frequencies: Vector
    worst_spacing: float
    unevenness: float
    idle: float = 0.0


def check_sequence(sequence: ArrayLike, n_pages: int) -> Integers:
    """Return a sequence of page numbers, checked.

    Raises
    ------
    InvalidModel
        Naming the first slot that is no page, and its value.
    """
    order = np.asarray(sequence)
    if order.ndim != 1 or not order.size or not np.issubdtype(order.dtype, np.integer):
        raise InvalidModel("a sequence must be a vector of at least one page number")
    known = (order >= 0) & (order < n_pages)
    if not np.all(known):
        slot = int(np.argmin(known))
        raise InvalidModel(
            f"slot {slot} of the sequence is page {order[slot]}, which is unknown; "
            f"pages are 0 .. {n_pages - 1}"
        )
    return np.ascontiguousarray(order, dtype=np.int64)


def find_distances(sequence: ArrayLike, n_pages: int) -> Integers:
    """Return for each slot of a cycle the distance from the access of its page before.

    Notes
    -----
    The distances of a page sum to the length of the cycle. O(length + n).
    """
    order = check_sequence(sequence, n_pages)
    out = np.empty(order.size, dtype=np.int64)
    cyclic_distances(order, np.empty(n_pages, dtype=np.int64), out)
    return out


def evaluate_cycle(costs: DistanceCosts, sequence: ArrayLike) -> OrderCost:
    r"""Return the exact average cost of repeating a sequence for ever.

    Parameters
    ----------
    costs : of n pages
    sequence : shape (K,), page numbers

    Notes
    -----
    Equation (6) of Altman et al.: :math:`\frac1K\sum_m\sum_j f_m(\delta^m_j)`, and a page that
    never occurs costs its slope in each slot. With :meth:`AgeingCosts.obsolescence` it is the cost
    of Coffman et al. by Lemma 3.1. O(K + n).

    References
    ----------
    E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no
    buffers", Journal of Applied Probability 37, 2000.
    """
    order = check_sequence(sequence, costs.n_pages)
    distances = find_distances(order, costs.n_pages)
    counts = np.bincount(order, minlength=costs.n_pages)
    total = costs.at(order, distances).sum() / order.size + costs.slopes[counts == 0].sum()
    relative = distances * counts[order] / order.size
    return OrderCost(
        cost=float(total),
        frequencies=counts / order.size,
        worst_spacing=float(relative.max()),
        unevenness=float(((relative - 1) ** 2).mean()),
    )


def evaluate_random(costs: AgeingCosts, frequencies: ArrayLike) -> OrderCost:
    """Return the exact expected cost of independent draws, by Lemma 4.1.

    Notes
    -----
    Distances are geometric, of squared variation 1 - f, and have no greatest.
    """
    shares = check_frequencies(frequencies)
    uneven = float(shares @ (1 - shares))
    return OrderCost(costs.random_cost(shares), shares, np.inf, uneven)


def measure_stream(
    stream: AccessStream,
    costs: AgeingCosts,
    frequencies: ArrayLike,
    *,
    slots: int,
    warm_up: int = 0,
) -> OrderCost:
    r"""Measure the long-run cost of a stream over a window, without the noise of its ends.

    Parameters
    ----------
    stream : is moved on by ``warm_up + slots`` slots
    costs, frequencies : of the pages that the stream orders
    slots : the window; pages with gaps beyond it are judged by those seen

    Notes
    -----
    Regret: with :math:`z = \ell/f` and :math:`m = a\ell e^{-z}`, the cost is
    :math:`\sum_i (c_i - m_i) + k - \frac1T\sum_t [a(1-e^{-\ell d_t}) - m d_t]`, because the
    distances of a page fill the time. Each term is flat at :math:`d = 1/f`, so the window's ends
    and the random number of long gaps in it hardly matter. For the best frequencies it is the
    identity :math:`C = C^* + \frac1T\sum\varphi(y_t)`. O(slots).
    """
    shares = check_frequencies(frequencies)
    if slots < 1 or warm_up < 0:
        raise InvalidModel(f"slots must be >= 1 and warm_up >= 0, got {slots} and {warm_up}")
    with np.errstate(divide="ignore"):
        margin = costs.worths * costs.decays * np.exp(-costs.decays / shares)
    last = np.full(shares.size, -1, dtype=np.int64)
    position, gained, seen, idle = 0, 0.0, 0, 0
    worst, uneven = 0.0, 0.0
    while position < warm_up + slots:
        end = warm_up if position < warm_up else warm_up + slots
        order = stream.take(min(1 << 18, end - position))
        distances = np.empty_like(order)
        running_distances(order, last, position, distances)
        position += order.size
        if position <= warm_up:
            continue
        idle += int(np.count_nonzero(order < 0))
        known = distances > 0
        pages, steps = order[known], distances[known]
        fresh = -np.expm1(-costs.decays[pages] * steps)
        gained += float((costs.worths[pages] * fresh - margin[pages] * steps).sum())
        seen += pages.size
        relative = steps * shares[pages]
        worst = max(worst, float(relative.max(initial=0.0)))
        uneven += float(((relative - 1) ** 2).sum())
    used = shares > 0
    if not seen:
        raise InvalidModel(f"{slots} slots are too few: no page was accessed twice")
    share_busy = 1 - idle / slots
    cost = costs.slopes.sum() - margin[used].sum() + costs.per_access - gained / seen * share_busy
    return OrderCost(float(cost), shares, worst, uneven / seen, idle / slots)
