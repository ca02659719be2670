"""Bounds on an interval's cost, and on a grid's optimum against that in continuous time."""

import numpy as np

from recrawl.kernels.arrays import Vector
from recrawl.probing.model import ProbedSource


def bound_interval(source: ProbedSource, length: float) -> float:
    r"""Lemma 6: an interval costs at most :math:`\tfrac12\bar a\bar\lambda\,(f - s)^2`.

    Parameters
    ----------
    source : the model
    length : of the interval, f - s, >= 0

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, Lemma 6.
    """
    return 0.5 * source.importance.maximum * source.intensity.maximum * length**2


def bound_shift(source: ProbedSource, length: float, shift: float) -> float:
    r"""Lemma 7: it changes by at most :math:`2\bar a\bar\lambda\,(\epsilon^2 + |f - s|\epsilon)`.

    Parameters
    ----------
    source : the model
    length : of the interval, >= 0
    shift : by which either end moves at most, either way, >= 0

    Notes
    -----
    Attained by constant functions where both ends move apart, so it cannot be sharpened without
    more knowledge of them: :func:`bound_within_pieces` has it.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, Lemma 7.
    """
    peak = source.importance.maximum * source.intensity.maximum
    return 2.0 * peak * (shift**2 + length * shift)


def bound_as_published(source: ProbedSource, times: Vector, n: int) -> float:
    r"""Proposition 8: :math:`\bar a \bar\lambda (\tfrac n2 \gamma^2 + T \gamma)`.

    Parameters
    ----------
    source : the model, with its gap
    times : shape (N + 1,), the grid, increasing from 0 to T
    n : probes in one period, >= 1

    Returns
    -------
    float
        The most by which the grid's optimum exceeds that of continuous time; infinity where the
        proposition does not apply: with a gap the grid must be even and the gap a multiple of
        its step.

    References
    ----------
    J. Eckstein, A. Gal and S. Reiner, RUTCOR Research Report 16-2005, Proposition 8.
    """
    steps = np.diff(times)
    gamma = float(steps.max())
    if source.gap > 0:
        ratio = source.gap / gamma
        if np.ptp(steps) > 1e-9 * gamma or abs(ratio - round(ratio)) > 1e-6 * ratio:
            return np.inf
    peak = source.importance.maximum * source.intensity.maximum
    return peak * (0.5 * n * gamma**2 + source.period * gamma)


def bound_within_pieces(source: ProbedSource, times: Vector, n: int) -> float:
    r"""The sharper bound :math:`\tfrac{n-1}{2} \bar a \bar\lambda \gamma^2`, O(n / N^2).

    Parameters
    ----------
    source, times, n : as for :func:`bound_as_published`

    Returns
    -------
    float
        The most by which the grid's optimum exceeds that of continuous time; infinity unless
        intensity and importance are piecewise constant with all breaks on the grid and there is
        no gap.

    Notes
    -----
    Move each probe of a continuous optimum to the nearer grid point of its own piece. Within the
    pieces the cost is quadratic, its first-order terms vanish at the optimum, and each of the two
    second-order terms of a probe moved by at most gamma / 2 is at most a lambda gamma^2 / 4.
    """
    if source.gap > 0 or not (source.intensity.is_steps and source.importance.is_steps):
        return np.inf
    breaks = source.cell_starts
    near = np.clip(np.searchsorted(times, breaks), 1, times.size - 1)
    away = np.minimum(np.abs(times[near] - breaks), np.abs(times[near - 1] - breaks))
    if np.any(away > 1e-9 * source.period):
        return np.inf
    gamma = float(np.diff(times).max())
    return 0.5 * (n - 1) * source.importance.maximum * source.intensity.maximum * gamma**2
