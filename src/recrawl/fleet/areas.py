r"""Robots for areas of the web, each with a rate, a worth and a share of the buffer of its own.

An area's pages are taken in only while less than its share of the buffer is in use, so that the
pages of one area, which come fast or are worth little, do not fill the buffer for another. Shares
are chosen together with the control of the robots.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.events import EventModel, join_events
from recrawl.fleet.policy_iteration import improve_policy
from recrawl.kernels.arrays import Counts, Matrix

_MOST_STATES: Final = 100_000
_MOST_SHARES: Final = 5_000


@dataclass(frozen=True, slots=True)
class Area:
    """Robots of one area of the web, and what its pages are worth.

    Parameters
    ----------
    robots : how many there are, >= 1
    fetch_rate : pages that one of them brings per unit of time, > 0
    loss_weight : cost of a page that is not taken in, >= 0
    """

    robots: int
    fetch_rate: float
    loss_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.robots < 1:
            raise InvalidModel(f"robots of an area must be at least 1, got {self.robots}")
        if not (np.isfinite(self.fetch_rate) and self.fetch_rate > 0):
            raise InvalidModel(f"fetch_rate must be finite and > 0, got {self.fetch_rate!r}")
        if not (np.isfinite(self.loss_weight) and self.loss_weight >= 0):
            raise InvalidModel(f"loss_weight must be finite and >= 0, got {self.loss_weight!r}")


@dataclass(frozen=True, eq=False)
class AreaFleet:
    """Areas that feed one buffer with a single indexer of exponential times.

    Parameters
    ----------
    areas : J of them, at least one
    buffer : K, pages that fit, the one in service included, >= 1
    index_rate : pages indexed per unit of time while there are any, > 0
    starvation_weight : cost per unit of time with an empty buffer, >= 0
    holding_cost : cost per buffered page and unit of time, >= 0
    """

    areas: Sequence[Area]
    buffer: int
    index_rate: float
    starvation_weight: float
    holding_cost: float = 0.0

    def __post_init__(self) -> None:
        if not self.areas:
            raise InvalidModel("areas: at least one is needed")
        if self.buffer < 1:
            raise InvalidModel(f"buffer must be at least 1, got {self.buffer}")
        if not (np.isfinite(self.index_rate) and self.index_rate > 0):
            raise InvalidModel(f"index_rate must be finite and > 0, got {self.index_rate!r}")
        for name in ("starvation_weight", "holding_cost"):
            weight = getattr(self, name)
            if not (np.isfinite(weight) and weight >= 0):
                raise InvalidModel(f"{name} must be finite and >= 0, got {weight!r}")
        states = int(np.prod(self.grid_shape))
        if states > _MOST_STATES:
            raise InvalidModel(
                f"the model has {states} states, more than {_MOST_STATES}: take fewer robots or a "
                "smaller buffer"
            )

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """The grid of (q, r_1, ..., r_J): pages, and active robots of each area."""
        return (self.buffer + 1, *(area.robots + 1 for area in self.areas))


@dataclass(frozen=True, eq=False, slots=True)
class AreaOptimum:
    """The best control of the robots for shares of the buffer.

    Parameters
    ----------
    shares : for each area, at how many pages its own are no longer taken in, 1 .. K
    cost : average cost per unit of time
    starvation : share of time with an empty buffer
    losses : shape (J,), pages of each area per unit of time that are not taken in
    robots : shape (J,), mean active robots
    restart : shape (J, grid), whether an arrival of the area that leaves these pages and robots
        restarts its robot
    start : shape (grid), the area of which a departure that leaves these starts one more, or -1
    residual : largest relative gain of any other decision; at most 1e-11
    solved : shares that were solved for
    """

    shares: tuple[int, ...]
    cost: float
    starvation: float
    losses: Matrix
    robots: Matrix
    restart: Counts
    start: Counts
    residual: float
    solved: int = 1


def solve_areas(model: AreaFleet, shares: Sequence[int]) -> AreaOptimum:
    """Find the control of least average cost for given shares of the buffer.

    Parameters
    ----------
    model : the areas
    shares : one for each area, 1 .. K; K takes in as long as there is room

    Returns
    -------
    AreaOptimum
        Optimal among all policies: every option of every decision was compared.

    Raises
    ------
    InvalidModel
        A share is not within 1 .. K, or there are too few or too many.
    NotConverged
        See :func:`recrawl.fleet.policy_iteration.improve_policy`.

    Notes
    -----
    State (q, r_1, ..., r_J) after the decision. A robot that brings a page stops, and may be
    started again, whether the page was taken in or not; a departure may start one robot of any
    area. O(n b^2) for each policy, n states in a band of half-width b.
    """
    limits = np.array(shares)
    if limits.shape != (len(model.areas),) or np.any((limits < 1) | (limits > model.buffer)):
        raise InvalidModel(
            f"shares must be 1 .. {model.buffer}, one for each of {len(model.areas)} areas, got "
            f"{list(shares)}"
        )
    events, real, decisions = _events(model, limits)
    many = np.diff(events.option_start) > 1
    found = improve_policy(events, many.astype(np.int64))
    size, n_areas = int(np.prod(model.grid_shape)), len(model.areas)
    time = np.zeros(size)
    time[real] = found.occupancy
    q, *robots = (axis.ravel() for axis in np.indices(model.grid_shape))
    rates = np.array([area.fetch_rate for area in model.areas])[:, None] * np.array(robots)
    kind, point = np.divmod(decisions, size)
    grown = real[events.option_state[events.option_start[:-1] + found.choice]] - point
    strides = _strides(model)
    restart = np.zeros((n_areas, size), dtype=np.int64)
    start = np.full(size, -1, dtype=np.int64)
    for j in range(n_areas):
        restart[j, point[(kind == j) & (grown > 0)]] = 1
        start[point[(kind == n_areas) & (grown == strides[j])]] = j
    return AreaOptimum(
        shares=tuple(int(share) for share in limits),
        cost=float(time @ _cost(model, limits)),
        starvation=float(time @ (q == 0)),
        losses=np.array([time @ (rates[j] * (q >= limits[j])) for j in range(n_areas)]),
        robots=np.array([time @ active for active in robots]),
        restart=restart.reshape(n_areas, *model.grid_shape),
        start=start.reshape(model.grid_shape),
        residual=found.residual,
    )


def solve_shares(model: AreaFleet) -> AreaOptimum:
    """Find the shares of the buffer and the control that cost least together.

    Returns
    -------
    AreaOptimum
        The best of all shares, each with its own best control; of equal ones the largest.

    Raises
    ------
    InvalidModel
        There are more than 5,000 shares to try.

    Notes
    -----
    All K^J shares are solved for.
    """
    count = model.buffer ** len(model.areas)
    if count > _MOST_SHARES:
        raise InvalidModel(
            f"a buffer of {model.buffer} for {len(model.areas)} areas has {count} shares, more "
            f"than {_MOST_SHARES}; try some with solve_areas"
        )
    best, solved = None, 0
    for shares in product(range(model.buffer, 0, -1), repeat=len(model.areas)):
        found = solve_areas(model, shares)
        solved += 1
        if best is None or found.cost < best.cost * (1 - 1e-12):
            best = found
    assert best is not None  # K >= 1
    return replace(best, solved=solved)


def _strides(model: AreaFleet) -> Counts:
    """Return the distances of grid points that differ by one robot of each area."""
    return np.cumprod((1, *model.grid_shape[:0:-1]))[:-1][::-1]


def _cost(model: AreaFleet, limits: Counts) -> Matrix:
    q, *robots = (axis.ravel() for axis in np.indices(model.grid_shape))
    cost = model.starvation_weight * (q == 0) + model.holding_cost * q
    for area, limit, active in zip(model.areas, limits, robots, strict=True):
        cost = cost + area.loss_weight * area.fetch_rate * active * (q >= limit)
    return np.asarray(cost, dtype=np.float64)


def _events(model: AreaFleet, limits: Counts) -> tuple[EventModel, Counts, Counts]:
    """Write the model as events; also the grid point of each state, and of each decision.

    Decision kind size + g: kind j for an arrival of area j, J for a departure, that leave g.
    """
    size, n_areas = int(np.prod(model.grid_shape)), len(model.areas)
    grid = np.arange(size)
    q, *robots = (axis.ravel() for axis in np.indices(model.grid_shape))
    total = np.sum(robots, axis=0)
    strides, plane = _strides(model), size // model.grid_shape[0]
    exists = (q > 0) | (total > 0)  # an empty buffer without a robot would stay so
    blocks: list[tuple[Counts, Matrix, Counts]] = []
    for j, area in enumerate(model.areas):
        here = np.flatnonzero(exists & (robots[j] > 0))
        left = grid[here] - strides[j] + plane * (q[here] < limits[j])
        blocks.append((here, area.fetch_rate * robots[j][here], j * size + left))
    here = np.flatnonzero(q > 0)
    blocks.append((here, np.full(here.size, model.index_rate), n_areas * size + here - plane))
    decisions, numbers = np.unique(
        np.concatenate([decision for _, _, decision in blocks]), return_inverse=True
    )
    real = np.flatnonzero(exists)
    state = np.full(size, -1)
    state[real] = np.arange(real.size)
    kind, point = np.divmod(decisions, size)
    options = np.full((decisions.size, n_areas + 1), -1, dtype=np.int64)
    options[:, 0] = state[point]
    for j, area in enumerate(model.areas):
        may = ((kind == j) | (kind == n_areas)) & (robots[j][point] < area.robots)
        options[may, 1 + j] = state[point[may] + strides[j]]
    parts = np.split(numbers, np.cumsum([len(block[0]) for block in blocks])[:-1])
    packed = [
        (state[where], rate, part) for (where, rate, _), part in zip(blocks, parts, strict=True)
    ]
    orders = (np.arange(real.size), np.lexsort((real, total[real])))
    keys = np.empty((len(orders), real.size), dtype=np.int64)
    for row, order in enumerate(orders):
        keys[row, order] = np.arange(real.size)
    cost = _cost(model, limits)[real]
    return join_events(real.size, packed, options, cost, keys), real, decisions
