r"""Rates at which pages go, and visits in time to find out.

A copy is stale from the instant at which its page goes, as from a change. How often a page changes
is its own: one that was never seen to is likely one of those that hardly do. That it is still there
says no such thing, as it can go but once. So the hazard :math:`h` is that of all pages of a kind,
which are the pages of a folder with addresses of one shape: removals over the time that pages were
there, each kind drawn to its host and each host to all by one removal more. By removals alone a
visit after t is worth :math:`(w / h) (1 - (1 + h t) e^{-h t})`, as by changes at that rate; the sum
of both is first order in what little chance there is of both at once.
"""

from typing import Final

import numpy as np

from recrawl.crawler.control.worth.births import visit_gains
from recrawl.kernels.arrays import Integers, Vector

REMEMBERED_S: Final = 180 * 86_400.0  # what went before that says nothing of what goes now
_PRIOR_REMOVALS: Final = 0.5
_PRIOR_S: Final = 730 * 86_400.0  # half a removal in two years of a page
_STEPS: Final = 30  # a billionth of an age
_COUNTS: Final = 0.2  # of the price: removals that are worth less at a visit move it by little


def removal_hazards(
    groups: Integers, there_s: Vector, gone_groups: Integers, gone_there_s: Vector
) -> Vector:
    """Return the rate at which each page goes, 1/s.

    Parameters
    ----------
    groups : shape (2, n), host and kind of pages that are there
    there_s : shape (n,), for how long each was seen to be, >= 0
    gone_groups, gone_there_s : shapes (2, m) and (m,), the same of pages that went

    Notes
    -----
    O(n + m).
    """
    there_s = np.concatenate([there_s, gone_there_s])
    went = np.arange(there_s.size) >= groups.shape[1]
    hazards = np.full(there_s.size, (_PRIOR_REMOVALS + went.sum()) / (_PRIOR_S + there_s.sum()))
    for group in np.concatenate([groups, gone_groups], axis=1):  # hosts, then kinds
        removals, seen_s = np.bincount(group, went), np.bincount(group, there_s)
        hazards = (1.0 + removals[group]) / (1.0 / hazards + seen_s[group])
    return np.asarray(hazards[: groups.shape[1]])


def folder_hazard(went: int, there_s: float) -> float:
    """Return the rate at which each page of a folder goes, 1/s, by nothing but its own.

    Parameters
    ----------
    went : pages of it that did, within :data:`REMEMBERED_S`
    there_s : for how long these and the others were known to be there, all together
    """
    return (1.0 + went) / (_PRIOR_S / _PRIOR_REMOVALS + there_s)


def at_risk(alone: Vector, prices: Vector, weights: Vector, hazards: Vector) -> Integers:
    """Return the pages whose visits removals move, as they are worth a fifth of the price by then.

    Parameters
    ----------
    alone : shape (n,), the ages at which visits are due without that, > 0
    prices, weights : shape (n,), of each page: of a visit, of a fresh copy
    hazards : shape (n,), >= 0

    Notes
    -----
    By what removals are worth at most, which is half of the square of the age. O(n).
    """
    return np.flatnonzero(0.5 * weights * hazards * alone * alone > _COUNTS * prices)


def removal_intervals(
    alone: Vector, prices: Vector, weights: Vector, rates: Vector, hazards: Vector, shortest: float
) -> Vector:
    r"""Return the ages at which a visit is worth the price, with what it may find gone.

    Parameters
    ----------
    alone : shape (n,), the ages without that, > 0
    prices, weights, rates : shape (n,), of each page: of a visit, of a fresh copy, of its changes
    hazards : shape (n,), > 0
    shortest : no age is less, but those of ``alone``

    Notes
    -----
    At the age of ``alone`` a visit is worth the price, or less where that is the longest there is;
    before, by changes, as the square of its age, which is exact where changes are few. By
    bisection; O(n) a step.
    """
    rates = np.maximum(rates, 1e-300)
    changed = np.minimum(weights * visit_gains(rates * alone) / rates, prices)
    low, high = np.minimum(shortest, alone), alone
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        lost = weights * visit_gains(hazards * middle) / hazards
        over = changed * (middle / alone) ** 2 + lost > prices
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return np.asarray(high)
