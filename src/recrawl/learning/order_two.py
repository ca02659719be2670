"""A Markovian arrival process of order two with a given mean, variance and slow correlation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector
from recrawl.learning.phase_type_moments import fit_three_moments, fit_two_moments
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType


@dataclass(frozen=True, eq=False)
class OrderTwoFit:
    """A process of two phases, each with exponential intervals.

    Parameters
    ----------
    process : the process
    decay : kappa; its correlations are bound * kappa ** lag
    bound : the largest lag-1 correlation that this variance allows
    said : what could not be matched, in words
    """

    process: MarkovianArrivals
    decay: float
    bound: float
    said: tuple[str, ...]


def correlation_bound(squared_variation: float) -> float:
    """Return the largest lag-1 correlation of intervals that are exponential given the phase.

    Notes
    -----
    Var E(X | phase) = (var - mean^2)/2 for any mixture of exponential laws, so no correlation of
    a process with a diagonal D_0 exceeds (1 - 1/c^2)/2, whatever its order.
    """
    return 0.5 * (1 - 1 / squared_variation)


def fit_order_two(
    mean: float,
    squared_variation: float,
    correlations: ArrayLike,
    *,
    third: float | None = None,
) -> OrderTwoFit:
    """Match mean and variance exactly and correlations as well as a geometric decay can.

    Parameters
    ----------
    mean : of the intervals, > 0
    squared_variation : > 1
    correlations : shape (lags,); lag 1, 2, ...
    third : E X^3, matched too if two exponential phases can have it

    Returns
    -------
    OrderTwoFit
        Correlations are fitted in least squares; ``said`` tells what is out of reach.

    Raises
    ------
    InvalidModel
        If the squared variation is at most 1: then no such process exists.

    Notes
    -----
    Intervals are hyper-exponential; phases move at arrivals by P = kappa I + (1 - kappa) e pi,
    so that c_k = (1 - 1/c^2)/2 kappa^k.

    References
    ----------
    J. E. Diamond and A. S. Alfa, "On approximating higher order MAPs with MAPs of order two",
    Queueing Systems 34, 2000 (the aim; the construction here is the diagonal one).
    """
    given = np.asarray(correlations, dtype=np.float64)
    if not squared_variation > 1:
        raise InvalidModel(
            f"a squared variation above 1 is needed for two exponential phases, got "
            f"{squared_variation:.4g}; fit by likelihood instead"
        )
    said = []
    law = fit_two_moments(mean, squared_variation)
    if third is not None:
        law, found = _with_third(law, mean, squared_variation, third)
        said += found
    shares, rates = law.initial, -np.diag(law.generator)
    bound = correlation_bound(squared_variation)
    least = -float(shares.min() / (1 - shares.min()))
    decay = _decay(given / bound, least)
    if given.size and given[0] > bound:
        said.append(
            f"lag-1 correlation {given[0]:.4g}: impossible for intervals that are exponential "
            f"given the phase, whose largest is {bound:.4g} at a squared variation of "
            f"{squared_variation:.5g}"
        )
    if given.size and given[0] < bound * least:
        said.append(f"lag-1 correlation {given[0]:.4g}: the least possible is {bound * least:.4g}")
    steps = decay * np.eye(2) + (1 - decay) * np.outer(np.ones(2), shares)
    process = MarkovianArrivals(np.diag(-rates), rates[:, None] * np.maximum(steps, 0.0))
    return OrderTwoFit(process, decay, bound, tuple(said))


def _with_third(
    law: PhaseType, mean: float, squared_variation: float, third: float
) -> tuple[PhaseType, list[str]]:
    try:
        better = fit_three_moments(mean, (squared_variation + 1) * mean**2, third)
    except InvalidModel:
        better = law
    if better is law or better.initial.size != 2 or np.any(np.triu(better.generator, 1)):
        least = 1.5 * (squared_variation + 1) ** 2 * mean**3
        return law, [
            f"third moment {third:.5g}: two exponential phases have more than {least:.5g}; not "
            "matched"
        ]
    return better, []


def _decay(scaled: Vector, least: float) -> float:
    """Minimise sum (c_k - kappa^k)^2 over [least, 1): on a grid, then by golden section."""
    if not scaled.size:
        return 0.0
    lags = np.arange(1, scaled.size + 1)

    def miss(kappa: float) -> float:
        return float(np.sum((scaled - kappa**lags) ** 2))

    most = 1 - 1e-6
    grid = np.linspace(least, most, 400)
    near = int(np.argmin([miss(float(kappa)) for kappa in grid]))
    low, high = float(grid[max(near - 1, 0)]), float(grid[min(near + 1, grid.size - 1)])
    golden = 0.5 * (5**0.5 - 1)
    for _ in range(60):
        a, b = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, b) if miss(a) < miss(b) else (a, high)
    return 0.5 * (low + high)
