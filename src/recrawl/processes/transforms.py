"""Logarithms of Laplace transforms of phase-type laws, where the transform itself underflows."""

import numpy as np

from recrawl.kernels.arrays import Vector

_AT_ONCE = 1 << 20  # numbers in a block


def log_transform(initial: Vector, moves: Vector, exits: Vector, s: Vector) -> Vector:
    """Return log E exp(-s X) for a law with phases.

    Parameters
    ----------
    initial : shape (m,), >= 0, summing to 1
    moves : shape (m, m), >= 0, rates between phases; the diagonal does not count
    exits : shape (m,), >= 0, rates of absorption
    s : shape (n,), > 0

    Notes
    -----
    Only sums, products and ratios of positive numbers, by their logarithms: no cancellation, no
    underflow (the elimination of Grassmann, Taksar and Heyman, with death at rate s). Where phases
    follow each other in order it is a back substitution: O(n k) for k moves; O(n m^3) otherwise.
    """
    m = initial.size
    moves = moves - np.diag(np.diag(moves))
    block = max(1, _AT_ONCE // (m if not np.any(np.tril(moves)) else m * m))
    find = _in_order if not np.any(np.tril(moves)) else _by_elimination
    with np.errstate(divide="ignore"):
        parts = [
            find(np.log(initial), moves, exits, s[at : at + block])
            for at in range(0, s.size, block)
        ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _in_order(log_initial: Vector, moves: Vector, exits: Vector, s: Vector) -> Vector:
    m = exits.size
    out = np.empty((m, s.size))
    leave = moves.sum(axis=1) + exits
    for i in range(m - 1, -1, -1):
        after = np.flatnonzero(moves[i])
        total = np.full(s.size, np.log(exits[i]))
        for j in after:
            total = np.logaddexp(total, np.log(moves[i, j]) + out[j])
        out[i] = total - np.log(s + leave[i])
    return np.asarray(np.logaddexp.reduce(log_initial[:, None] + out, axis=0))


def _by_elimination(log_initial: Vector, moves: Vector, exits: Vector, s: Vector) -> Vector:
    m, n = exits.size, s.size
    rates = np.repeat(np.log(moves)[:, :, None], n, axis=2)
    done = np.repeat(np.log(exits)[:, None], n, axis=1)
    died = np.repeat(np.log(s)[None], m, axis=0)
    enter = np.repeat(log_initial[:, None], n, axis=1)
    total = np.full(n, -np.inf)
    for k in range(m - 1, -1, -1):
        out = np.logaddexp(done[k], died[k])
        if k:
            out = np.logaddexp(out, np.logaddexp.reduce(rates[k, :k], axis=0))
        share = rates[:k, k] - out
        rates[:k, :k] = np.logaddexp(rates[:k, :k], share[:, None] + rates[k, None, :k])
        done[:k] = np.logaddexp(done[:k], share + done[k])
        died[:k] = np.logaddexp(died[:k], share + died[k])
        total = np.logaddexp(total, enter[k] - out + done[k])
        enter[:k] = np.logaddexp(enter[:k], enter[k] - out + rates[k, :k])
    return np.asarray(total)
