"""Change rates from visits at one regular interval: in closed form, with the bias removed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel

__all__ = ["RegularRates", "estimate_from_regular_visits", "naive_rates"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RegularRates:
    """Rates from regular visits.

    Parameters
    ----------
    rates : shape (n,), 1/time, >= 0
    errors : shape (n,), standard errors of the rates
    """

    rates: Vector
    errors: Vector


def estimate_from_regular_visits(
    n_visits: ArrayLike, n_changed: ArrayLike, interval: float
) -> RegularRates:
    r"""Estimate rates from how many of the visits at one interval found a change.

    Parameters
    ----------
    n_visits, n_changed : shape (n,), counts, 0 <= n_changed <= n_visits and n_visits >= 1
    interval : time between visits, > 0

    Returns
    -------
    RegularRates
        Consistent, finite even where every visit found a change, and nearly without bias while
        several visits in a row find nothing now and then.

    Raises
    ------
    InvalidModel
        A number is outside its domain.

    Notes
    -----
    :math:`\hat\Delta = -\ln\frac{n - X + 1/2}{n + 1/2} / I`; the halves remove the first order of
    the bias. The error is that of the delta method, :math:`\sqrt{p / (q (n + 1/2))} / I` with
    p = X / n taken at the estimate. O(n).

    References
    ----------
    J. Cho and H. Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003.
    """
    visits, found = _counts(n_visits, n_changed, interval)
    quiet = (visits - found + 0.5) / (visits + 0.5)
    errors = np.sqrt((1.0 - quiet) / (quiet * (visits + 0.5))) / interval
    return RegularRates(-np.log(quiet) / interval, errors)


def naive_rates(n_visits: ArrayLike, n_changed: ArrayLike, interval: float) -> Vector:
    r"""Return changes seen per time; tends to (1 - exp(-rate I)) / I however long it goes on.

    Parameters
    ----------
    n_visits, n_changed, interval : as for :func:`estimate_from_regular_visits`
    """
    visits, found = _counts(n_visits, n_changed, interval)
    return np.asarray(found / (visits * interval))


def _counts(n_visits: ArrayLike, n_changed: ArrayLike, interval: float) -> tuple[Vector, Vector]:
    visits, found = (np.asarray(given, np.float64) for given in (n_visits, n_changed))
    if not (np.isfinite(interval) and interval > 0):
        raise InvalidModel(f"interval must be finite and > 0, got {interval!r}")
    if np.any(visits < 1) or np.any(found < 0) or np.any(found > visits):
        raise InvalidModel("n_visits must be >= 1 and n_changed lie in 0 .. n_visits")
    return visits, found
