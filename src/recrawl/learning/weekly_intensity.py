"""The weekly pattern of a source's updates from their times, as flexible as the data allow."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector

WEEK_CELLS = 168
_STRENGTHS = (1.0, 4.0, 16.0, 64.0)
# name -> the chain of partitions, from coarse to fine, as (kind of day, hours in a block)
CANDIDATES: dict[str, tuple[tuple[str, int], ...]] = {
    "constant": (),
    "weekdays and weekend": (("kind", 24),),
    "days of the week": (("kind", 24), ("day", 24)),
    **{f"blocks of {h} h, every day alike": (("all", h),) for h in (6, 3, 1)},
    **{
        f"blocks of {h} h, weekdays and weekend": (("kind", 24), ("all", h), ("kind", h))
        for h in (6, 3, 1)
    },
    **{
        f"blocks of {h} h, each day": (("kind", 24), ("all", h), ("kind", h), ("day", h))
        for h in (6, 3, 1)
    },
}


@dataclass(frozen=True, slots=True, eq=False)
class WeeklyIntensity:
    """A weekly pattern and how far to trust it.

    Parameters
    ----------
    rates : shape (168,), updates per unit of time in each hour of the week, > 0
    chosen : name of the model in :data:`CANDIDATES`
    n_cells : different cells of that model
    strength : how many expected events the coarser pattern weighs in each cell
    scores : model -> held-out log likelihood per event above that of a constant rate, nats, at
        the best strength
    events : events used
    dispersion_day, dispersion_week : variance over mean of the counts of a day and of a week
        around what pattern and trend expect: 1 for a Poisson process, more with bursts
    trend, trend_error : growth of the log rate per week, and its standard error with the
        dispersion taken into account
    level_now : rate at the end of the record over the mean rate, by the trend
    """

    rates: Vector
    chosen: str
    n_cells: int
    strength: float
    scores: dict[str, float]
    events: int
    dispersion_day: float
    dispersion_week: float
    trend: float
    trend_error: float
    level_now: float

    @property
    def has_trend(self) -> bool:
        """Whether the trend differs from none by more than three standard errors."""
        return abs(self.trend) > 3.0 * self.trend_error


def cell_labels(kind: str, hours: int) -> Integers:
    """Number of the cell of each hour of the week, Monday 0:00 first, shape (168,).

    Parameters
    ----------
    kind : days told apart: ``all`` (none), ``kind`` (weekdays and weekend) or ``day`` (each)
    hours : of a block, a divisor of 24
    """
    hour = np.arange(WEEK_CELLS)
    day, block = hour // 24, hour % 24 // hours
    per_day = 24 // hours
    groups = {"all": np.zeros_like(day), "kind": (day >= 5).astype(np.int64), "day": day}
    return np.asarray(groups[kind] * per_day + block, dtype=np.int64)


def estimate_weekly_intensity(counts: Vector, exposure: Vector) -> WeeklyIntensity:
    r"""Maximum likelihood with shrinkage, the model chosen by held-out likelihood.

    Parameters
    ----------
    counts : shape (w, 168), events in each hour of each week on the source's clock
    exposure : shape (w, 168), time for which that hour was observed (an hour, or less at the
        ends, 0 or 2 hours where the clocks are changed), >= 0

    Returns
    -------
    WeeklyIntensity
        Of all candidates the one that best predicts weeks left out.

    Raises
    ------
    InvalidModel
        If there is no event or no exposure.

    Notes
    -----
    Each model is a chain of partitions of the week, each shrunk towards the one before: with n
    events in time E and the coarser rate r, a cell's rate is :math:`(n + k) / (E + k / r)`, the
    posterior mean under a gamma prior of strength k. Ten folds of whole weeks (of days below 10
    weeks) are left out in turn; bursts within a day or week therefore do not pass for a pattern.
    O(folds models 168) after one pass.
    """
    if counts.shape != exposure.shape or counts.shape[1:] != (WEEK_CELLS,):
        raise InvalidModel(f"counts and exposure must have shape (weeks, 168), got {counts.shape}")
    if counts.sum() <= 0:
        raise InvalidModel("there is no event")
    if not np.all(np.isfinite(exposure)) or exposure.min() < 0 or np.any(counts[exposure == 0] > 0):
        raise InvalidModel("exposure must be finite, >= 0, and > 0 wherever there are events")
    folds = _folds(counts, exposure)
    score: dict[tuple[str, float], float] = {}
    total = float(counts.sum())
    for name, chain in CANDIDATES.items():
        for strength in _STRENGTHS if chain else (1.0,):
            held = sum(_log_likelihood(_fit(*rest, chain, strength), *out) for rest, out in folds)
            score[name, strength] = held / total
    base = score["constant", 1.0]
    chosen, strength = max(score, key=lambda key: score[key])
    rates = _fit(counts.sum(axis=0), exposure.sum(axis=0), CANDIDATES[chosen], strength)
    trend, error, now, by_day, by_week = _dispersion(counts, exposure, rates)
    best = {
        name: max(value for (other, _), value in score.items() if other == name) - base
        for name in CANDIDATES
    }
    return WeeklyIntensity(
        rates=rates,
        chosen=chosen,
        n_cells=len(np.unique(cell_labels(*CANDIDATES[chosen][-1]))) if CANDIDATES[chosen] else 1,
        strength=strength,
        scores=best,
        events=round(counts.sum()),
        dispersion_day=by_day,
        dispersion_week=by_week,
        trend=trend,
        trend_error=error,
        level_now=now,
    )


Pair = tuple[Vector, Vector]


def _folds(counts: Vector, exposure: Vector) -> list[tuple[Pair, Pair]]:
    n_weeks = counts.shape[0]
    totals = counts.sum(axis=0), exposure.sum(axis=0)
    if n_weeks >= 10:
        unit = np.broadcast_to(np.arange(n_weeks)[:, None], counts.shape) % 10
    else:
        unit = (np.arange(n_weeks)[:, None] * 7 + np.arange(WEEK_CELLS)[None, :] // 24) % 10
    folds = []
    for fold in range(10):
        out = tuple((part * (unit == fold)).sum(axis=0) for part in (counts, exposure))
        rest = (totals[0] - out[0], totals[1] - out[1])
        if rest[0].sum() > 0:
            folds.append((rest, (out[0], out[1])))
    return folds


def _fit(
    counts: Vector, exposure: Vector, chain: tuple[tuple[str, int], ...], strength: float
) -> Vector:
    """Rates of the 168 hours; half an event keeps the rate of an empty record above 0."""
    rates = np.full(WEEK_CELLS, max(counts.sum(), 0.5) / max(exposure.sum(), 1e-300))
    for step in chain:
        labels = cell_labels(*step)
        size = int(labels.max()) + 1
        n, time = np.bincount(labels, counts, size), np.bincount(labels, exposure, size)
        # the events that the coarser pattern expects in the cell, so that its shape is kept
        expected = np.bincount(labels, exposure * rates, size)
        with np.errstate(divide="ignore", invalid="ignore"):
            parent = np.where(time > 0, expected / time, 1.0)
            factor = (n + strength) / (expected + strength)
        factor = np.where((time > 0) & (parent > 0), factor, 1.0)
        rates = rates * factor[labels]
    return rates


def _log_likelihood(rates: Vector, counts: Vector, exposure: Vector) -> float:
    return float(np.sum(counts * np.log(rates)) - np.sum(rates * exposure))


def _dispersion(
    counts: Vector, exposure: Vector, rates: Vector
) -> tuple[float, float, float, float, float]:
    """Trend per week, its error, level at the end, and variance over mean by day and by week."""
    weekly = counts.sum(axis=1)
    expected = exposure @ rates
    weeks = np.arange(weekly.size, dtype=np.float64)
    center = float(np.average(weeks, weights=np.maximum(expected, 1e-300)))
    u = weeks - center
    level, slope = 0.0, 0.0
    for _ in range(100):
        mean = expected * np.exp(np.clip(level + slope * u, -50, 50))
        gradient = np.array([np.sum(weekly - mean), np.sum(u * (weekly - mean))])
        information = np.array([[mean.sum(), u @ mean], [u @ mean, (u * u) @ mean]])
        information += np.eye(2) * 1e-9 * max(information.max(), 1e-300)
        step = np.clip(np.linalg.solve(information, gradient), -1.0, 1.0)
        level, slope = level + step[0], slope + (step[1] if weekly.size > 2 else 0.0)
        if np.max(np.abs(step)) < 1e-10:
            break
    mean = expected * np.exp(np.clip(level + slope * u, -50, 50))
    by_week = _variance_over_mean(weekly, mean)
    factor = np.where(expected > 0, mean / np.maximum(expected, 1e-300), 1.0)
    daily = counts.reshape(-1, 7, 24).sum(axis=2)
    daily_mean = (exposure * rates).reshape(-1, 7, 24).sum(axis=2) * factor[:, None]
    by_day = _variance_over_mean(daily.ravel(), daily_mean.ravel())
    spread = max(float((u * u) @ mean), 1e-300)
    error = float(np.sqrt(max(by_week, 1.0) / spread)) if weekly.size > 2 else np.inf
    now = float(np.exp(np.clip(level + slope * u[-1], -50, 50)))
    return float(slope), error, now, by_day, by_week


def _variance_over_mean(counts: Vector, mean: Vector) -> float:
    seen = mean > 0
    freedom = max(int(seen.sum()) - 2, 1)  # a level and a slope were fitted
    return float(np.sum((counts[seen] - mean[seen]) ** 2 / mean[seen]) / freedom)
