"""Phase-type laws with given moments: two or three of them, matched exactly."""

import math

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel
from recrawl.processes.phase_type import PhaseType

_MOST_STAGES = 200
_LARGEST = 1e40  # cubes of numbers up to this, and of one over them, are numbers
_EXACT = 1e-10


class InfeasibleMoments(InvalidModel):
    """No law of the family has the moments that were asked for.

    Parameters
    ----------
    message : for people
    nearest : the nearest third moment that one has with the first two; infinite: none has
    """

    def __init__(self, message: str, *, nearest: float) -> None:
        super().__init__(message)
        self.nearest = nearest


def _check_size(name: str, value: float) -> None:
    if not 1 / _LARGEST <= value <= _LARGEST:
        raise InvalidModel(
            f"{name} must be between {1 / _LARGEST:g} and {_LARGEST:g}, got {value:g}"
        )


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
    _check_size("mean", mean)
    if scv > _LARGEST:
        raise InvalidModel(f"squared variation must be at most {_LARGEST:g}, got {scv:g}")
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
    """Return a law with these three moments.

    Parameters
    ----------
    first, second, third : E X, E X^2, E X^3, each in 1e-40 .. 1e40; second > first^2 and
        third first > second^2

    Returns
    -------
    PhaseType
        A mixture of two Erlang laws of the same, smallest possible number of stages (one: the
        hyper-exponential law of two phases). Its moments, as computed from it, are those asked for
        to 1e-10.

    Raises
    ------
    InvalidModel
        If the moments are those of no positive law; the message says which bound is broken.
    InfeasibleMoments
        If they need more than 200 stages; it has the nearest third moment that does not.

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
    for name, moment in (("first", first), ("second", second), ("third", third)):
        _check_size(f"{name} moment", moment)
    if second <= first**2 or third * first <= second**2:
        raise InvalidModel(
            f"moments {first:g}, {second:g}, {third:g} are those of no positive random time: "
            f"the second must exceed {first**2:g} and the third {second**2 / first:g}"
        )
    given = np.array([first, second, third])
    nearest = math.inf
    for k in range(1, _MOST_STAGES // 2 + 1):
        found = _two_branches(k, first, second, third)
        if found is None:
            continue
        branches, least = found
        nearest = min(nearest, least)
        if branches is not None and _match(k, *branches, given):
            shares, means = branches
            return PhaseType.erlang_mixture(shares, [k, k], 1.0 / means)
    nearer = (
        f"; the nearest third moment that does not is {nearest:g}" if nearest < math.inf else ""
    )
    raise InfeasibleMoments(
        f"moments {first:g}, {second:g}, {third:g} (squared variation "
        f"{second / first**2 - 1:.4g}) need more than {_MOST_STAGES // 2} stages{nearer}; fit the "
        "first two, or take a constant time as an Erlang law of many stages",
        nearest=nearest,
    )


def _two_branches(
    k: int, first: float, second: float, third: float
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]] | None, float] | None:
    """Return shares and mean stages of two laws of k stages, and the least third moment for k.

    None where the variation needs more stages; no branches where the third moment does.
    """
    spread = k * (second - first**2) / first**2 - 1.0  # of the two means, times k + 1
    if spread <= 1e-14:
        return None
    a = 1.0 / k  # moments of the law on two points, of time in units of its mean
    variance = spread / (k * k * (k + 1.0))
    b = a * a + variance
    c = third / first**3 / (k * (k + 1.0) * (k + 2.0))
    least = b * b / a * (k * (k + 1.0) * (k + 2.0)) * first**3 * (1.0 + 1e-6)
    if a * c <= b * b:
        return None, least
    # With the skew of the two points about their mean, which does not cancel where one is rare.
    skew = (c - a * a * a - 3.0 * a * variance) / variance
    root = math.sqrt(skew * skew + 4.0 * variance)
    above = 0.5 * (skew + root) if skew > 0 else 2.0 * variance / (root - skew)
    below = variance / above
    if below >= (1.0 - 1e-9) * a:
        return None, least
    share = below / (above + below)  # of the longer
    return (np.array([share, 1.0 - share]), np.array([a + above, a - below]) * first), least


def _match(
    k: int,
    shares: NDArray[np.float64],
    stages: NDArray[np.float64],
    moments: NDArray[np.float64],
) -> bool:
    """Tell whether Erlang laws of k such stages, mixed, have these moments to 1e-10 of each."""
    rising = np.cumprod(k + np.arange(3.0))
    own = rising * np.array([shares @ stages**order for order in (1, 2, 3)])
    return bool(np.all(np.abs(own - moments) <= _EXACT * moments))
