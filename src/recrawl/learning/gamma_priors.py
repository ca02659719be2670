"""Priors of change rates learned from the pages themselves: for all, per host, per path.

New and rarely visited pages borrow strength from those that are like them. A prior of a group is
drawn towards that of the group around it, so that a host with two pages says little.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector

_LEAST_SHAPE: Final = 0.02
_GREATEST_SHAPE: Final = 20.0  # pages of one group never are as alike as more would say
_VAGUE_SHAPE: Final = 0.5
_VAGUE_PAGES: Final = 3.0
_PARENT_PAGES: Final = 30.0


def learn_gamma_priors(
    means: Vector, log_means: Vector, groups: Sequence[Integers] = ()
) -> tuple[Vector, Vector]:
    r"""One step of empirical Bayes: the gamma priors that the posteriors of the pages ask for.

    Parameters
    ----------
    means, log_means : shape (n,), posterior averages, 1/time, and those of the logarithms
    groups : for each level from coarse to fine, the group of each page, shape (n,), >= 0

    Returns
    -------
    shapes, rates : shape (n,), what the prior of each page's finest group has; averages in 1/time

    Raises
    ------
    InvalidModel
        There is no page, or a mean is not positive.

    Notes
    -----
    The M step of expectation maximisation for a gamma law needs but the average of
    :math:`E\Delta` and of :math:`E \ln \Delta`: its mean is the first, and its shape a solves
    :math:`\ln a - \psi(a) = \ln \overline{E\Delta} - \overline{E\ln\Delta}`. Each group adds five
    pages of the law around it, and all pages together three of a vague one, of shape 1/2. Repeat
    with new posteriors to converge. O(n) for each level.
    """
    if not means.size or not np.all(np.isfinite(means) & (means > 0)):
        raise InvalidModel("means must be finite and > 0, of at least one page")
    mean = float(means.mean())
    vague = _VAGUE_PAGES * (float(digamma(np.array([_VAGUE_SHAPE]))[0]) + np.log(mean / 0.5))
    log_mean = (float(log_means.sum()) + vague) / (means.size + _VAGUE_PAGES)
    shapes = np.broadcast_to(gamma_shape(np.array([np.log(mean) - log_mean])), means.shape)
    rates = np.full(means.size, mean)
    for group in groups:
        n = np.bincount(group) + _PARENT_PAGES
        parent = _PARENT_PAGES * np.bincount(group, rates) / (n - _PARENT_PAGES).clip(1)
        own = (np.bincount(group, means) + parent) / n
        logs = digamma(shapes) - np.log(shapes / rates)
        above = _PARENT_PAGES * np.bincount(group, logs) / (n - _PARENT_PAGES).clip(1)
        own_logs = (np.bincount(group, log_means) + above) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            found = gamma_shape(np.log(own) - own_logs)
        shapes, rates = found[group], own[group]
    return np.array(shapes, np.float64), rates


def gamma_shape(spread: Vector) -> Vector:
    r"""Solve :math:`\ln a - \psi(a) = s` for the shape, kept within 0.02 .. 20.

    Newton's method on 1/a, from a start that is off by at most 1.5 %.
    """
    s = np.maximum(np.nan_to_num(spread, nan=1.0), 1e-6)
    a = (3.0 - s + np.sqrt((s - 3.0) ** 2 + 24.0 * s)) / (12.0 * s)
    for _ in range(4):
        excess = np.log(a) - digamma(a) - s
        a = 1.0 / (1.0 / a + excess / (a * a * (1.0 / a - trigamma(a))))
    return np.asarray(np.clip(a, _LEAST_SHAPE, _GREATEST_SHAPE))


def digamma(x: Vector) -> Vector:
    """Logarithmic derivative of the gamma function for x > 0, to about 1e-12."""
    total, x = np.zeros(np.shape(x)), np.array(x, np.float64)
    for _ in range(8):  # psi(x) = psi(x + 1) - 1 / x
        total -= 1.0 / x
        x = x + 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return np.asarray(total + np.log(x) - 0.5 / x - series)


def trigamma(x: Vector) -> Vector:
    """Its derivative for x > 0, to about 1e-11."""
    total, x = np.zeros(np.shape(x)), np.array(x, np.float64)
    for _ in range(8):
        total += 1.0 / (x * x)
        x = x + 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y / 30)))
    return np.asarray(total + 1.0 / x + 0.5 * y + series / x)
