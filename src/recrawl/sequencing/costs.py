"""Costs of accesses by distance from the page's last: convex functions, one for each page.

Every cost of this package is per access slot: the average over slots of f_i(d), where slot t serves
page i after d slots. For obsolescence that is the cost rate of Coffman, Liu and Weber; for losses
it is the share of packets lost, of Altman, Bhulai, Gaujal and Hordijk.
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.processes.access_times import AccessTime


class DistanceCosts(Protocol):
    """Convex costs f_i(d) of distances d = 1, 2, ..."""

    @property
    def n_pages(self) -> int:
        """Pages, or servers."""
        ...

    @property
    def slopes(self) -> Vector:
        """Limits of f(d) / d: what a page costs in each slot when it is never accessed."""
        ...

    @property
    def offsets(self) -> Vector:
        """Limits of f(d) - slope d; infinite where f grows faster than any line."""
        ...

    def at(self, pages: Integers, distances: Integers) -> Vector:
        """Return f of each (page, distance)."""
        ...

    def index(self, pages: Integers, ages: Integers) -> Vector:
        """Return Whittle's index W(d) = d f(d + 1) - (d + 1) f(d), which does not fall with d."""
        ...

    def tabulate(self, longest: int) -> Vector:
        """Return f(1) .. f(longest) in the rows of a table, shape (n, longest)."""
        ...


@dataclass(frozen=True, eq=False)
class AgeingCosts:
    r"""Costs :math:`c\,d - a(1 - h^d) + k` of pages that age exponentially, :math:`h = e^{-\ell}`.

    Parameters
    ----------
    slopes : shape (n,), >= 0; c
    worths : shape (n,), > 0; a, what serving a page that is surely stale gains
    decays : shape (n,), > 0; the ell
    per_access : k, the same for all pages
    """

    slopes: Vector
    worths: Vector
    decays: Vector
    per_access: float = 0.0

    def __post_init__(self) -> None:
        for name in ("slopes", "worths", "decays"):
            values = getattr(self, name)
            good = np.isfinite(values) & ((values >= 0) if name == "slopes" else (values > 0))
            if values.ndim != 1 or values.shape != self.decays.shape or not values.size:
                raise InvalidModel(f"{name} must be vectors of one length, got {values.shape}")
            if not np.all(good):
                page = int(np.argmin(good))
                bound = ">= 0" if name == "slopes" else "> 0"
                raise InvalidModel(
                    f"{name} of page {page} must be finite and {bound}, got {values[page]:g}"
                )

    @classmethod
    def obsolescence(
        cls, change_rates: ArrayLike, weights: ArrayLike, access_time: AccessTime
    ) -> Self:
        r"""Return the costs of being out of date, Lemma 3.1: c = weight, :math:`a = c/(\mu EX)`.

        Parameters
        ----------
        change_rates : shape (n,), 1/time, > 0
        weights : shape (n,), > 0
        access_time : law of X
        """
        rates = np.asarray(change_rates, dtype=np.float64)
        if rates.ndim != 1 or not np.all(np.isfinite(rates) & (rates > 0)):
            raise InvalidModel("change_rates must be a vector of finite numbers > 0")
        costs = np.broadcast_to(np.asarray(weights, dtype=np.float64), rates.shape)
        decays = access_time.decay(rates)
        return cls(costs.copy(), costs / (rates * access_time.mean), decays)

    @classmethod
    def losses(cls, service_rates: ArrayLike, arrival_rate: float) -> Self:
        r"""Return the loss probabilities :math:`(\lambda/(\lambda+\mu_m))^d` of Poisson arrivals.

        A packet sent to a busy server pushes the one in service out; with exponential service it
        makes no difference to the cost if it is the new one that is lost (non-preemptive
        discipline), since what remains of a service is as long as a new one.
        """
        rates = np.asarray(service_rates, dtype=np.float64)
        if rates.ndim != 1 or not np.all(np.isfinite(rates) & (rates > 0)):
            raise InvalidModel("service_rates must be a vector of finite numbers > 0")
        if not (np.isfinite(arrival_rate) and arrival_rate > 0):
            raise InvalidModel(f"arrival_rate must be finite and > 0, got {arrival_rate:g}")
        one = np.ones(rates.shape)
        return cls(0 * one, one, np.log1p(rates / arrival_rate), per_access=1.0)

    @property
    def n_pages(self) -> int:
        """Pages, or servers."""
        return self.decays.size

    @property
    def offsets(self) -> Vector:
        """Limits of f(d) - slope d."""
        return self.per_access - self.worths

    def at(self, pages: Integers, distances: Integers) -> Vector:
        """Return f of each (page, distance)."""
        fresh = -np.expm1(-self.decays[pages] * distances)
        return np.asarray(
            self.slopes[pages] * distances - self.worths[pages] * fresh + self.per_access
        )

    def index(self, pages: Integers, ages: Integers) -> Vector:
        r"""Return Whittle's index :math:`a[1 - h^d(1 + d(1-h))] - k`, without cancellation."""
        decay = self.decays[pages]
        kept = np.exp(-decay * ages) * (1 - ages * np.expm1(-decay))
        return np.asarray(self.worths[pages] * (1 - kept) - self.per_access)

    def tabulate(self, longest: int) -> Vector:
        """Return f(1) .. f(longest) in the rows of a table."""
        steps = np.arange(1, longest + 1)
        return self.at(np.arange(self.n_pages)[:, None], steps[None, :])

    def urgencies(self, frequencies: Vector) -> Vector:
        r"""Return the second derivatives :math:`a\ell^2e^{-\ell/f}` at gaps 1 / f, or 1."""
        with np.errstate(divide="ignore"):
            z = np.minimum(self.decays / frequencies, 600)
        curved = np.maximum(self.worths * self.decays**2 * np.exp(-z), 1e-290)
        return np.where(frequencies > 0, curved, 1.0)

    def even_cost(self, frequencies: Vector) -> float:
        """Return the cost of visits at even, broken gaps: a bound for these frequencies."""
        with np.errstate(divide="ignore"):
            fresh = -np.expm1(-self.decays / frequencies)
        return float((self.slopes - frequencies * self.worths * fresh).sum() + self.per_access)

    def random_cost(self, frequencies: Vector) -> float:
        r"""Return the exact expected cost of independent draws, Lemma 4.1."""
        short = -np.expm1(-self.decays)
        fresh = short / (short + frequencies * (1 - short))
        return float((self.slopes - frequencies * self.worths * fresh).sum() + self.per_access)


