"""Optimal probes on a grid: one monotone hull per layer or price, for one source or many.

Arrays over the grid points 0..N: ``L`` and ``A`` are the integrals of intensity and importance,
``last`` the latest point from which a probe at i is allowed (minimum gap), -1 if none; ``n`` is the
number of probes, 1 <= n <= N, and ``price`` the cost of each. Costs lack the constant G = integral
of lambda A. Lines -L_j x + E_j are entered with steeper and steeper slopes and asked at larger and
larger x = A_i, so a double-ended queue holds their lower envelope.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.kernels.compile import kernel, sized_kernel

Indices: TypeAlias = NDArray[np.int32]


@sized_kernel(lambda times, _: 2.0 * times.size)
def find_last(times: Vector, gap: float) -> Indices:
    """Latest point j < i with t_j <= t_i - gap, for every i; -1 where there is none.

    Parameters
    ----------
    times : shape (N + 1,), ascending from 0
    gap : in the unit of the times, >= 0
    """
    last = np.empty(times.size, np.int32)
    slack = 1e-12 * times[-1]
    j = -1
    for i in range(times.size):
        while j + 1 < i and times[j + 1] <= times[i] - gap + slack:
            j += 1
        last[i] = j
    return last


@kernel
def _enter(L: Vector, value: Vector, j: int, line: Indices, cross: Vector, ends: Indices) -> None:
    """Put line j at the end of the queue; drop those that it hides."""
    head, tail = ends[0], ends[1]
    while tail > head:
        top = line[tail - 1]
        if L[j] == L[top]:
            if value[j] >= value[top]:
                break
            tail -= 1
            continue
        x = (value[j] - value[top]) / (L[j] - L[top])
        if tail - head >= 2 and x <= cross[tail - 1]:
            tail -= 1
            continue
        cross[tail] = x
        line[tail] = j
        tail += 1
        ends[1] = tail
        return
    if tail == head:
        line[tail] = j
        tail += 1
    ends[1] = tail


@kernel
def _price(
    L: Vector,
    A: Vector,
    last: Indices,
    price: float,
    value: Vector,
    prev: Indices,
    line: Indices,
    cross: Vector,
) -> int:
    """Least cost with each probe at a price, from point 0; the number of probes at the end.

    The queue is the same as in ``_enter``, kept in local variables: here it is half of the time.
    """
    N = L.size - 1
    head, tail, entered = 0, 0, 0
    value[0] = 0.0
    top_L, top_value, best_L, best_value = 0.0, 0.0, 0.0, 0.0
    for i in range(1, N + 1):
        while entered <= last[i]:
            new_L, new_value = L[entered], value[entered]
            if new_value < np.inf:
                while tail > head:
                    if new_L == top_L:
                        if new_value >= top_value:
                            break
                    else:
                        x = (new_value - top_value) / (new_L - top_L)
                        if tail - head == 1 or x > cross[tail - 1]:
                            cross[tail] = x
                            line[tail] = entered
                            tail += 1
                            top_L, top_value = new_L, new_value
                            break
                    tail -= 1
                    if tail > head:
                        top_L, top_value = L[line[tail - 1]], value[line[tail - 1]]
                if tail == head:
                    line[tail] = entered
                    tail += 1
                    top_L, top_value = new_L, new_value
                    best_L, best_value = new_L, new_value
            entered += 1
        if tail == head:
            value[i] = np.inf
            prev[i] = -1
            continue
        x = A[i]
        if tail - head >= 2 and cross[head + 1] <= x:
            head += 1
            while tail - head >= 2 and cross[head + 1] <= x:
                head += 1
            best_L, best_value = L[line[head]], value[line[head]]
        value[i] = best_value + x * (L[i] - best_L) + price
        prev[i] = line[head]
    count, i = 0, N
    while i > 0:
        i = prev[i]
        count += 1
    return count


@sized_kernel(lambda L, *_: 5.0 * L.size)
def price_once(L: Vector, A: Vector, last: Indices, price: float) -> tuple[float, int, Indices]:
    """Least priced cost of a schedule, its number of probes and its points 0, ..., N.

    Parameters
    ----------
    L, A, last, price : see the module
    """
    size = L.size
    value, prev = np.empty(size), np.empty(size, np.int32)
    line, cross = np.empty(size, np.int32), np.empty(size)
    count = _price(L, A, last, price, value, prev, line, cross)
    path = np.empty(count + 1, np.int32)
    _trace(prev, count, path)
    return value[size - 1], count, path


@kernel
def _trace(prev: Indices, count: int, path: Indices) -> None:
    at = prev.size - 1
    for m in range(count, -1, -1):
        path[m] = at
        if m > 0:
            at = prev[at]


@kernel
def _splice(few: Indices, k: int, many: Indices, n_many: int, n: int, path: Indices) -> None:
    """Join two schedules of one price, k < n < n_many probes, into one of n at that price."""
    s = n_many - n
    for i in range(1, k + 1):
        if few[i - 1] <= many[i + s - 1] and many[i + s] <= few[i]:
            path[:i] = few[:i]
            path[i : n + 1] = many[i + s : n_many + 1]
            return


@kernel
def path_cost(L: Vector, A: Vector, path: Indices, n: int) -> float:
    """Cost of a schedule, the constant left out."""
    cost = 0.0
    for m in range(1, n + 1):
        cost += A[path[m]] * (L[path[m]] - L[path[m - 1]])
    return cost


@kernel
def _guess(L: Vector, A: Vector) -> float:
    """Sum of the roots of L and A in each cell: D(n) is about its square over 2 n."""
    total = 0.0
    for i in range(1, L.size):
        total += np.sqrt((L[i] - L[i - 1]) * (A[i] - A[i - 1]))
    return total


@sized_kernel(lambda L, *_: 250.0 * L.size)
def solve_count(
    L: Vector, A: Vector, last: Indices, n: int, crowded: bool
) -> tuple[Indices, float, float, int]:
    """Optimal schedule of exactly n probes by its price.

    Returns its points, the price, the bound that it proves (-inf if 500 prices did not do) and the
    prices tried. On a fine grid a coarser one gives the price to start at, and mostly to end with.

    Parameters
    ----------
    L, A, last, n : see the module
    crowded : whether the gap may keep some grid points from being probes together
    """
    N = L.size - 1
    price = _guess(L, A) ** 2 / (2.0 * n * n)
    stride = N // (max(1024, 8 * n) if N <= 20_000 else max(4096, 48 * n))
    if stride >= 4 and n > 1 and not crowded:
        size = (N + stride - 1) // stride + 1
        thin_L, thin_A, thin_last = np.empty(size), np.empty(size), np.empty(size, np.int32)
        for i in range(size):
            thin_L[i], thin_A[i] = L[min(i * stride, N)], A[min(i * stride, N)]
            thin_last[i] = i - 1
        if stride < 32:
            _, price, _, _ = _search(thin_L, thin_A, thin_last, n, False, price)
        else:  # the middle of the prices that lead to n
            fewer, _, _, _ = _search(thin_L, thin_A, thin_last, n - 1, False, price)
            more, _, _, _ = _search(thin_L, thin_A, thin_last, n + 1, False, price)
            price = path_cost(thin_L, thin_A, fewer, n - 1)
            price = 0.5 * (price - path_cost(thin_L, thin_A, more, n + 1))
    return _search(L, A, last, n, crowded, price)


@kernel
def _search(
    L: Vector, A: Vector, last: Indices, n: int, crowded: bool, price: float
) -> tuple[Indices, float, float, int]:
    N = L.size - 1
    value, prev = np.empty(N + 1), np.empty(N + 1, np.int32)
    line, cross = np.empty(N + 1, np.int32), np.empty(N + 1)
    few, many = np.empty(N + 1, np.int32), np.empty(N + 1, np.int32)
    path = np.empty(n + 1, np.int32)
    k, k_cost = 1, A[N] * L[N]
    few[0], few[1] = 0, N
    if n == 1:
        return few[:2].copy(), 0.0, k_cost, 0
    q, q_cost = -1, 0.0
    if not crowded:
        q = N
        for i in range(N + 1):
            many[i] = i
        q_cost = path_cost(L, A, many, N)
        if n == N:
            return many, 0.0, q_cost, 0
    by_chord, low_tries = False, 0
    for tried in range(1, 501):
        count = _price(L, A, last, price, value, prev, line, cross)
        bound = value[N] - price * n
        if count == n:
            _trace(prev, n, path)
            return path, price, bound, tried
        inside = count > k and (q < 0 or count < q)
        if count < n and count > k:
            k, k_cost = count, value[N] - price * count
            _trace(prev, count, few)
        elif count > n and (q < 0 or count < q):
            q, q_cost = count, value[N] - price * count
            _trace(prev, count, many)
        if by_chord and not inside and q > 0:
            _splice(few, k, many, q, n, path)
            return path, price, bound, tried
        if q < 0:  # only with a gap: cheaper, then paid for
            low_tries += 1
            price = price * 0.3 if low_tries < 8 else -(2.0**low_tries) * (A[N] * L[N] + 1e-300)
            continue
        by_chord = q < 2 * k or (not by_chord and not inside)  # nearly linear in between
        if by_chord:
            price = (k_cost - q_cost) / (q - k)
        else:
            price = (k_cost - q_cost) / (1.0 / k - 1.0 / q) / (n * n)
    return path, price, -np.inf, 500


@sized_kernel(lambda L, A, last, n, keep: 5.0 * L.size * n)
def solve_layers(L: Vector, A: Vector, last: Indices, n: int, keep: bool) -> tuple[Vector, Indices]:
    """Least cost of exactly m = 1..n probes, and where each layer came from if kept.

    Parameters
    ----------
    L, A, last, n : see the module
    keep : whether the latter is of shape (n, N + 1); else it is one row of no meaning
    """
    N = L.size - 1
    value, after = np.full(N + 1, np.inf), np.empty(N + 1)
    line, cross = np.empty(N + 1, np.int32), np.empty(N + 1)
    prev = np.full((n if keep else 1, N + 1), -1, np.int32)
    costs = np.empty(n)
    ends = np.zeros(2, np.int32)
    value[0] = 0.0
    for m in range(n):
        ends[:] = 0
        entered = 0
        row = prev[m if keep else 0]
        after[0] = np.inf
        for i in range(1, N + 1):
            while entered <= last[i]:
                if value[entered] < np.inf:
                    _enter(L, value, entered, line, cross, ends)
                entered += 1
            head = ends[0]
            while ends[1] - head >= 2 and cross[head + 1] <= A[i]:
                head += 1
            ends[0] = head
            if ends[1] == head:
                after[i] = np.inf
                continue
            j = line[head]
            after[i] = value[j] + A[i] * (L[i] - L[j])
            row[i] = j
        value, after = after, value
        costs[m] = value[N]
    return costs, prev


@kernel
def _fill(
    rates: Vector, worths: Vector, weight: float, gap: int, L: Vector, A: Vector, last: Indices
) -> float:
    """Integrals of one source from its cells; returns the constant G of its cost."""
    constant = 0.0
    L[0] = A[0] = 0.0
    last[0] = -1
    for i in range(rates.size):
        L[i + 1] = L[i] + weight * rates[i]
        A[i + 1] = A[i] + worths[i]
        constant += weight * rates[i] * (A[i] + 0.5 * worths[i])
        last[i + 1] = i + 1 - gap if i + 1 >= gap else -1
    return constant


@sized_kernel(lambda rates, *_: 10.0 * rates.size)
def count_probes(
    rates: Vector,
    worths: Vector,
    weights: Vector,
    gaps: Indices,
    prices: Vector,
    wanted: Flags,
    counts: Integers,
    costs: Vector,
) -> None:
    """For each wanted source, the number of probes at its price and their cost.

    Parameters
    ----------
    rates, worths : shape (m, N), updates expected and importance in each cell; worths also (1, N)
    weights, gaps, prices : shape (m,), factor on costs, least cells between probes, price of each
    wanted, counts, costs : shape (m,); counts and costs of wanted sources are written
    """
    m, N = rates.shape
    L, A, last = np.empty(N + 1), np.empty(N + 1), np.empty(N + 1, np.int32)
    value, prev = np.empty(N + 1), np.empty(N + 1, np.int32)
    line, cross = np.empty(N + 1, np.int32), np.empty(N + 1)
    for s in range(m):
        if not wanted[s]:
            continue
        constant = _fill(
            rates[s], worths[s if worths.shape[0] > 1 else 0], weights[s], gaps[s], L, A, last
        )
        counts[s] = _price(L, A, last, prices[s], value, prev, line, cross)
        costs[s] = value[N] - prices[s] * counts[s] - constant


@sized_kernel(lambda rates, *_: 250.0 * rates.size)
def solve_counts(
    rates: Vector,
    worths: Vector,
    weights: Vector,
    gaps: Indices,
    prices: Vector,
    counts: Integers,
    starts: Integers,
    points: Indices,
    costs: Vector,
) -> int:
    """Write every source's schedule into points[starts[s] : starts[s + 1]].

    The given price usually fits and costs one pass. Returns how many were not solved (none).

    Parameters
    ----------
    rates, worths, weights, gaps, prices, costs : see :func:`count_probes`; costs of all are written
    counts, starts : shape (m,), (m + 1,), probes of each source, >= 1, and their sums from 0
    points : shape (starts[m],), grid points 1..N, is written
    """
    m, N = rates.shape
    L, A, last = np.empty(N + 1), np.empty(N + 1), np.empty(N + 1, np.int32)
    value, prev = np.empty(N + 1), np.empty(N + 1, np.int32)
    line, cross = np.empty(N + 1, np.int32), np.empty(N + 1)
    failed = 0
    for s in range(m):
        constant = _fill(
            rates[s], worths[s if worths.shape[0] > 1 else 0], weights[s], gaps[s], L, A, last
        )
        n = counts[s]
        count = _price(L, A, last, prices[s], value, prev, line, cross)
        path = np.empty(n + 1, np.int32)
        if count == n:
            _trace(prev, n, path)
        else:
            path, _, bound, _ = solve_count(L, A, last, n, gaps[s] > 1)
            failed += bound == -np.inf
        costs[s] = path_cost(L, A, path, n) - constant
        points[starts[s] : starts[s] + n] = path[1:]
    return failed
