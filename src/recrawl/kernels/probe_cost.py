"""Cost of probe schedules in closed form, the threshold policy and the local improvement.

A source is given by k cells, in which intensity (updates per time) and importance (cost per time of
a pending update) are linear: ``starts``, shape (k + 1,), are where they begin, from 0 up to the
period T; ``cells``, shape (4, k), the intensity at the start of each, its slope, the importance
there and its slope; ``before``, shape (2, k), the integrals of both from 0 to there.
"""

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import kernel, sized_kernel


@sized_kernel(lambda *given: 2.0 * (given[0].size + given[-1].size))
def accumulate(starts: Vector, cells: Vector, before: Vector, times: Vector) -> Vector:
    """Integrals of intensity and importance from 0 to each of the sorted times, shape (2, n).

    Parameters
    ----------
    starts, cells, before : see the module
    times : shape (n,), ascending, in [0, T]
    """
    found = np.empty((2, times.size))
    k = 0
    for i in range(times.size):
        while k + 1 < starts.size - 1 and starts[k + 1] <= times[i]:
            k += 1
        u = times[i] - starts[k]
        found[0, i] = before[0, k] + u * (cells[0, k] + 0.5 * cells[1, k] * u)
        found[1, i] = before[1, k] + u * (cells[2, k] + 0.5 * cells[3, k] * u)
    return found


@sized_kernel(lambda starts, _, probes, *rest: 2.0 * (starts.size + probes.size))
def sum_intervals(starts: Vector, cells: Vector, probes: Vector, costs: Vector) -> float:
    """Write the cost of each interval between probes; return the total. Nothing cancels.

    Walks over probes and cell boundaries together: an update that is pending costs the importance
    of every stretch until the next probe, and new ones cost C(u, u + w) within the stretch.

    Parameters
    ----------
    starts, cells : see the module
    probes : shape (n,), times of probes, ascending, in [0, T]; the first interval begins at 0
    costs : shape (n,), is written
    """
    n = probes.size
    k, at, total = 0, 0.0, 0.0
    for i in range(n):
        cost, pending = 0.0, 0.0
        while at < probes[i]:
            while k + 1 < starts.size - 1 and starts[k + 1] <= at:
                k += 1
            to = min(probes[i], starts[k + 1])
            if to <= at:
                break
            u, w = at - starts[k], to - at
            rate, slope = cells[0, k] + cells[1, k] * u, cells[1, k]
            worth, rise = cells[2, k] + cells[3, k] * u, cells[3, k]
            cost += pending * w * (worth + 0.5 * rise * w)
            cost += (
                w
                * w
                * (
                    0.5 * rate * worth
                    + w * (rate * rise / 3.0 + slope * worth / 6.0 + w * slope * rise / 8.0)
                )
            )
            pending += w * (rate + 0.5 * slope * w)
            at = to
        costs[i] = cost
        total += cost
    return total


@kernel
def _cell_of(starts: Vector, t: float) -> int:
    """Number of the cell that holds t."""
    k = int(np.searchsorted(starts, t, side="right")) - 1
    return max(0, min(k, starts.size - 2))


@kernel
def _integral(starts: Vector, cells: Vector, before: Vector, row: int, t: float) -> float:
    """Integral up to t of the intensity (row 0) or the importance (row 1)."""
    k = _cell_of(starts, t)
    u = t - starts[k]
    return float(before[row, k] + u * (cells[2 * row, k] + 0.5 * cells[2 * row + 1, k] * u))


@kernel
def _next_threshold(starts: Vector, cells: Vector, s: float, level: float) -> float:
    """First time at which the cost since s reaches the level, or infinity."""
    k = _cell_of(starts, s)
    at, cost, pending = s, 0.0, 0.0
    while k < starts.size - 1:
        u, w = at - starts[k], starts[k + 1] - at
        rate, slope = cells[0, k] + cells[1, k] * u, cells[1, k]
        worth, rise = cells[2, k] + cells[3, k] * u, cells[3, k]
        c1, c2 = pending * worth, 0.5 * (pending * rise + rate * worth)
        c3, c4 = rate * rise / 3.0 + slope * worth / 6.0, slope * rise / 8.0
        if cost + w * (c1 + w * (c2 + w * (c3 + w * c4))) >= level:
            low, high = 0.0, w
            for _ in range(200):
                mid = 0.5 * (low + high)
                if mid <= low or mid >= high:
                    break
                if cost + mid * (c1 + mid * (c2 + mid * (c3 + mid * c4))) < level:
                    low = mid
                else:
                    high = mid
            return float(at + high)
        cost += w * (c1 + w * (c2 + w * (c3 + w * c4)))
        pending += w * (rate + 0.5 * slope * w)
        k += 1
        at = starts[k]
    return np.inf


