"""Exactly when: probes of a source whose updates come and go with the hour and the day.

Start with :class:`Profile`, :class:`ProbedSource` and a solver::

    >>> from recrawl.probing import Profile, ProbedSource, solve_continuous
    >>> office = Profile.steps([0, 9, 18, 24], [0.1, 2.0, 0.1])  # updates an hour
    >>> source = ProbedSource(office, Profile.constant(1.0, 24))
    >>> [round(float(hour), 2) for hour in solve_continuous(source, 4).probes]
    [11.7, 14.85, 18.0, 24.0]
"""

from recrawl.probing.continuous import solve_continuous, solve_continuous_with_gap
from recrawl.probing.general import solve_general
from recrawl.probing.grid import (
    cost_by_count,
    solve_at_most,
    solve_at_price,
    solve_exactly,
    solve_layered,
)
from recrawl.probing.improvement import improve_blocks, improve_schedule
from recrawl.probing.model import ProbedSource
from recrawl.probing.policies import (
    schedule_first_arrival,
    schedule_threshold,
    schedule_uniform,
)
from recrawl.probing.profile import Profile
from recrawl.probing.published import cost_matrix, solve_published
from recrawl.probing.schedule import evaluate_events, evaluate_schedule
from recrawl.probing.source_batch import SourceBatch
from recrawl.probing.sources import allocate_probes, schedule_batches
from recrawl.probing.trips import TripPlan, plan_trips
from recrawl.probing.weekly import DBWORLD, MICRONET, work_hours

__all__ = [
    "DBWORLD",
    "MICRONET",
    "ProbedSource",
    "Profile",
    "SourceBatch",
    "TripPlan",
    "allocate_probes",
    "cost_by_count",
    "cost_matrix",
    "evaluate_events",
    "evaluate_schedule",
    "improve_blocks",
    "improve_schedule",
    "plan_trips",
    "schedule_batches",
    "schedule_first_arrival",
    "schedule_threshold",
    "schedule_uniform",
    "solve_at_most",
    "solve_at_price",
    "solve_continuous",
    "solve_continuous_with_gap",
    "solve_exactly",
    "solve_general",
    "solve_layered",
    "solve_published",
    "work_hours",
]
