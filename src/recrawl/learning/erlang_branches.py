"""Likelihood fits with Erlang branches: laws of random times, and arrivals that are dependent.

Each interval is drawn from one of m branches, branch i a sum of r_i exponential times of one
rate; the branch is drawn anew each time (a phase-type law), or depends on the branch before (a
Markovian arrival process). Both are fitted by expectation and maximisation.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Counts, Vector
from recrawl.kernels.erlang_mixture import expect_branches
from recrawl.kernels.hidden_markov import expect_hidden
from recrawl.learning.ascent import Ascent, Step, climb_from_all
from recrawl.learning.branch_starts import spread_starts
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

_TOLERANCE = 1e-8  # gain in mean log-likelihood by three steps
_MOST_CHOSEN = 4000  # observations that choose among beginnings
_STAYS = (0.0, 0.6, 0.95)  # chances to stay in a branch, at the beginning
_FLOOR = 1e-9  # least chance of a move, which keeps the phases irreducible
_LEAST = 1e-26  # what counts as no chance while climbing


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
    gain : log-likelihood over the second best top; infinite where all beginnings lead to one
    """

    stages: tuple[int, ...]
    rates: Vector
    moves: Vector
    log_likelihood: float
    bic: float
    iterations: int
    gain: float

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
    The likelihood has many tops. Every assignment of branches to parts of the sorted times is a
    beginning; the best after a few steps are followed to their tops, and the highest counts, so
    the order of ``stages`` does not matter. O(n m) for each step.

    References
    ----------
    A. Thümmler, P. Buchholz and M. Telek, "A novel approach for phase-type fitting with the EM
    algorithm", IEEE Trans. Dependable and Secure Computing 3(3), 2006.
    """
    times = _checked(samples)
    m = len(stages)
    ranks = np.argsort(stages, kind="stable")
    order = np.array(stages, dtype=np.float64)[ranks]
    factorials = np.array([math.lgamma(k) for k in order])

    def steps(own: Vector) -> Step:
        logs = np.log(own)
        mass, spent = np.empty(m), np.empty(m)

        def step(at: Vector) -> tuple[float, Vector]:
            constant = order * at[:m] - factorials + at[m:]
            value = expect_branches(own, logs, order, constant, np.exp(at[:m]), mass, spent)
            rates = order * np.maximum(mass, 1e-300) / np.maximum(spent, 1e-300)
            return value, np.log(np.concatenate([rates, np.maximum(mass / own.size, _LEAST)]))

        return step

    starts = [
        np.log(np.concatenate([rates, shares])) for rates, shares in spread_starts(times, order)
    ]
    top = climb_from_all(
        steps(_part(times)),
        steps(times),
        starts,
        lambda at: np.concatenate([_bounded(at[:m], times, order), _as_chances(at[m:])]),
        tolerance=_TOLERANCE * times.size,
        what=f"Erlang mixture {tuple(stages)}",
    )
    chance = np.maximum(np.exp(top.at[m:]), _FLOOR)
    moves = np.tile(chance / chance.sum(), (m, 1))
    return _result(times, stages, np.exp(top.at[:m]), moves, top, 2 * m - 1)


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
    A hidden Markov chain with Erlang densities: O(n m^2) for each step. Beginnings as in
    :func:`fit_branches`, with three chances to stay in a branch.

    References
    ----------
    G. Horváth and H. Okamura, "A fast EM algorithm for fitting marked Markovian arrival processes
    with a new special structure", EPEW 2013.
    """
    times = _checked(intervals)
    m = len(stages)
    ranks = np.argsort(stages, kind="stable")
    order = np.array(stages, dtype=np.float64)[ranks]

    def steps(own: Vector, firsts: Counts) -> Step:
        def step(at: Vector) -> tuple[float, Vector]:
            rates, initial = np.exp(at[:m]), np.exp(at[m : 2 * m])
            moves = np.exp(at[2 * m :]).reshape(m, m)
            density, shift = _densities(own, order, rates)
            value, occupied, moved = expect_hidden(density, shift, firsts, initial, moves)
            mass = np.maximum(occupied.sum(axis=0), 1e-300)
            rates = order * mass / np.maximum(occupied.T @ own, 1e-300)
            first = occupied[firsts[:-1]].mean(axis=0)
            after = moved / np.maximum(moved.sum(axis=1, keepdims=True), 1e-300)
            chances = np.maximum(np.concatenate([first, after.ravel()]), _LEAST)
            return value, np.log(np.concatenate([rates, chances]))

        return step

    def normalise(at: Vector) -> Vector:
        chances = _as_chances(at[m:].reshape(m + 1, m))
        return np.concatenate([_bounded(at[:m], times, order), chances.ravel()])

    begins = [
        np.log(np.concatenate([rates, shares, (stay * np.eye(m) + (1 - stay) * shares).ravel()]))
        for rates, shares in spread_starts(times, order)
        for stay in (_STAYS if m > 1 else (0.0,))
    ]
    part = min(times.size, _MOST_CHOSEN)
    top = climb_from_all(
        steps(times[:part], np.append(starts[starts < part], part)),
        steps(times, starts),
        begins,
        normalise,
        tolerance=_TOLERANCE * times.size,
        what=f"dependent branches {tuple(stages)}",
    )
    steady = np.maximum(np.exp(top.at[2 * m :]).reshape(m, m), _FLOOR)
    steady /= steady.sum(axis=1, keepdims=True)
    return _result(times, stages, np.exp(top.at[:m]), steady, top, m * m)


