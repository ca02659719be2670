"""Dynamic programmes over a matrix of interval costs: any cost, and the published algorithms.

``K[i, j]`` is the cost of the interval from point i to point j > i, infinity where it is not
allowed; what lies on and below the diagonal is not used.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.arrays import Vector
from recrawl.kernels.compile import sized_kernel

Table: TypeAlias = NDArray[np.int32]


@sized_kernel(lambda steps, *_: float(steps.size) ** 2)
def fill_as_published(steps: Vector, rates: Vector, worths: Vector) -> Vector:
    """Algorithm 4: all K from those of neighbours, by Lemma 3.

    The importance added for K[i, j] is that of i + 1 .. j; the printed listing adds it one step
    too early.

    Parameters
    ----------
    steps : shape (N,), cost of the interval between each point and the next
    rates, worths : shape (N,), updates expected and importance between each point and the next
    """
    N = steps.size
    K = np.zeros((N + 1, N + 1))
    for j in range(1, N + 1):
        K[j - 1, j] = steps[j - 1]
    for j in range(N, 0, -1):
        later = 0.0
        for i in range(j - 2, -1, -1):
            later += worths[i + 1]
            K[i, j] = steps[i] + rates[i] * later + K[i + 1, j]
    return K


@sized_kernel(lambda K, n: float(K.size) * n)
def solve_as_published(K: Vector, n: int) -> tuple[Vector, Table]:
    """Algorithm 1 for exactly m = 1..n probes: costs from each point, and the next probes.

    D[m - 1, i] is infinity where m probes after point i are impossible, at point N too: the text
    sets D(m, N) = 0, which would mean "at most".

    Parameters
    ----------
    K : shape (N + 1, N + 1), see the module
    n : probes, >= 1
    """
    N = K.shape[0] - 1
    D = np.full((n, N + 1), np.inf)
    following = np.full((n, N + 1), -1, np.int32)
    for i in range(N):
        D[0, i] = K[i, N]
        following[0, i] = N
    for m in range(1, n):
        for i in range(N):
            for j in range(i + 1, N):
                cost = K[i, j] + D[m - 1, j]
                if cost < D[m, i]:
                    D[m, i] = cost
                    following[m, i] = j
    return D, following


@sized_kernel(lambda K: 2.0 * K.size)
def check_monge(K: Vector) -> tuple[float, int, int]:
    """Largest excess of K[i,j] + K[i+1,j+1] over K[i,j+1] + K[i+1,j], relative, and where.

    Adjacent quadruples imply all others. An infinite right side is never exceeded.
    """
    N = K.shape[0] - 1
    worst, at_i, at_j = 0.0, -1, -1
    for i in range(N - 1):
        for j in range(i + 2, N):
            right = K[i, j + 1] + K[i + 1, j]
            if right == np.inf:
                continue
            left = K[i, j] + K[i + 1, j + 1]
            scale = abs(K[i, j + 1]) + abs(K[i + 1, j]) + abs(left) + 1e-300
            excess = (left - right) / scale if left < np.inf else np.inf
            if excess > worst:
                worst, at_i, at_j = excess, i, j
    return worst, at_i, at_j


@sized_kernel(lambda K, n: 20.0 * K.shape[0] * n)
def solve_as_monge(K: Vector, n: int) -> tuple[Vector, Table]:
    """Like ``solve_as_published``, each layer by divide and conquer.

    The best next probe of a later point is never earlier.

    Parameters
    ----------
    K : shape (N + 1, N + 1), see the module; Monge, see :func:`check_monge`
    n : probes, >= 1
    """
    N = K.shape[0] - 1
    D = np.full((n, N + 1), np.inf)
    following = np.full((n, N + 1), -1, np.int32)
    D[0, :N] = K[:N, N]
    following[0, :N] = N
    stack = np.empty((2 * 64, 4), np.int64)
    for m in range(1, n):
        stack[0] = np.array([0, N - 1, 1, N - 1])
        depth = 1
        while depth > 0:
            depth -= 1
            first, last, low, high = stack[depth]
            if first > last:
                continue
            middle = (first + last) // 2
            best, at = np.inf, -1
            for j in range(max(low, middle + 1), high + 1):
                cost = K[middle, j] + D[m - 1, j]
                if cost < best:
                    best, at = cost, j
            D[m, middle] = best
            following[m, middle] = at
            # A point from which m + 1 probes are impossible leaves none for later points either.
            stack[depth] = np.array([first, middle - 1, low, at if at >= 0 else high])
            stack[depth + 1] = np.array([middle + 1, last, at if at >= 0 else low, high])
            depth += 2
    return D, following
