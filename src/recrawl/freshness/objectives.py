"""The objectives that a plan can have: a measure, and how visits to a page are spaced.

========================  =========================  ============================  ======
objective                 loss or value of y = d/r   worth of the next visit       power
========================  =========================  ============================  ======
even freshness            (1 - exp(-y)) / y          1 - (1 + y) exp(-y)           1
random freshness          1 / (1 + y)                (y / (1 + y))**2              1
even harmonic             Ein(y) - 1 + fresh(y)      y - 1 + exp(-y)               1
random harmonic           log(1 + y)                 y**2 / (1 + y)                1
even age (times d)        y/2 - 1 + fresh(y)         y**2/2 - 1 + (1+y) exp(-y)    2
random age (times d)      y**2 / (1 + y)             y**3 (2 + y) / (1 + y)**2     2
========================  =========================  ============================  ======

d is the change rate, r the crawl rate; the marginal value of a page is its weight times
worth(y) / d**power.
The worth of freshness is bounded by one, that of the others is not: only under freshness can it
be best never to visit a page. (Age is d times the mean age here.)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.gaps import CLOSED_HARMONIC, CLOSED_SQUARE, TABLE
from recrawl.kernels.staleness import FAMILIES

Table: TypeAlias = tuple[Vector, Integers, Vector]
Law: TypeAlias = tuple[int, int, Vector, Integers, Vector]

_SEGMENTS = 16  # per octave; a power of two, its logarithm is part of the kernel
_DEGREE = 7
_OCTAVES = (-160, 107)  # beyond these the leading power is exact
_BIAS = 1023
_FARTHEST = 708.0  # exp(-y) is nothing beside 1 long before
_PHI3 = [(-1.0) ** n / math.factorial(n + 3) for n in range(12)]


@dataclass(frozen=True, eq=False)
class Objective:
    """One way to value the freshness of pages.

    Parameters
    ----------
    measure : what is measured: share of time fresh, mean age, or harmonic penalty
    spacing : visits to a page are evenly spaced, or form a Poisson process
    power : power of the change rate in the worth of a visit
    form : how the kernel inverts the worth
    tails : (scale, power) of 1/y for small kappa and for large
    """

    measure: Literal["freshness", "age", "harmonic"]
    spacing: Literal["even", "random"]
    power: int
    form: int
    tails: tuple[float, float, float, float]

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        """Travel by name: the table of the law is built once in a process."""
        return _by_name, (self.measure, self.spacing)

    @property
    def family(self) -> int:
        """Number of the objective in :mod:`recrawl.kernels.staleness`."""
        return FAMILIES[self.measure, self.spacing]

    @property
    def is_loss(self) -> bool:
        """Whether less is better."""
        return self.measure != "freshness"

    @property
    def is_bounded(self) -> bool:
        """Whether the worth of a visit stays below one, so that some pages may never be due."""
        return self.measure == "freshness"

    @cached_property
    def law(self) -> Law:
        """Input of the kernels: form, power and the table of 1/y, which is built once."""
        return (self.form, self.power, *_build_table(self))

    def worth(self, y: Vector) -> Vector:
        """Worth of the next visit at normalised age y >= 0, shape as y, in units of weight."""
        return _worth(self, y)

    def gap(self, worth: Vector) -> Vector:
        """Return y with ``worth(y)`` equal to the argument; infinite where nothing is.

        Newton steps on the logarithms, to rounding. This is the slow and simple inverse from
        which the table of the kernel is made; use the solvers for many pages.
        """
        return _solve_gap(self, worth)


EVEN_FRESHNESS: Final = Objective("freshness", "even", 1, TABLE, (2**-0.5, -0.5, 0.0, 0.0))
RANDOM_FRESHNESS: Final = Objective("freshness", "random", 1, CLOSED_SQUARE, (0, 0, 0, 0))
EVEN_HARMONIC: Final = Objective("harmonic", "even", 1, TABLE, (2**-0.5, -0.5, 1.0, -1.0))
RANDOM_HARMONIC: Final = Objective("harmonic", "random", 1, CLOSED_HARMONIC, (0, 0, 0, 0))
EVEN_AGE: Final = Objective("age", "even", 2, TABLE, (3 ** (-1 / 3), -1 / 3, 2**-0.5, -0.5))
RANDOM_AGE: Final = Objective("age", "random", 2, TABLE, (2 ** (1 / 3), -1 / 3, 1.0, -0.5))
OBJECTIVES: Final = {
    (one.measure, one.spacing): one
    for one in (
        EVEN_FRESHNESS,
        RANDOM_FRESHNESS,
        EVEN_HARMONIC,
        RANDOM_HARMONIC,
        EVEN_AGE,
        RANDOM_AGE,
    )
}


def _by_name(
    measure: Literal["freshness", "age", "harmonic"], spacing: Literal["even", "random"]
) -> Objective:
    return OBJECTIVES[measure, spacing]


def _worth(objective: Objective, y: Vector) -> Vector:
    """By the functions phi_k of :mod:`recrawl.kernels.staleness`: series where y < 1/2."""
    if objective.spacing == "random":
        share = np.where(y < 1e300, y / (1 + np.minimum(y, 1e300)), 1.0)
        if objective.measure == "freshness":
            return share * share
        if objective.measure == "harmonic":
            return y * share
        return y * share * share * (2 + y)
    z = np.minimum(y, 0.5)
    phi3 = np.polynomial.polynomial.polyval(z, _PHI3)
    phi2 = 0.5 - z * phi3
    near, decay = y < 0.5, np.exp(-y)
    seen = 1 - (1 + np.minimum(y, _FARTHEST)) * decay
    if objective.measure == "freshness":
        return np.where(near, z * z * (1 - z * phi2 - phi2), seen)
    if objective.measure == "harmonic":
        return np.where(near, z * z * phi2, y - 1 + decay)
    return np.where(near, z**3 * (phi2 - phi3), y * y / 2 - seen)


def _growth(objective: Objective, y: Vector) -> Vector:
    """Return y worth'(y), the derivative of the worth by log y, where no closed form inverts it."""
    if objective.spacing == "random":
        return 2 * y**3 * (3 + 3 * y + y * y) / (1 + y) ** 3
    if objective.measure == "freshness":
        return y * y * np.exp(-y)
    stale = -np.expm1(-y)
    return y * stale if objective.measure == "harmonic" else y * y * stale


