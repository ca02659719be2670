"""Online decisions: plain synchronous objects that the runtime asks what to do."""

from recrawl.control.activation import ActivationPolicy, FixedRobots, TableRobots, TargetRobots

__all__ = ["ActivationPolicy", "FixedRobots", "TableRobots", "TargetRobots"]
