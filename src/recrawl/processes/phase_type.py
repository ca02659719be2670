"""Phase-type distributions: the time until a finite Markov chain is absorbed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Complexes, Vector
from recrawl.processes.transforms import log_transform


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
            raise InvalidModel(
                f"initial must be >= 0 and sum to 1, sums to {first.sum():.9g} (a defective law, "
                "of times that may never begin, is refused)"
            )
        off = rates - np.diag(np.diag(rates))
        if not (np.all(np.isfinite(rates)) and np.all(off >= 0)):
            row = int(np.argmin(np.where(np.isfinite(off), off, -np.inf).min(axis=1)))
            raise InvalidModel(
                f"generator must be finite, and >= 0 off the diagonal; row {row} holds "
                f"{rates[row].tolist()}"
            )
        size = np.abs(np.diag(rates)).max(initial=0.0)
        sums = rates.sum(axis=1)
        if not np.all(sums <= 1e-9 * size):
            row = int(np.argmax(sums))
            raise InvalidModel(
                f"generator: each row must sum to 0 or less, row {row} sums to {sums[row]:.9g}"
            )
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

    @classmethod
    def coxian(cls, rates: ArrayLike, go_on: ArrayLike) -> "PhaseType":
        """Return Cox's law: stage after stage, with a chance to stop after each.

        Parameters
        ----------
        rates : shape (m,), 1/time, > 0; of the stages
        go_on : shape (m - 1,), 0 to 1; chance that the next stage follows
        """
        speed = np.asarray(rates, dtype=np.float64)
        chance = np.asarray(go_on, dtype=np.float64)
        if speed.ndim != 1 or chance.shape != (speed.size - 1,):
            raise InvalidModel(f"{speed.size} rates need {speed.size - 1} chances, {chance.size}")
        if not (np.all(speed > 0) and np.all((chance >= 0) & (chance <= 1))):
            raise InvalidModel("rates must be > 0, and chances to go on between 0 and 1")
        return cls(np.eye(speed.size)[0], np.diag(-speed) + np.diag(speed[:-1] * chance, k=1))

    @classmethod
    def erlang_mixture(
        cls, probabilities: ArrayLike, stages: ArrayLike, rates: ArrayLike
    ) -> "PhaseType":
        """Return a mixture of Erlang laws (hyper-Erlang): branch i has stages[i] of rates[i]."""
        counts = np.asarray(stages, dtype=np.int64)
        chosen = np.asarray(probabilities, dtype=np.float64)
        speed = np.repeat(np.asarray(rates, dtype=np.float64), counts)
        initial, ends = np.zeros(speed.size), np.cumsum(counts)
        initial[ends - counts] = chosen
        onward = speed.copy()
        onward[ends - 1] = 0.0
        return cls(initial, np.diag(-speed) + np.diag(onward[:-1], k=1))

    @property
    def exits(self) -> Vector:
        """Rates of absorption, shape (m,), 1/time; sums that are rounding only are zero."""
        size = np.abs(np.diag(self.generator)).max()
        out = -self.generator.sum(axis=1)
        return np.asarray(np.where(out > 1e-12 * size, out, 0.0))

    @property
    def variance(self) -> float:
        """Variance of the time."""
        return self.moment(2) - self.mean**2

    @property
    def idle_phases(self) -> tuple[int, ...]:
        """Phases that are never visited: a representation without any is irreducible."""
        reached = self.initial > 0
        for _ in range(self.initial.size):
            reached = reached | np.any(self.generator[reached] > 0, axis=0)
        return tuple(map(int, np.flatnonzero(~reached)))

    def scaled(self, factor: float) -> "PhaseType":
        """Return the law of the time multiplied by ``factor``."""
        return PhaseType(self.initial, self.generator / _positive("factor", factor))

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

    def decay(self, rates: ArrayLike) -> Vector:
        """Return -log E exp(-rate X), shape of ``rates``, where E exp(-rate X) underflows too."""
        s = np.asarray(rates, dtype=np.float64)
        out = np.asarray(self.shortfall(s), dtype=np.float64).ravel()
        large = out > 0.5
        with np.errstate(divide="ignore", invalid="ignore"):  # those are replaced
            out = -np.log1p(-out)
        if np.any(large):
            out[large] = -log_transform(self.initial, self.generator, self.exits, s.ravel()[large])
        return out.reshape(s.shape)

    def laplace(self, s: ArrayLike) -> Complexes:
        """Return E exp(-s X), shape of ``s``, for complex s with a real part >= 0."""
        points = np.asarray(s, dtype=np.complex128)
        m = self.initial.size
        systems = points.reshape(-1, 1, 1) * np.eye(m) - self.generator
        right = np.broadcast_to(self.exits[:, None], (systems.shape[0], m, 1)).astype(complex)
        return np.asarray(np.linalg.solve(systems, right)[..., 0] @ self.initial).reshape(
            points.shape
        )

    def density(self, times: ArrayLike) -> Vector:
        """Probability density at ``times``, shape of ``times``."""
        return _along(self, np.asarray(times, dtype=np.float64), self.exits)

    def distribution(self, times: ArrayLike) -> Vector:
        """Return P(X <= t) at ``times``, shape of ``times``; absolute error about 1e-13."""
        beyond = _along(self, np.asarray(times, dtype=np.float64), np.ones(self.initial.size))
        return np.asarray(np.clip(1.0 - beyond, 0.0, 1.0))

    def expected_along(self, times: ArrayLike, values: Vector) -> Vector:
        """Return the expected value of the phase at ``times``, 0 once absorbed."""
        return _along(self, np.asarray(times, dtype=np.float64), values)

    def quantiles(self, shares: ArrayLike) -> Vector:
        """Return the times t with P(X <= t) = share, for shares in [0, 1)."""
        wanted = np.asarray(shares, dtype=np.float64)
        low, high = np.zeros(wanted.shape), np.full(wanted.shape, self.mean)
        while np.any(short := self.distribution(high) < wanted):
            high = np.where(short, 2 * high, high)
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.distribution(middle) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high

    def sample(self, n: int, rng: "np.random.Generator") -> Vector:
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


def _along(law: PhaseType, t: Vector, right: Vector) -> Vector:
    """Return initial exp(generator t) right: by eigenvectors, or by steps where there are few."""
    values, vectors = np.linalg.eig(law.generator)
    if np.linalg.cond(vectors) > 1e6:  # repeated phases, as in Erlang's law
        return _by_uniformisation(law, t, right)
    weights = (law.initial @ vectors) * np.linalg.solve(vectors, right.astype(complex))
    return np.asarray((np.exp(t[..., None] * values) @ weights).real)


def _by_uniformisation(law: PhaseType, t: Vector, right: Vector) -> Vector:
    """Sum the Poisson-weighted powers of the uniformised chain; all terms are positive."""
    rate = float(-np.diag(law.generator).min())
    steps = law.generator / rate + np.eye(law.initial.size)
    flat = t.ravel()
    longest = rate * flat.max(initial=0.0)
    with np.errstate(divide="ignore"):
        log_times = np.log(rate * flat)
    weights = -rate * flat  # logarithms, or long times would underflow
    total, row = np.zeros(flat.size), law.initial
    for k in range(int(longest + 12 * np.sqrt(longest) + 60)):
        total += np.exp(weights) * float(row @ right)
        row = row @ steps
        weights = weights + log_times - np.log(k + 1)
    return total.reshape(t.shape)


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InvalidModel(f"{name} must be finite and > 0, got {value:g}")
    return value
