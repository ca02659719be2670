"""The search for the price at which demand meets a budget, for many independent budgets at once.

Demand falls as the price rises, but not smoothly: under freshness it drops to zero at a page's
reservation price like 1/log, so a budget may lie inside one unit in the last place of the price,
and the analytic derivative of the total has no finite variance. The search therefore brackets,
takes secant steps, and when the bracket has shrunk to 1e-11 it blends the demands at its two ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recrawl.errors import NotConverged
from recrawl.kernels.arrays import Flags, Vector

Demand: TypeAlias = Callable[[Vector, Flags], tuple[Vector, Vector]]

TOLERANCE = 1e-10
_CLOSED = 1e-11
_MAX_PASSES = 400
_FAREST = 1e-300


@dataclass(frozen=True)
class Crossing:
    """Prices where each node's demand meets its target.

    ``share`` of the demand at ``low`` plus the rest at ``high`` is the target; the two prices are
    equal, or within 1e-11 of each other.
    """

    low: Vector
    high: Vector
    share: Vector
    passes: int


def search_prices(
    demand: Demand,
    targets: Vector,
    start: Vector,
    floors: Vector,
    *,
    elasticity: float = 0.5,
    leaves: Callable[[Flags], Flags],
    ends: tuple[Vector, Vector],
) -> Crossing:
    """Find for each node the price at which its demand equals its target.

    Parameters
    ----------
    demand : prices of the nodes, mask of the unsettled ones -> demand of the nodes, and of the
        leaves below them; that of settled nodes is not looked at
    targets : shape (m,), > the demand at an infinite price and < that at price zero
    start : shape (m,), > 0, first prices to try
    floors : shape (m,), the demand at an infinite price; only what is above it is at stake
    elasticity : guess of -d log(demand) / d log(price)
    leaves : mask of nodes -> mask of the leaves below them
    ends : two arrays of leaf demands, filled with those at the low and at the high end

    Returns
    -------
    Crossing
        With demand above the floor within ``TOLERANCE`` of the target, relative, or blended.

    Raises
    ------
    NotConverged
        After 400 passes; bisection alone would need fewer.
    """
    state = _Brackets(targets, start.copy(), floors, elasticity)
    passes = 0
    while not np.all(state.done):
        if passes == _MAX_PASSES:
            raise NotConverged("price search", iterations=passes, residual=state.gap())
        if passes:
            state.propose()
        passes += 1
        open_nodes = ~state.done
        load, leaf_load = demand(state.trial, open_nodes)
        is_low, is_high = state.record(load, open_nodes)
        for end, mask in ((ends[0], is_low), (ends[1], is_high)):
            below = leaves(mask)
            end[below] = leaf_load[below]
    return Crossing(state.low, state.high, state.share(), passes)


class _Brackets:
    """A bracket [low, high] and the next price to try, for each node."""

    def __init__(self, targets: Vector, trial: Vector, floors: Vector, elasticity: float) -> None:
        m = targets.size
        self.targets = targets
        self._tolerance = TOLERANCE * np.maximum(targets - floors, 1e-3 * targets)
        self.trial = trial
        self.low, self.high = np.zeros(m), np.full(m, np.inf)
        self.load_low, self.load_high = np.full(m, np.inf), np.full(m, -1.0)
        self.done = np.zeros(m, dtype=bool)
        self._last_price, self._last_load = np.full(m, np.nan), np.full(m, np.nan)
        self._damp_low, self._damp_high = np.ones(m), np.ones(m)
        self._side = np.zeros(m, dtype=np.int64)
        self._width = np.full(m, np.inf)
        self._misses = np.zeros(m, dtype=np.int64)
        self._tries = np.zeros(m)
        self._elasticity = np.full(m, elasticity)

    def record(self, load: Vector, open_nodes: Flags) -> tuple[Flags, Flags]:
        """Take in the demand at the trial prices; say which ends of which nodes it replaces."""
        exact = open_nodes & (np.abs(load - self.targets) <= self._tolerance)
        is_low = open_nodes & (exact | (load > self.targets))
        is_high = open_nodes & (exact | (load <= self.targets))
        side = np.where(is_low, 1, -1)
        # Illinois: an end that stays is trusted less, so that the secant crosses to its side
        again = open_nodes & (side == self._side)
        self._damp_low = np.where(is_low, 1.0, np.where(again, self._damp_low / 2, 1.0))
        self._damp_high = np.where(is_high, 1.0, np.where(again, self._damp_high / 2, 1.0))
        self._side = np.where(open_nodes, side, self._side)
        self.low[is_low], self.load_low[is_low] = self.trial[is_low], load[is_low]
        self.high[is_high], self.load_high[is_high] = self.trial[is_high], load[is_high]
        closed = (self.high - self.low) <= _CLOSED * self.low
        self.done |= exact | (open_nodes & closed)
        self._remember(load, open_nodes)
        return is_low, is_high

    def _remember(self, load: Vector, open_nodes: Flags) -> None:
        """Update the elasticity from the last two trials."""
        with np.errstate(all="ignore"):
            slope = -np.log(load / self._last_load) / np.log(self.trial / self._last_price)
        usable = open_nodes & np.isfinite(slope) & (slope > 1e-3)
        self._elasticity = np.where(usable, slope, self._elasticity)
        self._last_price = np.where(open_nodes, self.trial, self._last_price)
        self._last_load = np.where(open_nodes, load, self._last_load)

    def propose(self) -> None:
        """Choose the next price of each open node; a closed one keeps its last."""
        bracketed = (self.low > 0) & np.isfinite(self.high)
        inside = self._inside()
        outside = self._outside()
        following = np.where(bracketed, inside, outside)
        self.trial = np.where(self.done, self.low, following)

    def _outside(self) -> Vector:
        """Extrapolate by the elasticity until both ends are known, ever more boldly."""
        with np.errstate(all="ignore"):
            ratio = np.log(self._last_load / self.targets) / self._elasticity
        self._tries += 1
        step = ratio * 2.0 ** np.maximum(self._tries - 2, 0)
        bound = np.minimum(2.0 * self._tries**2, 150.0)
        step = np.where(np.isfinite(step), np.clip(step, -bound, bound), self._side * bound)
        trial: Vector = np.clip(self._last_price * np.exp(step), _FAREST, 1 / _FAREST)
        return trial

    def _inside(self) -> Vector:
        """Take a secant step in the bracket, or halve it when secants have not."""
        with np.errstate(all="ignore"):
            wide = self.high > 2 * self.low
            width = np.where(wide, np.log(self.high / self.low), self.high / self.low - 1)
            up = (self.load_low - self.targets) * self._damp_low
            down = (self.targets - self.load_high) * self._damp_high
            part = up / (up + down)
            linear = self.low + part * (self.high - self.low)
            geometric = self.low * np.exp(part * np.log(self.high / self.low))
            secant = np.where(wide, geometric, linear)
            middle = np.where(
                wide, np.sqrt(self.low) * np.sqrt(self.high), (self.low + self.high) / 2
            )
        slow = ~(width < self._width / 4)
        self._width = np.where(slow, self._width, width)
        halve = slow & (self._misses >= 3) | ~np.isfinite(part)
        self._misses = np.where(slow & ~halve, self._misses + 1, 0)
        trial = np.where(halve, middle, secant)
        least = np.nextafter(self.low, np.inf)
        trial = np.minimum(np.maximum(trial, least), np.nextafter(self.high, 0.0))
        return np.asarray(trial, dtype=np.float64)

    def share(self) -> Vector:
        """Share of the low end's demand that makes up the target."""
        with np.errstate(all="ignore"):
            share = (self.targets - self.load_high) / (self.load_low - self.load_high)
        return np.where(self.low == self.high, 1.0, np.clip(np.nan_to_num(share, nan=1.0), 0, 1))

    def gap(self) -> float:
        """Widest bracket among the open nodes, relative."""
        with np.errstate(all="ignore"):
            return float(np.max(np.where(self.done, 0.0, self.high / self.low - 1)))
