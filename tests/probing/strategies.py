"""Random sources and slow twins that the tests of probing share."""

import itertools

import numpy as np
from hypothesis import strategies as st

from recrawl.probing import ProbedSource, Profile

__all__ = ["brute_costs", "quadrature_cost", "sources"]


@st.composite
def sources(
    draw: st.DrawFn, *, gaps: bool = False, linear: bool = False, most: int = 8
) -> tuple[ProbedSource, np.ndarray]:
    """Draw a source on an uneven grid of integer times, and that grid."""
    steps = draw(st.lists(st.integers(1, 3), min_size=2, max_size=most))
    times = np.concatenate([[0.0], np.cumsum(steps)])
    value = st.integers(0, 3).map(float) | st.floats(0.1, 5)
    profiles = []
    for _ in range(2):
        if linear and draw(st.booleans()):
            heights = draw(st.lists(value, min_size=times.size, max_size=times.size))
            profiles.append(Profile.polygon(times, np.array(heights) + 0.01))
        else:
            heights = draw(st.lists(value, min_size=len(steps), max_size=len(steps)))
            heights[draw(st.integers(0, len(steps) - 1))] += 0.5
            profiles.append(Profile.steps(times, heights))
    gap = float(draw(st.integers(0, 3))) if gaps else 0.0
    return ProbedSource(profiles[0], profiles[1], min(gap, float(times[-1]))), times


def brute_costs(source: ProbedSource, times: np.ndarray) -> dict[int, float]:
    """Least cost of each number of probes on a grid, over all subsets: the slow twin."""
    best: dict[int, float] = {}
    inner = times[1:-1]
    for n in range(1, times.size):
        for some in itertools.combinations(inner, n - 1):
            probes = np.array([*some, times[-1]])
            if np.all(np.diff(probes, prepend=0.0) >= source.gap - 1e-9):
                best[n] = min(best.get(n, np.inf), source.cost(probes))
    return best


def quadrature_cost(source: ProbedSource, start: float, end: float, points: int = 20_001) -> float:
    """Equation 5 by the midpoint rule, from the values of the two functions alone."""
    edges = np.linspace(start, end, points)
    width = edges[1] - edges[0]
    middle = 0.5 * (edges[1:] + edges[:-1])
    worth = source.importance(middle) * width
    later = np.cumsum(worth[::-1])[::-1] - 0.5 * worth
    return float(np.sum(source.intensity(middle) * later) * width)
