"""The controlled buffer by levels: batches jump up, single departures step down (V = 1).

A level is a number of pages; within it the local state is (arrival phase, service phase), last
index fastest, and at level 0 the arrival phase alone. Going down from the highest level, each
level is reduced to the one below by state elimination without subtractions (Grassmann, Taksar and
Heyman), so that every probability, however small, has full relative accuracy.

Shapes: ``jumps`` (rooms, modes, K + 1, w, w) holds the rates by pages taken in, for each amount
of room; ``room`` (levels,) says which of them a level uses; ``service`` is (generator, exits,
initial); ``stale`` (levels, B) is the total obsolescence rate in a local state, B = w m.
"""

import numpy as np

from recrawl.kernels.arrays import Counts, Floats
from recrawl.kernels.compile import kernel


@kernel
def reduce_level(
    n: int,
    jump: Floats,
    top: int,
    service: tuple[Floats, Floats, Floats],
    stale: Floats,
    gain: Floats,
    down: Floats,
    passage: Floats,
    factor: Floats,
    pivot: Floats,
) -> None:
    """Reduce level n given all higher ones: its rates censored on levels <= n, and what follows.

    ``jump`` is (K + 1, w, w) for this level and mode, ``top`` the most pages taken in. Writes
    ``down[n]`` (phases of the first passage to n - 1), ``passage[n]`` (``gain`` accumulated until
    then), ``factor[n]`` and ``pivot[n]``. At level 0, ``factor[0]`` holds the censored rates and
    ``passage[0]`` what a state gains until it is left and come back to.
    """
    generator, exits, initial = service
    w, m = jump.shape[1], initial.shape[0]
    size = w * m
    rows = size if n > 0 else w
    gains = gain.shape[1]
    cols = size if n > 1 else w
    a, total = factor[n], passage[n]  # loops compile in a fraction of what array expressions take
    row_sums = np.empty(size)
    for i in range(rows):
        for j in range(size):
            a[i, j] = 0.0
        for f in range(gains):
            total[i, f] = gain[i, f]
    for k in range(top, 0, -1):
        if n > 0:
            for i in range(w):
                for j in range(w):
                    rate = jump[k, i, j]
                    if rate > 0.0:
                        for x in range(m):
                            a[i * m + x, j * m + x] += rate
        else:
            for i in range(w):
                for j in range(w):
                    for x in range(m):
                        a[i, j * m + x] += jump[k, i, j] * initial[x]
        lower = size if n + k > 1 else w
        step, reward = down[n + k], passage[n + k]
        for i in range(rows):
            for y in range(lower):
                row_sums[y] = 0.0
            for j in range(size):
                rate = a[i, j]
                if rate > 0.0:
                    for f in range(gains):
                        total[i, f] += rate * reward[j, f]
                    for y in range(lower):
                        row_sums[y] += rate * step[j, y]
            for y in range(lower):
                a[i, y] = row_sums[y]
    if n == 0:
        for i in range(w):
            for j in range(w):
                if i != j:
                    a[i, j] += jump[0, i, j]
        return
    leave = np.empty(size)
    g = down[n]
    any_stale = False
    for here in range(size):
        for y in range(size):
            g[here, y] = 0.0
        any_stale = any_stale or stale[here] > 0.0
    if n > 1 and not any_stale:
        cols = w  # every way down starts a service: phases of arrivals are enough
    for i in range(w):
        for x in range(m):
            here = i * m + x
            for j in range(w):
                if j != i:
                    a[here, j * m + x] += jump[0, i, j]
            for y in range(m):
                if y != x:
                    a[here, i * m + y] += generator[x, y]
            leave[here] = exits[x] + stale[here]
            if cols == w:
                g[here, i] = leave[here]
            else:
                for y in range(m):
                    g[here, i * m + y] = exits[x] * initial[y]
                g[here, here] += stale[here]
    s = pivot[n]
    for j in range(size):
        out = leave[j]
        for k in range(j + 1, size):
            out += a[j, k]
        s[j] = out
        pivot_row, pivot_down = a[j, j + 1 :], g[j, :cols]
        for i in range(j + 1, size):
            if a[i, j] > 0.0:
                f = a[i, j] / out
                a[i, j] = f
                leave[i] += f * leave[j]
                row = a[i, j + 1 :]
                for k in range(size - j - 1):
                    row[k] += f * pivot_row[k]
                row = g[i, :cols]
                for k in range(cols):
                    row[k] += f * pivot_down[k]
                for k in range(gains):
                    total[i, k] += f * total[j, k]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            rate = a[i, j]
            if rate > 0.0:
                for k in range(cols):
                    g[i, k] += rate * g[j, k]
                for k in range(gains):
                    total[i, k] += rate * total[j, k]
        for k in range(cols):
            g[i, k] /= s[i]
        for k in range(gains):
            total[i, k] /= s[i]
    if n > 1 and cols == w:
        for here in range(size):
            for i in range(w - 1, -1, -1):
                reached = g[here, i]
                for y in range(m - 1, -1, -1):
                    g[here, i * m + y] = reached * initial[y]


@kernel
def rest(rates: Floats, w: int) -> Floats:
    """Return the stationary law of a small irreducible chain from its off-diagonal rates."""
    a, law = np.empty((w, w)), np.zeros(w)
    for i in range(w):
        for j in range(w):
            a[i, j] = rates[i, j]
    for j in range(w - 1, 0, -1):
        out = 0.0
        for k in range(j):
            out += a[j, k]
        for i in range(j):
            a[i, j] /= out
            for k in range(j):
                a[i, k] += a[i, j] * a[j, k]
    law[0] = 1.0
    for j in range(1, w):
        for i in range(j):
            law[j] += law[i] * a[i, j]
    total = 0.0
    for j in range(w):
        total += law[j]
    for j in range(w):
        law[j] /= total
    return law


