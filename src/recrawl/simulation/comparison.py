"""Policies side by side on one history: averages, and intervals by resampling directories."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.processes.intervals import student_975
from recrawl.simulation.backtest import Backtest, Replayed
from recrawl.simulation.history import ChangeHistory

_NORMAL: Final = 1.959963984540054
_FEWEST_GROUPS: Final = 20  # fewer would say little of how much another draw would differ


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """A policy in numbers, all averages by weight and time over the evaluation.

    Parameters
    ----------
    freshness, low, high : share of time that copies are fresh, with a 95 % interval
    mean_age : since the first change not seen; zero while fresh, in the history's unit of time
    penalty : mean harmonic penalty
    fetches : visits in the evaluation
    wasted : share of these that brought nothing
    seen : share of changes in the evaluation of which a copy was taken before the next one
    resampled : shape (k,), freshness of each resample
    stretch : by which intervals of resamples are too narrow, for what little was drawn from
    """

    freshness: float
    low: float
    high: float
    mean_age: float
    penalty: float
    fetches: int
    wasted: float
    seen: float
    resampled: Vector
    stretch: float

    def ahead_of(self, other: "Score") -> tuple[float, float, float]:
        """Return the freshness gained on another, with a 95 % interval over paired resamples."""
        ahead = self.freshness - other.freshness
        return ahead, *_stretched(self.resampled - other.resampled, ahead, self.stretch)


def resample_pages(history: ChangeHistory, resamples: int, seed: int) -> Vector:
    """Draw how often each page occurs in each resample, shape (resamples, n_pages).

    Pages of a directory change together, so whole directories are drawn, where there are as many
    as twenty; else pages. Counts are Poisson, which is drawing with replacement for a number that
    is itself random.

    Parameters
    ----------
    history : of n_pages pages
    resamples : how many, >= 1
    seed : >= 0; the same one pairs the resamples of all policies
    """
    random = np.random.default_rng(seed)
    groups = _groups(history)
    counts = random.poisson(1.0, (resamples, int(groups.max()) + 1)).astype(np.float32)
    return np.ascontiguousarray(counts[:, groups])


def score_policy(test: Backtest, result: Replayed, counts: Vector) -> Score:
    """Average what came of a policy over pages.

    Parameters
    ----------
    test : what was replayed
    result : what came of it
    counts : of :func:`resample_pages`
    """
    weights, history = test.history.weights, test.history
    whole = weights * result.lifetimes
    total = float(whole.sum())
    fresh = weights * result.fresh
    with np.errstate(invalid="ignore"):
        resampled = (counts @ fresh) / (counts @ whole)
    resampled = np.nan_to_num(resampled, nan=float(fresh.sum()) / total)
    freshness = float(fresh.sum()) / total
    stretch = _stretch(np.bincount(_groups(history), whole).astype(np.float64))
    low, high = _stretched(resampled, freshness, stretch)
    changes = int(np.sum(history.changed_at >= test.since))
    return Score(
        freshness=freshness,
        low=max(low, 0.0),
        high=min(high, 1.0),
        mean_age=float(weights @ result.age) / total,
        penalty=float(weights @ result.penalty) / total,
        fetches=result.fetches,
        wasted=result.wasted / max(result.fetches, 1),
        seen=float(result.seen.sum()) / max(changes, 1),
        resampled=resampled,
        stretch=stretch,
    )


def _groups(history: ChangeHistory) -> Integers:
    """Return what each page is drawn with: its directory, or itself where those are few."""
    if history.companions is not None:
        _, directories = np.unique(history.companions.directories, return_inverse=True)
        if int(directories.max()) + 1 >= _FEWEST_GROUPS:
            return directories
    return np.arange(history.n_pages)


def _stretch(weights: Vector) -> float:
    r"""Return by how much the quantiles of resamples of n groups lie too close to the average.

    Notes
    -----
    Resamples vary by :math:`\sqrt{(n-1)/n}` too little, and their quantiles are those of a normal
    law where Student's is due, here with the degrees of freedom of
    :math:`(\sum w)^2 / \sum w^2` groups.
    """
    used = weights[weights > 0]
    if used.size < 2:
        return np.inf
    alike = float(used.sum() ** 2 / (used**2).sum())
    point = student_975(max(round(alike) - 1, 1))
    return point / _NORMAL * float(np.sqrt(used.size / (used.size - 1)))


def _stretched(resampled: Vector, value: float, stretch: float) -> tuple[float, float]:
    """Return the 95 % interval of resamples, stretched about the value."""
    if not np.isfinite(stretch):
        return -1.0, 1.0  # one page tells nothing of others
    low, high = np.quantile(resampled, (0.025, 0.975))
    return float(value + stretch * (low - value)), float(value + stretch * (high - value))
