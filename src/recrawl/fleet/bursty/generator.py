"""The generator of the controlled buffer written out, for small chains."""

import numpy as np

from recrawl.fleet.bursty.iterative import check_size
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.kernels.arrays import Counts, Matrix

MOST_DENSE = 2_500  # states; some 200 MB for four modes


def level_offsets(model: BurstyBuffer) -> Counts:
    """Return where levels begin: states (n, nu, m, eta_1 .. eta_{n-1}), last index fastest."""
    w, m, v = model.phases
    sizes = [w, *(w * m * v**k for k in range(model.levels - 1))]
    return np.concatenate([[0], np.cumsum(sizes)])


def write_generators(model: BurstyBuffer) -> Matrix:
    """Return the generator of each mode, shape (modes, states, states).

    Raises
    ------
    InvalidModel
        If there are more than ``MOST_DENSE`` states.

    Notes
    -----
    Blocks by Kronecker products: level n to n + k is D_k x I x gamma x ... x gamma, the stay
    D_0 + S + Gamma + ... + Gamma (Kronecker sums), and n to n - 1 a service that drops the oldest
    page's phase plus every way to go stale.
    """
    check_size(model, MOST_DENSE)
    w, m, v = model.phases
    at = level_offsets(model)
    start, moves, stale = _clock(model)
    exits, initial = model.service.exits, model.service.initial
    out = np.zeros((len(model.robots), at[-1], at[-1]))
    for n in range(model.levels):
        here = slice(at[n], at[n + 1])
        waiting = v ** max(n - 1, 0)
        inner = waiting * (m if n else 1)
        for mode in range(len(model.robots)):
            jump = model.jumps[model.room[n], mode]
            out[mode, here, here] = np.kron(jump[0], np.eye(inner))
            for k in range(1, min(model.largest_batch, model.levels - 1 - n) + 1):
                fresh: Matrix = np.ones((1, 1))
                for _ in range(k if n else k - 1):
                    fresh = np.asarray(np.kron(fresh, start[None, :]))
                spread = np.eye(inner) if n else initial[None, :]
                block = np.kron(np.kron(jump[k], spread), fresh)
                out[mode, here, at[n + k] : at[n + k + 1]] = block
        if n:
            stay = np.kron(model.service.generator, np.eye(waiting))
            stay += np.kron(np.eye(m), _sum_of(moves, n - 1))
            out[:, here, here] += np.kron(np.eye(w), stay)
            down: Matrix = np.asarray(exits[:, None], dtype=np.float64)
            if n > 1:
                left = np.eye(v ** (n - 2))
                down = np.asarray(np.kron(np.outer(exits, initial), np.kron(np.ones((v, 1)), left)))
                down += np.kron(np.eye(m), _drops(stale, n - 1))
            out[:, here, at[n - 1] : at[n]] = np.kron(np.eye(w), down)
    return out


def _clock(model: BurstyBuffer) -> tuple[Matrix, Matrix, Matrix]:
    law = model.obsolescence
    if law is None:
        return np.ones(1), np.zeros((1, 1)), np.zeros(1)
    return law.initial, law.generator, law.exits


def _sum_of(moves: Matrix, n: int) -> Matrix:
    """Kronecker sum of n equal matrices."""
    out = np.zeros((1, 1))
    for _ in range(n):
        out = np.kron(out, np.eye(moves.shape[0])) + np.kron(np.eye(out.shape[0]), moves)
    return out


def _drops(stale: Matrix, n: int) -> Matrix:
    """Rates at which one of n pages goes stale, shape (V ** n, V ** (n - 1))."""
    v = stale.size
    out = np.zeros((v**n, v ** (n - 1)))
    for j in range(n):
        out += np.kron(np.kron(np.eye(v**j), stale[:, None]), np.eye(v ** (n - 1 - j)))
    return out
