"""The stationary law of the controlled buffer when obsolescence has one phase or none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.kernels.arrays import Counts, Matrix
from recrawl.kernels.buffer_levels import level_weights

ServiceRates: TypeAlias = tuple[Matrix, Matrix, Matrix]

# Beyond, LAPACK's elimination is faster than the compiled one.
_COMPILED_BLOCKS, _COMPILED_BLOCKS_NEVER_STALE = 20, 96


@dataclass(frozen=True, eq=False)
class StationaryLaw:
    """Probabilities of the states, by level.

    Parameters
    ----------
    mass : shape (levels, W M); by pages and local state (arrival phase, service phase); level 0
        has its arrival phases in the first W places
    stale : shape (levels, W M); rate of pages going stale there, times the mass
    tensor : level n >= 1 in full, shape (V ** (n - 1), W, M), oldest waiting page slowest
    iterations, residual : of an iterative solution; 1 and 0 of a direct one, which is exact up to
        rounding in every entry
    method : in words
    """

    mass: Matrix
    stale: Matrix
    tensor: Callable[[int], Matrix]
    iterations: int
    residual: float
    method: str


def service_rates(model: BurstyBuffer) -> ServiceRates:
    """Return (generator, exits, initial) of the service time."""
    law = model.service
    return law.generator, law.exits, law.initial


def stale_rates(model: BurstyBuffer) -> Matrix:
    """Rate of going stale by pages and local state, shape (levels, W M), for one phase."""
    w, m, _ = model.phases
    rate = float(model.obsolescence.exits[0]) if model.obsolescence is not None else 0.0
    waiting = np.maximum(np.arange(model.levels) - 1.0, 0.0)
    return np.asarray(rate * waiting[:, None] * np.ones(w * m))


def solve_levels(model: BurstyBuffer, modes: Counts) -> StationaryLaw:
    """Return the law under a map from pages to modes.

    Parameters
    ----------
    model : the buffer, with one phase of obsolescence or none
    modes : shape (levels,), index of the mode at 0, 1, ... pages

    Notes
    -----
    Backward elimination of levels (block Hessenberg, K blocks up and one down), forward
    substitution: time O(N K (WM)^3), memory O(N (WM)^2), linear in the buffer. Small blocks are
    eliminated without subtractions; large ones without batches by LAPACK.
    """
    w, m, _ = model.phases
    rates = stale_rates(model)
    most = _COMPILED_BLOCKS if np.any(rates > 0) else _COMPILED_BLOCKS_NEVER_STALE
    if w * m > most and model.largest_batch == 1:
        mass = _solve_blocks(model, modes, rates)
    else:
        mass = level_weights(model.jumps, model.room, modes, service_rates(model), rates)

    def tensor(n: int) -> Matrix:
        return np.asarray(mass[n].reshape(1, w, m))

    return StationaryLaw(mass, mass * rates, tensor, 1, 0.0, "level elimination")


def _solve_blocks(model: BurstyBuffer, modes: Counts, stale: Matrix) -> Matrix:
    """Eliminate the levels of a quasi-birth-death process with LAPACK, from the top.

    R_n = Q_{n-1,n} (-U_n)^{-1} is solved for all at once; the product R_n Q_{n,n-1} costs only
    O((WM)^2), for Q_{n,n-1} = I_W x (exits initial) + diag(stale).
    """
    w, m, _ = model.phases
    generator, exits, initial = service_rates(model)
    size, levels = w * m, model.levels
    unit_w, unit_m = np.eye(w), np.eye(m)
    served = np.kron(unit_w, generator)
    ups: dict[tuple[int, int], Matrix] = {}
    stays: dict[tuple[int, int], Matrix] = {}
    for key in set(zip(map(int, model.room), map(int, modes), strict=True)):
        jump = model.jumps[key]
        ups[key] = np.asarray(np.kron(jump[1], unit_m).T.copy())
        stays[key] = -np.asarray((np.kron(jump[0], unit_m) + served).T.copy())
    steps: list[Matrix] = [np.zeros(0)] * levels
    back = np.zeros((size, size))
    diagonal = np.arange(size)
    for n in range(levels - 1, 0, -1):
        out = stays[int(model.room[n]), int(modes[n])] - back
        out[diagonal, diagonal] += stale[n]
        if n > 1:
            up = ups[int(model.room[n - 1]), int(modes[n - 1])]
        else:
            jump = model.jumps[int(model.room[0]), int(modes[0])]
            up = np.asarray(np.kron(jump[1], initial[None, :]).T)
        step = np.linalg.solve(out, up)  # R_n, transposed
        steps[n] = np.asarray(step, dtype=np.float64)
        ended = exits @ step.reshape(w, m, -1)  # (w, rows)
        if n > 1:
            back = (ended[:, None, :] * initial[:, None]).reshape(size, size)
            back += stale[n][:, None] * step
    first = model.jumps[int(model.room[0]), int(modes[0]), 0] + ended.T
    mass: Matrix = np.zeros((levels, size))
    system = np.vstack([first.T, np.ones(w)])
    mass[0, :w] = np.linalg.lstsq(system, np.eye(w + 1)[w], rcond=None)[0]
    row = mass[0, :w]
    for n in range(1, levels):
        row = steps[n] @ row
        mass[n] = row
        if row.sum() > 1e200:
            mass *= 1e-200
            row = mass[n]
    return np.asarray(mass / mass.sum())
