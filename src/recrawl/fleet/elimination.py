"""Chains solved by adding, multiplying and dividing what is not negative.

Nothing is subtracted, so every number has its digits, however small it is beside the others
(Grassmann, Taksar and Heyman 1985).
"""

from typing import Final

import numpy as np

from recrawl.kernels.arrays import Matrix

_SMALL: Final = 24  # states, of which each costs less by itself than what halving costs


def times_before(moves: Matrix, ends: Matrix) -> Matrix:
    """Return the time in each state, from each, before an end, as expected; entry by entry exact.

    Parameters
    ----------
    moves : shape (n, n), rates between states, >= 0; the diagonal is not read
    ends : shape (n,), rates at which it ends, >= 0; from every state an end can be reached

    Notes
    -----
    The inverse of what is left of a generator without one of its states, by halves: the second half
    as it is seen by who looks away while the process is in the first. O(n^3).
    """
    size = ends.size
    if size <= _SMALL:
        return _times_of_few(moves, ends)
    half = size // 2
    out, back = moves[:half, half:], moves[half:, :half]
    first = times_before(moves[:half, :half], ends[:half] + out.sum(axis=1))
    back = back @ first
    second = times_before(moves[half:, half:] + back @ out, ends[half:] + back @ ends[:half])
    across = first @ out @ second
    times = np.empty((size, size))
    times[half:, half:], times[half:, :half] = second, second @ back
    times[:half, half:], times[:half, :half] = across, first + across @ back
    return times


def _times_of_few(moves: Matrix, ends: Matrix) -> Matrix:
    """Return what :func:`times_before` does, state by state."""
    size = ends.size
    table = np.concatenate([moves, ends[:, None], np.eye(size)], axis=1)
    leaves = np.empty(size)  # rates at which states are left, for later ones or for good
    for state in range(size):
        onwards = table[state, state + 1 :]
        leaves[state] = onwards[: size - state].sum()
        comes = table[:, state] / leaves[state]
        comes[state] = 0.0
        table[:, state + 1 :] += comes[:, None] * onwards
    return np.asarray(table[:, size + 1 :] / leaves[:, None])


def balanced(moves: Matrix) -> Matrix:
    """Return the long-run shares of the states of a chain.

    Parameters
    ----------
    moves : shape (n, n), rates between states, >= 0; the diagonal is not read. Of several closed
        classes one has all of the time.

    Notes
    -----
    O(n^3).
    """
    reached = moves > 0.0
    np.fill_diagonal(reached, val=True)
    for _ in range(max(len(moves) - 1, 1).bit_length()):
        reached = reached.astype(np.float32) @ reached.astype(np.float32) > 0.0
    # One that is come back to, wherever it leads.
    one = int(np.flatnonzero(np.all(~reached | reached.T, axis=1))[0])
    others = np.flatnonzero(reached[one])
    others = others[others != one]
    shares = np.zeros(len(moves))
    shares[one] = 1.0
    if others.size:
        times = times_before(moves[np.ix_(others, others)], moves[others, one])
        shares[others] = moves[one, others] @ times
    return np.asarray(shares / shares.sum())
