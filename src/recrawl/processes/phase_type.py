"""Phase-type distributions: the time until a finite Markov chain is absorbed."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel

__all__ = ["PhaseType"]

Vector: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, init=False)
class PhaseType:
    """A positive random time with phases.

    Parameters
    ----------
    initial : shape (m,), >= 0, summing to 1
        Law of the first phase.
    generator : shape (m, m), 1/time
        Rates between phases: off-diagonal >= 0, row sums <= 0, and absorption is certain.
    """

    initial: Vector
    generator: Vector

    def __init__(self, initial: ArrayLike, generator: ArrayLike) -> None:
        first = np.asarray(initial, dtype=np.float64)
        rates = np.asarray(generator, dtype=np.float64)
        if first.ndim != 1 or rates.shape != (first.size, first.size):
            raise InvalidModel(
                f"initial {first.shape} and generator {rates.shape} must be a vector and a square "
                "matrix of its length"
            )
        if not (np.all(first >= 0) and abs(first.sum() - 1) < 1e-9):
            raise InvalidModel(f"initial must be >= 0 and sum to 1, sums to {first.sum():g}")
        off = rates - np.diag(np.diag(rates))
        if not (np.all(np.isfinite(rates)) and np.all(off >= 0)):
            raise InvalidModel("generator must be finite, and >= 0 off the diagonal")
        size = np.abs(np.diag(rates)).max(initial=0.0)
        if not np.all(rates.sum(axis=1) <= 1e-9 * size):
            raise InvalidModel("generator: each row must sum to 0 or less")
        try:
            means = np.linalg.solve(-rates, np.ones(first.size))
        except np.linalg.LinAlgError:
            means = np.full(first.size, np.inf)
        if not (np.all(np.isfinite(means)) and np.all(means > 0) and means.max() * size < 1e15):
            raise InvalidModel("generator: absorption must be certain from every phase")
        object.__setattr__(self, "initial", first)
        object.__setattr__(self, "generator", rates)

    @classmethod
    def exponential(cls, mean: float) -> "PhaseType":
        """Return the exponential law."""
        return cls([1.0], [[-1 / _positive("mean", mean)]])

    @classmethod
    def erlang(cls, stages: int, mean: float) -> "PhaseType":
        """Return the sum of ``stages`` equal exponential times."""
        if stages < 1:
            raise InvalidModel(f"stages must be >= 1, got {stages}")
        rate = stages / _positive("mean", mean)
        generator = -rate * np.eye(stages) + rate * np.eye(stages, k=1)
        return cls(np.eye(stages)[0], generator)

    @classmethod
    def hyperexponential(cls, probabilities: ArrayLike, means: ArrayLike) -> "PhaseType":
        """Return a mixture of exponential laws."""
        chosen = np.asarray(means, dtype=np.float64)
        if chosen.ndim != 1 or not np.all(chosen > 0):
            raise InvalidModel("means must be a vector of numbers > 0")
        return cls(probabilities, np.diag(-1 / chosen))

    @property
    def mean(self) -> float:
        """Expected time."""
        return self.moment(1)

    def moment(self, order: int) -> float:
        """Return E X**order = order! initial (-generator)**-order 1."""
        vector: Vector = np.ones(self.initial.size)
        for k in range(1, order + 1):
            vector = np.asarray(k * np.linalg.solve(-self.generator, vector), dtype=np.float64)
        return float(self.initial @ vector)

    @property
    def squared_variation(self) -> float:
        """Variance over the square of the mean."""
        return self.moment(2) / self.mean**2 - 1

    def shortfall(self, rates: ArrayLike) -> Vector:
        """Return 1 - E exp(-rate X), shape of ``rates``, without cancellation for small rates.

        Notes
        -----
        1 - E exp(-s X) = s initial (s I - generator)**-1 1; O(m**3) time per rate.
        """
        s = np.asarray(rates, dtype=np.float64)
        m = self.initial.size
        systems = s.reshape(-1, 1, 1) * np.eye(m) - self.generator
        solved = np.linalg.solve(systems, np.ones((systems.shape[0], m, 1)))
        return s * (solved[..., 0] @ self.initial).reshape(s.shape)

    def density(self, times: ArrayLike) -> Vector:
        """Probability density at ``times``, shape of ``times``."""
        values, vectors = np.linalg.eig(self.generator)
        t = np.asarray(times, dtype=np.float64)
        if np.linalg.cond(vectors) > 1e10:  # repeated phases, as in Erlang's law
            return _density_by_uniformisation(self, t)
        left = self.initial @ vectors
        right = np.linalg.solve(vectors, -self.generator.sum(axis=1))
        return np.asarray((np.exp(t[..., None] * values) @ (left * right)).real)

    def sample(self, n: int, rng: np.random.Generator) -> Vector:
        """Draw ``n`` independent times."""
        m = self.initial.size
        leave = -np.diag(self.generator)
        exits = -self.generator.sum(axis=1)
        jump = np.column_stack([self.generator - np.diag(np.diag(self.generator)), exits])
        thresholds = np.cumsum(jump / leave[:, None], axis=1)
        times = np.zeros(n)
        phase = rng.choice(m, size=n, p=self.initial / self.initial.sum())
        alive = np.arange(n)
        while alive.size:
            times[alive] += rng.exponential(1 / leave[phase])
            chosen = (rng.random(alive.size)[:, None] > thresholds[phase]).sum(axis=1)
            alive, phase = alive[chosen < m], chosen[chosen < m]
        return times


def _density_by_uniformisation(law: PhaseType, t: Vector) -> Vector:
    """Sum the Poisson-weighted powers of the uniformised chain; all terms are positive."""
    rate = float(-np.diag(law.generator).min())
    steps = law.generator / rate + np.eye(law.initial.size)
    exits = -law.generator.sum(axis=1)
    flat = t.ravel()
    longest = rate * flat.max(initial=0.0)
    weights = np.exp(-rate * flat)
    total, row = np.zeros(flat.size), law.initial
    for k in range(int(longest + 12 * np.sqrt(longest) + 60)):
        total += weights * float(row @ exits)
        row = row @ steps
        weights = weights * (rate * flat) / (k + 1)
    return total.reshape(t.shape)


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InvalidModel(f"{name} must be finite and > 0, got {value:g}")
    return value
