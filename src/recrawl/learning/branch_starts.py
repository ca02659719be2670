"""Starts for a fit of Erlang branches: which branch has which part of the times."""

from itertools import pairwise, permutations

import numpy as np

from recrawl.kernels.arrays import Integers, Vector

_DRAWN = 10


def spread_starts(times: Vector, order: Vector) -> list[tuple[Vector, Vector]]:
    """Return rates and shares to begin with: every assignment of branches to parts of the times.

    The parts are of equal number, of equal sum, clusters of the logarithms, and of numbers that
    fall or rise eightfold; then some that are drawn.

    Parameters
    ----------
    times : shape (n,), > 0, in any order; rates are in one over their unit
    order : shape (m,), stages of each branch, >= 1
    """
    m = order.size
    ordered = np.sort(times)
    logs = np.log(ordered)
    sums = np.cumsum(ordered) / ordered.sum()
    cuts = [
        np.arange(1, m) * ordered.size // m,
        np.searchsorted(sums, np.arange(1, m) / m),
        _clusters(logs, m),
        *(_tail_cuts(ordered.size, m, ratio) for ratio in (1 / 8, 8.0)),
    ]
    out = []
    seen = set()
    for cut in cuts:
        edges = np.concatenate([[0], np.maximum.accumulate(cut), [ordered.size]]).astype(np.int64)
        if np.any(np.diff(edges) < 1):
            continue
        means = np.array([ordered[a:b].mean() for a, b in pairwise(edges)])
        part = np.diff(edges) / ordered.size
        for which in permutations(range(m)):
            key = (tuple(edges), tuple(sorted((order[i], which[i]) for i in range(m))))
            if key not in seen:
                seen.add(key)
                chosen = list(which)
                out.append((order / means[chosen], part[chosen]))
    rng = np.random.default_rng(0)
    for _ in range(_DRAWN if m > 1 else 1):
        means = np.exp(rng.choice(logs, m))
        out.append((order / means, rng.dirichlet(np.ones(m))))
    return out


def _tail_cuts(size: int, m: int, ratio: float) -> Integers:
    parts = ratio ** np.arange(m)
    return np.asarray(np.cumsum(parts / parts.sum())[:-1] * size, dtype=np.int64)


def _clusters(logs: Vector, m: int) -> Integers:
    """Cut sorted numbers into m clusters of least squares about their means (Lloyd)."""
    cut = np.arange(1, m) * logs.size // m
    sums = np.concatenate([[0.0], np.cumsum(logs)])
    for _ in range(100):
        edges = np.concatenate([[0], cut, [logs.size]])
        size = np.maximum(np.diff(edges), 1)
        centres = np.diff(sums[edges]) / size
        moved = np.searchsorted(logs, 0.5 * (centres[1:] + centres[:-1]))
        if np.array_equal(moved, cut):
            break
        cut = moved
    return np.asarray(cut, dtype=np.int64)
