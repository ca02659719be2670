"""Intervals of scores hold the truth as often as they say, also where there is little to draw."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recrawl.simulation.comparison import Score, resample_pages, score_policy


def scored(weights: np.ndarray, fresh: np.ndarray, seed: int) -> Score:
    """Score pages that were fresh for these shares of one unit of time."""
    n, nothing = weights.size, np.zeros(weights.size)
    history: Any = SimpleNamespace(
        n_pages=n, weights=weights, companions=None, changed_at=np.zeros(0)
    )
    result: Any = SimpleNamespace(
        lifetimes=np.ones(n), fresh=fresh, age=nothing, penalty=nothing,
        fetches=1, wasted=0, seen=nothing,
    )  # fmt: skip
    test: Any = SimpleNamespace(history=history, since=0.0)
    return score_policy(test, result, resample_pages(history, 200, seed))


@pytest.mark.parametrize(("n", "least"), [(3, 0.88), (5, 0.91), (10, 0.92), (40, 0.92)])
@pytest.mark.parametrize("spread", [1.5, 1e6])
def test_coverage_of_a_score_and_of_a_lead(n: int, least: float, spread: float) -> None:
    """Of 400 draws of pages; quantiles of resamples alone hold 70, 85 and 90 % of few pages."""
    random, held, ahead = np.random.default_rng(3), 0, 0
    for seed in range(400):
        weights = random.pareto(spread, n) + 1.0
        ours, theirs = (scored(weights, random.beta(3.0, 1.0, n), seed) for _ in range(2))
        held += ours.low <= 0.75 <= ours.high
        _, low, high = ours.ahead_of(theirs)
        ahead += low <= 0.0 <= high

    assert held >= least * 400
    assert ahead >= least * 400


def test_one_page_tells_nothing_of_others() -> None:
    """Its score has the interval of ignorance."""
    found = scored(np.ones(1), np.array([0.4]), 1)

    assert found.freshness == pytest.approx(0.4)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.ahead_of(found) == (0.0, -1.0, 1.0)
