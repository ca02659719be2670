"""Which request is made next: the page most urgently late, of the hosts that may be asked now.

Pages that a plan knows compete by lateness times root urgency (:mod:`recrawl.control.order`). Pages
that were never visited, and robots.txt, come in the order in which they were due, and take their
share of the requests while both wait.

Pure and synchronous: it is told the time and what happened, and answers with the next task, or
with the instant to wait for. The runtime performs the tasks. Politeness and the budget are
enforced here, before a page is handed to a robot, so no robot can break them.
"""

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from recrawl.control.budget import FetchBudget
from recrawl.control.order import lane_of, root_urgency
from recrawl.control.politeness import HostPoliteness, PolitenessRules
from recrawl.control.robots_txt import RobotsRules
from recrawl.terms import HostRecord, Lease

__all__ = ["AskRobots", "Dispatcher", "Fetch", "HostQueue", "Refill", "Task", "Wait"]


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch this page now. The request has been counted and its host is busy."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class AskRobots:
    """Fetch this host's robots.txt now. The request has been counted and the host is busy."""

    host_id: int
    host: str


@dataclass(frozen=True, slots=True)
class Refill:
    """Lease up to ``limit`` due pages of this host, and say so with :meth:`Dispatcher.stock`."""

    host_id: int
    limit: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may start before this instant (infinite: nothing is known to come)."""

    until_s: float


Task = Fetch | AskRobots | Refill | Wait
Entries = list[tuple[float, int, int]]


@dataclass(slots=True)
class HostQueue:
    """One host: its timing, its rules, and the few pages of it that are leased ahead."""

    host_id: int
    host: str
    politeness: HostPoliteness
    next_due_s: float = inf
    robots: RobotsRules | None = None
    robots_status: int | None = None
    robots_body: bytes | None = None
    robots_until_s: float = 0.0
    stock: deque[Lease] = field(default_factory=deque)
    stock_until_s: float = 0.0
    refilling: bool = False
    version: int = 0
    first: int = 0  # of the stock: the page that comes next, chosen when the host got ready
    root: float | None = None  # its root urgency, or of the last one; None: no plan knows it

    def choose(self, now_s: float, root_of: Callable[[Lease], float | None]) -> None:
        """Choose the page that comes next: the first if no plan knows it, else the most urgent."""
        self.first = 0
        if not self.stock:
            return
        self.root = root_of(self.stock[0])
        if self.root is None:
            return
        most = -inf
        for place, lease in enumerate(self.stock):
            root = root_of(lease)
            if root is not None and root * (now_s - lease.due_s) > most:
                self.first, self.root, most = place, root, root * (now_s - lease.due_s)

    def take(self) -> Lease:
        """Take the page that was chosen."""
        lease = self.stock[self.first]
        del self.stock[self.first]
        return lease

    @property
    def head_due_s(self) -> float:
        """When the earliest page that waits here was or is due."""
        return self.stock[0].due_s if self.stock else self.next_due_s

    def ready_s(self, horizon_s: float) -> float:
        """The earliest instant at which this host has something to do."""
        if self.refilling or self.head_due_s > horizon_s:
            return inf
        return max(self.politeness.ready_s, self.head_due_s)


class Dispatcher:
    """Picks tasks over all hosts; O(lanes + pages leased ahead + log hosts) each.

    Parameters
    ----------
    politeness : how hosts are treated
    budget : the budget that all requests share
    random : source of the jitter of back-off
    lease_s : how long leases live; pages leased ahead are few enough to be fetched in half of it
    horizon_s : pages due later than this are left alone (for a single pass); default: none
    discovery_share : of the requests, for pages that no plan knows while both wait
    root_of : root urgency of a page, or None where no plan knows it
    """

    def __init__(
        self,
        *,
        politeness: PolitenessRules,
        budget: FetchBudget,
        random: np.random.Generator,
        lease_s: float = 600.0,
        horizon_s: float = inf,
        discovery_share: float = 0.5,
        root_of: Callable[[Lease], float | None] = root_urgency,
    ) -> None:
        self.budget = budget
        self.horizon_s = horizon_s
        self.lease_s = lease_s
        self._rules = politeness
        self._random = random
        self._hosts: dict[int, HostQueue] = {}
        self._waiting: Entries = []  # (ready_s, host_id, version)
        self._lanes: dict[int, Entries] = {}  # by urgency: (due_s, host_id, version)
        self._unplanned: Entries = []  # the same, of what no plan knows
        self._discovery_share = discovery_share
        self._owed = 0.0  # requests that what no plan knows has had too few of
        self._root_of = root_of

    @property
    def longest_block_s(self) -> float:
        """The longest that a host may be left alone for its answers."""
        return max(self._rules.longest_retry_after_s, self._rules.backoff.longest_s)

    # -- what is known --

    def host(self, host_id: int) -> HostQueue:
        """Return one host."""
        return self._hosts[host_id]

    def hosts(self) -> list[HostQueue]:
        """Return every host."""
        return list(self._hosts.values())

    def observe_host(self, record: HostRecord, robots: RobotsRules | None) -> None:
        """Learn of a host, or that more of its pages are due."""
        queue = self._hosts.get(record.host_id)
        if queue is None:
            timing = HostPoliteness(
                self._rules,
                failures=record.failures,
                blocked_until_s=record.blocked_until_s,
                blocked_why=record.blocked_why,
            )
            queue = HostQueue(record.host_id, record.host, timing)
            queue.robots_status = record.robots_status
            queue.robots_body = record.robots_body
            self._hosts[record.host_id] = queue
            self.set_robots(record.host_id, robots, record.robots_until_s)
        if not queue.refilling:
            queue.next_due_s = record.next_due_s
        self._changed(queue)

    def observe_due(self, host_id: int, due_s: float) -> None:
        """Learn that a page of a known host is due at an instant."""
        queue = self._hosts[host_id]
        if due_s < queue.next_due_s:
            queue.next_due_s = due_s
            self._changed(queue)

    # -- what to do next --

    def pick(self, now_s: float) -> Task:
        """Return the next task. Requests are counted and their hosts marked busy here."""
        while True:
            queue = self._most_urgent(now_s)
            if queue is None:
                return Wait(self._waiting[0][0] if self._waiting else inf)
            if queue.stock and now_s >= queue.stock_until_s:
                queue.next_due_s = min(queue.next_due_s, queue.head_due_s)
                queue.stock.clear()  # these leases have lapsed: the frontier has them again
            known = queue.robots is not None and now_s < queue.robots_until_s
            if known and not queue.stock:
                queue.refilling = True
                self._changed(queue)
                return Refill(queue.host_id, self._stock_limit(queue))
            budget_s = self.budget.ready_s(now_s)
            if budget_s > now_s:
                self._push_ready(queue, now_s)
                return Wait(budget_s)
            self.budget.spend(now_s)
            queue.politeness.start()
            self._count_share(queue)
            task: Task = Fetch(queue.take()) if known else AskRobots(queue.host_id, queue.host)
            self._changed(queue)
            return task

    def next_ready_s(self, now_s: float) -> float:
        """Return when the next host has something to do, whatever the budget.

        A host whose pages are being leased has something to do now: what they are is not known yet.
        """
        times = (
            now_s if queue.refilling else queue.ready_s(self.horizon_s)
            for queue in self._hosts.values()
        )
        return max(now_s, min(times, default=inf))

    # -- what happened --

    def stock(
        self, host_id: int, leases: Sequence[Lease], *, until_s: float, next_due_s: float
    ) -> list[Lease]:
        """Take leased pages of a host; return those that robots.txt forbids."""
        queue = self._hosts[host_id]
        queue.refilling = False
        queue.next_due_s = next_due_s
        queue.stock_until_s = until_s
        forbidden = self._allowed_only(queue, leases)
        self._changed(queue)
        return forbidden

    def set_robots(
        self, host_id: int, robots: RobotsRules | None, until_s: float, *, why: str = ""
    ) -> list[Lease]:
        """Learn a host's rules; return pages leased ahead that they forbid.

        ``why`` says what was wrong where the rules could not be had.
        """
        queue = self._hosts[host_id]
        queue.robots = robots
        queue.robots_until_s = until_s
        forbidden: list[Lease] = []
        if robots is not None:
            queue.politeness.crawl_delay_s = robots.crawl_delay_s
            if not robots.reachable:
                queue.politeness.block_until(until_s, f"robots.txt cannot be read: {why}")
            else:
                waiting = tuple(queue.stock)
                queue.stock.clear()
                forbidden = self._allowed_only(queue, waiting)
        self._changed(queue)
        return forbidden

    def answered(self, host_id: int, now_s: float, status: int, retry_after: str | None) -> bool:
        """End a request that was answered; True if the host is blocked or forgiven by it."""
        queue = self._hosts[host_id]
        before = (queue.politeness.failures, queue.politeness.blocked_until_s)
        queue.politeness.answered(now_s, status, retry_after, self._random)
        self._changed(queue)
        return before != (queue.politeness.failures, queue.politeness.blocked_until_s)

    def unanswered(self, host_id: int, now_s: float, why: str) -> None:
        """End a request that brought no answer."""
        queue = self._hosts[host_id]
        queue.politeness.unanswered(now_s, why, self._random)
        self._changed(queue)

    def cancelled(self, host_id: int) -> None:
        """End a request that was never made."""
        queue = self._hosts[host_id]
        queue.politeness.cancel()
        self._changed(queue)

    def give_back(self) -> list[Lease]:
        """Return every page leased ahead and not handed out, and forget them."""
        kept: list[Lease] = []
        for queue in self._hosts.values():
            kept.extend(queue.stock)
            queue.stock.clear()
            self._changed(queue)
        return kept

    # -- inside --

    def _allowed_only(self, queue: HostQueue, leases: Sequence[Lease]) -> list[Lease]:
        forbidden: list[Lease] = []
        for lease in leases:
            allowed = queue.robots is None or queue.robots.allows(lease.url)
            (queue.stock if allowed else forbidden).append(lease)
        return forbidden

    def _stock_limit(self, queue: HostQueue) -> int:
        pace_s = max(queue.politeness.delay_s, 1.0 / self.budget.rate_per_s, 0.01)
        return int(min(max(0.5 * self.lease_s / pace_s, 1), 64))

    def _changed(self, queue: HostQueue) -> None:
        queue.version += 1
        ready_s = queue.ready_s(self.horizon_s)
        if ready_s < inf:
            heapq.heappush(self._waiting, (ready_s, queue.host_id, queue.version))

    def _push_ready(self, queue: HostQueue, now_s: float) -> None:
        queue.choose(now_s, self._root_of)
        due_s = queue.stock[queue.first].due_s if queue.stock else queue.next_due_s
        entry = (due_s, queue.host_id, queue.version)
        if queue.root is None:
            heapq.heappush(self._unplanned, entry)
        else:
            heapq.heappush(self._lanes.setdefault(lane_of(queue.root), []), entry)

    def _most_urgent(self, now_s: float) -> HostQueue | None:
        """Take the host whose next page comes first, of those that may be asked."""
        while self._waiting and (self._waiting[0][0] <= now_s or self._is_stale(self._waiting[0])):
            entry = heapq.heappop(self._waiting)
            if not self._is_stale(entry):
                self._push_ready(self._hosts[entry[1]], now_s)
        self._drop_stale(self._unplanned)
        best, most = None, -inf
        for lane in self._lanes.values():
            self._drop_stale(lane)
            if lane:
                root = self._hosts[lane[0][1]].root or 0.0
                if root * (now_s - lane[0][0]) > most:
                    best, most = lane, root * (now_s - lane[0][0])
        if self._unplanned and (best is None or self._owed + self._discovery_share >= 1.0):
            best = self._unplanned
        return self._hosts[heapq.heappop(best)[1]] if best else None

    def _count_share(self, queue: HostQueue) -> None:
        """Count a request against the share of its kind; only while both kinds wait."""
        others = self._unplanned if queue.root is not None else any(self._lanes.values())
        if not others:
            self._owed = 0.0
        else:
            taken = 1.0 if queue.root is None else 0.0
            self._owed = min(max(self._owed + self._discovery_share - taken, -1.0), 1.0)

    def _drop_stale(self, entries: Entries) -> None:
        while entries and self._is_stale(entries[0]):
            heapq.heappop(entries)

    def _is_stale(self, entry: tuple[float, int, int]) -> bool:
        return self._hosts[entry[1]].version != entry[2]
