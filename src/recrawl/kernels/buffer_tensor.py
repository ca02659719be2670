"""Sweeps over the full law of the controlled buffer when pages go stale by phases (V > 1).

Level n >= 1 holds a tensor (V, ..., V, w m): the obsolescence phases of its n - 1 waiting pages,
oldest first, then the local state (arrival phase, service phase). All levels lie one after the
other in one flat vector; ``offset`` says where each begins. Nothing as large as a matrix over
states is ever made: arrivals multiply by the initial phases, a service sums over the oldest
page, a page gone stale sums over its place, and the diagonal blocks are solved for each multiset
of phases by a small inverse.
"""

import numpy as np

from recrawl.kernels.arrays import Counts, Floats
from recrawl.kernels.compile import kernel


@kernel
def arrive(
    n: int, law: Floats, offset: Counts, jump: Floats, initial: Floats, start: Floats
) -> Floats:
    """Return what arrives at level n from below, flat; ``jump`` is (levels, K + 1, w, w)."""
    most, w, m, v = jump.shape[1] - 1, jump.shape[2], initial.shape[0], start.shape[0]
    size = w * m
    lowest = max(n - most, 0)
    now = np.zeros(offset[lowest + 1] - offset[lowest] if lowest > 0 else size)
    for k in range(min(most, n), 0, -1):
        source = n - k
        rate = jump[source, k]
        if source == 0:
            for i in range(w):
                for j in range(w):
                    for x in range(m):
                        now[j * m + x] += law[i] * rate[i, j] * initial[x]
            continue
        base = offset[source]
        blocks = (offset[source + 1] - base) // size
        for a in range(blocks):
            for i in range(w):
                for j in range(w):
                    r = rate[i, j]
                    if r > 0.0:
                        for x in range(m):
                            now[a * size + j * m + x] += r * law[base + a * size + i * m + x]
        larger = np.empty(blocks * v * size)
        for a in range(blocks):
            for u in range(v):
                for x in range(size):
                    larger[(a * v + u) * size + x] = start[u] * now[a * size + x]
        now = larger
    return now


@kernel
def depart(
    n: int,
    inflow: Floats,
    law: Floats,
    offset: Counts,
    service: tuple[Floats, Floats],
    stale: Floats,
    w: int,
) -> None:
    """Add to ``inflow`` at level n what comes down from level n + 1."""
    exits, initial = service
    m, v = exits.shape[0], stale.shape[0]
    size, base = w * m, offset[n + 1]
    if n == 0:
        for i in range(w):
            for x in range(m):
                inflow[i] += law[base + i * m + x] * exits[x]
        return
    blocks = inflow.shape[0] // size
    for head in range(v):
        for a in range(blocks):
            at = base + (head * blocks + a) * size
            for i in range(w):
                done = 0.0
                for x in range(m):
                    done += law[at + i * m + x] * exits[x]
                for x in range(m):
                    inflow[a * size + i * m + x] += done * initial[x]
    low = blocks
    high = 1
    for _ in range(n):  # the place of the page that has gone stale
        run = low * size
        for u in range(v):
            rate = stale[u]
            if rate > 0.0:
                for h in range(high):
                    target = inflow[h * run : (h + 1) * run]
                    at = base + (h * v + u) * run
                    source = law[at : at + run]
                    for x in range(run):
                        target[x] += rate * source[x]
        high *= v
        low //= v