@kernel
def scale(table: Floats, factor: float) -> None:
    """Multiply every entry, in place."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            table[i, j] *= factor


@kernel
def level_weights(
    jumps: Floats,
    room: Counts,
    modes: Counts,
    service: tuple[Floats, Floats, Floats],
    stale: Floats,
) -> Floats:
    """Return the stationary law, shape (levels, B), level 0 in its first w places.

    Parameters
    ----------
    jumps, room, service, stale : see the module, rates in 1/time
    modes : shape (levels,), the mode at each number of pages
    """
    initial = service[2]
    levels, most = room.shape[0], jumps.shape[2] - 1
    w, m = jumps.shape[3], initial.shape[0]
    size = w * m
    down, passage = np.zeros((levels, size, size)), np.zeros((levels, size, 1))
    factor, pivot = np.zeros((levels, size, size)), np.zeros((levels, size))
    gain = np.zeros((size, 1))
    for n in range(levels - 1, -1, -1):
        top = min(most, levels - 1 - n)
        jump = jumps[room[n], modes[n]]
        reduce_level(n, jump, top, service, stale[n], gain, down, passage, factor, pivot)
    law, inflow = np.zeros((levels, size)), np.zeros((levels, size))
    first = rest(factor[0], w)
    for i in range(w):
        law[0, i] = first[i]
    for n in range(levels):
        if n > 0:
            y = np.zeros(size)
            for j in range(min(levels - 1, n - 1 + most), n - 1, -1):
                moved = np.empty(size)
                for k in range(size):
                    moved[k] = inflow[j, k]
                if j < levels - 1:
                    for i in range(size):
                        for k in range(size):
                            moved[k] += y[i] * down[j + 1, i, k]
                y = moved
            a, s, x = factor[n], pivot[n], law[n]
            for i in range(size):
                x[i] = y[i]
            for i in range(size):
                x[i] /= s[i]
                for k in range(i + 1, size):
                    x[k] += x[i] * a[i, k]
            for i in range(size - 1, 0, -1):
                for k in range(i):
                    x[k] += x[i] * a[i, k]
            if x[0] > 1e200:
                scale(law, 1e-200)
                scale(inflow, 1e-200)
        jump = jumps[room[n], modes[n]]
        for k in range(1, min(most, levels - 1 - n) + 1):
            for i in range(w):
                for j in range(w):
                    rate = jump[k, i, j]
                    if rate > 0.0:
                        for x_ in range(m):
                            if n > 0:
                                inflow[n + k, j * m + x_] += rate * law[n, i * m + x_]
                            else:
                                inflow[k, j * m + x_] += rate * law[0, i] * initial[x_]
    total = 0.0
    for n in range(levels):
        for k in range(size):
            total += law[n, k]
    scale(law, 1.0 / total)
    return law


@kernel
def enumerate_maps(
    jumps: Floats,
    room: Counts,
    service: tuple[Floats, Floats, Floats],
    stale: Floats,
    gain: Floats,
    monotone: bool,
    chosen: Counts,
    found: Floats,
    counts: Counts,
) -> int:
    """Evaluate every map from levels to the modes ``chosen``; suffixes are reduced once only.

    Maps run over the choices with the highest level slowest. Returns how many levels were reduced.

    Parameters
    ----------
    jumps, room, service, stale : see the module, rates in 1/time
    gain : shape (levels, modes, B, F), rates of gain, per time; column 0 must be 1
    monotone : keep the maps whose index into ``chosen`` does not fall towards level 0
    chosen : shape (choices,), modes
    found : shape (maps, F), long-run averages, is written
    counts : shape (maps, choices), how many levels have each choice, is written
    """
    levels, most = room.shape[0], jumps.shape[2] - 1
    w, m = jumps.shape[3], service[2].shape[0]
    size, gains, options = w * m, gain.shape[3], chosen.shape[0]
    down, passage = np.zeros((levels, size, size)), np.zeros((levels, size, gains))
    factor, pivot = np.zeros((levels, size, size)), np.zeros((levels, size))
    at = np.full(levels, -1)
    used = np.zeros(options, np.int64)
    n, leaf, nodes = levels - 1, 0, 0
    while True:
        if at[n] >= 0:
            used[at[n]] -= 1
        start = at[n + 1] if monotone and n < levels - 1 else 0
        at[n] = max(at[n] + 1, start)
        if at[n] >= options:
            at[n] = -1
            n += 1
            if n == levels:
                return nodes
            continue
        used[at[n]] += 1
        mode = chosen[at[n]]
        top = min(most, levels - 1 - n)
        reduce_level(
            n,
            jumps[room[n], mode],
            top,
            service,
            stale[n],
            gain[n, mode],
            down,
            passage,
            factor,
            pivot,
        )
        nodes += 1
        if n > 0:
            n -= 1
            continue
        law = rest(factor[0], w)
        for f in range(gains):
            total = 0.0
            for i in range(w):
                total += law[i] * passage[0, i, f]
            found[leaf, f] = total
        time = found[leaf, 0]
        for f in range(gains):
            found[leaf, f] /= time
        for f in range(options):
            counts[leaf, f] = used[f]
        leaf += 1
