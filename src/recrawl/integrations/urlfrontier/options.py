"""Options of the service."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recrawl.crawler.control.lifecycle import RevisitRules

_PRIOR_RATE_PER_S: Final = 1.0 / (14 * 86_400.0)  # as recrawl's own crawls have it


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Options of the service. Seconds, and visits per second.

    Parameters
    ----------
    state : directory of the state
    budget_per_s : visits of known pages, over all crawls
    rules : bounds on intervals
    replan_s : between two plans
    policy : a name in ``recrawl.terms.REVISIT_POLICIES``
    """

    state: Path
    budget_per_s: float
    rules: RevisitRules
    replan_s: float = 300.0
    policy: str = "recrawl"
    host_cap_per_s: float = float("inf")
    prior_rate_per_s: float = _PRIOR_RATE_PER_S
