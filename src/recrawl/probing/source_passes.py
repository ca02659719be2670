"""One pass over many sources, batch by batch and on several threads."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import NotConverged
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.kernels.probe_grid import count_probes, solve_counts
from recrawl.probing.source_batch import SourceBatch

Batches = Callable[[], Iterable[SourceBatch]]


@dataclass(frozen=True, slots=True, eq=False)
class ManySchedules:
    """The schedules of one batch: source s has cells ``points[starts[s] : starts[s + 1]]``.

    Parameters
    ----------
    starts : shape (m + 1,)
    points : grid points of the probes, 1..N
    costs : shape (m,), expected weighted costs
    """

    starts: Integers
    points: NDArray[np.int32]
    costs: Vector


def count_sources(
    batches: Batches, prices: Vector, wanted: Flags, threads: int
) -> tuple[Integers, Vector]:
    """Number of probes and cost of each wanted source at its price.

    Parameters
    ----------
    batches : yields the n sources
    prices : shape (n,), of a probe
    wanted : shape (n,); the others get 1 probe and cost NaN
    threads : used at once, >= 1
    """
    counts, costs = np.ones(prices.size, np.int64), np.full(prices.size, np.nan)

    def work(job: tuple[SourceBatch, int]) -> None:
        batch, first = job
        part = slice(first, first + batch.size)
        count_probes(
            batch.updates, batch.importance, batch.weights, batch.gaps,
            prices[part], wanted[part], counts[part], costs[part],
        )  # fmt: skip

    on_threads(work, pieces_of(batches, threads), threads)
    return counts, costs


def pieces_of(batches: Batches, threads: int) -> Iterator[tuple[SourceBatch, int]]:
    """Yield parts of batches with the number of their first source.

    Parameters
    ----------
    batches : yields the sources
    threads : >= 1; for more than one each batch is cut into up to four parts a thread
    """
    first = 0
    for batch in batches():
        step = -(-batch.size // (4 * threads)) if threads > 1 else max(batch.size, 1)
        for start in range(0, batch.size, step):
            piece = batch.part(start, min(start + step, batch.size))
            yield piece, first + start
        first += batch.size


def on_threads(
    work: Callable[[tuple[SourceBatch, int]], None],
    jobs: Iterable[tuple[SourceBatch, int]],
    threads: int,
) -> None:
    """Do the work of every job; at most four jobs a thread wait.

    Parameters
    ----------
    work : called with each job, on any thread
    jobs : (part of a batch, number of its first source)
    threads : used at once, >= 1; for one none is started
    """
    if threads == 1:
        for job in jobs:
            work(job)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = []
        for job in jobs:
            waiting.append(pool.submit(work, job))
            if len(waiting) >= 4 * threads:
                waiting.pop(0).result()
        for one in waiting:
            one.result()


def schedule_sources(batch: SourceBatch, counts: Integers, prices: Vector) -> ManySchedules:
    """Solve every source for its number of probes.

    Parameters
    ----------
    batch : m sources
    counts : shape (m,), probes of each in one period, >= 1, as many as its gap allows or fewer
    prices : shape (m,), of a probe, tried first
    """
    starts = np.concatenate([[0], np.cumsum(counts)])
    points, costs = np.empty(int(starts[-1]), np.int32), np.empty(batch.size)
    failed = solve_counts(
        batch.updates, batch.importance, batch.weights, batch.gaps,
        prices, counts, starts, points, costs,
    )  # fmt: skip
    if failed:
        raise NotConverged("probes of one source", iterations=500, residual=float(failed))
    return ManySchedules(starts, points, costs)