@dataclass(frozen=True, eq=False)
class TabulatedCosts:
    """Any convex costs, as tables.

    Parameters
    ----------
    table : shape (n, longest), f(1) .. f(longest) of each page, convex along rows
    slopes : shape (n,), limits of f(d) / d; infinite where f grows faster than any line
    offsets : shape (n,), limits of f(d) - slope d; minus infinity where there is none, as where
        the slope is infinite

    Raises
    ------
    InvalidModel
        Where a row is not convex: the page, the distance and the three values. Where slopes or
        offsets cannot be those of the table.
    """

    table: Vector
    slopes: Vector
    offsets: Vector

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] < 3 or not self.table.shape[0]:
            raise InvalidModel(
                "table must have a row for each page and 3 distances or more, got "
                f"{self.table.shape}"
            )
        if not np.all(np.isfinite(self.table)):
            page, at = np.argwhere(~np.isfinite(self.table))[0]
            raise InvalidModel(f"cost of page {page} at distance {at + 1} must be finite")
        size = np.abs(self.table).max(axis=1, keepdims=True)
        bends = np.diff(self.table, 2, axis=1)
        wrong = bends < -1e-12 * np.maximum(size, 1e-300)
        if np.any(wrong):
            page, at = (int(x) for x in np.argwhere(wrong)[0])
            three = ", ".join(f"{value:g}" for value in self.table[page, at : at + 3])
            raise InvalidModel(
                f"cost of page {page} is not convex: at distances {at + 1}, {at + 2}, {at + 3} "
                f"it is {three}; the middle must not be above the mean of the others"
            )
        self._check_limits(size[:, 0])

    def _check_limits(self, size: Vector) -> None:
        n = self.n_pages
        if self.slopes.shape != (n,) or self.offsets.shape != (n,):
            raise InvalidModel(
                f"slopes {self.slopes.shape} and offsets {self.offsets.shape} must have one value "
                f"for each of {n} pages"
            )
        last, steepest = self.table[:, -1], self.table[:, -1] - self.table[:, -2]
        slack = 1e-9 * np.maximum(size, 1e-300)
        flat = ~(self.slopes >= steepest - slack)
        if np.any(flat):
            page = int(np.argmax(flat))
            raise InvalidModel(
                f"slope of page {page} is {self.slopes[page]:g}; a convex cost that rises by "
                f"{steepest[page]:g} at the end of its table has {steepest[page]:g} or more"
            )
        with np.errstate(invalid="ignore"):
            most = np.where(
                np.isinf(self.slopes), -np.inf, last - self.slopes * self.table.shape[1]
            )
        high = ~(self.offsets <= most + slack)
        if np.any(high):
            page = int(np.argmax(high))
            raise InvalidModel(
                f"offset of page {page} is {self.offsets[page]:g}; with its table and its slope "
                f"{self.slopes[page]:g} it can be {most[page]:g} at most"
            )

    @property
    def n_pages(self) -> int:
        """Pages, or servers."""
        return int(self.table.shape[0])

    def at(self, pages: Integers, distances: Integers) -> Vector:
        """Return f of each (page, distance)."""
        if np.any(distances > self.table.shape[1]):
            raise InvalidModel(
                f"distance {int(np.max(distances))} is beyond the table, which ends at "
                f"{self.table.shape[1]}"
            )
        return np.asarray(self.table[pages, np.asarray(distances) - 1])

    def index(self, pages: Integers, ages: Integers) -> Vector:
        """Return Whittle's index."""
        here = self.at(pages, ages)
        return np.asarray(ages * (self.at(pages, ages + 1) - here) - here)

    def tabulate(self, longest: int) -> Vector:
        """Return f(1) .. f(longest); as many as the table has."""
        return self.table[:, :longest]
