"""Policies of the controlled buffer, as the paper writes them: one bit for each event."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags


@dataclass(frozen=True, slots=True)
class SwitchingCurves:
    """The two monotone curves of the paper: activate at (q, r, s) exactly when q <= f_s(r).

    Parameters
    ----------
    departure : f_0(r) for r = 0, ..., N - 1 (at r = N no robot is idle); 0 means never
    arrival : f_1(r) for r = 1, ..., N, the arriving robot counted; -1 means never
    """

    departure: tuple[int, ...]
    arrival: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RobotPolicy:
    """Decision tables for arrivals and departures, by the state just before each.

    Parameters
    ----------
    arrival : shape (K + 1, N + 1); entry (q, r) says whether the robot that arrives when q pages
        are buffered and r robots active, itself included, is started again; column 0 is not used
    departure : shape (K + 1, N + 1); entry (q, r) says whether one more robot is started when a
        departure finds q pages and r robots active; row 0 and column N are not used;
        (1, 0) must be true, or the buffer could stay empty for ever
    """

    arrival: Flags
    departure: Flags

    def __post_init__(self) -> None:
        shape = self.arrival.shape
        if self.arrival.ndim != 2 or min(shape) < 2 or self.departure.shape != shape:
            raise InvalidModel(
                "a policy needs two tables of shape (K + 1, N + 1), got arrival "
                f"{shape} and departure {self.departure.shape}"
            )
        if not self.departure[1, 0]:
            raise InvalidModel(
                "departure[1, 0] must be true: a policy that starts no robot when the last page "
                "leaves and none is active keeps the buffer empty for ever"
            )

    @classmethod
    def from_targets(cls, targets: tuple[int, ...], robots: int) -> "RobotPolicy":
        """Aim for ``targets[q]`` robots at buffer length q (the new length, after the event)."""
        curve = np.asarray(targets, dtype=np.int64)
        if curve.size < 2 or np.any(curve < 0) or np.any(curve > robots) or curve[0] < 1:
            raise InvalidModel(
                f"targets must name 0..{robots} robots for each of 0..K pages, and at least 1 at "
                f"an empty buffer, got {list(targets)}"
            )
        active = np.arange(robots + 1)
        after_arrival = np.append(curve[1:], curve[-1])
        after_departure = np.insert(curve[:-1], 0, 0)
        departure = active[None, :] < after_departure[:, None]
        return cls(arrival=active[None, :] <= after_arrival[:, None], departure=departure)

    @classmethod
    def static(cls, n: int, *, buffer: int, robots: int) -> "RobotPolicy":
        """Keep n robots active."""
        return cls.from_targets((n,) * (buffer + 1), robots)

    @property
    def buffer(self) -> int:
        """K, the buffer this policy is for."""
        return int(self.arrival.shape[0]) - 1

    @property
    def robots(self) -> int:
        """N, the robots this policy is for."""
        return int(self.arrival.shape[1]) - 1

    def switching_curves(self) -> SwitchingCurves | None:
        """Return the policy as two nonincreasing curves, or None where no such curves exist."""
        departure, arrival = self.departure[1:, :-1], self.arrival[:, 1:]
        f0 = departure.sum(axis=0)
        f1 = arrival.sum(axis=0) - 1
        ordered = all(
            np.all(table[:-1] >= table[1:])  # true up to the curve, false beyond
            and np.all(np.diff(curve) <= 0)
            for table, curve in ((departure, f0), (arrival, f1))
        )
        if not ordered:
            return None
        return SwitchingCurves(tuple(map(int, f0)), tuple(map(int, f1)))
