"""Forward and backward passes over a sequence of hidden states."""

import numpy as np

from recrawl.kernels.arrays import Counts, Floats
from recrawl.kernels.compile import kernel


@kernel
def expect_hidden(
    density: Floats, shift: Floats, starts: Counts, initial: Floats, moves: Floats
) -> tuple[float, Floats, Floats]:
    """Return log-likelihood, expected occupation (n, m), expected moves (m, m).

    Parameters
    ----------
    density : shape (n, m), density of each observation in each hidden state, times exp(-shift)
    shift : shape (n,), logarithm by which the densities of an observation are scaled
    starts : shape (k + 1,), first index of each separate sequence, and n
    initial : shape (m,), chances of the state in which a sequence begins
    moves : shape (m, m), chances of each state after each, rows of sum 1
    """
    n, m = density.shape
    forward, scale = np.zeros((n, m)), np.zeros(n)
    occupied, moved = np.zeros((n, m)), np.zeros((m, m))
    total = 0.0
    for part in range(starts.shape[0] - 1):
        first, end = starts[part], starts[part + 1]
        for t in range(first, end):
            for j in range(m):
                before = initial[j]
                if t > first:
                    before = 0.0
                    for i in range(m):
                        before += forward[t - 1, i] * moves[i, j]
                forward[t, j] = before * density[t, j]
                scale[t] += forward[t, j]
            for j in range(m):
                forward[t, j] /= scale[t]
            total += np.log(scale[t]) + shift[t]
        backward = np.ones(m)
        for t in range(end - 1, first - 1, -1):
            for j in range(m):
                occupied[t, j] = forward[t, j] * backward[j]
            if t == first:
                break
            earlier = np.zeros(m)
            for i in range(m):
                for j in range(m):
                    flow = moves[i, j] * density[t, j] * backward[j] / scale[t]
                    earlier[i] += flow
                    moved[i, j] += forward[t - 1, i] * flow
            backward = earlier
    return total, occupied, moved
