"""In which of a host's queues a page waits, and what a visit ahead of its due time is worth.

A host's pages wait in tiers: those that somebody asked for, those never visited, those whose due
time is fixed (retries, confirmations, listings), and those that are due when the worth of a visit
reaches the price. Only the last may be visited ahead of their time, when a request of the budget
would lie unused otherwise. They stand in one tier for each octave of their interval: within it the
page due first is worth most, so the best page of a host is found among the first of each tier.
"""

from math import exp, expm1, frexp
from typing import Final

from recrawl.terms import Lease

ASKED: Final = -1  # somebody asked for a visit now
NEW: Final = 0  # never visited
TIMED: Final = 1  # visited at an instant that is fixed, not before
FIRST_BY_WORTH: Final = 2  # from here on: one tier for each octave of the interval
_OCTAVES: Final = 48  # from a second to nine million years


def tier_of(interval_s: float | None) -> int:
    """Return the tier of a visited page.

    Parameters
    ----------
    interval_s : planned between its last visit and the next, > 0; None: the due time is fixed
    """
    if interval_s is None:
        return TIMED
    return FIRST_BY_WORTH + min(max(frexp(interval_s)[1], 0), _OCTAVES - 1)


def worth_share(lease: Lease, now_s: float) -> float:
    r"""Return what a visit now is worth, as a share of what it is worth when the page is due.

    Parameters
    ----------
    lease : a page that is due by its worth
    now_s : instant; a page visited later than that, by a clock that was ahead, counts as due

    Returns
    -------
    float
        :math:`g(\lambda t) / g(\lambda \tau)` with :math:`g(x) = 1 - (1 + x) e^{-x}`, age t,
        interval :math:`\tau` and change rate :math:`\lambda`: the worth of a visit over the price.
        At least 0; above 1 once the page is overdue.
    """
    last_s = lease.due_s if lease.last_visit_s is None else lease.last_visit_s
    age_s, interval_s = now_s - last_s, lease.due_s - last_s
    if min(age_s, interval_s) < 0.0 or not interval_s:
        return 1.0
    rate = lease.change_rate_per_s or 1.0 / interval_s
    return visit_gain(rate * age_s) / max(visit_gain(rate * interval_s), 1e-300)


def visit_gain(x: float) -> float:
    """Return 1 - (1 + x) exp(-x), the worth of a visit times change rate over weight.

    Parameters
    ----------
    x : change rate times age, >= 0; no digits are lost where it is small
    """
    if x < 1e-3:
        return x * x * (0.5 - x / 3.0)
    return -expm1(-x) - x * exp(-x)
