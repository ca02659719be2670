"""The buffer model: robots that can be switched on and off feed an indexer through a buffer."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Matrix


@dataclass(frozen=True, eq=False)
class ControlledBuffer:
    """A finite indexing buffer and the robots that feed it.

    Parameters
    ----------
    robots : N, robots available, >= 1
    buffer : K, pages that fit, the one in service included, >= 1
    fetch_rate : pages a robot brings per unit of time, > 0; or shape (N + 1,) or (K + 1, N + 1),
        the total arrival rate with r robots active (and q pages buffered), 0 at r = 0
    index_rate : pages indexed per unit of time while there are any, > 0; or shape (K + 1,) or
        (K + 1, N + 1), the rate at q pages (and r robots), whose row q = 0 is not used
    starvation_weight : cost per unit of time with an empty buffer, >= 0
    loss_weight : cost of a page that finds the buffer full, >= 0
    holding_cost : cost per buffered page and unit of time, >= 0
    robot_cost : cost per active robot and unit of time, >= 0

    Notes
    -----
    The state (q, r) holds the pages in the buffer and the robots active after the decision. An
    arrival stops its robot, which may be started again at once; a departure may start one more.
    The average cost is ``starvation_weight S + loss_weight L + holding_cost Q + robot_cost R``
    with S the fraction of time the indexer is idle, L the pages lost per unit of time, Q and R
    the mean numbers of buffered pages and active robots. Any consistent unit of time will do.

    References
    ----------
    J. Talim, Z. Liu, Ph. Nain and E. G. Coffman, "Controlling the robots of Web search engines",
    ACM SIGMETRICS 2001.
    """

    robots: int
    buffer: int
    fetch_rate: float | ArrayLike
    index_rate: float | ArrayLike
    starvation_weight: float
    loss_weight: float = 1.0
    holding_cost: float = 0.0
    robot_cost: float = 0.0

    def __post_init__(self) -> None:
        for name in ("robots", "buffer"):
            size = getattr(self, name)
            if size < 1:
                raise InvalidModel(f"{name} must be at least 1, got {size}")
        for name in ("starvation_weight", "loss_weight", "holding_cost", "robot_cost"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and weight >= 0):
                raise InvalidModel(f"{name} must be finite and >= 0, got {weight!r}")
        if self.starvation_weight == 0 and self.loss_weight == 0:
            raise InvalidModel(
                "starvation_weight and loss_weight are both 0: give at least one of them a "
                "positive weight, or there is nothing to balance"
            )
        self._check_fetch_rate()
        self._check_index_rate()

    def _check_fetch_rate(self) -> None:
        shape = (self.buffer + 1, self.robots + 1)
        given = np.asarray(self.fetch_rate, dtype=np.float64)
        if given.ndim and given.shape not in {shape[1:], shape}:
            raise InvalidModel(
                f"fetch_rate must be a number, {shape[1:]} or {shape}, got shape {given.shape}"
            )
        _require_positive("fetch_rate", given[..., 1:] if given.ndim else given)
        if given.ndim and np.any(given[..., 0] != 0):
            raise InvalidModel("fetch_rate must be 0 where no robot is active (first column)")

    def _check_index_rate(self) -> None:
        shape = (self.buffer + 1, self.robots + 1)
        given = np.asarray(self.index_rate, dtype=np.float64)
        if given.ndim and given.shape not in {shape[:1], shape}:
            raise InvalidModel(
                f"index_rate must be a number, {shape[:1]} or {shape}, got shape {given.shape}"
            )
        _require_positive("index_rate", given[1:] if given.ndim else given)

    @cached_property
    def arrival_rates(self) -> Matrix:
        """Arrival rate with q pages and r robots, shape (K + 1, N + 1), 1/time."""
        given = np.asarray(self.fetch_rate, dtype=np.float64)
        rates = given if given.ndim else given * np.arange(self.robots + 1)
        return np.broadcast_to(rates, (self.buffer + 1, self.robots + 1))

    @cached_property
    def index_rates(self) -> Matrix:
        """Rate of departures with q pages and r robots, shape (K + 1, N + 1), 0 at q = 0."""
        given = np.asarray(self.index_rate, dtype=np.float64)
        full = np.empty((self.buffer + 1, self.robots + 1))
        full[...] = given[:, None] if given.ndim == 1 else given
        full[0] = 0.0
        return full

    @cached_property
    def cost_rates(self) -> Matrix:
        """Cost per unit of time in state (q, r), losses included, shape (K + 1, N + 1)."""
        pages, robots = np.arange(self.buffer + 1.0), np.arange(self.robots + 1.0)
        cost = self.holding_cost * pages[:, None] + self.robot_cost * robots[None, :]
        cost[0] += self.starvation_weight
        cost[-1] += self.loss_weight * self.arrival_rates[-1]
        return cost

    @property
    def is_homogeneous(self) -> bool:
        """Whether both rates are single numbers and only starvation and loss cost."""
        return (
            np.ndim(self.fetch_rate) == 0
            and np.ndim(self.index_rate) == 0
            and self.holding_cost == 0
            and self.robot_cost == 0
        )


def _require_positive(name: str, rates: Matrix) -> None:
    wrong = rates[~(np.isfinite(rates) & (rates > 0))]
    if wrong.size:
        raise InvalidModel(f"{name} must be finite and > 0, got {float(wrong.flat[0])!r}")
