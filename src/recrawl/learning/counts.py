"""Estimates from counts, few for most pages: shrunk towards folder, host and all.

A page that nobody was counted on is worth what pages like it are, not nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector

_LEAST_SHAPE: Final = 0.05
_GREATEST_SHAPE: Final = 50.0
_VAGUE: Final = 1.0  # pages' worth of the shape 1/2 that estimates of the shape begin with


def shrunk_rates(
    counts: Vector, exposures: Vector, groups: Sequence[Integers] = ()
) -> tuple[Vector, Vector]:
    r"""Return what each page's rate is believed to be, from its count and those of pages like it.

    Parameters
    ----------
    counts : shape (n,), >= 0, of sum > 0
    exposures : shape (n,), time or share of attention that each was counted over, >= 0
    groups : for each level from coarse to fine (hosts, folders), the group of each page, >= 0

    Returns
    -------
    rates, shapes : shape (n,): the posterior mean of each, > 0, and the shape of its prior

    Raises
    ------
    InvalidModel
        A number is outside its domain.

    Notes
    -----
    Counts are Poisson with rates of a gamma law about their group's, whose own is of a gamma law
    about the group around it, up to all pages: posterior means
    :math:`(c + a) / (e + a / m)` with the mean m of the level above. The shapes a are found by
    moments, level by level: the variance of counts beyond Poisson's is :math:`m^2 e^2 / a`.
    Exact for given shapes and level above; empirical Bayes, a level at a time, for the whole.
    O(n) for each level.
    """
    for name, values in (("counts", counts), ("exposures", exposures)):
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise InvalidModel(f"{name} must be finite and >= 0")
    if not counts.sum() > 0 or not exposures.sum() > 0:
        raise InvalidModel("counts and exposures must not all be 0")
    means = np.full(counts.size, counts.sum() / exposures.sum())
    shapes = np.full(counts.size, 0.5)
    for group in [*groups, np.arange(counts.size)]:
        n_groups = int(group.max()) + 1
        count = np.asarray(np.bincount(group, counts), np.float64)
        exposure = np.asarray(np.bincount(group, exposures), np.float64)
        above = np.zeros(n_groups)
        above[group] = means  # the same for all pages of a group
        shape = _shape(count, exposure, above)
        # A group of which nothing is known has no say in how alike groups are.
        found = (count + shape) / (exposure + shape / np.maximum(above, 1e-300))
        means, shapes = found[group], np.full(counts.size, shape)
    return means, shapes


def shrunk_means(values: Vector, groups: Sequence[Integers], pages: float = 5.0) -> list[Vector]:
    """Return the mean of each level's groups, each drawn towards the one around it.

    Parameters
    ----------
    values : shape (n,)
    groups : for each level from coarse to fine, the group of each value
    pages : of the level above, that a group begins with
    """
    around = np.full(values.size, values.mean() if values.size else 1.0)
    found = []
    for group in groups:
        n = np.bincount(group)
        above = np.zeros(n.size)
        above[group] = around
        mean = (np.bincount(group, values) + pages * above) / (n + pages)
        around = mean[group]
        found.append(mean)
    return found


def _shape(counts: Vector, exposures: Vector, means: Vector) -> float:
    """Return how alike the rates are, by moments; within bounds that no data should leave."""
    expected = means * exposures
    beyond = float(((counts - expected) ** 2 - expected).sum())
    square = float((expected**2).sum())
    vague = _VAGUE * square / max(float((exposures > 0).sum()), 1.0)
    spread = max(beyond + vague / 0.5, 1e-300)
    return float(np.clip((square + vague) / spread, _LEAST_SHAPE, _GREATEST_SHAPE))
