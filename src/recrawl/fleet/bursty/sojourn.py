"""Sojourn times: means, transforms and distributions for served and stale pages."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty.law import StationaryLaw, service_rates
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.kernels.arrays import Complexes, Counts, Matrix
from recrawl.kernels.buffer_tagged import follow_page

_TERMS, _EULER = 18, 13  # of the series that inverts a transform, and of its average
_PRECISION = 19.0  # the series aliases by exp(-19), 6e-9


def _follow(model: BurstyBuffer, s: complex) -> tuple[Complexes, Counts]:
    law = model.obsolescence
    moves = law.generator if law is not None else np.zeros((1, 1))
    stale = law.exits if law is not None else np.zeros(1)
    sweeps = 1 if np.all(np.tril(moves, -1) == 0) else 1000
    return follow_page(complex(s), model.levels - 1, service_rates(model), (moves, stale), sweeps)


def chances_of_service(model: BurstyBuffer) -> list[Matrix]:
    """Chance that the page with i = 0, 1, ... pages ahead is served, and that it goes stale.

    Each of shape (V ** i, M, 2): by the phases of the waiting pages up to its own, and of the
    service.
    """
    _, m, _ = model.phases
    out, offset = _follow(model, 0.0)
    return [out[a:b].real.reshape(-1, m, 2) for a, b in pairwise(offset)]


@dataclass(frozen=True, eq=False)
class Sojourn:
    """The time that pages spend in the system under one map.

    Parameters
    ----------
    model : the buffer
    modes : mode at 0, 1, ... pages
    law : its stationary law
    rate : pages that arrive per unit of time, lambda

    Notes
    -----
    A page taken in with i pages ahead is served with transform v_i(s) and goes stale with w_i(s),
    whatever comes behind it (:func:`recrawl.kernels.buffer_tagged.follow_page`); weights are the
    phases met at arrivals. Time O(N V^N M^2) for one s, linear in N where V = 1. Distributions
    are by the Euler method of Abate and Whitt, to about 1e-8.

    References
    ----------
    J. Abate and W. Whitt, "Numerical inversion of Laplace transforms of probability
    distributions", ORSA Journal on Computing 7(1), 1995.
    """

    model: BurstyBuffer
    modes: Counts
    law: StationaryLaw
    rate: float

    @cached_property
    def entries(self) -> Matrix:
        """Rate of pages that enter with so many ahead, by phases; all places one after another."""
        model = self.model
        w, m, v = model.phases
        start = model.obsolescence.initial if model.obsolescence is not None else np.ones(1)
        most = model.largest_batch
        parts = [np.zeros((v**i, m)) for i in range(model.levels - 1)]
        for n in range(model.levels - 1):
            jump = model.jumps[model.room[n], self.modes[n]].sum(axis=2)  # (K + 1, w)
            ahead = np.cumsum(jump[::-1], axis=0)[::-1]  # batches that take in at least j
            top = min(most, model.levels - 1 - n)
            level = self.law.tensor(n) if n else self.law.mass[0, :w]
            for j in range(1, top + 1):
                if not np.any(ahead[j] > 0):
                    break
                if n:
                    seen = np.einsum("awm,w->am", level, ahead[j])
                else:
                    seen = np.outer(np.ones(1), float(level @ ahead[j]) * model.service.initial)
                fresh = np.ones(1)
                for _ in range(j if n else j - 1):
                    fresh = np.outer(fresh, start).ravel()
                parts[n + j - 1] += (seen[:, None, :] * fresh[:, None]).reshape(-1, m)
        return np.concatenate([part.ravel() for part in parts])

    def transforms(self, s: complex) -> tuple[complex, complex]:
        """Return E exp(-s X) over all arriving pages on {served} and on {gone stale}."""
        out, _ = _follow(self.model, s)
        served, stale = self.entries @ out / self.rate
        return complex(served), complex(stale)

    def distribution(self, times: ArrayLike, *, which: str = "served") -> Matrix:
        """Return P(stay <= t), shape of ``times``, for pages that are served, stale or accepted.

        Parameters
        ----------
        times : >= 0
        which : ``served``, ``obsolete`` or ``accepted`` (either)
        """
        if which not in ("served", "obsolete", "accepted"):
            raise InvalidModel(f"which must be served, obsolete or accepted, got {which!r}")
        pick = {"served": (1.0, 0.0), "obsolete": (0.0, 1.0), "accepted": (1.0, 1.0)}[which]
        whole = float(np.dot(pick, [part.real for part in self.transforms(0.0)]))
        points = np.asarray(times, dtype=np.float64)
        return np.array([self._below(float(t), pick, whole) for t in points.ravel()]).reshape(
            points.shape
        )

    def _below(self, t: float, pick: tuple[float, float], whole: float) -> float:
        if t <= 0 or whole <= 0:
            return 0.0
        terms = np.arange(_TERMS + _EULER + 1)
        series = np.zeros(terms.size)
        for k in terms:
            s = complex(_PRECISION, 2 * math.pi * k) / (2 * t)
            value = (np.dot(pick, self.transforms(s)) / whole / s).real
            series[k] = (-1) ** k * value * (0.5 if k == 0 else 1.0)
        sums = np.cumsum(series)[_TERMS - 1 :][: _EULER + 1]
        weights = np.array([math.comb(_EULER, j) for j in range(_EULER + 1)]) / 2.0**_EULER
        return float(np.clip(math.exp(_PRECISION / 2) / t * (weights @ sums), 0.0, 1.0))
