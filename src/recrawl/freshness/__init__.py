"""Crawl rates: the freshest index that a budget can buy."""

from recrawl.freshness.allocation import (
    Plan,
    solve,
    solve_even_age,
    solve_even_freshness,
    solve_harmonic,
    solve_random_freshness,
)
from recrawl.freshness.baselines import allocate_proportionally, allocate_uniformly
from recrawl.freshness.fading import fading_index, fading_interval, fading_pages, solve_fading
from recrawl.freshness.limits import Limit
from recrawl.freshness.measures import AGE, FRESHNESS, HARMONIC, STALENESS, Measure
from recrawl.freshness.objectives import (
    EVEN_AGE,
    EVEN_FRESHNESS,
    OBJECTIVES,
    RANDOM_FRESHNESS,
    Objective,
)
from recrawl.freshness.obsolescence import (
    AccessPlan,
    bound_obsolescence,
    evaluate_distances,
    evaluate_random_access,
    evaluate_sequence,
    solve_even_accesses,
    solve_random_accesses,
)
from recrawl.freshness.pages import Pages
from recrawl.freshness.streaming import PriceList, average_value, solve_prices
from recrawl.freshness.summary import DemandSummary
from recrawl.freshness.trade_off import TradeOffCurve, trace_trade_off

__all__ = [
    "AGE",
    "EVEN_AGE",
    "EVEN_FRESHNESS",
    "FRESHNESS",
    "HARMONIC",
    "OBJECTIVES",
    "RANDOM_FRESHNESS",
    "STALENESS",
    "AccessPlan",
    "DemandSummary",
    "Limit",
    "Measure",
    "Objective",
    "Pages",
    "Plan",
    "PriceList",
    "TradeOffCurve",
    "allocate_proportionally",
    "allocate_uniformly",
    "average_value",
    "bound_obsolescence",
    "evaluate_distances",
    "evaluate_random_access",
    "evaluate_sequence",
    "fading_index",
    "fading_interval",
    "fading_pages",
    "solve",
    "solve_even_accesses",
    "solve_even_age",
    "solve_even_freshness",
    "solve_fading",
    "solve_harmonic",
    "solve_prices",
    "solve_random_accesses",
    "solve_random_freshness",
    "trace_trade_off",
]
