"""Options of plans by a store of visits."""

from dataclasses import dataclass
from pathlib import Path

from recrawl.crawler.control.answers.lifecycle import RevisitRules


@dataclass(frozen=True, slots=True)
class RevisitOptions:
    """Options that plans need. Seconds, and visits per second.

    Parameters
    ----------
    state : directory of the state
    budget_per_s : visits of known pages, over all that share the state
    rules : bounds on intervals
    replan_s : between two plans
    policy : a name in ``recrawl.terms.REVISIT_POLICIES``
    host_cap_per_s : cap on visits of a host; inf: none
    prior_rate_per_s : change rate of a page of which nothing is known
    """

    state: Path
    budget_per_s: float
    rules: RevisitRules
    replan_s: float = 300.0
    policy: str = "recrawl"
    host_cap_per_s: float = float("inf")
    prior_rate_per_s: float = 1.0 / (14 * 86_400.0)  # as recrawl's own crawls have it
