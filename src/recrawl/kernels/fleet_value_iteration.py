"""The paper's relative value iteration, step by step on its own states (q, r, s)."""

import numpy as np

from recrawl.kernels.arrays import Floats
from recrawl.kernels.compile import kernel


@kernel
def expect(h: Floats, lost: Floats, fetch_rate: float, index_rate: float, total: float) -> None:
    """Write the expectation of h after the next event: E(q, r) over the type of the event."""
    lengths, robots = lost.shape
    for q in range(lengths):
        for r in range(robots):
            up = fetch_rate * r / total
            down = index_rate / total if q > 0 else 0.0
            lost[q, r] = up * h[q, r, 1] + down * h[q, r, 0] + (1.0 - up - down) * h[q, r, 2]


@kernel
def iterate_values(
    robots: int,
    buffer: int,
    fetch_rate: float,
    index_rate: float,
    weights: tuple[float, float],
    damping: float,
    stop: tuple[float, float, int],
) -> tuple[Floats, float, float, int, float]:
    """Iterate until a stopping rule holds.

    Returns the values, the lower and upper bound on the average cost (the span of T h - h), the
    steps and T(h) at the reference state (1, 1, 1).

    Parameters
    ----------
    robots, buffer : >= 1, robots and pages that the buffer holds
    fetch_rate, index_rate : 1/time, > 0, of one robot and of the indexer
    weights : of starvation and of loss, >= 0
    damping : share of the new values in each step, in (0, 1]
    stop : relative change, span of the change, most steps; either of the first two may be switched
        off with a negative number
    """
    total = fetch_rate * robots + index_rate
    h = np.zeros((buffer + 1, robots + 1, 3))
    after = np.zeros((buffer + 1, robots + 1))
    new = np.zeros((buffer + 1, robots + 1, 3))
    low, high, gain = 0.0, 0.0, 0.0
    steps = 0
    while steps < stop[2]:
        steps += 1
        expect(h, after, fetch_rate, index_rate, total)
        for q in range(buffer + 1):
            empty = weights[0] if q == 0 else 0.0
            for r in range(robots + 1):
                new[q, r, 2] = empty + after[q, r]
                if q > 0:
                    more = after[q - 1, min(r + 1, robots)]
                    if q == 1 and r == 0:
                        new[q, r, 0] = more
                    else:
                        new[q, r, 0] = min(after[q - 1, r], more)
                if r > 0:
                    lost = total * weights[1] if q == buffer else 0.0
                    n = min(q + 1, buffer)
                    new[q, r, 1] = empty + lost + min(after[n, r - 1], after[n, r])
        gain = new[1, 1, 1]
        change = -1.0
        low, high = np.inf, -np.inf
        for q in range(buffer + 1):
            for r in range(robots + 1):
                for s in range(3):
                    if (s == 0 and q == 0) or (s == 1 and r == 0) or (q == 0 and r == 0):
                        continue
                    difference = new[q, r, s] - h[q, r, s]
                    low, high = min(low, difference), max(high, difference)
                    updated = (1.0 - damping) * h[q, r, s] + damping * (new[q, r, s] - gain)
                    if h[q, r, s] != 0.0:
                        change = max(change, abs(updated / h[q, r, s] - 1.0))
                    h[q, r, s] = updated
        if 0.0 <= change < stop[0] or high - low <= stop[1]:
            break
    return h, low, high, steps, gain
