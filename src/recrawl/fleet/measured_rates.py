"""Rates of robots and indexer from what was observed, with how sure one can be."""

import math
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Matrix
from recrawl.processes.intervals import gamma_bounds, student_975


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """A rate and its 95 % confidence interval.

    Parameters
    ----------
    rate : events per unit of exposure
    low, high : 95 % confidence interval
    events : how many were seen
    variation : squared coefficient of variation of the times between events, 1 for a Poisson
        process; far from 1 the model's exponential times are an approximation
    """

    rate: float
    low: float
    high: float
    events: int
    variation: float


def estimate_fetch_rate(arrivals: Matrix, robots: Integers) -> MeasuredRate:
    r"""Pages that one active robot brings per unit of time.

    Parameters
    ----------
    arrivals : shape (n,), times at which pages came, nondecreasing, n >= 3
    robots : shape (n,), robots active between the previous page and this one, >= 1;
        the first entry is not used

    Returns
    -------
    MeasuredRate
        The maximum likelihood estimate for Poisson robots, :math:`(n-1) / \sum_i r_i \Delta t_i`.

    Raises
    ------
    InvalidModel
        If the shapes differ, times decrease, or no time passes.

    Notes
    -----
    For Poisson robots the interval is exact: that of a gamma law of shape n - 1. Where the
    variation :math:`c^2` of the robot time per page is above 1 the shape is divided by it, and the
    interval is no narrower than Student's of :math:`\ln\hat\lambda`. A variation of 5, seen in 10
    to 30 times, is seen too small, and so is the interval: it holds the truth in 80 % of cases
    then, and in 93 % from 200 times on.
    """
    if arrivals.ndim != 1 or arrivals.shape != robots.shape or arrivals.size < 3:
        raise InvalidModel(
            f"arrivals {arrivals.shape} and robots {robots.shape} must be vectors of equal "
            "length, at least 3"
        )
    gaps = np.diff(arrivals)
    if np.any(gaps < 0):
        row = int(np.argmax(gaps < 0)) + 1
        raise InvalidModel(f"arrivals must not decrease, but entry {row} is before {row - 1}")
    if np.any(robots[1:] < 1):
        row = int(np.argmax(robots[1:] < 1)) + 1
        raise InvalidModel(
            f"robots must be at least 1 before an arrival, entry {row} is {int(robots[row])}"
        )
    return _estimate("arrivals", gaps * robots[1:])


def estimate_index_rate(service_times: Matrix) -> MeasuredRate:
    """Pages that the indexer finishes per unit of time while it is busy.

    Parameters
    ----------
    service_times : shape (n,), time spent on each page, >= 0, n >= 2

    Raises
    ------
    InvalidModel
        If there are fewer than 2, one is negative or not finite, or all are 0.
    """
    if service_times.ndim != 1 or service_times.size < 2:
        raise InvalidModel(f"service_times must hold at least 2, got {service_times.size}")
    wrong = ~(np.isfinite(service_times) & (service_times >= 0))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise InvalidModel(
            f"service_times must be finite and >= 0, entry {row} is {float(service_times[row])!r}"
        )
    return _estimate("service_times", service_times)


def _estimate(name: str, exposures: Matrix) -> MeasuredRate:
    total = float(exposures.sum())
    if not (math.isfinite(total) and total > 0):
        raise InvalidModel(f"{name} span no time, so there is no rate to measure")
    count = exposures.size
    variation = float(exposures.var(ddof=1) / exposures.mean() ** 2)
    rate, evidence = count / total, count / max(1.0, variation)
    low, high = gamma_bounds(evidence)
    if variation > 1:
        spread = math.exp(student_975(count - 1) / math.sqrt(evidence))
        low, high = min(low, 1.0 / spread), max(high, spread)
    return MeasuredRate(rate, rate * low, rate * high, count, variation)
