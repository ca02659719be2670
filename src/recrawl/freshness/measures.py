"""Measures of freshness of a copy, under even visits, random visits, or any given cycle of gaps.

A measure is the mean over time of a cost (or, for freshness, a gain) that depends on the age t of
the copy since its visit; d is the change rate:

============  ====================================  ======================================
measure       at age t                              means
============  ====================================  ======================================
freshness     exp(-d t)                             share of time that the copy is current
staleness     1 - exp(-d t)                         its complement, the obsolescence rate
age           t - (1 - exp(-d t)) / d               time since the copy went out of date
harmonic      Ein(d t)                              sum of 1/k over the changes missed
============  ====================================  ======================================

Everything reduces to functions of the mean number of changes between visits, evaluated without
cancellation, so values and slopes keep about fourteen digits for rates from 1e-12 to 1e12.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.kernels.staleness import FAMILIES, fill_entire_exponential, fill_loss_and_worth


@dataclass(frozen=True)
class Measure:
    """One measure of how current a copy is.

    Parameters
    ----------
    name : freshness, staleness, age or harmonic
    """

    name: Literal["freshness", "staleness", "age", "harmonic"]

    def even(self, change_rates: ArrayLike, crawl_rates: ArrayLike) -> Vector:
        """Return the measure when visits are evenly spaced, shape by broadcasting.

        Rates are >= 0; a page that never changes is always fresh, one never visited never is.
        """
        return self._value("even", change_rates, crawl_rates)

    def random(self, change_rates: ArrayLike, crawl_rates: ArrayLike) -> Vector:
        """Return the measure when visits form a Poisson process, shape by broadcasting."""
        return self._value("random", change_rates, crawl_rates)

    def even_slope(self, change_rates: ArrayLike, crawl_rates: ArrayLike) -> Vector:
        """Return the derivative of :meth:`even` by the crawl rate."""
        return self._slope("even", change_rates, crawl_rates)

    def random_slope(self, change_rates: ArrayLike, crawl_rates: ArrayLike) -> Vector:
        """Return the derivative of :meth:`random` by the crawl rate."""
        return self._slope("random", change_rates, crawl_rates)

    def cycle(self, change_rate: float, gaps: ArrayLike) -> float:
        """Return the measure of one page under gaps between visits that repeat for ever.

        Parameters
        ----------
        change_rate : 1/time, >= 0
        gaps : shape (m,), time, > 0

        Notes
        -----
        By the renewal-reward theorem, the integral over each gap, summed, over their sum.
        """
        lengths = _gaps(gaps)
        if change_rate == 0:
            return 1.0 if self.name == "freshness" else 0.0
        values = self._value("even", np.full(lengths.size, change_rate), 1 / lengths)
        return float(lengths @ values / lengths.sum())

    def cycle_slopes(self, change_rate: float, gaps: ArrayLike) -> Vector:
        """Return the derivatives of :meth:`cycle` by each gap, shape (m,)."""
        lengths = _gaps(gaps)
        at_end = self.at_age(change_rate, lengths)
        return (at_end - self.cycle(change_rate, lengths)) / float(lengths.sum())

    def at_age(self, change_rate: float, ages: ArrayLike) -> Vector:
        """Return the cost, or gain, of a copy at the given times since its visit."""
        t = np.asarray(ages, dtype=np.float64)
        y = change_rate * t
        if self.name == "freshness":
            return np.asarray(np.exp(-y))
        if self.name == "staleness":
            return np.asarray(-np.expm1(-y))
        if self.name == "harmonic":
            out = np.empty(y.size)
            fill_entire_exponential(np.ascontiguousarray(y.ravel()), out)
            return out.reshape(y.shape)
        _, stale, _ = _functions("staleness", "even", y.ravel())
        return t * stale.reshape(y.shape)

    def _value(
        self, spacing: Literal["even", "random"], change_rates: ArrayLike, crawl_rates: ArrayLike
    ) -> Vector:
        d, y = _ratio(change_rates, crawl_rates)
        fresh, loss, _ = _functions(self.name, spacing, y.ravel())
        value = (fresh if self.name == "freshness" else loss).reshape(y.shape)
        if self.name != "age":
            return value
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(d > 0, value / d, 0.0)

    def _slope(
        self, spacing: Literal["even", "random"], change_rates: ArrayLike, crawl_rates: ArrayLike
    ) -> Vector:
        d, y = _ratio(change_rates, crawl_rates)
        _, _, worth = _functions(self.name, spacing, y.ravel())
        power = 2 if self.name == "age" else 1
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.where(d > 0, worth.reshape(y.shape) / d**power, 0.0)
        return slope if self.name == "freshness" else -slope


FRESHNESS: Final = Measure("freshness")
STALENESS: Final = Measure("staleness")
AGE: Final = Measure("age")
HARMONIC: Final = Measure("harmonic")


def _functions(
    name: str, spacing: Literal["even", "random"], y: Vector
) -> tuple[Vector, Vector, Vector]:
    """Fresh share, loss and worth of a visit as functions of y."""
    measure: Literal["freshness", "age", "harmonic"] = "freshness"
    if name == "age":
        measure = "age"
    elif name == "harmonic":
        measure = "harmonic"
    fresh, loss, worth = (np.empty(y.size) for _ in range(3))
    fill_loss_and_worth(
        FAMILIES[measure, spacing], np.ascontiguousarray(y), y.size, fresh, loss, worth
    )
    return fresh, loss, worth


def _ratio(change_rates: ArrayLike, crawl_rates: ArrayLike) -> tuple[Vector, Vector]:
    d, r = np.broadcast_arrays(
        np.asarray(change_rates, dtype=np.float64), np.asarray(crawl_rates, dtype=np.float64)
    )
    for name, values in (("change_rates", d), ("crawl_rates", r)):
        if not np.all(values >= 0):
            raise InvalidModel(f"{name} must be >= 0, got {values[~(values >= 0)].flat[0]:g}")
    with np.errstate(divide="ignore", invalid="ignore"):
        return d, np.where(d > 0, d / r, 0.0)


def _gaps(gaps: ArrayLike) -> Vector:
    lengths = np.asarray(gaps, dtype=np.float64)
    if lengths.ndim != 1 or not lengths.size:
        raise InvalidModel(f"gaps must be a vector of at least one, got shape {lengths.shape}")
    if not np.all((lengths > 0) & np.isfinite(lengths)):
        raise InvalidModel("gaps must be finite and > 0")
    return lengths