@kernel
def solve_level(
    n: int,
    inflow: Floats,
    law: Floats,
    offset: Counts,
    inverse: Floats,
    multiset: Counts,
    moves: Floats,
    keep: bool,
) -> float:
    """Replace the law of level n by inflow (-Q_nn)^-1; return how much it changed in all.

    With ``keep`` it stays as it is, and what it would change by is returned.
    """
    size, v = inverse.shape[1], moves.shape[0]
    base = offset[n]
    blocks = inflow.shape[0] // size
    changed = 0.0
    row = np.empty(size)
    for a in range(blocks):
        for x in range(size):
            row[x] = inflow[a * size + x]
        if v > 0:
            place = 1
            while place < blocks:
                here = (a // place) % v
                for u in range(v):
                    rate = moves[u, here]
                    if rate > 0.0:
                        at = base + (a + (u - here) * place) * size
                        for x in range(size):
                            row[x] += rate * law[at + x]
                place *= v
        table = inverse[multiset[a]]
        for y in range(size):
            total = 0.0
            for x in range(size):
                total += row[x] * table[x, y]
            changed += abs(total - law[base + a * size + y])
            if not keep:
                law[base + a * size + y] = total
    return changed


@kernel
def sweep(
    law: Floats,
    offset: Counts,
    jump: Floats,
    service: tuple[Floats, Floats],
    clock: tuple[Floats, Floats, Floats],
    inverses: tuple[Floats, Floats],
    multiset: Counts,
) -> float:
    """One block Gauss-Seidel sweep up and one down; returns the sum of each level's last change.

    Parameters
    ----------
    law : flat, shape (states,), is written
    offset : shape (levels + 1,), see the module
    jump : shape (levels, K + 1, w, w), rates by pages taken in, in each level's mode, 1/time
    service : exits, 1/time, and initial law, shape (m,) each
    clock : initial phases, shape (v,), rates of going stale, shape (v,), 1/time, and of moves
        between phases, shape (v, v), 1/time, or an empty table
    inverses : of the diagonal blocks, time: level 0, shape (w, w); the others by level and multiset
        of phases, shape (levels, multisets, w m, w m)
    multiset : shape (v^(levels - 2),), the multiset of each combination of phases
    """
    initial = service[1]
    start, stale, moves = clock
    levels, w = jump.shape[0], jump.shape[2]
    changed = 0.0
    for step in range(2 * levels - 1):
        n = step if step < levels else 2 * levels - 2 - step
        inflow = np.zeros(w) if n == 0 else arrive(n, law, offset, jump, initial, start)
        if n < levels - 1:
            depart(n, inflow, law, offset, service, stale, w)
        if step == levels - 1:  # the top is seen once, so what it changes by counts too
            changed = 0.0
        if n == 0:
            for y in range(w):
                total = 0.0
                for x in range(w):
                    total += inflow[x] * inverses[0][x, y]
                changed += abs(total - law[y])
                law[y] = total
        else:
            changed += solve_level(n, inflow, law, offset, inverses[1][n], multiset, moves, False)
    return changed


@kernel
def imbalance(
    law: Floats,
    offset: Counts,
    jump: Floats,
    service: tuple[Floats, Floats],
    clock: tuple[Floats, Floats, Floats],
    inverses: tuple[Floats, Floats],
    multiset: Counts,
) -> float:
    """Return by how much a law differs from what flows into each state over what leaves it.

    Parameters
    ----------
    law : flat, shape (states,)
    offset, jump, service, clock, inverses, multiset : as for :func:`sweep`
    """
    initial = service[1]
    start, stale, moves = clock
    levels, w = jump.shape[0], jump.shape[2]
    found = 0.0
    for n in range(levels):
        inflow = np.zeros(w) if n == 0 else arrive(n, law, offset, jump, initial, start)
        if n < levels - 1:
            depart(n, inflow, law, offset, service, stale, w)
        if n == 0:
            for y in range(w):
                total = 0.0
                for x in range(w):
                    total += inflow[x] * inverses[0][x, y]
                found += abs(total - law[y])
        else:
            found += solve_level(n, inflow, law, offset, inverses[1][n], multiset, moves, True)
    return found


@kernel
def aggregate(
    law: Floats, offset: Counts, rates: Floats, size: int, w: int
) -> tuple[Floats, Floats]:
    """Sum out the phases: mass and rate of going stale by level and local state, (levels, size).

    Parameters
    ----------
    law : flat, shape (states,)
    offset : shape (levels + 1,), see the module
    rates : shape (v^(levels - 2),), 1/time, of going stale, summed over the phases of a combination
        of the top level; where fewer pages wait, the combination has that many leading pages in
        phase 0, whose rate ``rates[0]`` counts too often
    size, w : local states, w m, and arrival phases
    """
    levels = offset.shape[0] - 1
    most = max(levels - 2, 1)
    mass, gone = np.zeros((levels, size)), np.zeros((levels, size))
    mass[0, :w] = law[:w]
    for n in range(1, levels):
        base = offset[n]
        extra = rates[0] / most * (levels - 1 - n)
        for a in range((offset[n + 1] - base) // size):
            rate = rates[a] - extra
            for x in range(size):
                p = law[base + a * size + x]
                mass[n, x] += p
                gone[n, x] += p * rate
    return mass, gone


@kernel
def rescale(law: Floats, offset: Counts, factor: Floats, w: int) -> None:
    """Multiply each local state of each level by its factor.

    Parameters
    ----------
    law : flat, shape (states,), is written
    offset : shape (levels + 1,), see the module
    factor : shape (levels, w m), >= 0; at level 0 the first w count
    w : arrival phases
    """
    size = factor.shape[1]
    for i in range(w):
        law[i] *= factor[0, i]
    for n in range(1, offset.shape[0] - 1):
        for a in range(offset[n], offset[n + 1], size):
            for x in range(size):
                law[a + x] *= factor[n, x]
