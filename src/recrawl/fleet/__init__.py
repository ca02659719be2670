"""Number of active robots: the optimal control of a finite indexing buffer.

Start with :class:`ControlledBuffer` and :func:`solve_robots`::

    >>> from recrawl.fleet import ControlledBuffer, solve_robots
    >>> best = solve_robots(ControlledBuffer(16, 5, 0.1, 1.0, starvation_weight=1.4))
    >>> best.targets
    (16, 14, 12, 9, 7, 4)
"""

from recrawl.fleet.areas import Area, AreaFleet, AreaOptimum, solve_areas, solve_shares
from recrawl.fleet.evaluation import evaluate_curve_policy, evaluate_policy
from recrawl.fleet.irregular import (
    IrregularFleet,
    evaluate_irregular,
    solve_irregular,
    starvation_and_loss,
)
from recrawl.fleet.measured_rates import MeasuredRate, estimate_fetch_rate, estimate_index_rate
from recrawl.fleet.measures import FleetMeasures
from recrawl.fleet.model import ControlledBuffer
from recrawl.fleet.optimum import (
    RobotOptimum,
    solve_robots,
    solve_robots_generally,
    solve_robots_unrestricted,
)
from recrawl.fleet.phased import (
    PhasedFleet,
    PhasedOptimum,
    RobotClass,
    erlang_service,
    solve_phased,
)
from recrawl.fleet.phased_static import PhasedStatic, solve_phased_static
from recrawl.fleet.policy import RobotPolicy
from recrawl.fleet.response import ResponseOptimum, solve_response, solve_static_response
from recrawl.fleet.static import (
    StaticOptimum,
    balanced_weight,
    solve_static,
    solve_static_unrestricted,
    static_cost,
)
from recrawl.fleet.trade_off import TradeOff, sweep_weights
from recrawl.fleet.value_iteration import iterate_as_published, iterate_to_span

__all__ = [
    "Area",
    "AreaFleet",
    "AreaOptimum",
    "ControlledBuffer",
    "FleetMeasures",
    "IrregularFleet",
    "MeasuredRate",
    "PhasedFleet",
    "PhasedOptimum",
    "PhasedStatic",
    "ResponseOptimum",
    "RobotClass",
    "RobotOptimum",
    "RobotPolicy",
    "StaticOptimum",
    "TradeOff",
    "balanced_weight",
    "erlang_service",
    "estimate_fetch_rate",
    "estimate_index_rate",
    "evaluate_curve_policy",
    "evaluate_irregular",
    "evaluate_policy",
    "iterate_as_published",
    "iterate_to_span",
    "solve_areas",
    "solve_irregular",
    "solve_phased",
    "solve_phased_static",
    "solve_response",
    "solve_robots",
    "solve_robots_generally",
    "solve_robots_unrestricted",
    "solve_shares",
    "solve_static",
    "solve_static_response",
    "solve_static_unrestricted",
    "starvation_and_loss",
    "static_cost",
    "sweep_weights",
]
