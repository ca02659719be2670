"""Order of the due pages: which comes first, and from when the next interval counts.

Two rules, both from the slot-regret identity (`recrawl.sequencing.evaluation.measure_regret`): a
visit that comes late by d costs s d^2 / 2, with the urgency s of the page. So of the due pages the
one of greatest lateness times root urgency comes first, and what a visit was late is taken off the
next interval, or the pages that wait would get fewer visits than they were planned.
"""

from math import exp, frexp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.terms import Lease

_MOST_EXPECTED_CHANGES: Final = 3.0  # pages that change far more often would never be urgent
_LEAST_SHARE: Final = 0.01  # nor pages that hardly change; nobody starves


def root_urgency(lease: Lease) -> float | None:
    r"""Return the weight of lateness of a page, or None where no plan knows the page yet.

    Parameters
    ----------
    lease : a due page, with its weight, change rate and crawl rate

    Returns
    -------
    float or None
        :math:`\sqrt{w \lambda e^{-\lambda / x}}`, the root of the second derivative of the cost of
        an interval :math:`1/x`; > 0.

    Notes
    -----
    The order by :math:`s d` is the best one while pages are late by little. The root keeps to it
    closely there, and stays near the earliest due time first when more is due than can be fetched,
    where the second order says nothing (`bench/dispatch_order.py` has both).
    """
    crawl_rate = lease.crawl_rate_per_s
    if crawl_rate is None:
        return None
    weight = max(lease.weight, 1e-9)
    if crawl_rate <= 0.0:
        return sqrt(_LEAST_SHARE * weight * 1e-12)
    known = lease.change_rate_per_s
    change_rate = crawl_rate if known is None else known
    expected = min(change_rate / crawl_rate, _MOST_EXPECTED_CHANGES)
    return sqrt(weight * max(change_rate * exp(-expected), _LEAST_SHARE * crawl_rate))


def curvatures(
    weights: NDArray[np.float64],
    change_rates: NDArray[np.float64],
    crawl_rates: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the urgencies of pages, the squares of :func:`root_urgency`; 0 of those never visited.

    Parameters
    ----------
    weights : shape (n,), >= 0
    change_rates : shape (n,), 1/s; nan: not known
    crawl_rates : shape (n,), 1/s, >= 0
    """
    known = np.where(np.isnan(change_rates), crawl_rates, change_rates)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.minimum(known / crawl_rates, _MOST_EXPECTED_CHANGES)
        found = np.maximum(weights, 1e-9) * np.maximum(
            known * np.exp(-expected), _LEAST_SHARE * crawl_rates
        )
    return np.where(crawl_rates > 0.0, found, 0.0)


def lane_of(root: float) -> int:
    """Return the number of the lane of pages of like urgency: within a factor of two."""
    return frexp(root)[1]


def forgiven_s(late_s: float, interval_s: float, share: float) -> float:
    """Return by how much the next interval is shortened after a visit that was late.

    Parameters
    ----------
    late_s : seconds past the due time
    interval_s : the planned interval, > 0
    share : of the interval, up to which lateness is forgiven in full

    Notes
    -----
    Beyond that share less and less is forgiven, and nothing after twice of it: a crawler that is
    behind everywhere must not promise itself still more visits.
    """
    most_s = share * interval_s
    return max(0.0, min(late_s, 2.0 * most_s - late_s))
