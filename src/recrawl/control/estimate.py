"""How fresh the index is believed to be now, with an interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FreshnessEstimate", "estimate_freshness"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FreshnessEstimate:
    """Estimated share of the copies that are fresh, by weight, with a 95 % interval."""

    value: float
    low: float
    high: float


def estimate_freshness(
    change_rates: Vector, log_errors: Vector, weights: Vector, last_visits: Vector, now: float
) -> FreshnessEstimate | None:
    r"""Return the expected weighted freshness now; None where there is no page of any worth.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, >= 0
    log_errors : shape (n,), standard errors of their logarithms, >= 0
    weights : shape (n,), >= 0
    last_visits : shape (n,), instants
    now : the instant, in the same unit

    Returns
    -------
    FreshnessEstimate
        Normal interval from two independent sources: whether each page has changed, and how well
        its rate is known. Holds for many pages with independent Poisson changes.

    Notes
    -----
    A copy of age t is fresh with probability :math:`p = e^{-\Delta t}`; its variance is
    :math:`p (1 - p) + (\Delta t\, p\, \sigma)^2` with :math:`\sigma` the standard error of
    :math:`\ln \Delta`. O(n).
    """
    total = float(weights.sum())
    if total <= 0.0:
        return None
    expected = change_rates * np.maximum(now - last_visits, 0.0)
    fresh = np.exp(-expected)
    value = float(weights @ fresh) / total
    variance = fresh * (1.0 - fresh) + (expected * fresh * log_errors) ** 2
    spread = 1.96 * float(np.sqrt((weights**2) @ variance)) / total
    return FreshnessEstimate(value, max(0.0, value - spread), min(1.0, value + spread))
