"""Pages that are visited ahead of their due time, because a request would lie unused otherwise.

The due time of a page is when a visit is worth the price. Where no page has reached it, the price
is too high for the moment: the request goes to the page whose visit is worth most, as it would at
a lower price. So the budget is spent evenly whatever the ages of the pages are, and due times only
say how quickly the best page is found.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from recrawl.crawler.control.dispatching.heaps import HostHeap
from recrawl.crawler.control.worth.openings import opening_share
from recrawl.crawler.control.worth.tiers import worth_share
from recrawl.terms import Lease


@dataclass(slots=True)
class HostAhead:
    """The few pages of a host that are leased ahead of their time.

    Parameters
    ----------
    stock : leases
    until_s : when they lapse
    from_s : when there may be more; infinite: not before another page has been visited
    """

    stock: list[Lease] = field(default_factory=list)
    until_s: float = 0.0
    from_s: float = -inf

    @property
    def due_s(self) -> float:
        """Earliest due time of the leases; infinite: none."""
        return min((lease.due_s for lease in self.stock), default=inf)

    def best(self, now_s: float) -> Lease:
        """Return the one whose visit is worth most."""
        return max(self.stock, key=lambda lease: worth_share(lease, now_s))

    def take_best(self, now_s: float) -> Lease:
        """Take it."""
        lease = self.best(now_s)
        self.stock.remove(lease)
        return lease

    def take_due(self, now_s: float) -> list[Lease]:
        """Take those that are due by now, earliest first."""
        due = sorted((one for one in self.stock if one.due_s <= now_s), key=lambda one: one.due_s)
        self.stock = [lease for lease in self.stock if lease.due_s > now_s]
        return due


class AheadOrder:
    """The hosts that may be asked now, by the worth of a visit to their best page.

    Two such worths grow at different speeds, so no order by a number holds for long; but of pages
    whose intervals are alike the one due first is worth most. So there is one heap for each octave
    of the interval, and the best is found among their first. O(octaves + log hosts) each.

    Parameters
    ----------
    ahead_of : the pages leased ahead of a host
    closed_of : since when a host is closed, as its rules have grown old, and until when what is due
        of it waits; None: it is open (:mod:`.openings`)
    version_of : of a host: an entry of an older one says nothing any more

    Attributes
    ----------
    least_share : of the price, below which no host is opened
    """

    def __init__(
        self,
        ahead_of: Callable[[int], HostAhead],
        closed_of: Callable[[int, float], tuple[float, float] | None],
        version_of: Callable[[int], int],
    ) -> None:
        self.least_share = 0.0
        self._ahead_of = ahead_of
        self._closed_of = closed_of
        self._version_of = version_of
        self._resting = HostHeap(version_of)  # by when they may be asked
        self._empty = HostHeap(version_of)  # may be asked now, nothing leased; the same
        self._closed = HostHeap(version_of)  # by when they are opened
        self._tiers: dict[int, HostHeap] = {}  # by due time of their best page
        self._refilled = False

    def rest(self, host_id: int, ready_s: float) -> None:
        """Note that a host may be asked from an instant on."""
        self._resting.push(ready_s, host_id)

    def next_s(self) -> float:
        """Return when the next host may be asked."""
        first = self._resting.first()
        return inf if first is None else first[0]

    def to_refill(self, now_s: float, *, is_free: bool) -> int | None:
        """Take a host of which pages are to be leased, or None.

        Parameters
        ----------
        is_free : no request can be made now anyway; if one can, every other call is for leasing
        """
        self._wake(now_s)
        self._refilled = self._first_open(self._empty, now_s) is not None and (
            is_free or not self._refilled or self._best(now_s) is None
        )
        return self._empty.pop() if self._refilled else None

    def take(self, now_s: float) -> int | None:
        """Take the host of the page whose visit is worth most, or None, after :meth:`to_refill`."""
        best = self._best(now_s)
        return None if best is None else best.pop()

    def _best(self, now_s: float) -> HostHeap | None:
        best, most = None, -inf
        for hosts in self._tiers.values():
            first = self._first_open(hosts, now_s)
            if first is not None:
                worth = worth_share(self._ahead_of(first[1]).best(now_s), now_s)
                if worth > most:
                    best, most = hosts, worth
        first = self._closed.first()
        if first is not None and (closed := self._closed_of(first[1], now_s)) is not None:
            share = opening_share(now_s - closed[0], closed[1] - closed[0])
            if share > most and share >= self.least_share:
                best = self._closed
        return best

    def _first_open(self, hosts: HostHeap, now_s: float) -> tuple[float, int] | None:
        """Return the first of them that is still open."""
        while (first := hosts.first()) is not None:
            if (closed := self._closed_of(first[1], now_s)) is None:
                return first
            self._closed.push(closed[1], hosts.pop())
        return None

    def _wake(self, now_s: float) -> None:
        while (first := self._resting.first()) is not None and first[0] <= now_s:
            host_id = self._resting.pop()
            ahead = self._ahead_of(host_id)
            if ahead.stock and now_s < ahead.until_s:
                best = ahead.best(now_s)
                hosts = self._tiers.setdefault(best.tier, HostHeap(self._version_of))
                hosts.push(best.due_s, host_id)
            else:
                self._empty.push(first[0], host_id)
