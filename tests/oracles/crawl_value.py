"""The crawl-value index: what visiting a page now is worth, beside the price of a visit."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel

__all__ = ["believed_crawl_value", "crawl_value", "signalled_crawl_value"]

Vector = NDArray[np.float64]


def crawl_value(weights: ArrayLike, change_rates: ArrayLike, ages: ArrayLike) -> Vector:
    r"""Worth of a visit at an age, for a known constant change rate.

    Parameters
    ----------
    weights : shape (n,), >= 0
    change_rates : shape (n,), 1/time, > 0
    ages : shape (n,), time since the last visit, >= 0

    Notes
    -----
    :math:`\frac{w}{\Delta}(1 - (1 + \Delta t) e^{-\Delta t})`, the derivative of the freshness of
    even visits by their rate: at the optimum every page is visited at the same value, the price.
    Bounded by :math:`w / \Delta`: pages that change too fast for their weight are never due.

    References
    ----------
    E. G. Coffman, Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", 1998.
    """
    rate, age = np.asarray(change_rates, np.float64), np.asarray(ages, np.float64)
    x = rate * age
    return np.asarray(weights, np.float64) / rate * (-np.expm1(-x) - x * np.exp(-x))


def believed_crawl_value(
    weights: ArrayLike, shapes: ArrayLike, times: ArrayLike, ages: ArrayLike
) -> Vector:
    r"""Worth of a visit at an age, for a rate believed to follow a gamma law.

    Parameters
    ----------
    weights : shape (n,), >= 0
    shapes, times : shape (n,), > 0; the mean rate is shapes / times
    ages : shape (n,), >= 0

    Notes
    -----
    :math:`w \int_0^t (S(u) - S(t))\,du` with :math:`S(u) = (1 + u/\beta)^{-\alpha}`. It grows
    without bound where :math:`\alpha \le 1`: a page that little is known of is due in the end,
    whatever the price. Tends to :func:`crawl_value` as the belief narrows.
    """
    a, b, age = (np.asarray(one, np.float64) for one in (shapes, times, ages))
    fresh = (1.0 + age / b) ** -a
    near_one = np.abs(a - 1.0) < 1e-6
    other = np.where(near_one, 2.0, a)
    span = np.where(
        near_one, b * np.log1p(age / b), b * (1.0 - (1.0 + age / b) * fresh) / (other - 1.0)
    )
    return np.asarray(np.asarray(weights, np.float64) * (span - age * fresh))


def signalled_crawl_value(
    weight: float,
    change_rate: float,
    recall: float,
    false_rate: float,
    elapsed: float,
    n_signals: int,
) -> float:
    r"""Worth of a visit after a time and a number of signals of known quality.

    Parameters
    ----------
    weight : >= 0
    change_rate : 1/time, > 0
    recall : share of changes that are signalled, in [0, 1)
    false_rate : signals without a change, 1/time, >= 0
    elapsed : since the last visit, >= 0
    n_signals : since the last visit, >= 0

    Raises
    ------
    InvalidModel
        A number is outside its domain.

    Notes
    -----
    With :math:`g = \lambda\Delta + v` and :math:`a = (1 - \lambda)\Delta`, n signals count as
    :math:`x = t + bn`, :math:`b = -\ln(v/g)/a`. With :math:`R_i` the regularised lower incomplete
    gamma function of order i + 1, mean cycle
    :math:`\psi = \frac1g \sum_{ib \le x} R_i(g(x - ib))`, fresh time
    :math:`\omega = \sum \frac{v^i}{(\Delta + v)^{i+1}} R_i((\Delta + v)(x - ib))`, and the value is
    :math:`w (\omega - e^{-ax} \psi)`. O(x / b) terms. Derived here as the derivative of freshness
    by visit rate, after the model of Busa-Fekete et al., "Learning to crawl with noisy change
    signals", 2025; their paper was not at hand.
    """
    if not (0 <= recall < 1 and change_rate > 0 and false_rate >= 0):
        raise InvalidModel("recall must lie in [0, 1), change_rate > 0 and false_rate >= 0")
    signals, silent = recall * change_rate + false_rate, (1.0 - recall) * change_rate
    if signals == 0.0:
        return float(crawl_value(weight, change_rate, elapsed))
    if false_rate == 0.0:  # every signal is true: one is as good as certain
        if n_signals:
            return weight / change_rate
        grown = -np.expm1(-change_rate * elapsed) / change_rate
        lost = np.exp(-silent * elapsed) * -np.expm1(-signals * elapsed) / signals
        return float(weight * (grown - lost))
    step = -np.log(false_rate / signals) / silent
    age = elapsed + step * n_signals
    terms = 1 if step <= 0 else min(int(age / step), 2_000) + 1
    if step <= 1e-12 * age:
        return float(crawl_value(weight, change_rate, elapsed))
    cycle = fresh = 0.0
    total = change_rate + false_rate
    for i in range(terms):
        left = age - i * step
        cycle += _lower_gamma(i, signals * left) / signals
        fresh += (false_rate / total) ** i / total * _lower_gamma(i, total * left)
    return float(weight * (fresh - np.exp(-silent * age) * cycle))


def _lower_gamma(order: int, x: float) -> float:
    """Chance of more than ``order`` events of a Poisson law of mean x."""
    logs = np.arange(order + 1) * np.log(max(x, 1e-300))
    logs -= np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, order + 1)))])
    return float(max(0.0, 1.0 - np.exp(logs - x).sum()))
