"""Minimum mean cycle of the graph whose states are the ages of all servers: Howard's method.

State: which server was used last (its age is 1), and the ages 2 .. cap of the others, where the cap
stands for itself and all beyond. Serving a costs f_a(1), and every other server m adds
f_m(x + 1) - f_m(x) to its running distance, so that a distance of d costs f_m(d) in all; at the cap
the last increment goes on being added, which by convexity is never too much. Hence the least mean
is a lower bound over all policies, and exact when no distance of its cycle passes cap + 1.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel

__all__ = ["count_states", "find_best_cycle"]

Integers: TypeAlias = NDArray[np.int64]
Vector: TypeAlias = NDArray[np.float64]


@kernel
def count_states(caps: Integers, strides: Integers, offsets: Integers) -> int:
    """Fill strides, shape (M, M), and offsets, shape (M,); return the number of states."""
    total = 0
    for last in range(caps.size):
        offsets[last] = total
        size = 1
        for m in range(caps.size):
            strides[last, m] = 0
            if m != last:
                strides[last, m] = size
                size *= caps[m] - 1
        total += size
    return total


@kernel
def _read(state: int, caps: Integers, strides: Integers, offsets: Integers, ages: Integers) -> int:
    """Write the ages of a state, and return the server that was used last."""
    last = caps.size - 1
    while offsets[last] > state:
        last -= 1
    rest = state - offsets[last]
    ages[last] = 1
    for m in range(caps.size):
        if m != last:
            ages[m] = 2 + rest % (caps[m] - 1)
            rest //= caps[m] - 1
    return int(last)


@kernel
def _after(
    server: int, caps: Integers, strides: Integers, offsets: Integers, ages: Integers
) -> int:
    """Return the state that follows when a server is used at these ages."""
    state = offsets[server]
    for m in range(caps.size):
        if m != server:
            state += (min(ages[m] + 1, caps[m]) - 2) * strides[server, m]
    return int(state)


@kernel
def _cost(server: int, first: Vector, rise: Vector, ages: Integers) -> float:
    total = first[server]
    for m in range(ages.size):
        if m != server:
            total += rise[m, ages[m]]
    return float(total)


@kernel
def _start(
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    index: Vector,
    policy: NDArray[np.int8],
    following: NDArray[np.int32],
) -> None:
    """Begin with the server of highest index at its age."""
    ages = np.empty(caps.size, dtype=np.int64)
    for state in range(policy.size):
        _read(state, caps, strides, offsets, ages)
        best = 0
        for m in range(1, caps.size):
            if index[m, ages[m]] > index[best, ages[best]]:
                best = m
        policy[state] = best
        following[state] = _after(best, caps, strides, offsets, ages)


@kernel
def _best_cycle(
    following: NDArray[np.int32],
    price: NDArray[np.float32],
    mark: NDArray[np.int32],
) -> tuple[float, int]:
    """Return the least mean over the cycles of a policy, roughly, and a state on that cycle."""
    n = following.size
    for state in range(n):
        mark[state] = -1
    best, where = np.inf, 0
    for start in range(n):
        if mark[start] >= 0:
            continue
        state = start
        while mark[state] < 0:
            mark[state] = start
            state = int(following[state])
        if mark[state] == start:  # a new cycle
            total, length, at = 0.0, 0, state
            while True:
                total += price[at]
                length += 1
                at = int(following[at])
                if at == state:
                    break
            if total / length < best:
                best, where = total / length, state
    return best, where


@kernel
def _evaluate(
    following: NDArray[np.int32],
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    first: Vector,
    rise: Vector,
    policy: NDArray[np.int8],
    root: int,
    value: Vector,
    mark: NDArray[np.int32],
    path: NDArray[np.int32],
) -> float:
    """Give every state that leads to the root's cycle its value, all others infinity.

    Return the mean of the cycle.
    """
    ages = np.empty(caps.size, dtype=np.int64)
    total, length, state = 0.0, 0, root
    while True:
        _read(state, caps, strides, offsets, ages)
        total += _cost(policy[state], first, rise, ages)
        length += 1
        state = int(following[state])
        if state == root:
            break
    mean = total / length
    for state in range(following.size):
        mark[state] = 0
    mark[root] = 1
    for start in range(following.size):
        count, state = 0, start
        while mark[state] == 0:
            mark[state] = 2  # on the path that is being walked
            path[count] = state
            count += 1
            state = int(following[state])
        leads = mark[state] == 1
        for k in range(count - 1, -1, -1):
            at = int(path[k])
            if leads:
                _read(at, caps, strides, offsets, ages)
                cost = _cost(policy[at], first, rise, ages)
                value[at] = cost - mean + value[following[at]]
                mark[at] = 1
            else:
                mark[at] = 3
                value[at] = np.inf
    return mean


@kernel
def _attach(
    following: NDArray[np.int32],
    price: NDArray[np.float32],
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    first: Vector,
    rise: Vector,
    policy: NDArray[np.int8],
    mean: float,
    value: Vector,
) -> None:
    """Let states that lead to other cycles lead to this one; their values are infinite before.

    From any ages the servers of the cycle can be used in its order, so every state gets there.
    """
    ages = np.empty(caps.size, dtype=np.int64)
    left = 1
    while left:
        left = 0
        for state in range(policy.size):
            if value[state] < np.inf:
                continue
            _read(state, caps, strides, offsets, ages)
            for m in range(caps.size):
                after = _after(m, caps, strides, offsets, ages)
                cost = _cost(m, first, rise, ages)
                if cost - mean + value[after] < value[state]:
                    value[state] = cost - mean + value[after]
                    policy[state] = m
                    following[state] = after
                    price[state] = cost
            if not value[state] < np.inf:
                left += 1


@kernel
def _improve(
    following: NDArray[np.int32],
    price: NDArray[np.float32],
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    first: Vector,
    rise: Vector,
    policy: NDArray[np.int8],
    mean: float,
    value: Vector,
    least: float,
) -> float:
    """Lower the values where another server is better by ``least``; return the greatest fall.

    With an infinite ``least`` only look: the return is then the certificate, minus the least
    reduced cost.
    """
    ages = np.empty(caps.size, dtype=np.int64)
    most = 0.0
    for state in range(policy.size):
        _read(state, caps, strides, offsets, ages)
        every = 0.0
        for m in range(caps.size):
            every += rise[m, ages[m]]
        best, lowest, follower, cost = -1, value[state], 0, 0.0
        for m in range(caps.size):
            after = _after(m, caps, strides, offsets, ages)
            mine = every - rise[m, ages[m]] + first[m]
            total = mine - mean + value[after]
            if total < lowest:
                best, lowest, follower, cost = m, total, after, mine
        if best >= 0:
            most = max(most, value[state] - lowest)
            if value[state] - lowest > least:
                value[state] = lowest
                policy[state] = best
                following[state] = follower
                price[state] = cost
    return most


@kernel
def find_best_cycle(
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    n_states: int,
    first: Vector,
    rise: Vector,
    index: Vector,
    tolerance: float,
    limit: int,
) -> tuple[float, float, Integers, int]:
    """Return the least mean, minus the least reduced cost, the cycle's servers, and the rounds.

    ``first``, shape (M,), is f(1); ``rise`` and ``index``, shape (M, longest cap + 1), hold
    f(x + 1) - f(x) and Whittle's index by age.
    """
    policy = np.empty(n_states, dtype=np.int8)
    following = np.empty(n_states, dtype=np.int32)
    mark = np.empty(n_states, dtype=np.int32)
    path = np.empty(n_states, dtype=np.int32)
    price = np.empty(n_states, dtype=np.float32)
    value = np.zeros(n_states)
    ages = np.empty(caps.size, dtype=np.int64)
    _start(caps, strides, offsets, index, policy, following)
    for state in range(n_states):
        _read(state, caps, strides, offsets, ages)
        price[state] = _cost(policy[state], first, rise, ages)
    mean, root, rounds, length, fall = np.inf, 0, 0, 0, np.inf
    while rounds < limit and fall > tolerance:
        rounds += 1
        _, root = _best_cycle(following, price, mark)
        mean = _evaluate(
            following, caps, strides, offsets, first, rise, policy, root, value, mark, path
        )
        _attach(following, price, caps, strides, offsets, first, rise, policy, mean, value)
        length, state = 0, root
        while length == 0 or state != root:  # before the policy changes
            path[length] = policy[state]
            length += 1
            state = int(following[state])
        fall = _improve(
            following, price, caps, strides, offsets, first, rise, policy, mean, value, tolerance
        )
    fall = _improve(
        following, price, caps, strides, offsets, first, rise, policy, mean, value, np.inf
    )
    return mean, fall, path[:length].astype(np.int64), rounds
