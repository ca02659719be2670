"""Random instances and slow twins that the tests of the fleet share."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from recrawl.fleet import ControlledBuffer, RobotPolicy

__all__ = ["any_policies", "curves", "dense_occupancy", "models", "rational_cost"]


@st.composite
def models(draw: st.DrawFn, most: int = 6, *, general: bool = False) -> ControlledBuffer:
    """Draw a small buffer; with ``general`` its rates depend on the state and everything costs."""
    robots, buffer = draw(st.integers(1, most)), draw(st.integers(1, most))
    positive = st.floats(0.02, 20.0)
    weight = draw(st.floats(0.01, 100.0))
    if not general:
        return ControlledBuffer(robots, buffer, draw(positive), draw(positive), weight)
    fetch = np.zeros((buffer + 1, robots + 1))
    index = np.ones((buffer + 1, robots + 1))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    fetch[:, 1:] = rng.uniform(0.05, 5.0, (buffer + 1, robots))
    index[1:] = rng.uniform(0.05, 5.0, (buffer, robots + 1))
    return ControlledBuffer(
        robots, buffer, fetch, index, weight, 1.0, draw(st.floats(0, 2)), draw(st.floats(0, 2))
    )


def curves(buffer: int, robots: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Nonincreasing targets, at least 1 at an empty buffer."""
    falling = st.lists(st.integers(0, robots), min_size=buffer + 1, max_size=buffer + 1)
    return falling.map(lambda some: sorted(some, reverse=True)).map(
        lambda some: (max(some[0], 1), *some[1:])
    )


def any_policies(buffer: int, robots: int) -> st.SearchStrategy[RobotPolicy]:
    """Any two tables that never leave an empty buffer without a robot."""

    def build(seed: int) -> RobotPolicy:
        rng = np.random.default_rng(seed)
        tables = rng.random((2, buffer + 1, robots + 1)) < rng.random()
        tables[1, 1, 0] = True
        return RobotPolicy(arrival=tables[0], departure=tables[1])

    return st.integers(0, 2**32 - 1).map(build)


def _jumps(
    model: ControlledBuffer, policy: RobotPolicy
) -> list[tuple[tuple[int, int], tuple[int, int], float]]:
    """Every transition of a policy, one event at a time, written as the paper says it."""
    found = []
    for q in range(model.buffer + 1):
        for r in range(model.robots + 1):
            if (q, r) == (0, 0):
                continue
            if r > 0:
                to = (min(q + 1, model.buffer), r - 1 + int(policy.arrival[q, r]))
                found.append(((q, r), to, float(model.arrival_rates[q, r])))
            if q > 0:
                started = min(r + int(policy.departure[q, r]), model.robots)
                found.append(((q, r), (q - 1, started), float(model.index_rates[q, r])))
    return found


def dense_occupancy(model: ControlledBuffer, policy: RobotPolicy) -> np.ndarray:
    """Stationary distribution by a dense least squares system: the slow twin (one class only)."""
    width = model.robots + 1
    size = (model.buffer + 1) * width
    generator = np.zeros((size, size))
    for (q, r), (p, s), rate in _jumps(model, policy):
        generator[q * width + r, p * width + s] += rate
        generator[q * width + r, q * width + r] -= rate
    system = np.vstack([generator.T, np.ones(size), np.eye(size)[0]])
    right = np.zeros(size + 2)
    right[size] = 1.0
    share = np.linalg.lstsq(system, right, rcond=None)[0]
    return np.asarray(share.reshape(model.buffer + 1, width))


def rational_cost(model: ControlledBuffer, policy: RobotPolicy) -> Fraction:
    """Average cost in rational arithmetic, for rates and weights that are short decimals."""
    states = [
        (q, r) for q in range(model.buffer + 1) for r in range(model.robots + 1) if (q, r) != (0, 0)
    ]
    number = {state: n for n, state in enumerate(states)}
    rows = [[Fraction(0)] * (len(states) + 1) for _ in states]
    for at, to, rate in _jumps(model, policy):
        exact = Fraction(rate).limit_denominator(10_000)
        rows[number[to]][number[at]] += exact
        rows[number[at]][number[at]] -= exact
    rows[0] = [Fraction(1)] * (len(states) + 1)
    share = _solve(rows)
    cost = Fraction(0)
    for (q, r), part in zip(states, share, strict=True):
        cost += part * Fraction(float(model.cost_rates[q, r])).limit_denominator(10_000)
    return cost


def _solve(rows: list[list[Fraction]]) -> list[Fraction]:
    size = len(rows)
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(size):
            if i != k and rows[i][k] != 0:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]
