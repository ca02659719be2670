"""Online decisions: told the time and what happened, they say what to do.

:mod:`recrawl.control.drift` is imported on its own, because solving needs compiled loops.
"""

from recrawl.control.activation import ActivationPolicy, FixedRobots, TableRobots, TargetRobots

__all__ = ["ActivationPolicy", "FixedRobots", "TableRobots", "TargetRobots"]