def _solve_gap(objective: Objective, worth: Vector) -> Vector:
    scale, power, scale_high, power_high = objective.tails
    if objective.form == CLOSED_SQUARE:
        with np.errstate(divide="ignore"):
            return np.asarray(np.sqrt(worth) / np.maximum(1 - np.sqrt(worth), 0))
    if objective.form == CLOSED_HARMONIC:
        return np.asarray(worth + np.sqrt(worth) * np.sqrt(worth + 4)) / 2
    y = worth**-power / scale
    if objective.is_bounded:
        y = np.minimum(y, 2.0)
        low = worth < 0.5
        with np.errstate(divide="ignore"):
            y = np.where(low, y, _solve_far_gap(np.where(low, 0.5, 1 - worth)))
        y[low] = _newton(objective, y[low], worth[low])
        return y
    return _newton(objective, np.maximum(y, worth**-power_high / scale_high), worth)


def _newton(objective: Objective, y: Vector, worth: Vector) -> Vector:
    for _ in range(60):
        value = objective.worth(y)
        step = np.log(value / worth) * value / _growth(objective, y)
        y = y * np.exp(-step)
        if np.all(np.abs(step) < 1e-15):
            break
    return y


def _solve_far_gap(rest: Vector) -> Vector:
    """Solve (1 + y) exp(-y) = rest for rest <= 1/2, even for the smallest."""
    depth = -np.log(rest)
    y = depth + np.log1p(depth) + 0.5
    for _ in range(8):
        y -= (y - np.log1p(y) - depth) * (1 + y) / y
    return np.where(rest > 0, y, np.inf)


def _build_table(objective: Objective) -> Table:
    if objective.form != TABLE:
        return np.zeros((1, _DEGREE + 1)), np.zeros(4, dtype=np.int64), np.zeros(6)
    first, last = _OCTAVES
    if objective.is_bounded:
        low = _fit(lambda x: 1 / objective.gap(x), first, -1)
        high = _fit(lambda rest: 1 / _solve_far_gap(rest), -53, 0)
        numbers = [first, len(low), -53, len(high)]
        coefficients, largest = np.concatenate([low, high]), 1.0
    else:
        coefficients, largest = _fit(lambda x: 1 / objective.gap(x), first, last), 2.0**last
        numbers = [first, len(coefficients), 0, 0]
    shape = np.array(numbers, dtype=np.int64)
    shape[[0, 2]] = (shape[[0, 2]] + _BIAS) * _SEGMENTS
    scale, power, scale_high, power_high = objective.tails
    smallest = 2.0**first
    tails = np.array([smallest, scale, power, largest, scale_high, power_high])
    return coefficients, shape, tails


def _fit(function: Callable[[Vector], Vector], first: int, last: int) -> Vector:
    """Interpolate on each segment of the octaves first .. last - 1 at Chebyshev points."""
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    to_monomials = np.linalg.inv(np.vander(nodes, increasing=True))
    mantissas = 1 + (np.arange(_SEGMENTS)[:, None] + (nodes + 1) / 2) / _SEGMENTS
    points = np.exp2(np.arange(first, last, dtype=float))[:, None, None] * mantissas
    values = function(points.ravel()).reshape(-1, _DEGREE + 1)
    return np.ascontiguousarray(values @ to_monomials.T)
