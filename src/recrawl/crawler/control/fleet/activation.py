"""Number of robots that run: the decision at every arrival and every departure.

The runtime asks an :class:`ActivationPolicy` twice in the life of a page: when a robot brings it
(an arrival; the robot has just stopped) and when the indexer has finished it (a departure). The
answer is yes or no: start one robot, or do not. Policies here are lookups without a clock; where
their numbers come from is the business of :mod:`recrawl.fleet` and
:mod:`recrawl.crawler.control.fleet.drift`.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from recrawl.errors import InvalidModel


@runtime_checkable
class ActivationPolicy(Protocol):
    """Decides whether one more robot is started, at each arrival and each departure."""

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Say whether the robot that has just brought a page and stopped is started again.

        Parameters
        ----------
        buffered : pages in the buffer after the arrival, the one in service included
        active : robots still active, the arriving one not counted
        """
        ...

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Say whether one more robot is started, if one is idle, now that a page is indexed.

        Parameters
        ----------
        buffered : pages left in the buffer
        active : robots active now
        """
        ...


@dataclass(frozen=True, slots=True)
class FixedRobots:
    """The static policy: always keep ``n`` robots active.

    Parameters
    ----------
    n : robots to keep active, >= 1
    """

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InvalidModel(f"n must be at least 1 robot, got {self.n}")

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Start the robot again unless ``n`` others are active."""
        return active < self.n

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Start one more as long as fewer than ``n`` are active."""
        return active < self.n


@dataclass(frozen=True, slots=True)
class TargetRobots:
    """One number to aim for at each length of the buffer: the optimal policy's usual form.

    Parameters
    ----------
    targets : robots to aim for at 0, 1, ..., K buffered pages, >= 0; at an empty buffer >= 1,
        or the indexer could starve for ever

    Notes
    -----
    An arrival or departure that leaves the buffer at length q starts a robot exactly when fewer
    than ``targets[q]`` are active. Lengths beyond K are looked up at K. O(1) time.

    References
    ----------
    J. Talim, Z. Liu, Ph. Nain and E. G. Coffman, "Controlling the robots of Web search engines",
    ACM SIGMETRICS 2001 (there as two switching curves).
    """

    targets: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.targets:
            raise InvalidModel("targets must name at least one number of robots, got none")
        for length, robots in enumerate(self.targets):
            if robots < 0:
                raise InvalidModel(f"targets[{length}] must be >= 0 robots, got {robots}")
        if self.targets[0] < 1:
            raise InvalidModel(
                f"targets[0] must be at least 1, got {self.targets[0]}: with no robot to aim for "
                "at an empty buffer the crawl would stop for ever"
            )

    def robots_at(self, buffered: int) -> int:
        """Robots to aim for at a buffer of that length."""
        return self.targets[max(0, min(buffered, len(self.targets) - 1))]

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Start the robot again if fewer than the target at the new length are active."""
        return active < self.robots_at(buffered)

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Start one more if fewer than the target at the new length are active."""
        return active < self.robots_at(buffered)


@dataclass(frozen=True, slots=True)
class TableRobots:
    """Any policy, as two tables: for optima that no single curve describes.

    Parameters
    ----------
    on_arrival : row q holds, for 0, 1, ..., N - 1 robots still active, whether the arriving one
        is started again when the buffer holds q pages after the arrival
    on_departure : row q holds, for 0, 1, ..., N robots active, whether one more is started when
        the departure leaves q pages; at q = 0 with no robot active it must be true
    """

    on_arrival: tuple[tuple[bool, ...], ...]
    on_departure: tuple[tuple[bool, ...], ...]

    def __post_init__(self) -> None:
        for name, table in (("on_arrival", self.on_arrival), ("on_departure", self.on_departure)):
            if not table or not table[0] or len({len(row) for row in table}) > 1:
                raise InvalidModel(f"{name} must be a table with rows of equal length")
        if len(self.on_arrival) != len(self.on_departure):
            raise InvalidModel(
                f"on_arrival has {len(self.on_arrival)} rows and on_departure "
                f"{len(self.on_departure)}; both need one for each buffer length 0..K"
            )
        if not self.on_departure[0][0]:
            raise InvalidModel(
                "on_departure[0][0] must be true: an empty buffer with no robot active would "
                "stay so for ever"
            )

    def activate_on_arrival(self, buffered: int, active: int) -> bool:
        """Look the answer up; beyond the table's edge the edge answers."""
        return _look_up(self.on_arrival, buffered, active)

    def activate_on_departure(self, buffered: int, active: int) -> bool:
        """Look the answer up; beyond the table's edge the edge answers."""
        return _look_up(self.on_departure, buffered, active)


def _look_up(table: tuple[tuple[bool, ...], ...], buffered: int, active: int) -> bool:
    row = table[max(0, min(buffered, len(table) - 1))]
    return row[max(0, min(active, len(row) - 1))]
