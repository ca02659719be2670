"""Costs of orders: cycles by their distances, streams by their regret, random draws."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.distances import cyclic_distances, running_distances
from recrawl.processes.intervals import half_width
from recrawl.sequencing.costs import AgeingCosts, DistanceCosts
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.streams import AccessStream

_BLOCKS = 20


@dataclass(frozen=True, eq=False)
class OrderCost:
    """Cost of an order, and how even it is.

    Parameters
    ----------
    cost : average cost of a slot
    frequencies : shape (n,), shares of all slots
    worst_spacing : the greatest distance, in units of what its page has on average
    unevenness : squared relative deviation of distances, averaged over accesses; 0 is even, and
        independent draws of rare pages have 1
    idle : share of slots in which nothing was served
    error : what a measured cost may be off by (95 %, from blocks of the window); 0 where it is
        exact
    """

    cost: float
    frequencies: Vector
    worst_spacing: float
    unevenness: float
    idle: float = 0.0
    error: float = 0.0


def check_sequence(sequence: ArrayLike, n_pages: int) -> Integers:
    """Return a sequence of page numbers, checked.

    Parameters
    ----------
    sequence : shape (K,), whole numbers, K >= 1
    n_pages : pages are 0 .. n_pages - 1

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
    """Return for each slot of a cycle the distance from the access of its page before, in slots.

    Parameters
    ----------
    sequence : shape (K,), page numbers, one cycle
    n_pages : pages are 0 .. n_pages - 1

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

    Parameters
    ----------
    costs : of n pages
    frequencies : shape (n,), >= 0, of positive sum

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
    slots : the window

    Returns
    -------
    OrderCost
        With the frequencies that were seen, and the error of the cost from 20 blocks of the
        window.

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
    ideal = np.where(shares > 0, 1 / np.where(shares > 0, shares, 1.0), np.inf)
    last = np.full(shares.size, -1, dtype=np.int64)
    counts = np.zeros(shares.size, dtype=np.int64)
    position, seen, idle = 0, 0, 0
    worst, uneven = 0.0, 0.0
    while position < warm_up:
        order = stream.take(min(1 << 18, warm_up - position))
        running_distances(order, last, position, np.empty_like(order))
        position += order.size
    block = min(1 << 18, max(1, -(-slots // _BLOCKS)))
    late, gains = _late(costs, ideal, margin, position - last), []
    while position < warm_up + slots:
        order = stream.take(min(block, warm_up + slots - position))
        distances = np.empty_like(order)
        running_distances(order, last, position, distances)
        position += order.size
        idle += int(np.count_nonzero(order < 0))
        known = distances > 0
        pages, steps = order[known], distances[known]
        fresh = -np.expm1(-costs.decays[pages] * steps)
        after = _late(costs, ideal, margin, position - last)
        gained = float((costs.worths[pages] * fresh - margin[pages] * steps).sum())
        gains.append((gained, late - after, pages.size, order.size))
        late = after
        seen += pages.size
        counts += np.bincount(order[order >= 0], minlength=shares.size)
        relative = steps * shares[pages]
        worst = max(worst, float(relative.max(initial=0.0)))
        uneven += float(((relative - 1) ** 2).sum())
    used = shares > 0
    if not seen:
        raise InvalidModel(f"{slots} slots are too few: no page was accessed twice")
    busy = 1 - idle / slots
    gain, spared, of, length = np.array(gains).T
    saved = gain.sum() / seen * busy + spared.sum() / slots
    cost = costs.slopes.sum() - margin[used].sum() + costs.per_access - saved
    whole = length == length[0]
    each = gain[whole] / np.maximum(of[whole], 1) * busy + spared[whole] / length[0]
    found = counts / max(counts.sum(), 1)
    return OrderCost(
        float(cost), found, worst, uneven / seen, idle / slots, half_width(each[of[whole] > 0])
    )


def _late(costs: AgeingCosts, ideal: Vector, margin: Vector, ages: Integers) -> float:
    """Regret that pages have run up which are late, and whose next access may be far away."""
    over = np.flatnonzero(ages > ideal)
    a, decays = costs.worths[over], costs.decays[over]
    kept = np.exp(-decays * ages[over]) - np.exp(-decays * ideal[over])
    return float((a * kept + margin[over] * (ages[over] - ideal[over])).sum())
