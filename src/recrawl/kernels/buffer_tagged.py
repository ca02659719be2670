"""One page followed through the buffer: the transforms of its stay, by what lies ahead of it.

The place of a page is its number i of pages ahead; the state is (phases of the i - 1 other
waiting pages oldest first, its own phase, service phase), last index fastest. Arrivals, robots
and pages behind do not matter to it.
"""

import numpy as np

from recrawl.kernels.arrays import Complexes, Counts, Floats
from recrawl.kernels.compile import kernel


@kernel
def solve_small(a: Complexes, right: Complexes) -> None:
    """Solve a x = right in place; ``a`` is diagonally dominant."""
    n = a.shape[0]
    for j in range(n):
        for i in range(j + 1, n):
            if a[i, j] != 0:
                f = a[i, j] / a[j, j]
                for k in range(j + 1, n):
                    a[i, k] -= f * a[j, k]
                for k in range(right.shape[1]):
                    right[i, k] -= f * right[j, k]
    for i in range(n - 1, -1, -1):
        for k in range(right.shape[1]):
            for j in range(i + 1, n):
                right[i, k] -= a[i, j] * right[j, k]
            right[i, k] /= a[i, i]


@kernel
def follow_page(
    s: complex,
    places: int,
    service: tuple[Floats, Floats, Floats],
    clock: tuple[Floats, Floats],
    sweeps: int,
) -> tuple[Complexes, Counts]:
    """Return E exp(-s stay) on being served and on going stale, (states, 2), for 0 .. places - 1.

    The second array returned, shape (places + 1,), says where the states of each place begin.

    Parameters
    ----------
    s : argument of the transforms, 1/time
    places : how many places, from 0 pages ahead on
    service : generator, shape (m, m), exits, shape (m,), both 1/time, and initial law, shape (m,)
    clock : generator, shape (v, v), and exits, shape (v,), of the obsolescence time, 1/time
    sweeps : 1 if that generator is upper triangular, otherwise the most inner sweeps (the last one
        changes nothing if enough)
    """
    generator, exits, initial = service
    moves, stale = clock
    m, v = initial.shape[0], stale.shape[0]
    offset = np.zeros(places + 1, np.int64)
    width = 1
    for i in range(places):
        offset[i + 1] = offset[i] + width * m
        width *= v
    out = np.zeros((offset[places], 2), np.complex128)
    a, right = np.zeros((m, m), np.complex128), np.zeros((m, 2), np.complex128)
    width = 1
    for i in range(places):
        here, before = offset[i], offset[max(i - 1, 0)]
        for _ in range(sweeps):
            change = 0.0
            for c in range(width - 1, -1, -1):
                total = 0.0
                right[:] = 0.0
                if i == 0:
                    for x in range(m):
                        right[x, 0] = exits[x]
                else:
                    behind = width // v
                    for y in range(m):
                        at = before + (c % behind) * m + y
                        for x in range(m):
                            right[x, 0] += exits[x] * initial[y] * out[at, 0]
                            right[x, 1] += exits[x] * initial[y] * out[at, 1]
                    place = 1
                    while place < width:
                        phase = (c // place) % v
                        total -= moves[phase, phase]
                        if place == 1:
                            for x in range(m):
                                right[x, 1] += stale[phase]
                        elif stale[phase] > 0.0:
                            rest = (c // (place * v)) * place + c % place
                            for x in range(m):
                                right[x, 0] += stale[phase] * out[before + rest * m + x, 0]
                                right[x, 1] += stale[phase] * out[before + rest * m + x, 1]
                        for u in range(v):
                            if u != phase and moves[phase, u] > 0.0:
                                at = here + (c + (u - phase) * place) * m
                                for x in range(m):
                                    right[x, 0] += moves[phase, u] * out[at + x, 0]
                                    right[x, 1] += moves[phase, u] * out[at + x, 1]
                        place *= v
                    if v == 1:  # no place can be told from another
                        total -= i * moves[0, 0]
                        for x in range(m):
                            right[x, 1] += stale[0]
                            right[x, 0] += (i - 1) * stale[0] * out[before + x, 0]
                            right[x, 1] += (i - 1) * stale[0] * out[before + x, 1]
                for x in range(m):
                    for y in range(m):
                        a[x, y] = -generator[x, y]
                    a[x, x] += s + total
                solve_small(a, right)
                for x in range(m):
                    for k in range(2):
                        change = max(change, abs(out[here + c * m + x, k] - right[x, k]))
                        out[here + c * m + x, k] = right[x, k]
            if change < 1e-16:
                break
        width *= v
    return out, offset
