"""Hosts that share an IP address, and how that holds them up, in words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from recrawl.crawler.facts import SettingsFacts
from recrawl.terms import HostRecord


class Sharing:
    """The hosts of a crawl by their IP address; each alone where that is nothing to go by.

    Parameters
    ----------
    hosts : as they are kept
    settings : of the crawl
    now_s : the instant
    """

    def __init__(self, hosts: Sequence[HostRecord], settings: SettingsFacts, now_s: float) -> None:
        self._now_s = now_s
        self._of: dict[str, list[HostRecord]] = defaultdict(list)
        for host in hosts if settings.per_address else ():
            if host.ip_address is not None:
                self._of[host.ip_address].append(host)
        refused = (max(of, key=_refused_last) for of in self._of.values())
        self._refused = {
            host.ip_address: host for host in refused if host.ip_blocked_until_s > now_s
        }
        #: The hosts in their order, each left alone for as long as its server is, and why.
        self.hosts = [self._rests(host) for host in hosts]

    def words(self, host: HostRecord) -> str | None:
        """Say with how many others a host shares its IP address; None: with nobody."""
        n = len(self._of.get(host.ip_address or "", [])) - 1
        if n < 1:
            return None
        return f"shares {host.ip_address} with {n:,} other host{'s' if n > 1 else ''}"

    def blocked(self) -> list[HostRecord]:
        """Return the hosts that are left alone; of those of a server that rests one for all."""
        return [host for host in self.hosts if self._is_listed(host)]

    def _is_listed(self, host: HostRecord) -> bool:
        refused = self._refused.get(host.ip_address)
        if refused is None or refused.host_id == host.host_id:
            return host.blocked_until_s > self._now_s
        return host.blocked_until_s > refused.ip_blocked_until_s

    def _rests(self, host: HostRecord) -> HostRecord:
        refused, words = self._refused.get(host.ip_address), self.words(host)
        if refused is None:
            return host
        is_own = refused.host_id == host.host_id
        if not is_own and refused.ip_blocked_until_s < host.blocked_until_s:
            return host
        is_told = refused.blocked_until_s > self._now_s
        why = (refused.blocked_why if is_told else None) or "its server is too busy"
        why = f"{refused.host}: {why}" if is_told and not is_own else why
        return replace(
            host,
            failures=refused.failures,
            blocked_until_s=max(host.blocked_until_s, refused.ip_blocked_until_s),
            blocked_why=why if words is None else f"{words}; {why}",
        )


def _refused_last(host: HostRecord) -> tuple[float, float]:
    """Order hosts by how long their server rests; that of its answer rests for about as long."""
    return host.ip_blocked_until_s, -abs(host.blocked_until_s - host.ip_blocked_until_s)
