"""Simulation of the bursty buffer: what its exact measures are checked against."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.kernels.arrays import Matrix
from recrawl.kernels.buffer_simulation import run_buffer
from recrawl.processes.intervals import half_width
from recrawl.processes.phase_type import PhaseType
from recrawl.simulation.controlled_queue import Interval

_BATCHES = 32
_RULES = {"partial": 0, "reject": 1, "complete": 2}


@dataclass(frozen=True, slots=True)
class SimulatedBuffer:
    """Long-run averages as measured in a simulation, by batch means, with 95 % intervals.

    Parameters
    ----------
    cost, arrival_rate, loss, obsolescence, success : as in
        :class:`recrawl.fleet.bursty.measures.BufferMeasures`
    starvation, robots_mean, buffer_mean : the same
    sojourn_served, sojourn_obsolete : the same, measured page by page
    times : where the distributions of the stays were measured
    served_within, obsolete_within : P(stay <= t) at each of them
    events : events simulated, warm-up included
    """

    cost: Interval
    arrival_rate: Interval
    loss: Interval
    obsolescence: Interval
    success: Interval
    starvation: Interval
    robots_mean: Interval
    buffer_mean: Interval
    sojourn_served: Interval
    sojourn_obsolete: Interval
    times: tuple[float, ...]
    served_within: tuple[Interval, ...]
    obsolete_within: tuple[Interval, ...]
    events: int


def simulate_bursty(
    model: BurstyBuffer,
    robots_by_length: Sequence[int],
    rng: np.random.Generator,
    *,
    events: int = 10_000_000,
    times: ArrayLike = (),
    progress: Callable[[int], None] = lambda done: None,
) -> SimulatedBuffer:
    """Run the buffer for so many events, from an empty one.

    Parameters
    ----------
    events : how many; whatever changes the state is one. A tenth is for warming up, the others
        are split into 32 batches
    times : increasing; where to measure the distributions of the stays
    progress : called with the number of events done, 33 times

    Raises
    ------
    InvalidModel
        If there are fewer than 3,200 events, or the map does not fit the model.

    Notes
    -----
    O(events) time, with O(N) for a page that goes stale, and O(N) memory: no state space, so
    any capacity and any number of phases will do. Intervals are Student's t over 32, 16
    and 8 batch means, the widest, those of ratios linearised.
    """
    if events < 100 * _BATCHES:
        raise InvalidModel(f"events must be at least {100 * _BATCHES}, got {events}")
    modes = model.modes(robots_by_length)
    grid = np.asarray(times, dtype=np.float64)
    w = model.phases[0]
    padded = np.stack([process.padded(model.largest_batch) for process in model.arrivals])
    leave = -np.einsum("rii->ri", padded[:, 0])
    silent = padded[:, 0] + np.stack([np.diag(rates) for rates in leave])
    moves = np.concatenate([silent[:, None], padded[:, 1:]], axis=1)  # (r, k, i, j)
    shares = np.cumsum(moves.transpose(0, 2, 1, 3).reshape(len(padded), w, -1), axis=2)
    arrivals = (np.ascontiguousarray(leave), shares / leave[:, :, None])
    state = (
        np.zeros(3, dtype=np.int64),
        np.zeros(model.levels + 1, dtype=np.int64),
        np.zeros(model.levels + 1),
    )
    rule = (model.capacity, _RULES[model.admission])
    robots = np.array(model.robots, dtype=np.float64)
    law = model.obsolescence
    clock = _walk(law) if law is not None else (np.ones(1), np.zeros(1), np.ones((1, 2)))
    warm_up = events // 10
    size = (events - warm_up) // _BATCHES
    rows, done = [], 0
    for batch in range(_BATCHES + 1):
        count = size if batch else warm_up
        fixed = (arrivals, _walk(model.service), clock, robots, modes, rule, grid, state)
        row = run_buffer(*fixed, count, rng)
        done += count
        progress(done)
        if batch:
            rows.append(row)
    return _summarise(model, np.array(rows), grid, events)


def _walk(law: PhaseType) -> tuple[Matrix, Matrix, Matrix]:
    """Return cumulated first phases, rates of leaving, cumulated shares of moves, end last."""
    leave = -np.diag(law.generator)
    moves = np.column_stack([law.generator + np.diag(leave), law.exits])
    return np.cumsum(law.initial), leave, np.cumsum(moves, axis=1) / leave[:, None]


def _summarise(model: BurstyBuffer, rows: Matrix, grid: Matrix, events: int) -> SimulatedBuffer:
    time, idle, pages, robots, brought, lost, gone, served, stay, stale_stay = rows.T[:10]
    within = rows[:, 10:].T
    costs = model.costs
    linear = costs.loss * lost + costs.obsolescence * gone
    linear = linear + costs.robots * robots + costs.starvation * idle
    cost, error = _ratio(linear, time)
    sojourn, sojourn_error = _ratio(stay, served)
    return SimulatedBuffer(
        cost=_interval(cost + costs.sojourn * sojourn, error + costs.sojourn * sojourn_error),
        arrival_rate=_interval(*_ratio(brought, time)),
        loss=_interval(*_ratio(lost, brought)),
        obsolescence=_interval(*_ratio(gone, brought)),
        success=_interval(*_ratio(served, brought)),
        starvation=_interval(*_ratio(idle, time)),
        robots_mean=_interval(*_ratio(robots, time)),
        buffer_mean=_interval(*_ratio(pages, time)),
        sojourn_served=_interval(sojourn, sojourn_error),
        sojourn_obsolete=_interval(*_ratio(stale_stay, gone)),
        times=tuple(map(float, grid)),
        served_within=tuple(_interval(*_ratio(row, served)) for row in within[: grid.size]),
        obsolete_within=tuple(_interval(*_ratio(row, gone)) for row in within[grid.size :]),
        events=events,
    )


def _ratio(amount: Matrix, per: Matrix) -> tuple[float, Matrix]:
    """Ratio of sums over batches, with the linearised error of each batch."""
    if per.sum() == 0:
        return math.nan, np.zeros(per.size)
    ratio = float(amount.sum() / per.sum())
    return ratio, (amount - ratio * per) / per.mean()


def _interval(value: float, error: Matrix) -> Interval:
    return Interval(value, half_width(error))
