"""Likelihood fits with Erlang branches: laws of random times, and arrivals that are dependent.

Each interval is drawn from one of m branches, branch i a sum of r_i exponential times of one
rate; the branch is drawn anew each time (a phase-type law), or depends on the branch before (a
Markovian arrival process). Both are fitted by expectation and maximisation.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.hidden_markov import expect_hidden
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

__all__ = [
    "BranchFit",
    "branchings",
    "fit_branches",
    "fit_dependent_branches",
    "select_branches",
    "select_dependent_branches",
]

Vector: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

_TOLERANCE = 1e-7  # gain in mean log-likelihood by a step
_MOST_STEPS = 5000
_FLOOR = 1e-9  # least chance of a move, which keeps the phases irreducible


@dataclass(frozen=True, eq=False)
class BranchFit:
    """A fit by maximum likelihood.

    Parameters
    ----------
    stages : number of exponential stages of each branch
    rates : shape (m,), 1/time; of the stages of each branch
    moves : shape (m, m); chance of the next branch, all rows equal where intervals are independent
    log_likelihood, bic : of the data; the criterion of Schwarz is the smaller the better
    iterations : steps of expectation and maximisation
    """

    stages: tuple[int, ...]
    rates: Vector
    moves: Vector
    log_likelihood: float
    bic: float
    iterations: int

    @property
    def time_law(self) -> PhaseType:
        """Law of one interval in the long run."""
        return PhaseType.erlang_mixture(self.shares, self.stages, self.rates)

    @property
    def shares(self) -> Vector:
        """Long-run share of each branch."""
        m = len(self.stages)
        system = np.vstack([self.moves.T - np.eye(m), np.ones(m)])
        found = np.linalg.lstsq(system, np.eye(m + 1)[m], rcond=None)[0]
        return np.asarray(np.maximum(found, 0) / np.maximum(found, 0).sum())

    @property
    def process(self) -> MarkovianArrivals:
        """The arrival process, phases being (branch, stage)."""
        stages = np.array(self.stages)
        ends = np.cumsum(stages)
        begins = ends - stages
        speed = np.repeat(self.rates, stages)
        onward = speed.copy()
        onward[ends - 1] = 0.0
        hidden = np.diag(-speed) + np.diag(onward[:-1], k=1)
        visible = np.zeros_like(hidden)
        visible[np.ix_(ends - 1, begins)] = self.rates[:, None] * self.moves
        return MarkovianArrivals(hidden, visible)


def branchings(order: int) -> Iterable[tuple[int, ...]]:
    """Yield all ways to split up to ``order`` stages over branches, fewest stages first."""
    for total in range(1, order + 1):
        yield from _partitions(total, total)


def _partitions(total: int, most: int) -> Iterable[tuple[int, ...]]:
    if total == 0:
        yield ()
        return
    for first in range(min(total, most), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)


def fit_branches(samples: ArrayLike, stages: Sequence[int]) -> BranchFit:
    """Fit a mixture of Erlang laws to independent times by maximum likelihood.

    Parameters
    ----------
    samples : shape (n,), > 0
    stages : of each branch

    Raises
    ------
    InvalidModel
        If there are fewer than 2 samples or one is not positive.
    NotConverged
        If the likelihood still grows after 5,000 steps.

    Notes
    -----
    O(n m) for each step.

    References
    ----------
    A. Thümmler, P. Buchholz and M. Telek, "A novel approach for phase-type fitting with the EM
    algorithm", IEEE Trans. Dependable and Secure Computing 3(3), 2006.
    """
    times = _checked(samples)
    m = len(stages)
    rates, moves = _start(times, stages, 0.0)
    shares = moves[0]
    known = -np.inf
    for step in range(1, _MOST_STEPS + 1):
        density, shift = _densities(times, stages, rates)
        joint = density * shares
        total = joint.sum(axis=1)
        likelihood = float(np.sum(np.log(total) + shift))
        if likelihood - known < _TOLERANCE * times.size:
            chance = np.maximum(shares, _FLOOR)
            moves = np.tile(chance / chance.sum(), (m, 1))
            return _result(times, stages, rates, moves, likelihood, 2 * m - 1, step)
        known = likelihood
        weight = joint / total[:, None]
        mass = np.maximum(weight.sum(axis=0), 1e-300)
        shares = mass / times.size
        rates = np.array(stages) * mass / np.maximum(weight.T @ times, 1e-300)
    raise NotConverged(f"Erlang mixture {tuple(stages)}", iterations=step, residual=_TOLERANCE)


def fit_dependent_branches(
    intervals: ArrayLike, starts: Counts, stages: Sequence[int]
) -> BranchFit:
    """Fit a Markovian arrival process with Erlang branches by maximum likelihood.

    Parameters
    ----------
    intervals : shape (n,), > 0; sequence after sequence
    starts : where each sequence begins, n last
    stages : of each branch

    Raises
    ------
    InvalidModel, NotConverged
        As :func:`fit_branches`.

    Notes
    -----
    A hidden Markov chain with Erlang densities: O(n m^2) for each step.

    References
    ----------
    G. Horváth and H. Okamura, "A fast EM algorithm for fitting marked Markovian arrival processes
    with a new special structure", EPEW 2013.
    """
    times = _checked(intervals)
    m = len(stages)
    rates, moves = _start(times, stages, 0.6)
    initial = np.full(m, 1.0 / m)
    known = -np.inf
    for step in range(1, _MOST_STEPS + 1):
        density, shift = _densities(times, stages, rates)
        likelihood, occupied, moved = expect_hidden(density, shift, starts, initial, moves)
        if likelihood - known < _TOLERANCE * times.size:
            steady = np.maximum(moves, _FLOOR)
            steady /= steady.sum(axis=1, keepdims=True)
            return _result(times, stages, rates, steady, likelihood, m * m, step)
        known = likelihood
        mass = np.maximum(occupied.sum(axis=0), 1e-300)
        rates = np.array(stages) * mass / np.maximum(occupied.T @ times, 1e-300)
        moves = np.maximum(moved, 1e-300)
        moves = moves / moves.sum(axis=1, keepdims=True)
        initial = np.maximum(occupied[starts[:-1]].mean(axis=0), 1e-300)
        initial = initial / initial.sum()
    raise NotConverged(f"dependent branches {tuple(stages)}", iterations=step, residual=_TOLERANCE)


def select_branches(samples: ArrayLike, *, order: int = 4) -> tuple[BranchFit, ...]:
    """Fit all mixtures of Erlang laws of up to ``order`` stages; the best by BIC first."""
    found = [fit_branches(samples, stages) for stages in branchings(order)]
    return tuple(sorted(found, key=lambda fit: fit.bic))


def select_dependent_branches(
    intervals: ArrayLike, starts: Counts, *, order: int = 3
) -> tuple[BranchFit, ...]:
    """Fit all dependent branches of up to ``order`` stages; the best by BIC first."""
    found = [fit_dependent_branches(intervals, starts, stages) for stages in branchings(order)]
    return tuple(sorted(found, key=lambda fit: fit.bic))


def _checked(samples: ArrayLike) -> Vector:
    times = np.asarray(samples, dtype=np.float64)
    if times.ndim != 1 or times.size < 2:
        raise InvalidModel(f"at least 2 times are needed, got {times.size}")
    wrong = np.flatnonzero(~(np.isfinite(times) & (times > 0)))
    if wrong.size:
        raise InvalidModel(f"times must be finite and > 0; entry {wrong[0]} is {times[wrong[0]]:g}")
    return times


def _start(times: Vector, stages: Sequence[int], stay: float) -> tuple[Vector, Vector]:
    """Begin with the means of equal parts of the sorted times, long branches for short times."""
    m = len(stages)
    parts = np.array_split(np.sort(times), m)
    rates = np.array([k / part.mean() for k, part in zip(stages, parts, strict=True)])
    return rates, stay * np.eye(m) + (1 - stay) * np.full((m, m), 1.0 / m)


def _densities(times: Vector, stages: Sequence[int], rates: Vector) -> tuple[Vector, Vector]:
    """Densities by branch, each observation scaled by its largest, and the logarithm of that."""
    order = np.array(stages, dtype=np.float64)
    constant = order * np.log(rates) - [math.lgamma(k) for k in order]
    logs = constant + np.outer(np.log(times), order - 1) - np.outer(times, rates)
    shift = logs.max(axis=1)
    return np.exp(logs - shift[:, None]), shift


def _result(
    times: Vector,
    stages: Sequence[int],
    rates: Vector,
    moves: Vector,
    likelihood: float,
    parameters: int,
    steps: int,
) -> BranchFit:
    bic = parameters * math.log(times.size) - 2 * likelihood
    return BranchFit(tuple(stages), rates, moves, likelihood, bic, steps)
