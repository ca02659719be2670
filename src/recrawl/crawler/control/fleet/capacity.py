"""Capacity of robots and indexer, as measured: where it is less than the budget, plans count on it.

The plan's price follows from the requests that can be made. A budget that nobody can spend would
promise visits that never come, each page as late as any other.
"""

from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Final

from recrawl.crawler.control.fleet.forgetting_rate import ForgettingRate

_MEMORY: Final = 1_000.0
_LEAST_SEEN: Final = 50.0  # requests, before anything is made of them


@dataclass(slots=True)
class Capacity:
    """Requests that can be made in a second, by what robots and indexer took so far.

    Parameters
    ----------
    n_robots : robots there are, >= 1
    n_servers : pages that are indexed at a time, >= 1

    Notes
    -----
    A robot is busy for as long as a request takes, waits for work not counted: N robots make at
    most N over the mean of it. A share p of requests brings a page that has to be indexed, so an
    indexer of c servers that takes s for a page keeps up with c / (p s) requests. O(1).
    """

    n_robots: int
    n_servers: int = 1
    _requests: ForgettingRate = field(default_factory=partial(ForgettingRate, _MEMORY), init=False)
    _services: ForgettingRate = field(default_factory=partial(ForgettingRate, _MEMORY), init=False)
    _brought: float = field(default=0.0, init=False)

    def observe_request(self, busy_s: float, *, brought: bool) -> None:
        """Note that a robot was busy for so long, and whether it brought a page."""
        self._requests.observe(busy_s)
        self._brought = (1.0 - 1.0 / _MEMORY) * self._brought + brought

    def observe_service(self, service_s: float) -> None:
        """Note that a page was in service for so long."""
        self._services.observe(service_s)

    @property
    def by_robots_per_s(self) -> float:
        """Requests that the robots can make; infinite as long as too little is known."""
        if self._requests.count < _LEAST_SEEN or not self._requests.rate:
            return inf
        return self.n_robots * self._requests.rate

    @property
    def by_indexer_per_s(self) -> float:
        """Requests that the indexer can keep up with; infinite as long as too little is known."""
        if min(self._requests.count, self._services.count) < _LEAST_SEEN or self._brought <= 0:
            return inf
        share = self._brought / self._requests.count
        return self.n_servers * (self._services.rate or inf) / share

    @property
    def per_s(self) -> float:
        """Requests that can be made at all."""
        return min(self.by_robots_per_s, self.by_indexer_per_s)
