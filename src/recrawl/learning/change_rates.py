"""Change rates from visits: each tells only whether a page changed since the last one."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Flags, Integers, Vector

_POINTS: Final = 193  # of the posterior, from far left to far right of its top
_AT_ONCE: Final = 20_000  # visits whose likelihood is computed at one time


@dataclass(frozen=True, slots=True, eq=False)
class ChangeRates:
    """Estimated change rates.

    Parameters
    ----------
    rates : shape (n,), 1/time, > 0
    log_errors : shape (n,), standard errors of the logarithms, by the curvature of the likelihood;
        for intervals, which are not symmetric where visits are few, see :func:`bound_change_rates`
    iterations, residual : of the Newton iteration; the residual is the largest gradient left,
        relative to the information
    """

    rates: Vector
    log_errors: Vector
    iterations: int
    residual: float


def estimate_change_rates(
    n_pages: int,
    page: Integers,
    intervals: Vector,
    changed: Flags,
    *,
    prior_rate: float | Vector,
    prior_shape: float | Vector,
) -> ChangeRates:
    r"""Censored maximum likelihood with a gamma prior, for Poisson changes.

    A visit after time t finds a change with probability :math:`1 - e^{-\Delta t}`, however many
    there were. With a gamma prior of shape a and mean m this maximises, over
    :math:`\theta = \ln \Delta`,

    .. math:: a\theta - \tfrac{a}{m} e^\theta
        + \sum_{changed} \ln(1 - e^{-\Delta t}) - \sum_{unchanged} \Delta t .

    Parameters
    ----------
    n_pages : pages; those without any visit get the prior's mean
    page : shape (v,), page of each visit, 0 <= page < n_pages
    intervals : shape (v,), time since the visit before, > 0
    changed : shape (v,), whether the page had changed
    prior_rate, prior_shape : the prior's average, 1/time, and its shape, > 0; one for all, or (n,)

    Returns
    -------
    ChangeRates
        The unique maximum: the objective is strictly concave in ln(rate), so no page gets rate 0
        or infinity, and a page never seen to change gets a / (a/m + time observed).

    Raises
    ------
    InvalidModel
        A number is outside its domain.
    NotConverged
        Never in exact arithmetic; guards against a silent wrong answer.

    Notes
    -----
    Newton's method in ln(rate), page by page. O(iterations * (n + v)) time, O(n + v) memory;
    about 6 iterations.

    References
    ----------
    J. Cho and H. Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003 (the
    likelihood for irregular visits).
    """
    _check(n_pages, page, intervals)
    for name, value in (("prior_rate", prior_rate), ("prior_shape", prior_shape)):
        numbers = np.atleast_1d(np.asarray(value, np.float64))
        if not np.all(np.isfinite(numbers) & (numbers > 0)):
            raise InvalidModel(f"{name} must be finite and > 0, got {value!r}")
        if numbers.size not in (1, n_pages):
            raise InvalidModel(f"{name} must be one number or {n_pages}, got {numbers.size}")
    shapes, means = np.atleast_1d(prior_shape), np.atleast_1d(prior_rate)
    times = np.atleast_1d(np.asarray(shapes / means, np.float64))
    return _maximise(n_pages, page, intervals, changed, shapes.astype(np.float64), times)


def bound_change_rates(
    found: ChangeRates,
    page: Integers,
    intervals: Vector,
    changed: Flags,
    *,
    prior_rate: float | Vector,
    prior_shape: float | Vector,
    level: float = 0.95,
) -> tuple[Vector, Vector]:
    r"""Return what each change rate lies between, by all that is known of it.

    Parameters
    ----------
    found, page, intervals, changed, prior_rate, prior_shape : the estimate, and what it was of
    level : share of the posterior law between the bounds, as much to each side, in (0, 1)

    Returns
    -------
    (low, high), shape (n,) each, 1/time

    Notes
    -----
    Quantiles of the posterior law itself, on 193 points of :math:`\ln\Delta`. They hold the truth
    as often as they say whatever the number of visits, if rates are spread as the prior says; where
    it was learned from the same pages a little less often. O(193 (n + v)) time.
    """
    if not 0 < level < 1:
        raise InvalidModel(f"level must lie in (0, 1), got {level:g}")
    n = found.rates.size
    shapes = np.broadcast_to(np.asarray(prior_shape, np.float64), n)
    means = np.broadcast_to(np.asarray(prior_rate, np.float64), n)
    quiet = shapes / means + np.bincount(page[~changed], intervals[~changed], n)
    hits = np.bincount(page[changed], minlength=n)
    order = np.argsort(page[changed], kind="stable")
    of, lengths = page[changed][order], intervals[changed][order]
    first = np.searchsorted(of, np.arange(n + 1))
    reach = 8.0 * found.log_errors + 8.0 / (shapes + hits)
    low, high = np.empty(n), np.empty(n)
    start = 0
    while start < n:  # as many pages at a time as have so many visits, and one at least
        stop = int(np.searchsorted(first, first[start] + _AT_ONCE, side="right")) - 1
        stop = min(max(stop, start + 1), start + _AT_ONCE, n)
        some = slice(start, stop)
        spans = np.linspace(-reach[some], 8.0 * found.log_errors[some], _POINTS, axis=1)
        rates = found.rates[some, None] * np.exp(spans)
        weight = shapes[some, None] * spans - quiet[some, None] * rates
        for row in range(first[start], first[stop], _AT_ONCE):
            rows = slice(row, min(row + _AT_ONCE, first[stop]))
            mine = of[rows] - start
            np.add.at(weight, mine, np.log(-np.expm1(-rates[mine] * lengths[rows, None])))
        law = np.exp(weight - weight.max(axis=1, keepdims=True))
        steps = np.cumsum(0.5 * (law[:, 1:] + law[:, :-1]), axis=1)  # steps are alike
        steps /= steps[:, -1:]
        for bounds, share in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
            bounds[some] = found.rates[some] * np.exp(_cross(steps, spans, share))
        start = stop
    return low, high


def _cross(steps: Vector, spans: Vector, share: float) -> Vector:
    """Return where each distribution reaches a share, between the points by a straight line."""
    rows, at = np.arange(steps.shape[0]), np.argmax(steps >= share, axis=1)
    after = steps[rows, at]
    before = np.where(at > 0, steps[rows, np.maximum(at - 1, 0)], 0.0)
    part = (share - before) / np.maximum(after - before, 1e-300)
    return np.asarray(spans[rows, at] + part * (spans[rows, at + 1] - spans[rows, at]))


def maximise_likelihood(
    n_pages: int, page: Integers, intervals: Vector, changed: Flags
) -> ChangeRates:
    r"""Censored maximum likelihood without any prior, with standard errors.

    Parameters
    ----------
    n_pages, page, intervals, changed : as for :func:`estimate_change_rates`

    Returns
    -------
    ChangeRates
        Zero for pages never seen to change and infinite for those always seen to, with an
        infinite error: the visits bound such rates on one side only.

    Raises
    ------
    InvalidModel
        A number is outside its domain.
    NotConverged
        Never in exact arithmetic.

    Notes
    -----
    The root of :math:`\sum_{changed} t / (e^{\Delta t} - 1) = \sum_{unchanged} t`. The error of
    :math:`\ln \Delta` is the inverse root of the observed information.
    """
    _check(n_pages, page, intervals)
    return _maximise(n_pages, page, intervals, changed, np.zeros(1), np.zeros(1))


def _maximise(
    n_pages: int,
    page: Integers,
    intervals: Vector,
    changed: Flags,
    shapes: Vector,
    times: Vector,
) -> ChangeRates:
    from recrawl.kernels.change_rates import maximise_rates  # compiled: paid when first used

    if page.size and np.any(page[1:] < page[:-1]):
        order = np.argsort(page, kind="stable")
        page, intervals, changed = page[order], intervals[order], changed[order]
    first = np.searchsorted(page, np.arange(n_pages + 1)).astype(np.int64)
    rates, errors = np.empty(n_pages), np.empty(n_pages)
    iterations, residual = maximise_rates(
        first,
        np.ascontiguousarray(intervals, np.float64),
        np.ascontiguousarray(changed, np.bool_),
        shapes,
        times,
        rates,
        errors,
    )
    if not residual < 1e-9:
        raise NotConverged("change rates", iterations=iterations, residual=residual)
    return ChangeRates(rates, errors, iterations, residual)


def _check(n_pages: int, page: Integers, intervals: Vector) -> None:
    if page.size and not 0 <= page.min() <= page.max() < n_pages:
        raise InvalidModel(f"page must lie in 0 .. {n_pages - 1}, got {page.min()}..{page.max()}")
    if not np.all(np.isfinite(intervals) & (intervals > 0)):
        raise InvalidModel("intervals must be finite and > 0")