def select_branches(samples: ArrayLike, *, order: int = 4) -> tuple[BranchFit, ...]:
    """Fit all mixtures of Erlang laws of so many stages; the best by BIC first.

    Parameters
    ----------
    samples : as for :func:`fit_branches`
    order : most stages of all branches together, >= 1
    """
    found = [fit_branches(samples, stages) for stages in branchings(order)]
    return tuple(sorted(found, key=lambda fit: fit.bic))


def select_dependent_branches(
    intervals: ArrayLike, starts: Counts, *, order: int = 3
) -> tuple[BranchFit, ...]:
    """Fit all dependent branches of so many stages; the best by BIC first.

    Parameters
    ----------
    intervals, starts : as for :func:`fit_dependent_branches`
    order : most stages of all branches together, >= 1
    """
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


def _part(times: Vector) -> Vector:
    """A part of the sample that is enough to tell beginnings apart, evenly spread over it."""
    if times.size <= _MOST_CHOSEN:
        return times
    return np.sort(times)[np.linspace(0, times.size - 1, _MOST_CHOSEN).astype(np.int64)]


def _bounded(logs: Vector, times: Vector, order: Vector) -> Vector:
    """Logarithms of rates that could be best: a branch's mean is among the times."""
    own = np.log(order)
    return np.clip(logs, own - math.log(times.max()), own - math.log(times.min()))


def _as_chances(logs: Vector) -> Vector:
    """Logarithms of chances that sum to 1 along the last axis."""
    shifted = logs - logs.max(axis=-1, keepdims=True)
    sums = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.asarray(np.maximum(shifted - sums, math.log(_LEAST)))


def _densities(times: Vector, order: Vector, rates: Vector) -> tuple[Vector, Vector]:
    """Densities by branch, each observation scaled by its largest, and the logarithm of that."""
    constant = order * np.log(rates) - [math.lgamma(k) for k in order]
    logs = constant + np.outer(np.log(times), order - 1) - np.outer(times, rates)
    shift = logs.max(axis=1)
    return np.exp(logs - shift[:, None]), shift


def _result(
    times: Vector,
    stages: Sequence[int],
    rates: Vector,
    moves: Vector,
    top: Ascent,
    parameters: int,
) -> BranchFit:
    value = top.log_likelihood
    back = np.argsort(np.argsort(stages, kind="stable"), kind="stable")
    rates, moves = rates[back], moves[np.ix_(back, back)]
    bic = parameters * math.log(times.size) - 2 * value
    return BranchFit(tuple(stages), rates, moves, value, bic, top.steps, top.gain)