@sized_kernel(lambda starts, _, n, *rest: 900.0 * (starts.size + n))
def find_threshold_schedule(starts: Vector, cells: Vector, n: int, total: float) -> Vector:
    """Probe whenever the cost since the last probe reaches a level, such that probe n is at T.

    Parameters
    ----------
    starts, cells : see the module
    n : probes, >= 1
    total : cost of one probe, at T; no level is higher
    """
    low, high = 0.0, total
    probes = np.empty(n)
    end = starts[-1]
    for _ in range(200):
        level = 0.5 * (low + high)
        if level <= low or level >= high:
            break
        at, made = 0.0, 0
        while made < n:
            at = _next_threshold(starts, cells, at, level)
            if at > end:
                break
            made += 1
        if made == n:
            low = level
        else:
            high = level
    at = 0.0
    for i in range(n):
        at = min(_next_threshold(starts, cells, at, low), end)
        probes[i] = at
    probes[n - 1] = end
    return probes


@kernel
def _gain(starts: Vector, cells: Vector, before: Vector, p: Vector, i: int, to: float) -> float:
    """Return the fall in cost when probe i moves to another time between its neighbours.

    C(s, t) + C(t, u) = C(s, u) - Lambda(s, t) A(t, u), so only the products matter.
    """
    at_s = _integral(starts, cells, before, 0, p[i - 1])
    at_u = _integral(starts, cells, before, 1, p[i + 1])
    now = (_integral(starts, cells, before, 0, p[i]) - at_s) * (
        at_u - _integral(starts, cells, before, 1, p[i])
    )
    then = (_integral(starts, cells, before, 0, to) - at_s) * (
        at_u - _integral(starts, cells, before, 1, to)
    )
    return then - now


@kernel
def _target(p: Vector, move: int, mu: float, gap: float) -> float:
    """Return a move's target: even numbers left, odd ones right; probe move // 2 + 1."""
    i = move // 2 + 1
    if move % 2 == 0:
        return float(mu * (p[i - 1] + gap) + (1.0 - mu) * p[i])
    return float((1.0 - mu) * p[i] + mu * (p[i + 1] - gap))


@kernel
def _sift(heap: Integers, place: Integers, gains: Vector, at: int) -> None:
    """Restore the heap (largest gain first) around one entry."""
    size = heap.size
    while at > 0:
        parent = (at - 1) // 2
        if gains[heap[parent]] >= gains[heap[at]]:
            break
        heap[at], heap[parent] = heap[parent], heap[at]
        place[heap[at]], place[heap[parent]] = at, parent
        at = parent
    while True:
        best = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and gains[heap[child]] > gains[heap[best]]:
                best = child
        if best == at:
            return
        heap[at], heap[best] = heap[best], heap[at]
        place[heap[at]], place[heap[best]] = at, best
        at = best


@sized_kernel(lambda *given: 20.0 * given[3].size * given[0].size)
def improve_by_moves(
    starts: Vector,
    cells: Vector,
    before: Vector,
    probes: Vector,
    gap: float,
    steps: tuple[float, float, float, float],
    most: int,
) -> int:
    """Algorithm 10 in place; return the moves made, or -1 past the most allowed.

    Parameters
    ----------
    starts, cells, before : see the module
    probes : shape (n + 1,), p_0 = 0, ..., p_n = T, ascending; is written
    gap : least time between probes, >= 0; the probes keep it
    steps : first and last fraction mu, its reduction rho, in (0, 1), and the least gain iota, > 0
    most : moves allowed
    """
    mu, last, rho, least = steps
    n_moves = 2 * (probes.size - 2)
    gains = np.empty(max(n_moves, 0))
    heap, place = np.arange(max(n_moves, 0)), np.arange(max(n_moves, 0))
    made = 0
    while n_moves > 0 and mu >= last:
        for move in range(n_moves):
            to = _target(probes, move, mu, gap)
            gains[move] = _gain(starts, cells, before, probes, move // 2 + 1, to)
        for at in range(n_moves // 2, -1, -1):
            _sift(heap, place, gains, at)
        while gains[heap[0]] >= least:
            if made >= most:
                return -1
            move = heap[0]
            i = move // 2 + 1
            probes[i] = _target(probes, move, mu, gap)
            made += 1
            for other in range(max(0, 2 * i - 4), min(n_moves, 2 * i + 2)):
                to = _target(probes, other, mu, gap)
                gains[other] = _gain(starts, cells, before, probes, other // 2 + 1, to)
                _sift(heap, place, gains, place[other])
        mu *= rho
    return made
