"""The fleet: how many robots run, given the state of the buffer and the rates as measured.

:mod:`recrawl.crawler.control.fleet.drift` is imported on its own, as it brings the solvers along.
"""

from recrawl.crawler.control.fleet.activation import (
    ActivationPolicy,
    FixedRobots,
    TableRobots,
    TargetRobots,
)

__all__ = ["ActivationPolicy", "FixedRobots", "TableRobots", "TargetRobots"]
