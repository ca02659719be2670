"""Online decisions: told the time and what happened, they say what to do."""

from recrawl.control.activation import ActivationPolicy, FixedRobots, TableRobots, TargetRobots

__all__ = ["ActivationPolicy", "FixedRobots", "TableRobots", "TargetRobots"]
