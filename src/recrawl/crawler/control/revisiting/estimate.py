"""Estimates of the index's freshness now and of change rates, with intervals."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.kernels.arrays import Vector
from recrawl.processes.intervals import gamma_bounds

_LEAST_DOUBT: Final = 1e-9  # below, a rate is as good as known
_MOST_ERROR: Final = math.sqrt(math.log(6.0))  # of a gamma law of shape 0.2
_LARGEST_ERROR: Final = 300.0  # beyond, the ends are no numbers of a machine
_NORMAL: Final = 1.959963984540054
_HEAVY: Final = 256  # pages that count one by one; beyond, their sum is normal
_CELLS: Final = 4096  # that their sum is told on
_REACH: Final = 4.0  # standard errors of the rest
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class FreshnessEstimate:
    """Estimated share of the copies that are fresh, by weight, with a 95 % interval."""

    value: float
    low: float
    high: float


def estimate_freshness(
    change_rates: Vector,
    log_errors: Vector,
    weights: Vector,
    ages: Vector,
    kept: Vector | float = 1.0,
) -> FreshnessEstimate | None:
    r"""Return the expected weighted freshness now; None where there is no page of any worth.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, >= 0: what they are on average, as far as is known
    log_errors : shape (n,), standard errors of their logarithms, >= 0
    weights : shape (n,), >= 0
    ages : shape (n,), since the visit of each copy, in the same unit; less where part of the
        changes since then would have been announced
    kept : shape (n,), in [0, 1], chance that what is announced of a copy is not true; 1: nothing is

    Returns
    -------
    FreshnessEstimate
        With the 2.5 and 97.5 % points of the sum over pages, which are fresh or not independently
        of each other. Pages that change together make the truth vary more.

    Notes
    -----
    The rate of a page is taken as gamma distributed with average :math:`\Delta` and variance
    :math:`c \Delta^2`, :math:`c = e^{\sigma^2} - 1` with :math:`\sigma` the standard error of
    :math:`\ln \Delta`. Then a copy of age t is fresh with probability

    .. math:: p = E\, e^{-\lambda t} = (1 + c \Delta t)^{-1/c},

    which is more than :math:`e^{-\Delta t}`, the doubt about its rate included, times what
    announcements leave of it. The pages that the
    sum depends on most count one by one; the rest of it is taken as normal.
    (A normal interval for all holds 78 to 90 % where ten pages or thirty are nearly all fresh.)
    O(n).
    """
    return freshness_of_copies(kept * fresh_chances(change_rates, log_errors, ages), weights)


def fresh_chances(change_rates: Vector, log_errors: Vector, ages: Vector) -> Vector:
    """Return the chance that each copy is fresh, but for what is announced of it.

    Parameters
    ----------
    change_rates, log_errors, ages : as for :func:`estimate_freshness`; an age below 0 counts as 0
    """
    return np.exp(_log_chances(change_rates, log_errors, ages))


def _log_chances(change_rates: Vector, log_errors: Vector, ages: Vector) -> Vector:
    doubt = np.maximum(np.expm1(log_errors**2), _LEAST_DOUBT)
    return np.asarray(-np.log1p(doubt * change_rates * np.maximum(ages, 0.0)) / doubt)


def fresh_between(
    change_rates: Vector, log_errors: Vector, ages: Vector, intervals: Vector
) -> Vector:
    r"""Return the chance that copies were fresh at an age, where the next visit found a change.

    Parameters
    ----------
    change_rates, log_errors : as for :func:`estimate_freshness`
    ages, intervals : shape (n,), of the copies at the instant, and at the next visit

    Notes
    -----
    With :math:`p(t)` the chance of no change within t it is
    :math:`(p(a) - p(T)) / (1 - p(T))`; for rare changes the part of the interval that is left.
    """
    young = _log_chances(change_rates, log_errors, ages)
    old = _log_chances(change_rates, log_errors, intervals)
    rare = old > -1e-9
    missed = np.where(rare, 1.0, -np.expm1(old))
    left = np.clip(1.0 - ages / np.maximum(intervals, 1e-300), 0.0, 1.0)
    return np.where(rare, left, np.exp(young) * -np.expm1(old - young) / missed)


def freshness_of_copies(fresh: Vector, weights: Vector) -> FreshnessEstimate | None:
    """Return the estimate from the chance of each copy to be fresh; None: none has any worth.

    Parameters
    ----------
    fresh : shape (n,), the chances, in [0, 1]
    weights : shape (n,), >= 0
    """
    total = float(weights.sum())
    if total <= 0.0:
        return None
    value = float(weights @ fresh) / total
    low, high = _points(weights / total, fresh, value)
    return FreshnessEstimate(value, max(0.0, min(low, value)), min(1.0, max(high, value)))


def kept_by_even_visits(change_rates: Vector, log_errors: Vector, crawl_rates: Vector) -> Vector:
    r"""Return the share of time that even visits keep each page fresh, doubt about rates included.

    Parameters
    ----------
    change_rates, log_errors : as for :func:`estimate_freshness`
    crawl_rates : shape (n,), 1/time, > 0

    Notes
    -----
    The average of :math:`(1 + c \Delta t)^{-1/c}` over the interval T between two visits: with
    :math:`u = \ln(1 + c \Delta T)` and :math:`y = (1 - 1/c) u` it is
    :math:`\frac{u}{c \Delta T} \frac{e^y - 1}{y}`. O(n).
    """
    doubt = np.maximum(np.expm1(log_errors**2), _LEAST_DOUBT)
    late = np.maximum(doubt * change_rates / crawl_rates, 1e-300)
    grown = np.log1p(late)
    power = (1.0 - 1.0 / doubt) * grown
    flat = np.abs(power) < 1e-12
    share = np.where(flat, 1.0, np.expm1(power) / np.where(flat, 1.0, power))
    return np.asarray(grown / late * share)


def rate_bounds(factor: float | None) -> tuple[float, float]:
    """Return by what to multiply a change rate for the ends of its 95 % interval.

    Parameters
    ----------
    factor : by which one standard error of the logarithm multiplies or divides; None: not known

    Notes
    -----
    Those of the gamma law in :func:`estimate_freshness`. Where next to nothing is known almost all
    of that law is next to no rate at all; there they are those of the log-normal law.
    """
    error = 0.0 if factor is None else math.log(factor)
    if error > _MOST_ERROR:
        width = _NORMAL * min(error, _LARGEST_ERROR)
        return math.exp(-width), math.exp(width)
    doubt = math.expm1(error**2)
    return gamma_bounds(1.0 / doubt) if doubt > _LEAST_DOUBT else (1.0, 1.0)


def _points(shares: Vector, fresh: Vector, value: float) -> tuple[float, float]:
    """2.5 and 97.5 % points of a sum of shares of pages that are fresh or not.

    The law of the heaviest, page by page, on cells of equal width: which of the two is rarer moves
    the sum from where it would be without. A move by a part of a cell is shared out between two,
    which keeps the mean. O(256 cells).
    """
    spread = shares**2 * fresh * (1.0 - fresh)
    heavy = np.argsort(-spread, kind="stable")[:_HEAVY]
    heavy = heavy[spread[heavy] > 0.0]
    error = math.sqrt(max(0.0, float(spread.sum() - spread[heavy].sum())))
    shares, fresh = shares[heavy], fresh[heavy]
    cell = (float(shares.sum()) + 2.0 * _REACH * error) / _CELLS
    if cell <= 0.0:
        return value, value
    is_fresh = fresh > 0.5
    begin = value + float(is_fresh @ shares) - float(fresh @ shares)
    moves = np.where(is_fresh, -shares, shares) / cell
    origin = int(-moves[is_fresh].sum()) + int(is_fresh.sum()) + 1
    law = np.zeros(origin + int(moves[~is_fresh].sum()) + int((~is_fresh).sum()) + 2)
    law[origin] = 1.0
    for move, rare in zip(moves.tolist(), np.minimum(fresh, 1.0 - fresh).tolist(), strict=True):
        law = _moved(law, move, rare)
    width = math.ceil(_REACH * error / cell)
    if width:
        law = np.convolve(law, _bell(width, error / cell))
    points = np.searchsorted(np.cumsum(law), (0.025 - _ROUNDING, 0.975 - _ROUNDING))
    low, high = begin + cell * (points - origin - width + [-1, 1])  # a cell more: it was shared
    return float(low), float(high)


def _moved(law: Vector, move: float, chance: float) -> Vector:
    """Return the law of a sum that moves by so many cells with a chance, and else stays."""
    whole = int(move)
    part = abs(move - whole)
    moved = (1.0 - chance) * law
    for cells, share in ((abs(whole), 1.0 - part), (abs(whole) + 1, part)):
        if move < 0.0:
            moved[: law.size - cells] += chance * share * law[cells:]
        else:
            moved[cells:] += chance * share * law[: law.size - cells]
    return moved


def _bell(width: int, error: float) -> Vector:
    """Return the normal law on so many cells to either side."""
    law = np.exp(-0.5 * (np.arange(-width, width + 1) / error) ** 2)
    return np.asarray(law / law.sum())
