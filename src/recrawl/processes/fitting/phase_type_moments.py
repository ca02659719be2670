"""Phase-type laws with given moments: two or three of them, matched exactly."""

import math

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.processes.phase_type import PhaseType

__all__ = ["fit_three_moments", "fit_two_moments"]

_MOST_STAGES = 200


def fit_two_moments(mean: float, squared_variation: float) -> PhaseType:
    """Return a law with this mean and squared coefficient of variation.

    Parameters
    ----------
    mean : > 0
    squared_variation : variance over the square of the mean, >= 1 / 200

    Returns
    -------
    PhaseType
        Hyper-exponential with balanced means above 1, exponential at 1, a mixture of Erlang laws
        of k - 1 and k stages of one rate below 1, with 1/k <= squared variation <= 1/(k - 1).

    Raises
    ------
    InvalidModel
        If the mean is not positive, or the variation needs more than 200 stages.

    References
    ----------
    H. C. Tijms, "Stochastic Models: An Algorithmic Approach", Wiley 1994.
    """
    scv = squared_variation
    if not (math.isfinite(mean) and mean > 0):
        raise InvalidModel(f"mean must be finite and > 0, got {mean:g}")
    if not (math.isfinite(scv) and scv * _MOST_STAGES >= 1 - 1e-9):
        raise InvalidModel(
            f"squared variation must be at least 1/{_MOST_STAGES}, or more stages would be "
            f"needed, got {scv:g}"
        )
    if abs(scv - 1) < 1e-9:
        return PhaseType.exponential(mean)
    if scv > 1:
        share = 0.5 * (1 + math.sqrt((scv - 1) / (scv + 1)))
        shares = np.array([share, 1 - share])
        return PhaseType.hyperexponential(shares, mean / (2 * shares))
    k = math.ceil(1 / scv - 1e-9)
    root = math.sqrt(max(k * (1 + scv) - k * k * scv, 0.0))
    share = (k * scv - root) / (1 + scv)  # of the shorter branch
    if share < 1e-9:
        return PhaseType.erlang(k, mean)
    rate = (k - share) / mean
    return PhaseType.erlang_mixture([share, 1 - share], [k - 1, k], [rate, rate])


def fit_three_moments(first: float, second: float, third: float) -> PhaseType:
    """Return a law with these moments E X, E X^2, E X^3.

    Returns
    -------
    PhaseType
        A mixture of two Erlang laws of the same, smallest possible number of stages (one: the
        hyper-exponential law of two phases).

    Raises
    ------
    InvalidModel
        If the moments are those of no positive law, or need more than 200 stages; the message
        says which bound is broken.

    Notes
    -----
    For k stages, m_i / (k (k+1) .. (k+i-1)) must be the moments of a positive law on two points:
    their Hankel determinants are positive.

    References
    ----------
    M. A. Johnson and M. R. Taaffe, "Matching moments to phase distributions: mixtures of Erlang
    distributions of common order", Stochastic Models 5(4), 1989.
    """
    if not (first > 0 and second > 0 and third > 0 and math.isfinite(first + second + third)):
        raise InvalidModel(f"moments must be finite and > 0, got {first:g}, {second:g}, {third:g}")
    if second <= first**2 or third * first <= second**2:
        raise InvalidModel(
            f"moments {first:g}, {second:g}, {third:g} are those of no positive random time: "
            f"the second must exceed {first**2:g} and the third {second**2 / first:g}"
        )
    scale = first  # numbers of moderate size, whatever the unit
    for k in range(1, _MOST_STAGES // 2 + 1):
        a = 1.0 / k
        b = second / scale**2 / (k * (k + 1))
        c = third / scale**3 / (k * (k + 1) * (k + 2))
        if b - a * a <= 1e-12 * b or a * c - b * b <= 1e-12 * b * b:
            continue
        total = (c - a * b) / (b - a * a)
        product = total * a - b
        root = math.sqrt(max(total * total - 4 * product, 0.0))
        long, short = (total + root) / 2, (total - root) / 2
        share = (a - short) / (long - short)
        return PhaseType.erlang_mixture(
            [share, 1 - share], [k, k], [1 / (long * scale), 1 / (short * scale)]
        )
    raise InvalidModel(
        f"moments {first:g}, {second:g}, {third:g} (squared variation "
        f"{second / first**2 - 1:.4g}) need more than {_MOST_STAGES // 2} stages; fit the first "
        "two, or take a constant time as an Erlang law of many stages"
    )
