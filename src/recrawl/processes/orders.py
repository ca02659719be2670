"""The increasing convex order of random times: which access times make every page staler."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.processes.access_times import AccessTime, ConstantTime, ObservedTimes
from recrawl.processes.phase_type import PhaseType

_GRID = 2_000
_TAIL = 1e-9  # of the mean, that is left beyond the last threshold
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class ConvexOrder:
    """Comparison of two laws.

    Parameters
    ----------
    verdict : ``below`` (the first is less in the increasing convex order), ``above``, ``equal`` or
        ``none`` where neither is
    thresholds : shape (k,), times
    first, second : shape (k,), expected excess over each threshold
    """

    verdict: str
    thresholds: Vector
    first: Vector
    second: Vector


def expected_excess(law: AccessTime, thresholds: ArrayLike) -> Vector:
    r"""Return :math:`E(X - t)^+`, the stop-loss transform, shape of ``thresholds``.

    Parameters
    ----------
    law : of X, a constant, observed times or a phase-type law
    thresholds : t, any shape, >= 0, in the law's unit of time

    Notes
    -----
    For phases it is :math:`\beta e^{St} (-S)^{-1} 1`: the mean of the time that is left, if any.
    """
    t = np.asarray(thresholds, dtype=np.float64)
    if isinstance(law, ConstantTime):
        return np.asarray(np.maximum(law.mean - t, 0.0))
    if isinstance(law, ObservedTimes):
        times = np.sort(law.times)
        sums = np.append(np.cumsum(times[::-1])[::-1], 0.0)
        at = np.searchsorted(times, t, side="right")
        return np.asarray((sums[at] - t * (times.size - at)) / times.size)
    if isinstance(law, PhaseType):
        left: Vector = np.asarray(
            np.linalg.solve(-law.generator, np.ones(law.initial.size)), dtype=np.float64
        )
        return law.expected_along(t, left)
    raise InvalidModel(f"{type(law).__name__} has no expected excess")


def compare_times(first: AccessTime, second: AccessTime) -> ConvexOrder:
    r"""Compare two laws in the increasing convex order, :math:`X \le_{icx} Y`.

    Parameters
    ----------
    first, second : laws of X and Y as :func:`expected_excess` takes them, in one unit of time

    Notes
    -----
    :math:`X \le_{icx} Y` if and only if :math:`E(X - t)^+ \le E(Y - t)^+` for all t. Then, at equal
    means, every page is staler with Y under every policy (Theorem 3.1 of Coffman, Liu and Weber
    1998; their proof needs the same EX in both, since r divides by it). Compared on a grid to where
    next to nothing is left, jumps of the laws included: a numerical verdict, to 1e-10 of the mean.

    References
    ----------
    E. G. Coffman, Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", Journal
    of Scheduling 1(1), 1998.
    """
    size = max(first.mean, second.mean)
    longest = size
    while max(float(expected_excess(law, longest)) for law in (first, second)) > _TAIL * size:
        longest *= 2
    grid = [np.linspace(0.0, longest, _GRID), np.geomspace(1e-3 * size, longest, _GRID)]
    jumps = [
        np.atleast_1d(law.mean if isinstance(law, ConstantTime) else np.unique(law.times))
        for law in (first, second)
        if isinstance(law, (ConstantTime, ObservedTimes))
    ]
    t = np.unique(np.concatenate([*grid, *jumps]))
    one, two = expected_excess(first, t), expected_excess(second, t)
    less, more = np.all(one <= two + _ROUNDING * size), np.all(one >= two - _ROUNDING * size)
    names = {(True, True): "equal", (True, False): "below", (False, True): "above"}
    return ConvexOrder(names.get((bool(less), bool(more)), "none"), t, one, two)
