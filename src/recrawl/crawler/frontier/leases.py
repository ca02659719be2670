"""Pages that are leased: of a process, in its memory, so that leases end with it."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from recrawl.terms import Lease

Taken = Mapping[int, tuple[int, float]]  # by page: token of the lease, and until when it holds
_NONE: Final[Taken] = MappingProxyType({})


def is_free(taken: Taken, page_id: int, now_s: float) -> bool:
    """Tell whether a page can be leased: nobody has it, or a lease of it has lapsed."""
    held = taken.get(page_id)
    return held is None or held[1] <= now_s


class Leases:
    """The latest lease of each page, until it is ended."""

    def __init__(self) -> None:
        self._of_hosts: dict[int, dict[int, tuple[int, float]]] = {}

    def of_host(self, host_id: int) -> Taken:
        """Return the leases of a host's pages, those that have lapsed among them."""
        return self._of_hosts.get(host_id, _NONE)

    def take(self, leases: Iterable[Lease], until_s: float) -> None:
        """Lease pages until an instant, instead of to whoever had them."""
        for lease in leases:
            of_host = self._of_hosts.setdefault(lease.host_id, {})
            of_host[lease.page_id] = (lease.token, until_s)

    def hold(self, lease: Lease) -> bool:
        """Tell whether a lease has neither been ended nor been followed by another."""
        held = self.of_host(lease.host_id).get(lease.page_id)
        return held is not None and held[0] == lease.token

    def end(self, leases: Iterable[Lease]) -> None:
        """End leases; those that do not hold are none any more."""
        for lease in leases:
            if self.hold(lease):
                of_host = self._of_hosts[lease.host_id]
                del of_host[lease.page_id]
                if not of_host:
                    del self._of_hosts[lease.host_id]

    def taken(self, now_s: float) -> list[int]:
        """Return the pages of which a lease has not lapsed."""
        return [
            page_id
            for of_host in self._of_hosts.values()
            for page_id, (_, until_s) in of_host.items()
            if until_s > now_s
        ]

    def until_s(self, page_id: int) -> float | None:
        """Return until when a page is leased; None: it is not."""
        for of_host in self._of_hosts.values():
            if page_id in of_host:
                return of_host[page_id][1]
        return None

    def drop(self, shards: Collection[int], n_shards: int) -> None:
        """End all leases of hosts of some shards: a host's is its number modulo theirs."""
        gone = [host_id for host_id in self._of_hosts if host_id % n_shards in shards]
        for host_id in gone:
            del self._of_hosts[host_id]
