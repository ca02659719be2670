"""Quality of change signals: precision and recall of a source, learned from visits.

A sitemap's lastmod, a feed or a Last-Modified header claims that a page has changed. Sources differ
from truth to noise, so none is trusted: each is weighed by what it proved to be worth.
"""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Flags, Vector


@dataclass(frozen=True, slots=True)
class SignalQuality:
    """A source of signals, as its visits show it.

    Parameters
    ----------
    precision : share of signals that stand for a change
    recall : share of changes that are signalled
    change_rate, signal_rate : per page, 1/time
    silent_rate : changes without a signal, 1/time
    log_odds : what one signal takes from the logarithm of the chance of being fresh, >= 0
    worth_time : each signal counts as so much more elapsed time
    log_odds_error : its standard error
    iterations, residual : of the Newton iteration
    """

    precision: float
    recall: float
    change_rate: float
    signal_rate: float
    silent_rate: float
    log_odds: float
    worth_time: float
    log_odds_error: float
    iterations: int
    residual: float


def learn_signal_quality(
    elapsed: Vector, n_signals: Vector, changed: Flags, *, prior_visits: float = 1.0
) -> SignalQuality:
    r"""Learn how far a source's signals can be relied on.

    Parameters
    ----------
    elapsed : shape (v,), time between visits, > 0
    n_signals : shape (v,), signals between them, >= 0
    changed : shape (v,)
    prior_visits : weight of the prior, that a signal says nothing, > 0

    Returns
    -------
    SignalQuality
        The unique maximum: the log posterior is concave.

    Raises
    ------
    InvalidModel
        A number is outside its domain, or there is no visit.
    NotConverged
        Never seen.

    Notes
    -----
    After time t with n signals a page is fresh with probability :math:`e^{-at - kn}`: two numbers,
    found by Newton's method with projected steps. The signal rate g is counted. Then precision
    :math:`q = 1 - e^{-k}`, change rate :math:`\Delta = a + gq`, recall :math:`gq / \Delta`. The
    relation is derived from the model of noisy signals of Busa-Fekete et al. (2025).
    """
    if not elapsed.size or not np.all(np.isfinite(elapsed) & (elapsed > 0)):
        raise InvalidModel("elapsed must be finite and > 0, of at least one visit")
    if not np.all(np.isfinite(n_signals) & (n_signals >= 0)):
        raise InvalidModel("n_signals must be finite and >= 0")
    scale = float(elapsed.mean())
    x = np.column_stack([elapsed / scale, n_signals])
    quiet = x[~changed].sum(axis=0) + np.array([0.5, prior_visits])
    hit = x[changed]
    at = np.array([max(float(changed.mean()), 0.05), 0.1])
    residual, curvature = np.inf, np.eye(2)
    iteration = 0
    while residual >= 1e-9:
        iteration += 1
        if iteration > 200:
            raise NotConverged("signal quality", iterations=200, residual=residual)
        expected = np.maximum(hit @ at, 1e-12)
        pull = 1.0 / np.expm1(np.minimum(expected, 700.0))
        # Half an imaginary change keeps both numbers positive.
        gradient = hit.T @ pull - quiet + 0.5 / at
        curvature = (hit * (pull * (1.0 + pull))[:, None]).T @ hit + np.diag(0.5 / at**2)
        step = np.linalg.solve(curvature, gradient)
        residual = float(np.max(np.abs(step) / at))
        at = at * np.clip(1.0 + step / at, 0.2, 5.0)
    silent, log_odds = float(at[0]) / scale, float(at[1])
    precision, signal_rate = -np.expm1(-log_odds), float(n_signals.sum() / elapsed.sum())
    change_rate = silent + signal_rate * precision
    error = float(np.sqrt(np.linalg.inv(curvature)[1, 1]))
    return SignalQuality(
        precision=float(precision),
        recall=float(signal_rate * precision / change_rate),
        change_rate=float(change_rate),
        signal_rate=signal_rate,
        silent_rate=silent,
        log_odds=log_odds,
        worth_time=log_odds / silent,
        log_odds_error=error,
        iterations=iteration,
        residual=residual,
    )
