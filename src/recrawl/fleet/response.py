r"""Robots for fresh answers: a cost that holds the response time itself, a ratio of averages.

The response time of a page is the mean buffer over the throughput, :math:`R = Q / X`. A cost
:math:`\gamma S + L + w R` is no average of rewards, so the control that is best for it is not that
of any one Markov decision process; but Dinkelbach's parameter makes a family of them.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.optimum import RobotOptimum, solve_robots
from recrawl.fleet.static import StaticOptimum, length_distribution

_LEVELS = 7  # prices tried for one stretch of response times


@dataclass(frozen=True, eq=False, slots=True)
class ResponseOptimum:
    """The best control found for a cost with response times, and what no control can beat.

    Parameters
    ----------
    optimum : the control, as optimal for the prices of starvation and holding that give it
    cost : average cost of the model as given, with ``response_weight`` times its response time
    bound : no control costs less, not even one that draws lots
    solutions : controls that were solved for
    """

    optimum: RobotOptimum
    cost: float
    bound: float
    solutions: int

    @property
    def gap(self) -> float:
        """Optimality gap: an upper bound, relative to the cost."""
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost > 0 else 0.0


def solve_response(
    model: ControlledBuffer,
    response_weight: float,
    *,
    tolerance: float = 1e-4,
    most: int = 400,
) -> ResponseOptimum:
    r"""Minimise the average cost plus a weight times the response time.

    Parameters
    ----------
    model : with one index rate; its own costs count as well
    response_weight : w, cost per unit of time of response time, > 0
    tolerance : relative gap at which to stop, > 0
    most : controls to solve for, at least 3; then what is left is the gap

    Returns
    -------
    ResponseOptimum
        With a gap that is certified. It may stay open by little however much is solved for, where
        drawing lots between two controls is better than either.

    Raises
    ------
    InvalidModel
        The index rate is an array, or a number is outside its domain.

    Notes
    -----
    With A the other costs, let :math:`v(t, y) = \min A + y(Q - tX)`. As :math:`X = \mu(1 - S)`,
    that is a control of the same kind, with holding cost y more and :math:`y t \mu` more for
    starvation. A control of response time t costs at least :math:`wt + v(t, y)`, for every
    :math:`y \ge 0`. That is concave in t, so over a stretch of response times it is least at one
    of the ends: stretches are halved where their bound is least, each with a price y of its own.
    Controls come from Dinkelbach's steps: t and :math:`y = w / X` of one give the next.

    References
    ----------
    W. Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967.
    """
    if np.ndim(model.index_rate) != 0:
        raise InvalidModel("index_rate must be one number where the response time has a weight")
    for name, value in (("response_weight", response_weight), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise InvalidModel(f"{name} must be finite and > 0, got {value!r}")
    if most < 3:
        raise InvalidModel(f"most must be at least 3, got {most}")
    search = _Search(model, response_weight)
    t, y = 1.0 / search.rate, response_weight / search.rate
    for _ in range(20):
        before = search.cost
        step = search.solve(t, y).measures
        t, y = step.response_time, response_weight / step.throughput
        if search.solutions >= most or (search.solutions > 2 and search.cost >= before):
            break
    # Beyond the last of these the weighted response time alone costs more than was found.
    ends = (1.0 / search.rate, min(model.buffer / search.rate, search.cost / response_weight))
    cells = [search.bound(*ends)]
    while True:
        cells.sort()
        low = cells[0].bound
        done = search.cost - low <= tolerance * search.cost
        if done or search.solutions >= most or cells[0].high - cells[0].low < 1e-12 * ends[1]:
            return ResponseOptimum(
                search.best, search.cost, min(low, search.cost), search.solutions
            )
        cell = cells.pop(0)
        middle = 0.5 * (cell.low + cell.high)
        cells += [search.bound(cell.low, middle), search.bound(middle, cell.high)]


def solve_static_response(model: ControlledBuffer, response_weight: float) -> StaticOptimum:
    """Return the fixed number of robots of least average cost plus a weight times response time.

    Parameters
    ----------
    model, response_weight : as of :func:`solve_response`

    Notes
    -----
    Every number is tried, with the law of the buffer's length in closed form. O(N K).
    """
    pages, best = np.arange(model.buffer + 1), None
    for n in range(1, model.robots + 1):
        lengths = length_distribution(model, n)
        time = float(lengths @ pages) / float(lengths @ model.index_rates[:, n])
        cost = float(lengths @ model.cost_rates[:, n]) + response_weight * time
        if best is None or cost < best.cost:
            loss = float(lengths[-1] * model.arrival_rates[-1, n])
            best = StaticOptimum(n, cost, float(lengths[0]), loss)
    assert best is not None  # N >= 1
    return best


@dataclass(frozen=True, slots=True, order=True)
class _Cell:
    """A stretch of response times, and what controls with such a one cost at least."""

    bound: float
    low: float
    high: float


class _Search:
    """Controls that were solved for, the best of them, and bounds."""

    def __init__(self, model: ControlledBuffer, weight: float) -> None:
        self.rate = float(np.asarray(model.index_rate))
        self.cost, self.solutions = math.inf, 0
        self._model, self._weight = model, weight
        self.best: RobotOptimum

    def solve(self, t: float, y: float) -> RobotOptimum:
        """Find the control for a parameter t and a price y; keep it if it is the best so far."""
        model = self._model
        found = solve_robots(
            replace(
                model,
                starvation_weight=model.starvation_weight + y * t * self.rate,
                holding_cost=model.holding_cost + y,
            )
        )
        self.solutions += 1
        told = found.measures
        own = found.cost - y * told.buffer_mean - y * t * self.rate * told.starvation
        cost = own + self._weight * told.response_time
        if cost < self.cost:
            self.cost, self.best = cost, found
        return found

    def bound(self, low: float, high: float) -> _Cell:
        """Bound what controls cost whose response time lies between two, by the best of prices."""
        least, greatest = 0.0, math.inf
        y, best = self._weight / self.best.measures.throughput, 0.0
        for _ in range(_LEVELS):
            ends = []
            for t in (low, high):
                found = self.solve(t, y)
                value = found.cost - y * t * self.rate + self._weight * t
                slope = found.measures.buffer_mean - t * found.measures.throughput
                ends.append((value, slope))
            value, slope = min(ends)
            best = max(best, value)
            if best >= self.cost:
                break
            least, greatest = (y, greatest) if slope > 0 else (least, y)
            y = 2.0 * y if math.isinf(greatest) else 0.5 * (least + greatest)
        return _Cell(best, low, high)
