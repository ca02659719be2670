"""Markovian arrival processes: Poisson, modulated Poisson, and the general MAP."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector


@dataclass(frozen=True, eq=False, init=False)
class MarkovianArrivals:
    """Arrivals that a finite Markov chain makes.

    Parameters
    ----------
    hidden : shape (k, k), 1/time; rates between phases without an arrival, the C (or D0) of the
        sources
    visible : shape (k, k), 1/time, >= 0; rates with an arrival, their D (or D1)

    Raises
    ------
    InvalidModel
        Unless hidden + visible is the generator of an irreducible chain and arrivals go on for
        ever.
    """

    hidden: Vector
    visible: Vector

    def __init__(self, hidden: ArrayLike, visible: ArrayLike) -> None:
        silent = np.asarray(hidden, dtype=np.float64)
        loud = np.asarray(visible, dtype=np.float64)
        k = silent.shape[0] if silent.ndim == 2 else 0
        if not k or silent.shape != (k, k) or loud.shape != (k, k):
            raise InvalidModel(
                f"hidden {silent.shape} and visible {loud.shape} must be square of one size"
            )
        if not (np.all(np.isfinite(silent)) and np.all(np.isfinite(loud))):
            raise InvalidModel("hidden and visible must be finite")
        off = np.minimum(silent - np.diag(np.diag(silent)), loud).min(axis=1)
        if np.any(off < 0):
            row = int(np.argmin(off))
            raise InvalidModel(
                f"hidden off the diagonal and visible must be >= 0, row {row} holds {off[row]:.6g}"
            )
        size = np.abs(np.diag(silent)).max()
        sums = (silent + loud).sum(axis=1)
        if not np.all(np.abs(sums) <= 1e-9 * size):
            row = int(np.argmax(np.abs(sums)))
            raise InvalidModel(
                f"row {row} of hidden + visible must sum to 0, sums to {sums[row]:g}"
            )
        reach = np.linalg.matrix_power(np.eye(k) + (silent + loud > 0), k) > 0
        if not np.all(reach):
            raise InvalidModel("every phase must be reachable from every other")
        if not np.any(loud > 0):
            raise InvalidModel("visible must have a rate > 0, or nothing ever arrives")
        object.__setattr__(self, "hidden", silent)
        object.__setattr__(self, "visible", loud)

    @classmethod
    def poisson(cls, rate: float) -> Self:
        """Return the Poisson process."""
        return cls([[-rate]], [[rate]])

    @classmethod
    def modulated(cls, generator: ArrayLike, rates: ArrayLike) -> Self:
        """Return the Markov modulated Poisson process (MMPP): C = Q - Lambda, D = Lambda.

        Parameters
        ----------
        generator : shape (k, k), 1/time; the Q of the phases
        rates : shape (k,), 1/time, >= 0; arrivals in each phase
        """
        change = np.asarray(generator, dtype=np.float64)
        arrivals = np.asarray(rates, dtype=np.float64)
        if change.ndim != 2 or arrivals.shape != change.shape[:1]:
            raise InvalidModel(
                f"generator {change.shape} and rates {arrivals.shape} must agree in phases"
            )
        return cls(change - np.diag(arrivals), np.diag(arrivals))

    @property
    def stationary(self) -> Vector:
        """Law of the phase at any time, shape (k,)."""
        k = self.hidden.shape[0]
        system = np.vstack([(self.hidden + self.visible).T, np.ones(k)])
        return np.asarray(np.linalg.lstsq(system, np.eye(k + 1)[k], rcond=None)[0])

    @property
    def rate(self) -> float:
        """Arrivals per unit of time."""
        return float(self.stationary @ self.visible.sum(axis=1))

    @property
    def at_arrivals(self) -> Vector:
        """Law of the phase just after an arrival, shape (k,); it makes intervals stationary."""
        return np.asarray(self.stationary @ self.visible / self.rate)

    @property
    def interval_variance(self) -> float:
        """Variance of the time between arrivals."""
        second = np.linalg.solve(-self.hidden, np.ones(self.hidden.shape[0]))
        return float(2 / self.rate * (self.stationary @ second) - self.rate**-2)

    def correlations(self, lags: int) -> Vector:
        r"""Return the correlations of an interval with the next ones, lags 1 .. ``lags``.

        Notes
        -----
        :math:`c_j = (\lambda^{-1}\theta P^j (-C)^{-1}e - \lambda^{-2})/v` with
        :math:`P = (-C)^{-1}D`. Zero for a constant interval's limit, v = 0. O(lags k^2).
        """
        times = np.linalg.solve(-self.hidden, np.ones(self.hidden.shape[0]))
        step = self.transform(0.0)
        spread = self.interval_variance
        out, column = np.zeros(lags), times
        for j in range(lags):
            column = step @ column
            out[j] = (self.stationary @ column / self.rate - self.rate**-2) / spread
        return out

    def transform(self, s: float) -> Vector:
        r"""Return :math:`f^*(s) = (sI - C)^{-1}D`: the transform of an interval with its phases."""
        k = self.hidden.shape[0]
        return np.asarray(np.linalg.solve(s * np.eye(k) - self.hidden, self.visible))

    def discounts(self, s: float, longest: int) -> Vector:
        r"""Return :math:`E e^{-s(\tau_1 + \dots + \tau_n)}` for n = 1 .. longest.

        Notes
        -----
        Lemma 5.2 of Altman et al. 2000: :math:`q\,[f^*(s)]^n e`; intervals may be dependent.
        O(longest k^2). (The paper's F(t) of a MAP lacks D in the integral, and its expectation
        lacks a minus sign.)
        """
        step, row = self.transform(s), self.at_arrivals
        out = np.empty(longest)
        for n in range(longest):
            row = row @ step
            out[n] = row.sum()
        return out

    def sample(self, n: int, rng: "np.random.Generator") -> Vector:
        """Draw ``n`` successive intervals, the first after an arrival."""
        k = self.hidden.shape[0]
        leave = -np.diag(self.hidden)
        moves = np.hstack([self.hidden - np.diag(np.diag(self.hidden)), self.visible])
        chances = np.cumsum(moves / leave[:, None], axis=1)
        chances[:, -1] = 1.0
        phase = int(rng.choice(k, p=self.at_arrivals))
        out = np.zeros(n)
        for at in range(n):
            while True:
                out[at] += rng.exponential(1 / leave[phase])
                chosen = int(np.searchsorted(chances[phase], rng.random(), side="right"))
                phase = chosen % k
                if chosen >= k:
                    break
        return out
