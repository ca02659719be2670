"""The dispatcher at work on one host: what its order costs against the best order there is."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from random import Random

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.budget import FetchBudget
from recrawl.crawler.control.dispatching.dispatch import Dispatcher, Fetch, Refill, Wait
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.dispatching.robots_txt import RobotsRules
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.policies import FixedRates
from recrawl.crawler.control.worth.order import root_urgency
from recrawl.freshness import Pages, solve_even_freshness
from recrawl.terms import HostRecord, Lease, Outcome

__all__ = ["DispatchedVisits", "dispatch_visits"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DispatchedVisits:
    """Result of a dispatch.

    Parameters
    ----------
    staleness : weighted share of time out of date, exact for the visits that were made
    least_staleness : of evenly spaced visits, as many as can be made, which nothing can beat
    visits_per_s : made, where one a second is possible
    longest_gap : between two visits of a page, in planned intervals
    """

    staleness: float
    least_staleness: float
    visits_per_s: float
    longest_gap: float

    @property
    def excess(self) -> float:
        """Staleness above the least, relative."""
        return self.staleness / self.least_staleness - 1.0


def dispatch_visits(
    change_rates: Vector,
    n_seconds: int,
    *,
    load: float = 1.0,
    forgiven_share: float = RevisitRules().forgiven_share,
    root_of: Callable[[Lease], float | None] = root_urgency,
) -> DispatchedVisits:
    """Let the crawler's own dispatcher visit the pages of a host that takes a request a second.

    Parameters
    ----------
    change_rates : shape (n,), 1/s, > 0
    n_seconds : simulated; the first fifth is not counted
    load : planned visits per second, > 0; above one, more is due than can be fetched
    forgiven_share : see :class:`recrawl.crawler.control.answers.lifecycle.RevisitRules`
    root_of : see :class:`recrawl.crawler.control.dispatching.dispatch.Dispatcher`

    Returns
    -------
    DispatchedVisits
        The exact expected staleness of the gaps that came out, unfinished ones included.

    Notes
    -----
    O(n + n_seconds (log n + pages leased ahead)) time.
    """
    host = _OneHost(change_rates, load, forgiven_share, root_of)
    for second in range(n_seconds):
        if second == n_seconds // 5:
            host.begin(float(second))
        host.step(float(second))
    return host.result(float(n_seconds - 1))


class _OneHost:
    """The frontier of one host in memory, and the account of its pages."""

    def __init__(
        self,
        change_rates: Vector,
        load: float,
        forgiven_share: float,
        root_of: Callable[[Lease], float | None],
    ) -> None:
        plan = solve_even_freshness(Pages(change_rates), load)
        self.change_rates, self.crawl_rates = change_rates, plan.crawl_rates
        self.least = 1.0 - solve_even_freshness(Pages(change_rates), min(load, 1.0)).value
        rules = RevisitRules(0.0, inf, forgiven_share=forgiven_share)
        self.due_times = DueTimes(rules, FixedRates(rules, "even-freshness"))
        self.dispatcher = Dispatcher(
            politeness=PolitenessRules(delay_s=1.0),
            budget=FetchBudget(1e6, burst=1e6),
            random=Random(0),
            lease_s=inf,
            least_share=inf,
            root_of=root_of,
        )
        visited = np.flatnonzero(plan.crawl_rates > 0)
        phases = np.random.default_rng(0).random(len(change_rates))
        self.last = -phases / np.where(plan.crawl_rates > 0, plan.crawl_rates, 1.0)
        due = self.last[visited] + 1.0 / plan.crawl_rates[visited]
        self.waiting = list(zip(due.tolist(), visited.tolist(), strict=True))
        heapq.heapify(self.waiting)
        record = HostRecord(1, "http://a.test", self.waiting[0][0])
        self.dispatcher.observe_host(record, None)
        self.dispatcher.set_robots(1, RobotsRules("recrawl"), inf)
        self.begin(0.0)

    def begin(self, now_s: float) -> None:
        """Count from here."""
        self.since_s, self.counted_s = now_s, np.maximum(self.last, now_s)
        self.stale_s, self.visits, self.longest = 0.0, 0, 0.0

    def step(self, now_s: float) -> None:
        """Make the visit of this second, if one is due."""
        task = self.dispatcher.pick(now_s)
        if isinstance(task, Refill):
            leases: list[Lease] = []
            while self.waiting and self.waiting[0][0] <= now_s and len(leases) < task.limit:
                leases.append(self._lease(*heapq.heappop(self.waiting)))
            self.dispatcher.stock(1, leases, until_s=inf, next_due_s=self._next_due_s())
            task = self.dispatcher.pick(now_s)
        if isinstance(task, Wait):
            return
        assert isinstance(task, Fetch)
        self._visit(task.lease, now_s)
        self.dispatcher.answered(1, now_s, 200, None)

    def result(self, now_s: float) -> DispatchedVisits:
        """Close the gaps that are open, and sum up."""
        for page in range(len(self.last)):
            self._count(page, now_s)
        seconds = now_s - self.since_s
        share = self.stale_s / seconds / len(self.last)
        return DispatchedVisits(share, self.least, self.visits / seconds, self.longest)

    def _visit(self, lease: Lease, now_s: float) -> None:
        page = lease.page_id
        self._count(page, now_s)
        self.visits += 1
        self.longest = max(self.longest, (now_s - self.last[page]) * self.crawl_rates[page])
        self.last[page] = self.counted_s[page] = now_s
        came = self.due_times.after_visit(lease, Outcome.UNCHANGED, lease.state, now_s)
        due_s = came.due_s
        heapq.heappush(self.waiting, (due_s, page))
        self.dispatcher.observe_due(1, due_s)

    def _count(self, page: int, now_s: float) -> None:
        """Add the expected time out of date since this page was counted last."""
        rate = self.change_rates[page]
        start, end = self.counted_s[page] - self.last[page], now_s - self.last[page]
        self.stale_s += (end - start) + (np.exp(-rate * end) - np.exp(-rate * start)) / rate

    def _lease(self, due_s: float, page: int) -> Lease:
        return Lease(
            page_id=page,
            url=f"http://a.test/{page}",
            host_id=1,
            token=0,
            due_s=due_s,
            crawl_rate_per_s=float(self.crawl_rates[page]),
            change_rate_per_s=float(self.change_rates[page]),
        )

    def _next_due_s(self) -> float:
        return self.waiting[0][0] if self.waiting else inf
