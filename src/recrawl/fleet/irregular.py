"""Robots by the buffer's length alone, where arrivals come in bursts or indexing is irregular.

A crawler sees how many pages wait, and neither the phase of a burst nor that of an indexing time.
Here robots are those of :class:`recrawl.fleet.ControlledBuffer` (each stops when it has brought a
page), arrivals and indexing times those of the general buffer
(:class:`recrawl.fleet.bursty.BurstyBuffer`), and the control is a number to aim for at each length.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.elimination import balanced, times_before
from recrawl.fleet.measures import FleetMeasures
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.optimum import solve_robots
from recrawl.kernels.arrays import Integers, Matrix
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

_EFFORT_S: Final = 2.0  # about how long a search may take, but for the curves that it starts from
_ASTRAY: Final = 1e-7  # share of pages that may come and neither be lost nor go out
_BETTER: Final = 1e-9  # relative: less is rounding
_HUGE: Final = 1e100  # beyond, weights are scaled


@dataclass(frozen=True, eq=False)
class IrregularFleet:
    """Robots and an indexer whose times are not exponential.

    Parameters
    ----------
    robots : N, robots available, >= 1
    buffer : K, pages that fit, the one in service included, >= 1
    arrivals : pages that a single active robot brings; with r active everything in it, changes of
        phase included, goes r times as fast
    service : time that the indexer takes for a page
    starvation_weight : cost per unit of time with an empty buffer, >= 0
    loss_weight : cost of a page that finds the buffer full, >= 0
    """

    robots: int
    buffer: int
    arrivals: MarkovianArrivals
    service: PhaseType
    starvation_weight: float
    loss_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.service.idle_phases:
            raise InvalidModel("service: a phase is never visited; leave it out")
        _ = self.exponential  # checks the rest

    @cached_property
    def exponential(self) -> ControlledBuffer:
        """The same fleet with exponential times of the same means."""
        return ControlledBuffer(
            self.robots,
            self.buffer,
            self.arrivals.rate,
            1.0 / self.service.mean,
            starvation_weight=self.starvation_weight,
            loss_weight=self.loss_weight,
        )

    @property
    def phases(self) -> tuple[int, int]:
        """Numbers of phases of arrivals and of service."""
        return self.arrivals.hidden.shape[0], self.service.initial.size


@dataclass(frozen=True, slots=True)
class IrregularOptimum:
    """The best curve of targets that was found.

    Parameters
    ----------
    model : what was solved
    targets : robots to aim for at 0, ..., K pages; never more at more pages
    measures : its long-run averages, exact
    exponential_cost : cost in this model of the curve that is best for exponential times
    evaluations : curves compared
    is_settled : whether no shift of any stretch of the curve improves it; otherwise the search
        ended at its bound
    """

    model: IrregularFleet
    targets: tuple[int, ...]
    measures: FleetMeasures
    exponential_cost: float
    evaluations: int
    is_settled: bool


def evaluate_irregular(model: IrregularFleet, targets: Sequence[int]) -> FleetMeasures:
    """Return the exact measures of a curve of targets.

    Parameters
    ----------
    model : the fleet
    targets : robots to aim for at 0, ..., K pages: within 0..N, at an empty buffer within 1..N

    Raises
    ------
    InvalidModel
        If there are too few or too many targets, they increase, or one is out of bounds.

    Notes
    -----
    States (q, r, z, i): pages, active robots, phases of arrivals and of service. An event that
    leaves q pages starts a robot when fewer than ``targets[q]`` are active. The chain moves between
    neighbouring lengths, so its law is found by elimination from the full buffer down (linear level
    reduction), which adds, multiplies and divides what is not negative, and subtracts nothing:
    every part of the law has its digits, however seldom the buffer is empty or full (Grassmann,
    Taksar and Heyman 1985). O(K b^3) time, O(K b^2) memory, b = (N + 1) Z M with N the largest
    target.
    """
    aims = _checked(model, targets)
    return _measures(model, *_law(model, aims))


def starvation_and_loss(model: IrregularFleet, targets: Sequence[int]) -> tuple[float, float]:
    """Return the share of time with an empty buffer, and pages lost per unit of time.

    Parameters
    ----------
    model, targets : as for :func:`evaluate_irregular`

    Raises
    ------
    InvalidModel
        As there.
    NotConverged
        What comes is not what is lost and goes out.

    Notes
    -----
    The same numbers without the law: what it adds up to from a length on is known for each state on
    the way down. O(K b^3) time as there, O(b^2) memory.
    """
    aims = _checked(model, targets)
    counts, (z, m) = _counts(aims), model.phases
    comes = np.outer(counts, model.arrivals.visible.sum(axis=1)).ravel()
    empty = np.column_stack([np.ones(comes.size), comes, *np.zeros((2, comes.size))])
    # In columns: time, pages that come, that are lost and that go out.
    within = np.repeat(empty, m, axis=0)
    within[:, 3] = np.tile(model.service.exits, counts.size * z)
    unit, sums = 1.0, within.copy()
    sums[:, 2] = sums[:, 1]
    steps = _ratios(model, aims, counts)
    for q in range(model.buffer - 1, -1, -1):
        sums = next(steps) @ sums + unit * (within if q else empty)
        most = float(sums.max())
        if most > _HUGE:
            unit, sums = unit / most, sums / most
    law = next(steps)
    whole, carried, lost, gone = law @ sums
    _check_flow(carried, lost, gone)
    return float(unit * law.sum() / whole), float(lost / whole)


def solve_irregular(model: IrregularFleet) -> IrregularOptimum:
    """Search for the nonincreasing curve of targets of least cost.

    Returns
    -------
    IrregularOptimum
        Every cost in it is exact. No shift of a stretch of the curve by a robot improves it
        where ``is_settled``; a control by length sees less than the state, so this is no Markov
        decision process and a local optimum need not be global.

    Notes
    -----
    Starts from the best of four: the optimum for exponential times, the same within the room of the
    buffer, all robots that have room, all robots always. Then stretches of the whole curve, of
    halves, quarters, ..., of single lengths are shifted by 1, 2, 4, ... while that helps. The
    number of curves is bounded by about how long they take, each by the robots that it spans.
    """
    n, k = model.robots, model.buffer
    room = [min(n, max(k - q, 0)) for q in range(k + 1)]
    best = tuple(solve_robots(model.exponential).targets)
    starts = [best, tuple(map(min, best, room)), tuple(room), (n,) * (k + 1)]
    costs: dict[tuple[int, ...], float] = {}

    def cost(curve: tuple[int, ...]) -> float:
        if curve not in costs:
            starvation, loss_rate = starvation_and_loss(model, curve)
            costs[curve] = model.starvation_weight * starvation + model.loss_weight * loss_rate
        return costs[curve]

    here = min(starts, key=cost)
    left_s = _EFFORT_S
    settled = False
    while not settled and left_s > 0:
        before = here
        for start, end in _stretches(k + 1):
            for sign in (1, -1):
                step = sign
                while left_s > 0:
                    there = _shifted(here, start, end, step, n)
                    left_s -= 0.0 if there in costs else _seconds(model, there)
                    if there == here or cost(there) >= (1 - _BETTER) * costs[here]:
                        break
                    here, step = there, 2 * step
        settled = here == before and left_s > 0
    measures = evaluate_irregular(model, here)
    simple = measures if here == best else evaluate_irregular(model, best)
    return IrregularOptimum(model, here, measures, simple.cost, len(costs), settled)


def _seconds(model: IrregularFleet, curve: tuple[int, ...]) -> float:
    """About how long one curve takes, which no clock is asked, so that the same is found again."""
    width = (curve[0] - curve[-1] + 1) * math.prod(model.phases)
    return (model.buffer + 1) * (2.5e-9 * width**3 + 7e-4)


def _stretches(size: int) -> Iterator[tuple[int, int]]:
    """Yield the whole, halves, quarters, ..., single lengths."""
    width = size
    while width >= 1:
        for start in range(0, size, width):
            yield start, min(start + width, size)
        width //= 2


def _shifted(
    curve: tuple[int, ...], start: int, end: int, step: int, n_robots: int
) -> tuple[int, ...]:
    """Shift a stretch; what would increase with the length is levelled."""
    there = list(curve)
    for q in range(start, end):
        there[q] = min(max(there[q] + step, 1 if q == 0 else 0), n_robots)
    if step > 0:  # what stands before is lifted too
        for q in range(start - 1, -1, -1):
            there[q] = max(there[q], there[q + 1])
    for q in range(1, len(there)):
        there[q] = min(there[q], there[q - 1])
    return tuple(there)


def _checked(model: IrregularFleet, targets: Sequence[int]) -> list[int]:
    if len(targets) != model.buffer + 1:
        raise InvalidModel(
            f"targets must have {model.buffer + 1} entries, one for each of 0..{model.buffer} "
            f"pages, got {len(targets)}"
        )
    for q, aim in enumerate(targets):
        if q and aim > targets[q - 1]:
            raise InvalidModel(f"targets must not increase, got {aim} after {targets[q - 1]}")
        if not (0 if q else 1) <= aim <= model.robots:
            raise InvalidModel(
                f"targets[{q}] must be {0 if q else 1}..{model.robots} robots, got {aim}"
            )
    return list(targets)


def _counts(aims: list[int]) -> Matrix:
    """Return the numbers of robots that are ever active, by the last target and the first."""
    return np.arange(aims[-1], aims[0] + 1.0)


def _law(model: IrregularFleet, aims: list[int]) -> tuple[list[Matrix], Matrix]:
    """Return the stationary law by length, each (robots, arrival phase, service phase).

    Also the numbers of robots that are ever active.
    """
    counts = _counts(aims)
    *ratios, empty = _ratios(model, aims, counts)
    law = [empty]
    for ratio in reversed(ratios):
        part = law[-1] @ ratio
        law.append(part)
        if part.sum() > _HUGE:
            law = [one / part.sum() for one in law]
    total = sum(float(part.sum()) for part in law)
    size, z = counts.size, model.phases[0]
    return [(part / total).reshape(size, z, -1) for part in law], counts


def _ratios(model: IrregularFleet, aims: list[int], counts: Matrix) -> Iterator[Matrix]:
    """Yield, from the full buffer down, by what the law is that of one page less; last, it at none.

    The latter is a vector, and but for a factor.
    """
    size, (z, m) = counts.size, model.phases
    brings, service = model.arrivals.visible, model.service
    one_z, one_m = np.eye(z), np.eye(m)
    arrive, depart = (
        np.kron(brings, one_m),
        np.kron(one_z, np.outer(service.exits, service.initial)),
    )
    busy = _beside(counts, np.kron(model.arrivals.hidden, one_m), np.kron(one_z, service.generator))
    robots = np.arange(size)
    ends = np.broadcast_to(service.exits, (size, z, m)).ravel()
    # At the full buffer a page is lost, and its robot decides as if it had got in.
    moves = busy.copy()
    for r in robots[counts > 0]:
        moves[r, :, _restarted(counts, aims[-1])[r]] += counts[r] * arrive
    for q in range(len(aims) - 1, 0, -1):
        if q == 1:
            arrive = np.kron(brings, service.initial[None, :])
            depart = np.kron(one_z, service.exits[:, None])
            busy = _beside(counts, model.arrivals.hidden, 0.0 * one_z)
        width = moves.shape[1]
        times = times_before(moves.reshape(size * width, -1), ends).reshape(size, width, -1)
        ratio = counts[:, None, None] * (arrive @ times[_restarted(counts, aims[q])])
        yield ratio.reshape(size * len(arrive), -1)
        back = ratio.reshape(size, len(arrive), size, width) @ depart
        started = int(np.count_nonzero(counts < aims[q - 1]))
        moves = busy.copy()
        moves[:, :, 1 : started + 1] += back[:, :, :started]
        moves[:, :, started:] += back[:, :, started:]
    if counts[0] == 0:  # nobody is ever idle at an empty buffer: the state leads on, and is left
        moves[0, :, 1] += one_z
    yield balanced(moves.reshape(size * z, -1))


def _beside(counts: Matrix, arriving: NDArray[Any], serving: NDArray[Any]) -> Matrix:
    """Return the rates of changes of phase, shape (robots, w, robots, w), blocks on the diagonal.

    What stands on the diagonal itself is never read.
    """
    size, width = counts.size, len(serving)
    out = np.zeros((size, width, size, width))
    robots = np.arange(size)
    out[robots, :, robots] = counts[:, None, None] * arriving + serving
    return out


def _restarted(counts: Matrix, aim: int) -> Integers:
    """Return the place of the robots that are active after an arrival."""
    places = np.arange(counts.size)
    return np.where(counts - 1 < aim, places, np.maximum(places - 1, 0))


def _measures(model: IrregularFleet, law: list[Matrix], counts: Matrix) -> FleetMeasures:
    lengths = np.array([part.sum() for part in law])
    by_robots = np.sum([part.sum(axis=(1, 2)) for part in law], axis=0)
    buffer_mean = float(lengths @ np.arange(lengths.size))
    brought = model.arrivals.visible.sum(axis=1)
    loss_rate = float(np.einsum("rzm,r,z->", law[-1], counts, brought))
    throughput = float(
        np.sum([part.sum(axis=(0, 1)) for part in law[1:]], axis=0) @ model.service.exits
    )
    carried = sum(float(np.einsum("rzm,r,z->", part, counts, brought)) for part in law)
    _check_flow(carried, loss_rate, throughput)
    active = np.flatnonzero(by_robots > 1e-14)
    return FleetMeasures(
        cost=model.starvation_weight * float(lengths[0]) + model.loss_weight * loss_rate,
        starvation=float(lengths[0]),
        loss_rate=loss_rate,
        throughput=throughput,
        buffer_mean=buffer_mean,
        response_time=buffer_mean / throughput if throughput > 0 else math.inf,
        robots_mean=float(by_robots @ counts),
        robots_min=int(counts[active[0]]),
        robots_max=int(counts[active[-1]]),
        recurrent_states=int(sum(np.count_nonzero(part > 1e-14) for part in law)),
    )


def _check_flow(carried: float, lost: float, gone: float) -> None:
    """Raise unless what comes is lost or goes out."""
    astray = abs(carried - lost - gone) / max(carried, 1e-300)
    if not astray <= _ASTRAY:
        raise NotConverged("law by lengths", iterations=1, residual=astray)
