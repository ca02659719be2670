"""Laws of a robot's access time: constant, phase type, or as observed.

Coffman, Liu and Weber need an access time X only through its mean and through h = E exp(-rate X);
every law here gives 1 - h and -log h without cancellation, so that rates of 1e-12 keep their
digits, and so do those at which h is too small to be a number.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector


class AccessTime(Protocol):
    """A law of access times; :class:`recrawl.processes.phase_type.PhaseType` is one too."""

    @property
    def mean(self) -> float:
        """Expected time of one access."""
        ...

    def shortfall(self, rates: ArrayLike) -> Vector:
        """Return 1 - E exp(-rate X) for each rate."""
        ...

    def decay(self, rates: ArrayLike) -> Vector:
        """Return -log E exp(-rate X) for each rate."""
        ...

    def sample(self, n: int, rng: "np.random.Generator") -> Vector:
        """Draw ``n`` independent access times."""
        ...


@dataclass(frozen=True)
class ConstantTime:
    """Every access takes the same time."""

    mean: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and self.mean > 0):
            raise InvalidModel(f"mean must be finite and > 0, got {self.mean:g}")

    def shortfall(self, rates: ArrayLike) -> Vector:
        """Return 1 - exp(-rate mean)."""
        return np.asarray(-np.expm1(-np.asarray(rates, dtype=np.float64) * self.mean))

    def decay(self, rates: ArrayLike) -> Vector:
        """Return rate mean."""
        return np.asarray(np.asarray(rates, dtype=np.float64) * self.mean)

    def sample(self, n: int, rng: "np.random.Generator") -> Vector:
        """Return the same time ``n`` times."""
        return np.full(n, self.mean)


@dataclass(frozen=True, eq=False, init=False)
class ObservedTimes:
    """The empirical law of a sample of access times.

    Parameters
    ----------
    times : shape (m,), >= 0, finite, not all zero
    """

    times: Vector

    def __init__(self, times: ArrayLike) -> None:
        seen = np.asarray(times, dtype=np.float64)
        if seen.ndim != 1 or not seen.size:
            raise InvalidModel(f"times must be a vector of at least one, got shape {seen.shape}")
        if not np.all(np.isfinite(seen) & (seen >= 0)) or not np.any(seen > 0):
            raise InvalidModel("times must be finite and >= 0, and some > 0")
        object.__setattr__(self, "times", seen)

    @property
    def mean(self) -> float:
        """Mean of the sample."""
        return float(self.times.mean())

    def shortfall(self, rates: ArrayLike) -> Vector:
        """Return the mean of 1 - exp(-rate time); O(m) time per rate."""
        s = np.asarray(rates, dtype=np.float64)
        flat = np.array([-np.expm1(-rate * self.times).mean() for rate in s.ravel()])
        return flat.reshape(s.shape)

    def decay(self, rates: ArrayLike) -> Vector:
        """Return -log of the mean of exp(-rate time); O(m) time per rate."""
        s = np.asarray(rates, dtype=np.float64)
        least = float(self.times.min())
        beyond = ObservedTimes(self.times - least) if self.times.max() > least else None
        if beyond is None:
            return s * least
        short = beyond.shortfall(s)  # of what is over the shortest, which factors out
        kept = np.array([np.exp(-rate * beyond.times).mean() for rate in s.ravel()])
        with np.errstate(divide="ignore"):  # the branch that is not taken
            own = np.where(short < 0.5, -np.log1p(-short), -np.log(kept.reshape(s.shape)))
        return np.asarray(s * least + own)

    def sample(self, n: int, rng: "np.random.Generator") -> Vector:
        """Draw from the sample with replacement."""
        return rng.choice(self.times, size=n)
