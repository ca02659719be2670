"""Policies side by side on one history: averages, and intervals by resampling directories."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.simulation.backtest import Backtest, Replayed
from recrawl.simulation.history import ChangeHistory

__all__ = ["Score", "resample_pages", "score_policy"]

Vector = NDArray[np.float64]
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

    def ahead_of(self, other: "Score") -> tuple[float, float, float]:
        """How much fresher this is than another, with a 95 % interval over paired resamples."""
        low, high = np.quantile(self.resampled - other.resampled, (0.025, 0.975))
        return self.freshness - other.freshness, float(low), float(high)


def resample_pages(history: ChangeHistory, resamples: int, seed: int) -> Vector:
    """How often each page occurs in each resample, shape (resamples, n_pages).

    Pages of a directory change together, so whole directories are drawn, where there are as many
    as twenty; else pages. Counts are Poisson, which is drawing with replacement for a number that
    is itself random; the same seed pairs the resamples of all policies.
    """
    random = np.random.default_rng(seed)
    groups = np.arange(history.n_pages)
    if history.companions is not None:
        _, directories = np.unique(history.companions.directories, return_inverse=True)
        if int(directories.max()) + 1 >= _FEWEST_GROUPS:
            groups = directories
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
    low, high = np.quantile(resampled, (0.025, 0.975))
    changes = int(np.sum(history.changed_at >= test.since))
    return Score(
        freshness=float(fresh.sum()) / total,
        low=float(low),
        high=float(high),
        mean_age=float(weights @ result.age) / total,
        penalty=float(weights @ result.penalty) / total,
        fetches=result.fetches,
        wasted=result.wasted / max(result.fetches, 1),
        seen=float(result.seen.sum()) / max(changes, 1),
        resampled=resampled,
    )
