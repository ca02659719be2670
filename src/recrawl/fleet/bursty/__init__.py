"""Number of active robots in the real world: bursts, any service time, pages that go stale.

Start with :class:`BurstyBuffer` and :func:`solve_bursty`::

    >>> from recrawl.fleet.bursty import BufferCosts, BurstyBuffer, solve_bursty
    >>> from recrawl.processes.batch_arrivals import BatchArrivals
    >>> from recrawl.processes.phase_type import PhaseType
    >>> one = BatchArrivals([[[-0.5]], [[0.3]], [[0.2]]])  # a page or two at a time
    >>> two = BatchArrivals([[[-1.0]], [[0.6]], [[0.4]]])
    >>> costs = BufferCosts(loss=1.0, starvation=2.0)
    >>> model = BurstyBuffer(4, [one, two], PhaseType.erlang(2, 1.0), costs=costs)
    >>> solve_bursty(model).best.robots_by_length
    (2, 2, 2, 1, 1)
"""

from recrawl.fleet.bursty.constrained import solve_constrained, trade_off_front
from recrawl.fleet.bursty.full_information import solve_full_information
from recrawl.fleet.bursty.iterative import MOST_STATES
from recrawl.fleet.bursty.measures import BufferMeasures, evaluate_map, follow_sojourns
from recrawl.fleet.bursty.model import (
    BufferCosts,
    BurstyBuffer,
    robots_from_thresholds,
)
from recrawl.fleet.bursty.optimum import (
    BurstyOptimum,
    SubsetOptimum,
    best_by_subset,
    count_maps,
    improve_map,
    solve_bursty,
)
from recrawl.fleet.bursty.readings import independent_robots, marked_robots, thinned_robots
from recrawl.fleet.bursty.search import list_maps, list_thresholds
from recrawl.fleet.bursty.study import STUDIES, StudyPoint, study_buffer, vary
from recrawl.fleet.bursty.window import evaluate_closed

__all__ = [
    "MOST_STATES",
    "STUDIES",
    "BufferCosts",
    "BufferMeasures",
    "BurstyBuffer",
    "BurstyOptimum",
    "StudyPoint",
    "SubsetOptimum",
    "best_by_subset",
    "count_maps",
    "evaluate_closed",
    "evaluate_map",
    "follow_sojourns",
    "improve_map",
    "independent_robots",
    "list_maps",
    "list_thresholds",
    "marked_robots",
    "robots_from_thresholds",
    "solve_bursty",
    "solve_constrained",
    "solve_full_information",
    "study_buffer",
    "thinned_robots",
    "trade_off_front",
    "vary",
]
