"""A crawler's own log under another control: what a fitted model promises, held against the log.

The batches of the log come in their order, each after as much work of robots as in the log, and
pages are indexed in the times of the log. What changes is how many robots work at each number of
pages. No law is fitted and none assumed: bursts, trends and dependence of all kinds stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.kernels.arrays import Matrix
from recrawl.kernels.log_replay import replay_arrivals
from recrawl.learning.batch_log import BatchLog
from recrawl.processes.intervals import half_width
from recrawl.simulation.controlled_queue import Interval

_BLOCKS: Final = 32
_LEAST: Final = 10  # batches in a block
_RULES: Final = {"partial": 0, "reject": 1, "complete": 2}


@dataclass(frozen=True, slots=True)
class LogReplay:
    """Result of a log's replay under a control, with 95 % intervals from blocks of it.

    Parameters
    ----------
    cost : the criterion J of the model, per unit of time
    loss : share of pages that found no room
    starvation : share of time with an empty buffer
    robots_mean, buffer_mean : averages over time
    sojourn_served : mean stay of pages taken in, by Little's law
    pages : pages that the log brought
    """

    cost: Interval
    loss: Interval
    starvation: Interval
    robots_mean: Interval
    buffer_mean: Interval
    sojourn_served: Interval
    pages: int


def replay_log(
    model: BurstyBuffer,
    robots_by_length: Sequence[int],
    log: BatchLog,
    robots_in_log: float,
    services: ArrayLike,
) -> LogReplay:
    """Run a log through the buffer of a model, under a map from pages to robots.

    Parameters
    ----------
    model : capacity, admission and costs; its arrivals and service law are not used
    robots_by_length : robots at 0, 1, ... pages, one for each of the model's levels; the work
        between batches goes as many times faster as there are robots
    log : batches, in order
    robots_in_log : active while it was written, > 0
    services : shape (m,), >= 0; indexing times in their order, begun anew where there are too few

    Returns
    -------
    LogReplay
        Of this log exactly. Intervals are for another log of the same kind: of 32 blocks of it, as
        many as depend on each other taken together.

    Raises
    ------
    InvalidModel
        The model has obsolescence (a log does not tell when a page would have gone stale), no robot
        works at an empty buffer, there are fewer than 320 batches, or a time is negative.

    Notes
    -----
    O(batches + pages) time and memory.
    """
    times = np.ascontiguousarray(services, dtype=np.float64)
    if model.obsolescence is not None:
        raise InvalidModel("obsolescence: a log does not tell when pages would have gone stale")
    if len(robots_by_length) != model.levels:
        raise InvalidModel(
            f"robots by length: {len(robots_by_length)} numbers were given, 0 .. "
            f"{model.levels - 1} pages need {model.levels}"
        )
    if not min(robots_by_length) >= 0 < robots_by_length[0]:
        raise InvalidModel(
            f"robots by length must be >= 0, and > 0 at 0 pages, got {list(robots_by_length)}"
        )
    if not (np.isfinite(robots_in_log) and robots_in_log > 0):
        raise InvalidModel(f"robots_in_log must be finite and > 0, got {robots_in_log:g}")
    if times.ndim != 1 or not times.size or not np.all(np.isfinite(times) & (times >= 0)):
        raise InvalidModel("services must be a vector of at least one time, finite and >= 0")
    n = log.intervals.size
    if n < _BLOCKS * _LEAST:
        raise InvalidModel(f"log: {n} batches are too few; {_BLOCKS * _LEAST} are needed")
    sizes = log.sizes[np.arange(n) + np.searchsorted(log.starts, np.arange(n), side="right")]
    if model.admission == "complete" and sizes.max() > model.largest_batch:
        raise InvalidModel(
            f"log: a batch of {sizes.max()} pages, but the largest of the model is "
            f"{model.largest_batch}"
        )
    sums = np.zeros((_BLOCKS, 7))
    speeds = np.array(robots_by_length, dtype=np.float64)
    rule = (model.capacity, _RULES[model.admission])
    replay_arrivals(log.intervals * robots_in_log, sizes, times, speeds, rule, sums)
    return _summarise(model, sums)


def _summarise(model: BurstyBuffer, sums: Matrix) -> LogReplay:
    time, idle, robots, pages, brought, lost, _ = sums.T
    charged = model.costs
    taken = brought - lost
    amount = charged.loss * lost + charged.robots * robots + charged.starvation * idle
    stays = _interval(pages, taken)
    cost = _interval(amount, time)
    if charged.sojourn > 0:
        half = cost.half_width + charged.sojourn * stays.half_width  # as if they went together
        cost = Interval(cost.mean + charged.sojourn * stays.mean, half)
    return LogReplay(
        cost=cost,
        loss=_interval(lost, brought),
        starvation=_interval(idle, time),
        robots_mean=_interval(robots, time),
        buffer_mean=_interval(pages, time),
        sojourn_served=stays,
        pages=int(brought.sum()),
    )


def _interval(amount: Matrix, per: Matrix) -> Interval:
    """Ratio of sums over blocks, with the linearised error of a ratio."""
    if per.sum() <= 0:
        return Interval(0.0, float("inf"))
    ratio = float(amount.sum() / per.sum())
    return Interval(ratio, float(half_width((amount - ratio * per) / per.mean())))
