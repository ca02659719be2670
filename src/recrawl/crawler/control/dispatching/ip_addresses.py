"""Hosts whose names lead to one IP address: one server, that is asked as one host would be.

Each host keeps a timing of its own, for what is its own trouble. The IP address has one more of the
same kind for all of its hosts together: its delay is the longest of theirs, it is busy while any of
them is asked, and it rests when its server says that it is too busy (429, 503, Retry-After) or
takes no connection. Other errors are of a host or of its pages, not of the server: a site that is
broken must not hold up its neighbours.

Where several processes crawl, an IP address is asked by the one that holds it, and handed over with
what it knows. Never reads a clock.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final

from recrawl.crawler.control.dispatching.heaps import HostHeap
from recrawl.crawler.control.dispatching.politeness import HostPoliteness, PolitenessRules
from recrawl.crawler.control.dispatching.retry import Draws
from recrawl.terms import HostRecord

_TOO_BUSY: Final = frozenset({429, 503})
_WOKEN: Final = 64  # hosts that compete for one request, at most: the others in their turn
_LOOK_S: Final = 1.0  # between two looks at hosts that wait for a server that nobody asks
_HOLD_S: Final = 2.0  # and twice the delay: for so long an IP address is kept that others want
_WANTED: Final = 1_000
_MOST_HELD: Final = 10_000
_FEW: Final = 1_024


@dataclass(frozen=True, slots=True)
class IpAddressState:
    """State of an IP address that one process passes to the next.

    Parameters
    ----------
    text : the IP address
    ended_s : seconds since its last request may have ended; infinite: none is known of
    delay_s : the longest of the hosts of the one who tells, in seconds, >= 0
    blocked_s : seconds that it is to be left alone for; <= 0: it is not
    failures, blocked_why : of its server, as of a host
    """

    text: str
    ended_s: float = inf
    delay_s: float = 0.0
    blocked_s: float = -inf
    failures: int = 0
    blocked_why: str | None = None


@dataclass(slots=True)
class IpAddress:
    """One IP address: the timing of its server, and the hosts that wait for it.

    Parameters
    ----------
    number : by which heaps know it
    text : as it is written
    politeness : of all its hosts together
    is_held : whether it may be asked by this process
    part : of what it allows that plans of this process may count on, > 0
    """

    number: int
    text: str
    politeness: HostPoliteness
    is_held: bool = True
    part: float = 1.0
    held_s: float = -inf
    told_delay_s: float = 0.0  # by other processes
    hosts: dict[int, HostPoliteness] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)
    version: int = 0

    @property
    def ready_s(self) -> float:
        """The earliest start of the next request; infinite: not before something is told."""
        return self.politeness.ready_s if self.is_held else inf

    @property
    def delay_s(self) -> float:
        """The rest between two requests: the longest of all hosts."""
        return self.politeness.delay_s

    def join(self, host_id: int, host: HostPoliteness) -> None:
        """Take a host in."""
        self.hosts[host_id] = host
        self.observe_delay(0.0, host.delay_s)

    def leave(self, host_id: int) -> None:
        """Let a host go."""
        self.observe_delay(self.hosts.pop(host_id).delay_s, 0.0)

    def observe_delay(self, before_s: float, after_s: float) -> None:
        """Learn that the delay of a host is another; O(hosts) where the longest is shorter now."""
        if after_s >= self.delay_s:
            self.politeness.crawl_delay_s = after_s
        elif before_s >= self.delay_s:
            self._measure_delay()

    def observe_told(self, delay_s: float) -> None:
        """Learn of the delays of hosts of other processes."""
        self.told_delay_s = delay_s
        self._measure_delay()

    def _measure_delay(self) -> None:
        self.politeness.crawl_delay_s = max(self._own_delay_s(), self.told_delay_s)

    def _own_delay_s(self) -> float:
        return max((host.delay_s for host in self.hosts.values()), default=0.0)

    def state(self, now_s: float) -> IpAddressState:
        """Return what the next process is to know."""
        timing = self.politeness
        return IpAddressState(
            self.text,
            0.0 if timing.in_flight else now_s - timing.ended_s,
            self._own_delay_s(),
            timing.blocked_until_s - now_s,
            timing.failures,
            timing.blocked_why,
        )


class IpAddresses:
    """The IP addresses of all hosts; O(log n + hosts that compete) for each request.

    Parameters
    ----------
    rules : how hosts are treated
    is_shared : other processes ask the same; then each is asked only while it is held
    """

    def __init__(self, rules: PolitenessRules, *, is_shared: bool = False) -> None:
        self._rules = rules
        self._is_shared = is_shared
        self._parts: Mapping[str, float] = {}
        self._by_text: dict[str, IpAddress] = {}
        self._by_number: dict[int, IpAddress] = {}
        self._wanted: dict[int, None] = {}
        self._held: dict[int, None] = {}  # those asked last are last
        self._resting = HostHeap(self._version_of)  # those that are waited for, by when they rested
        self._n_made = 0
        self._most = _FEW

    def of(self, text: str, now_s: float) -> IpAddress:
        """Return an IP address, known or new."""
        known = self._by_text.get(text)
        if known is not None:
            return known
        self._forget(now_s)
        self._n_made += 1
        timing = HostPoliteness(self._rules)
        part = self._parts.get(text, 1.0)
        made = IpAddress(self._n_made, text, timing, is_held=not self._is_shared, part=part)
        self._by_text[text] = self._by_number[made.number] = made
        return made

    def all(self) -> list[IpAddress]:
        """Return every IP address that is known."""
        return list(self._by_text.values())

    def share(self, parts: Mapping[str, float]) -> None:
        """Learn on which part of each IP address plans may count: of others it is the whole."""
        self._parts = parts
        for one in self.all():
            one.part = parts.get(one.text, 1.0)

    def _forget(self, now_s: float) -> None:
        """Drop those without a host that have rested, each time that they are twice as many."""
        if len(self._by_text) < self._most:
            return
        for one in self.all():
            timing = one.politeness
            # One that is held is given back first; a server that refused is remembered.
            if (
                not one.hosts
                and one.number not in self._held
                and timing.ready_s + self._rules.backoff.quiet_s <= now_s
            ):
                del self._by_text[one.text], self._by_number[one.number]
                self._wanted.pop(one.number, None)
        self._most = 2 * len(self._by_text) + _FEW

    def recall(self, record: HostRecord) -> None:
        """Learn from what was kept of a host how its server was to be left alone."""
        if record.ip_address is None or not record.ip_blocked_until_s:
            return
        timing = self._by_text[record.ip_address].politeness
        timing.failures = max(timing.failures, record.failures)
        if record.ip_blocked_until_s > timing.blocked_until_s:
            timing.block_until(record.ip_blocked_until_s, record.blocked_why or "blocked")

    def follow(self, before: "IpAddresses") -> None:
        """Go on from another's requests."""
        for one in before.all():
            mine = self.of(one.text, -inf)
            mine.politeness.rest_after(one.politeness)
            self.changed(mine)

    # -- who waits --

    def wait(self, address: IpAddress, host_id: int, *, is_first: bool = False) -> None:
        """Let a host wait for its turn."""
        if is_first:
            address.waiting.appendleft(host_id)
        else:
            address.waiting.append(host_id)
        if not address.is_held:
            self._wanted[address.number] = None
        elif len(address.waiting) == 1:
            self.changed(address)

    def changed(self, address: IpAddress, least_s: float = -inf) -> None:
        """Note that the timing of an IP address is another; not looked at before ``least_s``."""
        address.version += 1
        if address.waiting and address.ready_s < inf:
            self._resting.push(max(address.ready_s, least_s), address.number)

    def next_s(self) -> float:
        """Return when the next one that is waited for may be asked."""
        first = self._resting.first()
        return inf if first is None else first[0]

    def woken(self, now_s: float) -> Iterator[tuple[IpAddress, int]]:
        """Take hosts whose server may be asked now: they compete for it."""
        while (first := self._resting.first()) is not None and first[0] <= now_s:
            address = self._by_number[self._resting.pop()]
            for _ in range(min(_WOKEN, len(address.waiting))):
                yield address, address.waiting.popleft()
            # If none of these asks it after all, the others have their turn.
            self.changed(address, now_s + _LOOK_S)

    # -- requests --

    def start(self, address: IpAddress) -> None:
        """A request to one of its hosts starts now."""
        address.politeness.start()
        if self._is_shared:
            self._held[address.number] = self._held.pop(address.number, None)
        self.changed(address)

    def ended(self, address: IpAddress, now_s: float) -> None:
        """The request in flight is over, and says nothing of the server."""
        address.politeness.ended(now_s)
        self.changed(address)

    def answered(
        self,
        address: IpAddress,
        now_s: float,
        status: int,
        retry_after: str | None,
        random: Draws,
        page_id: int | None,
    ) -> None:
        """The request in flight was answered: only that it is too busy speaks for the server."""
        told = status if status in _TOO_BUSY else 200
        address.politeness.answered(now_s, told, retry_after, random, page_id)
        self.changed(address)

    def unanswered(self, address: IpAddress, now_s: float, why: str, random: Draws) -> None:
        """The request in flight brought no answer; without a connection the server is in trouble.

        A time-out or an answer cut off is the page's, a name or a certificate is the host's.
        """
        if why != "connect":
            self.ended(address, now_s)
            return
        address.politeness.unanswered(now_s, why, random)
        self.changed(address)

    # -- among several processes --

    def wanted(self, now_s: float) -> list[IpAddressState]:
        """Return IP addresses that hosts wait for and this process does not hold.

        At most a thousand; the others come first at the next call.
        """
        numbers = list(self._wanted)[:_WANTED]
        for number in numbers:
            self._wanted[number] = self._wanted.pop(number)
        return [self._by_number[number].state(now_s) for number in numbers]

    def take(self, state: IpAddressState, now_s: float) -> None:
        """Hold an IP address from now on, and go on from what others know of it."""
        address = self.of(state.text, now_s)
        address.is_held, address.held_s = True, now_s
        address.observe_told(state.delay_s)
        timing = address.politeness
        timing.rest_from(now_s - state.ended_s)
        timing.failures = max(timing.failures, state.failures)
        if now_s + state.blocked_s > timing.blocked_until_s:
            timing.blocked_until_s = now_s + state.blocked_s
            timing.blocked_why = state.blocked_why
        self._wanted.pop(address.number, None)
        self._held[address.number] = None
        self.changed(address)

    def give(self, asked_for: list[IpAddressState], now_s: float) -> list[IpAddressState]:
        """Give up what others want and was held for a while, and what is too much; return it.

        None of these is asked from now on. The delays that the others tell count at once.
        """
        given, unknown = [], []
        for told in asked_for:
            one = self._by_text.get(told.text)
            if one is None or one.number not in self._held:
                unknown.append(IpAddressState(told.text))  # taken by an answer that never came
                continue
            one.observe_told(told.delay_s)
            self.changed(one)
            if now_s >= one.held_s + _HOLD_S + 2.0 * one.delay_s:
                given.append(one)
        given += [self._by_number[number] for number in list(self._held)[:-_MOST_HELD]]
        return unknown + [self._given(one, now_s) for one in given if self._may_give(one)]

    def give_all(self, now_s: float) -> list[IpAddressState]:
        """Give up every one, once nothing is in flight any more."""
        return [self._given(self._by_number[number], now_s) for number in list(self._held)]

    def _may_give(self, address: IpAddress) -> bool:
        return address.number in self._held and not address.politeness.in_flight

    def _given(self, address: IpAddress, now_s: float) -> IpAddressState:
        del self._held[address.number]
        address.is_held = False
        if address.waiting:
            self._wanted[address.number] = None
        self.changed(address)
        return address.state(now_s)

    def _version_of(self, number: int) -> int:
        address = self._by_number.get(number)
        return -1 if address is None else address.version
