"""How often: the freshest index that a budget can buy."""

from recrawl.freshness.allocation import (
    Plan,
    solve,
    solve_even_age,
    solve_even_freshness,
    solve_even_harmonic,
    solve_harmonic,
    solve_random_age,
    solve_random_freshness,
)
from recrawl.freshness.baselines import allocate_proportionally, allocate_uniformly
from recrawl.freshness.limits import Limit
from recrawl.freshness.objectives import (
    EVEN_AGE,
    EVEN_FRESHNESS,
    EVEN_HARMONIC,
    OBJECTIVES,
    RANDOM_AGE,
    RANDOM_FRESHNESS,
    RANDOM_HARMONIC,
    Objective,
)
from recrawl.freshness.pages import Pages
from recrawl.freshness.summary import DemandSummary

__all__ = [
    "EVEN_AGE",
    "EVEN_FRESHNESS",
    "EVEN_HARMONIC",
    "OBJECTIVES",
    "RANDOM_AGE",
    "RANDOM_FRESHNESS",
    "RANDOM_HARMONIC",
    "DemandSummary",
    "Limit",
    "Objective",
    "Pages",
    "Plan",
    "allocate_proportionally",
    "allocate_uniformly",
    "solve",
    "solve_even_age",
    "solve_even_freshness",
    "solve_even_harmonic",
    "solve_harmonic",
    "solve_random_age",
    "solve_random_freshness",
]
