"""Hosts in the order of a number that changes: as sorting them says, in little time and memory."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.dispatching.heaps import HostHeap


class Hosts:
    """A heap, and how often it looked at the version of a host."""

    def __init__(self) -> None:
        self.versions = Counter[int]()
        self.n_looks = 0
        self.heap = HostHeap(self._version_of)

    def _version_of(self, host_id: int) -> int:
        self.n_looks += 1
        return self.versions[host_id]

    def push(self, key: float, host_id: int) -> None:
        """Push a host that has changed."""
        self.versions[host_id] += 1
        self.heap.push(key, host_id)


@given(st.lists(st.tuples(st.floats(0.0, 9.0), st.integers(1, 9))))
def test_hosts_come_by_what_was_said_of_them_last(pushed: list[tuple[float, int]]) -> None:
    hosts = Hosts()
    for key, host_id in pushed:
        hosts.push(key, host_id)
    last = {host_id: key for key, host_id in pushed}

    taken = []
    while (first := hosts.heap.first()) is not None:
        assert hosts.heap.pop() == first[1]
        taken.append(first)

    assert taken == sorted((key, host_id) for host_id, key in last.items())


def test_what_was_overtaken_is_dropped() -> None:
    """A host that changes without end takes no more than a thousand or two of places."""
    hosts = Hosts()
    for n in range(10_000):
        hosts.push(float(n), 1)
    hosts.n_looks = 0

    assert hosts.heap.first() == (9_999.0, 1)
    assert hosts.n_looks <= 2_048


def test_many_hosts_are_not_looked_through_again_and_again() -> None:
    """Twice for each, when they have become twice as many; their order is as if they were few."""
    hosts, draw = Hosts(), Random(1)
    last = dict[int, float]()
    for n in range(10_000):
        last[n % 6_000] = draw.random()
        hosts.push(last[n % 6_000], n % 6_000)
    assert hosts.n_looks <= 3 * 10_000

    taken = [hosts.heap.pop() for _ in last if hosts.heap.first()]

    assert taken == sorted(last, key=last.__getitem__)
