"""State of one host while a crawl runs: its timing, its rules, the pages leased of it."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.dispatching.ahead import HostAhead
from recrawl.crawler.control.dispatching.ip_addresses import IpAddress
from recrawl.crawler.control.dispatching.politeness import HostPoliteness
from recrawl.crawler.control.dispatching.robots_txt import RobotsRules
from recrawl.crawler.control.worth.tiers import ASKED, NEW
from recrawl.terms import Lease


@dataclass(slots=True)
class HostQueue:
    """One host: its timing, its rules, and the few pages of it that are leased ahead.

    ``ip`` and what follows is there where hosts of one IP address are asked as one.
    """

    host_id: int
    host: str
    politeness: HostPoliteness
    next_due_s: float = inf
    robots: RobotsRules | None = None
    robots_status: int | None = None
    robots_body: bytes | None = None
    robots_until_s: float = 0.0
    is_read_in_full: bool = False  # its word that a page is not modified counts for nothing
    is_robots_news: bool = False  # robots.txt was read, and no page has been asked for since
    gap_s: float = 0.0  # for so long it stays closed once its rules have grown old
    stock: deque[Lease] = field(default_factory=deque)
    stock_until_s: float = 0.0
    ahead: HostAhead = field(default_factory=HostAhead)
    asked: bool = False  # somebody asked for pages of this host that are not leased yet
    asked_s: float = -inf  # when, last; a visit that began by then is no answer
    refilling: bool = False
    owed_new: float = 0.0  # pages never visited, that rounding took from refills
    new_only: bool = False  # the last refill was for pages never visited
    lacks_new: bool = False  # and there was none
    version: int = 0
    first: int = 0  # of the stock: the page that comes next, chosen when the host got ready
    root: float | None = None  # its root urgency, or of the last one; None: no plan knows it
    ip: IpAddress | None = None
    ip_until_s: float = -inf  # its name is resolved anew before a request from then on
    waits_for_ip: bool = False
    resolving: bool = False
    robots_url: str | None = None  # where the redirects of its robots.txt have led
    robots_hops: int = 0  # so many of them

    def choose(self, now_s: float, root_of: Callable[[Lease], float | None]) -> None:
        """Choose the page that comes next: the first if no plan knows it, else the most urgent."""
        self.first = 0
        if not self.stock or self.is_asked:
            return
        self.root = root_of(self.stock[0])
        if self.root is None:
            return
        most = -inf
        for place, lease in enumerate(self.stock):
            root = root_of(lease)
            if root is not None and root * (now_s - lease.due_s) > most:
                self.first, self.root, most = place, root, root * (now_s - lease.due_s)

    @property
    def may_have_new(self) -> bool:
        """True while a page that was never visited waits here, as far as is known."""
        return not (self.lacks_new and self.stock) or any(one.tier == NEW for one in self.stock)

    def choose_new(self) -> bool:
        """Choose the first page that was never visited; False if there is none."""
        for place, lease in enumerate(self.stock):
            if lease.tier == NEW:
                self.first, self.root = place, None
                return True
        return False

    def take(self) -> Lease:
        """Take the page that was chosen."""
        self.is_robots_news = False
        lease = self.stock[self.first]
        del self.stock[self.first]
        return lease

    @property
    def blocks(self) -> tuple[tuple[int, float, float], ...]:
        """Failures, end of the block and rest: of the host, then of its server; to be kept."""
        timings = [self.politeness] if self.ip is None else [self.politeness, self.ip.politeness]
        return tuple(
            (timing.failures, timing.blocked_until_s, timing.pace.rest_s) for timing in timings
        )

    @property
    def is_asked(self) -> bool:
        """True while a page waits here that somebody asked for."""
        return self.asked or bool(self.stock and self.stock[0].tier == ASKED)

    @property
    def head_due_s(self) -> float:
        """Earliest due time of the pages that wait here; -inf: one was asked for."""
        if self.is_asked:
            return -inf
        head_s = self.stock[0].due_s if self.stock else self.next_due_s
        return min(head_s, self.ahead.due_s)

    def settle(self, now_s: float) -> None:
        """Forget leases that have lapsed; what was leased ahead and is due now is as any other."""
        if self.stock and now_s >= self.stock_until_s:
            self.next_due_s = min(self.next_due_s, self.stock[0].due_s)
            self.stock.clear()  # the frontier has them again
        if self.ahead.stock and now_s >= self.ahead.until_s:
            self.next_due_s = min(self.next_due_s, self.ahead.due_s)
            self.ahead.stock.clear()
        due = self.ahead.take_due(now_s)
        if due:
            self.put(due, self.ahead.until_s)

    def put(self, leases: Sequence[Lease], until_s: float) -> None:
        """Add leases to the stock, those that were asked for in front."""
        self.stock_until_s = min(self.stock_until_s, until_s) if self.stock else until_s
        asked = [lease for lease in leases if lease.tier == ASKED]
        self.stock.extendleft(reversed(asked))
        self.stock.extend(lease for lease in leases if lease.tier != ASKED)

    @property
    def opens_s(self) -> float:
        """From when old rules are worth reading again for what is due; -inf: they need not wait."""
        is_old = self.robots is not None and self.robots.reachable and not self.is_robots_news
        return self.robots_until_s + self.gap_s if is_old and not self.is_asked else -inf

    def is_closed(self, now_s: float) -> bool:
        """Tell whether rules that have been read have grown old."""
        return self.opens_s > -inf and now_s >= self.robots_until_s

    def ready_s(self, horizon_s: float) -> float:
        """The earliest instant at which this host by itself has something to do."""
        if self.refilling or self.resolving or self.head_due_s > horizon_s:
            return inf
        return max(self.politeness.ready_s, self.head_due_s)

    def pass_ready_s(self, horizon_s: float) -> float:
        """The same, with the rest of its IP address; who may ask that is another matter."""
        ip_s = -inf if self.ip is None else self.ip.politeness.ready_s
        return max(self.ready_s(horizon_s), ip_s)

    @property
    def ahead_ready_s(self) -> float:
        """The earliest instant at which a page may be visited ahead of its time."""
        if self.refilling or self.resolving:
            return inf
        return max(self.politeness.ready_s, -inf if self.ahead.stock else self.ahead.from_s)


def parted(robots: RobotsRules | None, leases: Iterable[Lease]) -> tuple[list[Lease], list[Lease]]:
    """Return the pages that robots.txt allows, and those that it forbids.

    Parameters
    ----------
    robots : of the host; None: all is allowed
    leases : of pages of the host
    """
    allowed: list[Lease] = []
    forbidden: list[Lease] = []
    for lease in leases:
        (allowed if robots is None or robots.allows(lease.url) else forbidden).append(lease)
    return allowed, forbidden


def by_server(
    queues: Iterable[HostQueue], host_ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return what serves each page, and how often that may be asked.

    Parameters
    ----------
    queues : the hosts that are known
    host_ids : shape (n,), of each page

    Returns
    -------
    shape (n,) and (n_servers,)
        Numbers of servers: a host, or all hosts of one IP address where these are asked as one; and
        the requests in a second that the rests between them allow, inf: any. Of an IP address
        that others ask too, the part that is this process's.
    """
    servers = {
        queue.host_id: (queue.host_id, queue.politeness.delay_s)
        if queue.ip is None
        else (-queue.ip.number, queue.ip.delay_s / queue.ip.part)
        for queue in queues
    }
    known, rows = np.unique(host_ids, return_inverse=True)
    asked = [servers.get(host, (host, 0.0)) for host in known.tolist()]
    _, first, groups = np.unique(
        [number for number, _ in asked], return_index=True, return_inverse=True
    )
    delays_s = np.array([delay_s for _, delay_s in asked])[first]
    with np.errstate(divide="ignore"):
        return groups[rows].astype(np.int64), 1.0 / delays_s


def n_by_ip_address(queues: Iterable[HostQueue], host_ids: NDArray[np.int64]) -> dict[str, int]:
    """Return how many pages each IP address serves, of those that are known.

    Parameters
    ----------
    queues : the hosts that are known
    host_ids : shape (n,), of each page
    """
    texts = {queue.host_id: queue.ip.text for queue in queues if queue.ip is not None}
    served: Counter[str] = Counter()
    for host_id, n in zip(*np.unique(host_ids, return_counts=True), strict=True):
        if host_id in texts:
            served[texts[host_id]] += int(n)
    return served
