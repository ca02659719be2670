"""Minimum mean cycle of the graph whose states are the ages of all servers: Howard's method.

State: which server was used last (its age is 1), and the ages 2 .. cap of the others, where the cap
stands for itself and all beyond. Serving a costs f_a(1), and every other server m adds
f_m(x + 1) - f_m(x) to its running distance, so that a distance of d costs f_m(d) in all; at the cap
the last increment goes on being added, which by convexity is never too much. Hence the least mean
is a lower bound over all policies, and exact when no distance of its cycle passes cap + 1.
"""

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import kernel

_IDLE = 10  # rounds without progress


@kernel
def count_states(caps: Integers, strides: Integers, offsets: Integers) -> int:
    """Return the number of states, and write how they are numbered.

    Parameters
    ----------
    caps : shape (M,), greatest age of each server that is told apart, >= 2
    strides : shape (M, M), step of each age by the server used last, is written
    offsets : shape (M,), first state of each server used last, is written
    """
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
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    first: Vector,
    rise: Vector,
    policy: NDArray[np.int8],
    mark: NDArray[np.int32],
) -> tuple[float, int]:
    """Return the least mean over the cycles of a policy, and a state on that cycle."""
    n = following.size
    ages = np.empty(caps.size, dtype=np.int64)
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
                _read(at, caps, strides, offsets, ages)
                total += _cost(policy[at], first, rise, ages)
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
    mean: float,
    value: Vector,
    mark: NDArray[np.int32],
    path: NDArray[np.int32],
) -> None:
    """Give every state that leads to the root's cycle, of this mean, its value; others infinity."""
    ages = np.empty(caps.size, dtype=np.int64)
    value[root] = 0.0
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


@kernel
def _settle(
    following: NDArray[np.int32],
    caps: Integers,
    strides: Integers,
    offsets: Integers,
    first: Vector,
    rise: Vector,
    policy: NDArray[np.int8],
    mean: float,
    value: Vector,
    mark: NDArray[np.int32],
    path: NDArray[np.int32],
) -> None:
    """Carry values that have fallen along the policy, to all states that lead to them.

    No cycle of the policy has a greater mean than the one that values belong to, so they can only
    fall; a cycle keeps the value of one of its states.
    """
    ages = np.empty(caps.size, dtype=np.int64)
    for state in range(following.size):
        mark[state] = 0
    for start in range(following.size):
        count, state = 0, start
        while mark[state] == 0:
            mark[state] = 1
            path[count] = state
            count += 1
            state = int(following[state])
        for k in range(count - 1, -1, -1):
            at = int(path[k])
            if at == state:
                continue  # where a cycle closes
            _read(at, caps, strides, offsets, ages)
            reached = _cost(policy[at], first, rise, ages) - mean + value[following[at]]
            value[at] = min(value[at], reached)


@kernel
def _attach(
    following: NDArray[np.int32],
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
                total = _cost(m, first, rise, ages) - mean + value[after]
                if total < value[state]:
                    value[state] = total
                    policy[state] = m
                    following[state] = after
            if not value[state] < np.inf:
                left += 1


@kernel
def _improve(
    following: NDArray[np.int32],
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
        best, lowest, follower = -1, value[state], 0
        for m in range(caps.size):
            after = _after(m, caps, strides, offsets, ages)
            mine = every - rise[m, ages[m]] + first[m]
            total = mine - mean + value[after]
            if total < lowest:
                best, lowest, follower = m, total, after
        if best >= 0:
            most = max(most, value[state] - lowest)
            if value[state] - lowest > least:
                value[state] = lowest
                policy[state] = best
                following[state] = follower
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
    """Return the mean of the best cycle, how far it may be above the least, its servers, rounds.

    Values are found anew only for a cycle that is better; for one mean they only fall, so there is
    no going round in a circle among policies whose cycles are equally good.

    Parameters
    ----------
    caps, strides, offsets, n_states : as :func:`count_states` takes, writes and returns them
    first : shape (M,), f(1)
    rise, index : shape (M, longest cap + 1), f(x + 1) - f(x) and Whittle's index by age x >= 1
    tolerance : least fall of a mean or a value that counts, in the unit of the costs
    limit : after so many rounds what is known is returned, >= 1
    """
    policy = np.empty(n_states, dtype=np.int8)
    following = np.empty(n_states, dtype=np.int32)
    mark = np.empty(n_states, dtype=np.int32)
    path = np.empty(n_states, dtype=np.int32)
    value = np.zeros(n_states)
    _start(caps, strides, offsets, index, policy, following)
    mean, rounds, fall, least, size = np.inf, 0, np.inf, tolerance, 0.0
    length, sequence = 0, np.empty(0, dtype=np.int64)
    lowest, idle = np.inf, 0  # rounding that goes round a cycle of the same mean never ends
    while rounds < limit and fall > least and not (idle > _IDLE and fall < 1e-9 * size):
        rounds += 1
        found, root = _best_cycle(following, caps, strides, offsets, first, rise, policy, mark)
        if found < mean - tolerance:
            mean = found
            length, state = 0, root
            while length == 0 or state != root:
                path[length] = policy[state]
                length += 1
                state = int(following[state])
            sequence = path[:length].astype(np.int64)
            _evaluate(
                following,
                caps,
                strides,
                offsets,
                first,
                rise,
                policy,
                root,
                mean,
                value,
                mark,
                path,
            )
            _attach(following, caps, strides, offsets, first, rise, policy, mean, value)
            # Values and their sum along a cycle are known up to their own rounding.
            size = np.abs(value).max()
            least = max(tolerance, 1e-14 * size, 4e-16 * length * abs(mean))
            lowest, idle = np.inf, 0
        else:
            _settle(following, caps, strides, offsets, first, rise, policy, mean, value, mark, path)
        fall = _improve(following, caps, strides, offsets, first, rise, policy, mean, value, least)
        idle = 0 if fall < 0.9 * lowest else idle + 1
        lowest = min(lowest, fall)
    fall = _improve(following, caps, strides, offsets, first, rise, policy, mean, value, np.inf)
    return mean, fall, sequence, rounds
