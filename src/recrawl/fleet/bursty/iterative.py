"""The stationary law with obsolescence by phases: aggregation and sweeps, without matrices."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet.bursty.law import StationaryLaw, service_rates
from recrawl.fleet.bursty.model import BurstyBuffer, show_count
from recrawl.kernels.arrays import Counts, Matrix
from recrawl.kernels.buffer_levels import level_weights
from recrawl.kernels.buffer_tensor import aggregate, imbalance, rescale, sweep
from recrawl.processes.phase_type import PhaseType

MOST_STATES = 40_000_000  # 1 GiB at work
_BYTES = 26  # for each state: the law, a level's inflow, the entries of followed pages


@dataclass(frozen=True, eq=False)
class _Phases:
    """Tables that no map changes: where levels begin, multisets, totals of rates."""

    offset: Counts
    multiset: Counts
    total_stale: Matrix
    clock: tuple[Matrix, Matrix, Matrix]


def check_size(model: BurstyBuffer, most_states: int) -> None:
    """Refuse a chain that is too large, and say what it would take.

    Parameters
    ----------
    model : the buffer
    most_states : largest chain allowed

    Raises
    ------
    InvalidModel
        If there are more states.
    """
    if model.states > most_states:
        w, m, v = model.phases
        gibibytes = show_count(_BYTES * model.states // 2**30)
        raise InvalidModel(
            f"capacity {model.capacity} with {v} phases of obsolescence: the exact chain has "
            f"{show_count(model.states)} states (W = {w}, M = {m}), "
            f"which would take {gibibytes} GiB; the limit is {most_states:.3g}. Use the window "
            "closure (--window), simulation, a smaller capacity or exponential obsolescence"
        )


def solve_phases(
    model: BurstyBuffer,
    modes: Counts,
    *,
    tolerance: float = 1e-13,
    most_states: int = MOST_STATES,
    most_iterations: int = 2000,
) -> StationaryLaw:
    """Return the law under a map from pages to modes, with any phase-type obsolescence.

    Parameters
    ----------
    tolerance : largest change of the law (sum of absolute values) by a last sweep
    most_states : refuse a larger chain

    Raises
    ------
    InvalidModel
        If the chain is too large; the message says what it would take.
    NotConverged
        After ``most_iterations``.

    Notes
    -----
    Each iteration sums the phases out exactly (given their conditional law the aggregate is the
    same model with one phase and a rate of going stale for each local state), solves that by
    level elimination, rescales, and makes a block Gauss-Seidel sweep up and down. Diagonal blocks
    are solved exactly where the generator of the obsolescence time is upper triangular (sums and
    mixtures of exponential times: Erlang, hyper-exponential, Cox), defective ones included;
    otherwise its lower part is taken from the step before. Time O(N V^(N-1) WM) for an
    iteration; some 50 iterations whatever the size.
    """
    check_size(model, most_states)
    w, m, _ = model.phases
    phases = _phases(model)
    service = service_rates(model)
    jump = np.ascontiguousarray(model.jumps[model.room, modes])
    inverses = _inverses(model, jump)
    law = _first(model, phases, modes)
    offset, size = phases.offset, w * m
    change = np.inf
    for iteration in range(1, most_iterations + 1):
        mass, gone = aggregate(law, offset, phases.total_stale, size, w)
        rates = np.divide(gone, mass, out=np.zeros_like(gone), where=mass > 0)
        if change < tolerance:
            # What is certified is the law itself, not the way to it.
            residual = imbalance(
                law, offset, jump, service[1:], phases.clock, inverses, phases.multiset
            )
            if residual < max(100.0 * tolerance, 1e-12):
                return _result(model, law, offset, mass / mass.sum(), gone, iteration - 1, residual)
        exact = level_weights(model.jumps, model.room, modes, service, rates)
        factor = np.divide(exact, mass, out=np.zeros_like(mass), where=mass > 0)
        rescale(law, offset, factor, w)
        change = sweep(law, offset, jump, service[1:], phases.clock, inverses, phases.multiset)
    raise NotConverged(
        f"stationary law of {model.states} states", iterations=most_iterations, residual=change
    )


def _result(
    model: BurstyBuffer,
    law: Matrix,
    offset: Counts,
    mass: Matrix,
    gone: Matrix,
    iterations: int,
    change: float,
) -> StationaryLaw:
    w, m, _ = model.phases

    def tensor(n: int) -> Matrix:
        return law[offset[n] : offset[n + 1]].reshape(-1, w, m)

    return StationaryLaw(mass, gone, tensor, iterations, change, "aggregation and sweeps")


def _clock(law: PhaseType) -> tuple[Matrix, Matrix, Matrix]:
    moves = law.generator - np.diag(np.diag(law.generator))
    return law.initial, law.exits, moves if np.any(moves > 0) else np.zeros((0, 0))


def _phases(model: BurstyBuffer) -> _Phases:
    w, m, v = model.phases
    law = model.obsolescence
    assert law is not None
    sizes = [w, *(w * m * v**k for k in range(model.levels - 1))]
    multiset = np.zeros(1, dtype=np.int64)
    total = np.zeros(1)
    weight = np.array([0, *(model.levels**u for u in range(v - 1))])
    for _ in range(model.levels - 2):
        multiset = (multiset[:, None] + weight).ravel()
        total = (total[:, None] + law.exits).ravel()
    return _Phases(np.concatenate([[0], np.cumsum(sizes)]), multiset, total, _clock(law))


def _inverses(model: BurstyBuffer, jump: Matrix) -> tuple[Matrix, Matrix]:
    """Inverses of the diagonal blocks by level and multiset of phases (counts of all but one)."""
    w, m, v = model.phases
    law = model.obsolescence
    assert law is not None
    levels, leave = model.levels, -np.diag(law.generator)
    counts = np.indices((levels,) * (v - 1)).reshape(v - 1, -1)[::-1]  # first counted is fastest
    waiting = np.maximum(np.arange(levels) - 1, 0)
    zeros = np.maximum(waiting[:, None] - counts.sum(axis=0), 0)
    rate = zeros * leave[0] + leave[1:] @ counts
    local = np.stack([np.kron(block, np.eye(m)) for block in jump[:, 0]])
    local = local + np.kron(np.eye(w), model.service.generator)
    blocks = -local[:, None] + rate[:, :, None, None] * np.eye(w * m)
    return np.linalg.inv(-jump[0, 0]), np.linalg.inv(blocks)


def _first(model: BurstyBuffer, phases: _Phases, modes: Counts) -> Matrix:
    """Begin with the phases of pages that have just come, and rates that fit their mean."""
    w, m, _ = model.phases
    law = model.obsolescence
    assert law is not None
    waiting = np.maximum(np.arange(model.levels) - 1.0, 0.0)
    rates = np.outer(waiting / law.mean, np.ones(w * m))
    mass = level_weights(model.jumps, model.room, modes, service_rates(model), rates)
    out = np.empty(phases.offset[-1])
    out[:w] = mass[0, :w]
    spread = np.ones(1)
    for n in range(1, model.levels):
        out[phases.offset[n] : phases.offset[n + 1]] = np.outer(spread, mass[n]).ravel()
        spread = np.outer(spread, law.initial).ravel()
    return out
