"""Obsolescence under a robot with random access times, its bound, and the best access frequencies.

A robot accesses one page after the other; an access takes a random time X. What matters of X is its
mean and h = E exp(-rate X) of each page. Frequencies are shares of all accesses; the crawl rate of
a page is its frequency divided by E X, and ``plan.accesses_per_time`` says how many accesses one
robot makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.freshness.drawn_accesses import draw_accesses
from recrawl.freshness.even_accesses import share_accesses
from recrawl.kernels.arrays import Vector
from recrawl.processes.access_times import AccessTime


@dataclass(frozen=True, eq=False)
class AccessPlan:
    """Access frequencies and what they cost.

    Parameters
    ----------
    frequencies : shape (n,), shares of all accesses, summing to 1; 0 for pages best never accessed
    obsolescence : shape (n,), share of time that each page is out of date
    cost : weighted sum of the obsolescence rates; for even accesses a lower bound over all policies
    price : what a unit of frequency is worth at the margin
    accesses_per_time : accesses that one robot makes per unit of time, 1 / E X
    """

    frequencies: Vector
    obsolescence: Vector
    cost: float
    price: float
    accesses_per_time: float

    @property
    def n_never_accessed(self) -> int:
        """Pages that are best left out."""
        return int(np.count_nonzero(self.frequencies == 0))


def evaluate_distances(
    change_rates: ArrayLike, distances: Sequence[ArrayLike], access_time: AccessTime
) -> Vector:
    r"""Return the obsolescence rate of each page from its distances between accesses.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, > 0
    distances : for each page the numbers of accesses (of any page) from one of its accesses to the
        next, over one cycle; empty for a page that is never accessed
    access_time : law of X

    Notes
    -----
    Lemma 3.1: :math:`E Z = d\,EX - (1 - h^d)/\mu` for a distance d, summed over the cycle and
    divided by the cycle's expected length.

    References
    ----------
    E. G. Coffman, Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", Journal
    of Scheduling 1(1), 1998.
    """
    rates = _rates(change_rates)
    log_h = access_time.decay(rates)
    if len(distances) != rates.size:
        raise InvalidModel(f"distances of {len(distances)} pages for {rates.size} change rates")
    stale = np.ones(rates.size)
    for page, gaps in enumerate(distances):
        steps = np.asarray(gaps, dtype=np.float64)
        if steps.size and not np.all(steps > 0):
            raise InvalidModel(f"distances of page {page} must be > 0")
        if steps.size:
            fresh = -np.expm1(-log_h[page] * steps).sum() / rates[page]
            stale[page] = 1 - fresh / (steps.sum() * access_time.mean)
    return stale


def evaluate_sequence(
    change_rates: ArrayLike, sequence: ArrayLike, access_time: AccessTime
) -> Vector:
    """Return the obsolescence rate of each page when a robot repeats a sequence of accesses.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, > 0
    sequence : shape (k,), pages in the order of access, in 0 .. n - 1; repeated for ever
    access_time : law of X
    """
    order = np.asarray(sequence, dtype=np.int64)
    n = _rates(change_rates).size
    if order.ndim != 1 or not order.size or order.min() < 0 or order.max() >= n:
        raise InvalidModel(f"sequence must be a vector of page numbers in 0 .. {n - 1}")
    distances = []
    for page in range(n):
        slots = np.flatnonzero(order == page)
        distances.append(np.diff(np.append(slots, slots[:1] + order.size)))
    return evaluate_distances(change_rates, distances, access_time)


def bound_obsolescence(
    change_rates: ArrayLike, frequencies: ArrayLike, access_time: AccessTime
) -> Vector:
    r"""Return the least obsolescence rates that any policy with these frequencies can have.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, > 0
    frequencies : shape (n,), in [0, 1]

    Notes
    -----
    Theorem 3.3: :math:`r \ge 1 - \frac{f}{\mu\,EX} (1 - h^{1/f})`, attained when the accesses are
    evenly spaced (Theorem 3.2: the sum is Schur convex in the distances).
    """
    rates, shares = _rates(change_rates), np.asarray(frequencies, dtype=np.float64)
    log_h = access_time.decay(rates)
    with np.errstate(divide="ignore"):
        fresh = shares / (rates * access_time.mean) * -np.expm1(-log_h / shares)
    return np.asarray(1 - fresh)


def evaluate_random_access(
    change_rates: ArrayLike, frequencies: ArrayLike, access_time: AccessTime
) -> Vector:
    r"""Return the obsolescence rates when each access is drawn independently.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, > 0
    frequencies : shape (n,), shares of all accesses, >= 0, summing to 1
    access_time : law of X

    Notes
    -----
    Lemma 4.1: :math:`r = 1 - \frac{f}{\mu\,EX} \cdot \frac{1 - h}{1 - h + f h}`.
    """
    rates, shares = _rates(change_rates), np.asarray(frequencies, dtype=np.float64)
    short, kept = access_time.shortfall(rates), np.exp(-access_time.decay(rates))
    fresh = shares / (rates * access_time.mean) * short / (short + shares * kept)
    return np.asarray(1 - fresh)


def solve_even_accesses(
    change_rates: ArrayLike, weights: ArrayLike, access_time: AccessTime
) -> AccessPlan:
    r"""Find the access frequencies of the lower bound on the cost of all policies.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, > 0
    weights : shape (n,), >= 0, some > 0; the c of the paper
    access_time : law of X

    Returns
    -------
    AccessPlan
        No policy costs less than ``cost``; a policy that spaces accesses evenly at these
        frequencies attains it. Exact up to rounding.

    Notes
    -----
    Minimises :math:`\sum c_i (1 - \frac{x_i}{\mu_i EX} (1 - h_i^{1/x_i}))` over
    :math:`\sum x_i = 1`. With :math:`\ell_i = -\ln h_i` this is the even-freshness problem with
    change rates :math:`\ell_i`, weights :math:`c_i \ell_i / (\mu_i EX)` and budget 1, so pages of
    small :math:`c_i / \mu_i` may be left out. For :math:`c_i` proportional to :math:`\mu_i` it is
    Theorem 3.4: :math:`x_i = \ell_i / \sum \ell`.
    """
    rates, costs = _rates(change_rates), _weights(weights, change_rates)
    log_h = access_time.decay(rates)
    shares, price = np.zeros(rates.size), 0.0
    used = costs > 0
    worths = costs[used] / (rates[used] * access_time.mean)
    shares[used], price = share_accesses(worths, log_h[used])
    stale = bound_obsolescence(rates, shares, access_time)
    return AccessPlan(shares, stale, float(costs @ stale), price, 1 / access_time.mean)


def solve_random_accesses(
    change_rates: ArrayLike, weights: ArrayLike, access_time: AccessTime
) -> AccessPlan:
    r"""Find the best frequencies when each access is drawn independently.

    Parameters and errors as :func:`solve_even_accesses`.

    Returns
    -------
    AccessPlan
        The exact optimum of the randomised policies; ``cost`` is attained.

    Notes
    -----
    Equation (15) with the positivity condition made automatic:
    :math:`x_i = (\sqrt{a_i / p} - 1)^+ (1/h_i - 1)` with :math:`a_i = c_i / (\mu_i EX)`; the pages
    with positive frequency are a prefix in the order of :math:`c_i / \mu_i`. O(n log n). For
    :math:`c_i` proportional to :math:`\mu_i` it is Theorem 4.1.
    """
    rates, costs = _rates(change_rates), _weights(weights, change_rates)
    worths = costs / (rates * access_time.mean)
    frequencies, price = draw_accesses(worths, access_time.decay(rates))
    stale = evaluate_random_access(rates, frequencies, access_time)
    return AccessPlan(frequencies, stale, float(costs @ stale), price, 1 / access_time.mean)


def _rates(change_rates: ArrayLike) -> Vector:
    rates = np.asarray(change_rates, dtype=np.float64)
    if rates.ndim != 1 or not rates.size:
        raise InvalidModel(f"change_rates must be a vector of at least one, got {rates.shape}")
    if not np.all(np.isfinite(rates) & (rates > 0)):
        raise InvalidModel("change_rates must be finite and > 0")
    return rates


def _weights(weights: ArrayLike, change_rates: ArrayLike) -> Vector:
    costs = np.asarray(weights, dtype=np.float64)
    if costs.shape != np.shape(change_rates):
        raise InvalidModel(f"weights {costs.shape} and change_rates must have the same length")
    if not np.all(np.isfinite(costs) & (costs >= 0)) or not np.any(costs > 0):
        raise InvalidModel("weights must be finite and >= 0, and some > 0")
    return costs
