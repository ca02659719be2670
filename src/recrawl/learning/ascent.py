"""Climbing likelihoods: expectation and maximisation, made faster, from many beginnings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recrawl.errors import NotConverged
from recrawl.kernels.arrays import Vector

Step: TypeAlias = Callable[[Vector], tuple[float, Vector]]

_KEPT = (12, 5)  # beginnings that are followed after the first few steps, and to the top
_SHORT = (12, 60)  # steps until the choice
_MOST_STEPS = 5000


@dataclass(frozen=True, eq=False)
class Ascent:
    """Top that a climb reached.

    Parameters
    ----------
    at : shape (p,), parameters
    log_likelihood : there
    gain : over the second best top that was found; infinite where all climbs end at one
    steps : steps of expectation and maximisation of the climb that won
    """

    at: Vector
    log_likelihood: float
    gain: float
    steps: int


def climb(
    step: Step, start: Vector, normalise: Callable[[Vector], Vector], *, tolerance: float, most: int
) -> tuple[Vector, float, int, bool]:
    """Follow steps of expectation and maximisation, extrapolated, up to a top.

    Parameters
    ----------
    step : parameters to their log-likelihood and the parameters that follow
    start : shape (p,), logarithms
    normalise : brings extrapolated parameters back to where they make sense
    tolerance : gain by three steps at which to stop
    most : steps

    Returns
    -------
    Parameters, log-likelihood, steps taken, and whether the top was reached.

    Notes
    -----
    Of two steps r and r + v the next is taken at -2 s r + s^2 v with s = -|r|/|v|; where that
    lowers the likelihood the two steps alone count. The likelihood never falls.

    References
    ----------
    R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm", Scandinavian Journal of Statistics 35, 2008.
    """
    here = normalise(start)
    known, first = step(here)
    taken = 1
    while taken + 2 <= most:
        lower, second = step(first)
        taken += 1
        along, bend = first - here, second - 2.0 * first + here
        size = float(np.linalg.norm(bend))
        stretch = max(1.0, float(np.linalg.norm(along)) / size) if size > 0 else 1.0
        there = second
        if stretch > 1.0:
            there = normalise(here + 2.0 * stretch * along + stretch**2 * bend)
        reached, after = step(there)
        taken += 1
        if stretch > 1.0 and not reached >= lower:
            there = second
            reached, after = step(there)
            taken += 1
        gained = reached - known
        here, known, first = there, reached, after
        if gained < tolerance:
            return here, known, taken, True
    return here, known, taken, False


def climb_from_all(
    rough: Step,
    exact: Step,
    starts: Iterable[Vector],
    normalise: Callable[[Vector], Vector],
    *,
    tolerance: float,
    what: str,
) -> Ascent:
    """Climb from every beginning for a little, from the best for longer, and keep the highest top.

    Parameters
    ----------
    rough, exact : steps with a part of the data, which chooses, and with all of them
    what : is climbed, for the message

    Raises
    ------
    NotConverged
        If the best has not reached its top after 5,000 steps.
    """
    found = [(0.0, start) for start in starts]
    for kept, short in zip(_KEPT, _SHORT, strict=True):
        if len(found) > 1:
            tried = (climb(rough, at, normalise, tolerance=0.0, most=short) for _, at in found)
            found = _distinct(((value, at) for at, value, _, _ in tried))[:kept]
    tops = [climb(exact, at, normalise, tolerance=tolerance, most=_MOST_STEPS) for _, at in found]
    tops.sort(key=lambda top: -top[1])
    at, value, steps, reached = tops[0]
    if not reached:
        raise NotConverged(what, iterations=steps, residual=tolerance)
    others = [other for other in tops[1:] if value - other[1] > 100.0 * tolerance]
    gain = value - others[0][1] if others else float("inf")
    return Ascent(at, value, gain, steps)


def _distinct(found: Iterable[tuple[float, Vector]]) -> list[tuple[float, Vector]]:
    """Sort by likelihood, the best first, and drop what is like one before."""
    out: list[tuple[float, Vector]] = []
    for value, at in sorted(found, key=lambda one: -one[0]):
        if not any(np.allclose(at, other, rtol=0.0, atol=0.02) for _, other in out):
            out.append((value, at))
    return out
