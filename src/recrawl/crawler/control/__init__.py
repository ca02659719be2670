"""Online decisions: told the time and what happened, they say what to do.

:mod:`recrawl.crawler.control.drift` is imported on its own, because solving needs compiled loops.
"""

from recrawl.crawler.control.activation import (
    ActivationPolicy,
    FixedRobots,
    TableRobots,
    TargetRobots,
)

__all__ = ["ActivationPolicy", "FixedRobots", "TableRobots", "TargetRobots"]
