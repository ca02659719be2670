"""Functions of time over one period: update intensity and importance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Vector

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True, eq=False)
class Profile:
    """A piecewise linear, nonnegative function on [0, T], repeated with period T.

    Parameters
    ----------
    breaks : shape (k + 1,), time, 0 = b_0 < ... < b_k = T
    starts : shape (k,), value at the start of each piece, finite and >= 0
    ends : shape (k,), value at the end of each piece, finite and >= 0

    Notes
    -----
    Build it with :meth:`constant`, :meth:`steps` (piecewise constant) or :meth:`polygon`
    (continuous, piecewise linear). Any unit of time will do, the same everywhere.
    """

    breaks: Vector
    starts: Vector
    ends: Vector

    def __post_init__(self) -> None:
        for name in ("breaks", "starts", "ends"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        k = self.breaks.size - 1
        if k < 1 or self.starts.shape != (k,) or self.ends.shape != (k,):
            raise InvalidModel(
                f"breaks has shape {self.breaks.shape}, so starts and ends must have one value "
                f"for each of the pieces between, got {self.starts.shape} and {self.ends.shape}"
            )
        good = np.all(np.isfinite(self.breaks)) and np.all(np.diff(self.breaks) > 0)
        if not good or self.breaks[0] != 0:
            raise InvalidModel("breaks must be finite, start at 0 and increase")
        for name in ("starts", "ends"):
            values = getattr(self, name)
            wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
            if wrong.size:
                at = int(wrong[0])
                raise InvalidModel(
                    f"value of piece {at} (from {self.breaks[at]:g} to {self.breaks[at + 1]:g}) "
                    f"must be finite and >= 0, got {float(values[at])!r}"
                )

    @classmethod
    def steps(cls, breaks: ArrayLike, values: ArrayLike) -> Self:
        """Piecewise constant: ``values[i]`` from ``breaks[i]`` to ``breaks[i + 1]``."""
        return cls(np.asarray(breaks), np.asarray(values), np.asarray(values))

    @classmethod
    def polygon(cls, breaks: ArrayLike, values: ArrayLike) -> Self:
        """Continuous and linear between ``values[i]`` at ``breaks[i]``."""
        heights = np.asarray(values, dtype=np.float64)
        return cls(np.asarray(breaks), heights[:-1], heights[1:])

    @classmethod
    def constant(cls, value: float, period: float) -> Self:
        """One value all the time."""
        return cls.steps([0.0, period], [value])

    @property
    def period(self) -> float:
        """T, the length of the period."""
        return float(self.breaks[-1])

    @cached_property
    def is_steps(self) -> bool:
        """Whether every piece is constant."""
        return bool(np.all(self.starts == self.ends))

    @property
    def maximum(self) -> float:
        """The largest value."""
        return float(max(self.starts.max(), self.ends.max()))

    @cached_property
    def total(self) -> float:
        """The integral over one period."""
        return float(np.sum(0.5 * (self.starts + self.ends) * np.diff(self.breaks)))

    def repeat(self, times: int) -> Profile:
        """The same function with ``times`` periods as its period."""
        if times < 1:
            raise InvalidModel(f"times must be at least 1, got {times}")
        shifts = self.period * np.arange(times)[:, None]
        breaks = np.append((shifts + self.breaks[:-1]).ravel(), times * self.period)
        return Profile(breaks, np.tile(self.starts, times), np.tile(self.ends, times))

    def scale(self, factor: float) -> Profile:
        """Every value times a factor."""
        return Profile(self.breaks, factor * self.starts, factor * self.ends)

    def scale_time(self, factor: float) -> Profile:
        """The same values with every time multiplied; rates per time must be scaled besides."""
        return Profile(factor * self.breaks, self.starts, self.ends)

    def start_at(self, instant: float) -> Profile:
        """The same repeated function seen from another start of the period."""
        shift = instant % self.period
        if shift == 0:
            return self
        inner = np.unique(np.concatenate([self.breaks[:-1] - shift, [0.0]]) % self.period)
        breaks = np.append(inner, self.period)
        breaks = breaks[np.append(np.diff(breaks) > 1e-12 * self.period, True)]
        if breaks[0] != 0:
            breaks[0] = 0.0
        middles = 0.5 * (breaks[1:] + breaks[:-1])
        piece = self._piece((middles + shift) % self.period)
        slope = (self.ends - self.starts)[piece] / np.diff(self.breaks)[piece]
        at = self(middles + shift)
        half = 0.5 * slope * np.diff(breaks)
        return Profile(breaks, np.maximum(at - half, 0.0), np.maximum(at + half, 0.0))

    def _piece(self, times: Vector) -> NDArray[np.intp]:
        found = np.searchsorted(self.breaks, times, side="right") - 1
        return np.clip(found, 0, self.starts.size - 1)

    def __call__(self, times: ArrayLike) -> Vector:
        """Values at any times, shape as given; right limits at breaks."""
        at = np.asarray(times, dtype=np.float64) % self.period
        piece = self._piece(at)
        share = (at - self.breaks[piece]) / np.diff(self.breaks)[piece]
        values: Vector = self.starts[piece] + share * (self.ends - self.starts)[piece]
        return values

    def integral(self, times: ArrayLike) -> Vector:
        """The integral from 0 to any times >= 0, beyond the period too, shape as given."""
        given = np.asarray(times, dtype=np.float64)
        whole, at = np.divmod(given, self.period)
        piece = self._piece(at)
        widths = np.diff(self.breaks)
        before = np.concatenate([[0.0], np.cumsum(0.5 * (self.starts + self.ends) * widths)])
        u = at - self.breaks[piece]
        slope = (self.ends - self.starts)[piece] / widths[piece]
        found: Vector = (
            whole * self.total + before[piece] + u * (self.starts[piece] + 0.5 * slope * u)
        )
        return found
