"""Limits on how fast and how far a host or domain may fill a crawl.

What is found is taken in while there is room.

Room is shared as switches share the memory of their queues (a dynamic threshold: Choudhury and
Hahne 1998): near the end of it a host is let in while it holds less than what is still free. One
that has filled the crawl is refused, a newcomer is not.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isinf

from recrawl.crawler.control.urls import site_of

BEYOND_BOUNDS = "beyond-bounds"
DOMAIN_FULL = "domain-full"
LOW_YIELD = "low-yield"
REFUSALS = {
    BEYOND_BOUNDS: "beyond scope.max_depth links from a seed, or with a path too long or repeating",
    "crawl-full": "the crawl is full (scope.max_pages) and most of it theirs",
    DOMAIN_FULL: "more hosts than scope.max_hosts_per_domain",
    "host-full": "more than scope.max_pages_per_host",
    LOW_YIELD: "put off: addresses of their kinds have brought nothing new, so few are tried",
    "listings": "more sitemaps or feeds than scope.max_listings_per_host",
    "query-variants": "more than scope.max_query_variants of one address",
    "too-fast": "more at a time than scope.max_new_per_minute",
}
_RESERVED = 10  # a tenth of all room is left to hosts that hold less than what is free
_BURST_MINUTES = 5.0
_MOST_HOSTS = 100_000  # whose counts are kept


def has_room(*, n_pages: int, max_pages: int, n_of_host: int, n_hosts: int) -> bool:
    """Tell whether one more page of a host has room among all pages of a crawl.

    Parameters
    ----------
    n_pages, max_pages : pages that are known, and that may be
    n_of_host : those of the host
    n_hosts : hosts that are known; a single one may fill everything
    """
    free = max_pages - n_pages
    if free <= 0:
        return False
    return free > max_pages // _RESERVED or n_hosts <= 1 or n_of_host < free


@dataclass(slots=True)
class HostIntake:
    """So many new addresses a minute for each host, and five minutes' worth of them at once.

    Parameters
    ----------
    per_minute : addresses; infinite: no bound
    """

    per_minute: float
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)  # addresses, instant

    def take(self, host: str, now_s: float) -> bool:
        """Count one new address of a host; False where it is one too many for now."""
        if isinf(self.per_minute):
            return True
        most = _BURST_MINUTES * self.per_minute
        if len(self._left) > _MOST_HOSTS:
            self._left.clear()
        left, at_s = self._left.get(host, (most, now_s))
        left = min(most, left + max(now_s - at_s, 0.0) * self.per_minute / 60.0)
        has_one = left >= 1.0
        if has_one:
            self._left[host] = (left - 1.0, now_s)
        return has_one


@dataclass(slots=True)
class DomainIntake:
    """So many hosts of each registrable domain: names below one cost their owner nothing.

    Parameters
    ----------
    most : hosts of one domain
    """

    most: int
    _hosts: set[str] = field(default_factory=set)
    _of_domain: Counter[str] = field(default_factory=Counter)

    def note(self, hosts: Iterable[str]) -> None:
        """Count hosts that the crawl has already."""
        for host in hosts:
            if host not in self._hosts:
                self._hosts.add(host)
                if len(self._hosts) > self.most:  # before, no domain can have too many
                    self._of_domain[site_of(host)] += 1
                elif len(self._hosts) == self.most:
                    self._of_domain = Counter(map(site_of, self._hosts))

    def full(self, host: str) -> str | None:
        """Return the domain that has no room for one more host, or None; what has room counts."""
        if host in self._hosts:
            return None
        if len(self._hosts) >= self.most and self._of_domain[site := site_of(host)] >= self.most:
            return site
        self.note([host])
        return None
