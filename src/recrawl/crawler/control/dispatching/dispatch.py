"""Choice of the next request: the page most urgently late, of the hosts that may be asked now.

Pages that a plan knows compete by lateness times root urgency (:mod:`.order`). Pages that were
never visited compete with them, and with each other, by what a visit is worth beside the price
(:mod:`.one_price`); or they take a share of the requests while both wait. A page that somebody
asked for comes before all of these.

Where hosts of one IP address are asked as one (:mod:`.ip_addresses`), a name is resolved before its
host is asked, and a host whose server is busy or rests waits for its turn beside these orders.

Where no page is due that may be visited, the request goes to the page whose visit is worth most
(:mod:`.ahead`): the budget does not lie unused while a visit is worth anything.

Pure and synchronous: it is told the time and what happened, and answers with the next task, or
with the instant to wait for. The runtime performs the tasks. Politeness and the budget are
enforced here, before a page is handed to a robot, so no robot can break them.

Longer than most modules because every rule about which request is next is here.
"""

from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from math import inf
from typing import Final

from recrawl.crawler.control.dispatching.ahead import AheadOrder
from recrawl.crawler.control.dispatching.budget import FetchBudget
from recrawl.crawler.control.dispatching.heaps import HostHeap
from recrawl.crawler.control.dispatching.host_queue import HostQueue, parted
from recrawl.crawler.control.dispatching.ip_addresses import IpAddresses
from recrawl.crawler.control.dispatching.pace import Pace
from recrawl.crawler.control.dispatching.politeness import HostPoliteness, PolitenessRules
from recrawl.crawler.control.dispatching.retry import Draws
from recrawl.crawler.control.dispatching.robots_txt import RobotsRules
from recrawl.crawler.control.dispatching.silence import Silence
from recrawl.crawler.control.dispatching.tasks import AskRobots, Fetch, Refill, Resolve, Task, Wait
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.crawler.control.worth.order import lane_of, root_urgency
from recrawl.crawler.control.worth.tiers import ASKED, NEW, worth_share
from recrawl.errors import failure_words
from recrawl.terms import HostRecord, Lease

__all__ = ["AskRobots", "Dispatcher", "Fetch", "Refill", "Resolve", "Task", "Wait"]


_DAY_S: Final = 86_400.0
_STOCK: Final = 64  # pages of a host that are leased at once, at most
_STOCK_S: Final = 4.0  # for so long, where hosts are few
_REFILLS_PER_S: Final = 4.0  # of all hosts
_DOWN_SHARE: Final = 0.05  # of the requests, for looks at hosts that are down
_AHEAD: Final = (
    16  # pages that are leased ahead of their time at once: while they wait, worth moves
)


class Dispatcher:
    """Picks tasks over all hosts; O(lanes + pages leased ahead + log hosts) each.

    Parameters
    ----------
    politeness : how hosts are treated
    budget : the budget that all requests share
    random : source of the jitter of back-off
    lease_s : how long leases live; pages leased ahead are few enough to be fetched in half of it
    horizon_s : pages due later than this are left alone (for a single pass); default: none
    first_free : first visits do not count in the budget: politeness alone paces them
    discovery_share : of the requests, for pages that no plan knows while both wait; None: by worth
    least_share : of the price: pages worth less are not visited ahead of their time; infinite: none
    root_of : root urgency of a page, or None where no plan knows it
    worth_of : what a visit is worth as a share of the price; default: first visits by weight and
        wait
    shares_addresses : other processes ask the same IP addresses
    takes : whether a host belongs to the crawl, as it may have before; no other is asked
    """

    def __init__(  # noqa: PLR0913 - each is said once, when a crawl is put together
        self,
        *,
        politeness: PolitenessRules,
        budget: FetchBudget,
        random: Draws,
        lease_s: float = 600.0,
        horizon_s: float = inf,
        first_free: bool = False,
        discovery_share: float | None = None,
        least_share: float = 0.0,
        root_of: Callable[[Lease], float | None] = root_urgency,
        worth_of: Callable[[Lease, float], float] | None = None,
        shares_addresses: bool = False,
        takes: Callable[[str], bool] | None = None,
    ) -> None:
        self.budget = budget
        self._ips = IpAddresses(politeness, is_shared=shares_addresses)
        self.horizon_s = horizon_s
        self.lease_s = lease_s
        self._rules = politeness
        self._random = random
        self._takes = takes or (lambda host: True)
        self._hosts: dict[int, HostQueue] = {}
        self._waiting = HostHeap(self._version_of)  # by when they have something to do
        self._lanes: dict[int, HostHeap] = {}  # by urgency, and in each by due time
        self._unplanned = HostHeap(self._version_of)  # by due time, what no plan knows
        self._asked = HostHeap(self._version_of)  # by due time, what somebody asked for
        self._free = HostHeap(self._version_of)  # by due time, what waits for no budget, or may
        self._first_free = first_free
        self._ahead = AheadOrder(
            lambda host_id: self._hosts[host_id].ahead, self._closed_of, self._version_of
        )
        self._least_share = least_share if horizon_s == inf else inf
        self._ahead.least_share = self._least_share
        self.discovery_share = discovery_share
        self._down: set[int] = set()  # hosts of which nothing comes
        self._silence = Silence()
        self._looks = False  # the next choice is for leasing what is due, if it is not leased
        self._owed = 0.0  # requests that what no plan knows has had too few of
        self._root_of = root_of
        self.worth_of = worth_of or OnePrice(_DAY_S).share

    @property
    def ips(self) -> IpAddresses | None:
        """The IP addresses of all hosts; None where each host is asked by itself."""
        return self._ips if self._rules.per_address else None

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
        if queue is None and not self._takes(record.host):
            return
        if queue is None:
            timing = HostPoliteness(
                self._rules,
                failures=record.failures,
                # Without a failure it rested in a silence, which may be over.
                blocked_until_s=record.blocked_until_s if record.failures else 0.0,
                blocked_why=record.blocked_why,
                pace=Pace(record.rest_s),
            )
            queue = HostQueue(record.host_id, record.host, timing)
            queue.robots_status = record.robots_status
            queue.robots_body = record.robots_body
            queue.is_read_in_full = record.is_read_in_full
            self._hosts[record.host_id] = queue
            if record.failures >= self._rules.dead_after:
                self._down.add(record.host_id)
            if self._rules.per_address and record.ip_address is not None:
                self._join(queue, record.ip_address, -inf)
                self._ips.recall(record)
            self.set_robots(record.host_id, robots, record.robots_until_s, is_news=False)
        queue.lacks_new = False
        if not queue.refilling:
            queue.next_due_s = record.next_due_s
        self._changed(queue)

    def follow(self, before: "Dispatcher") -> None:
        """Go on from another's requests: no host is asked sooner because the rules changed."""
        for queue in before.hosts():
            mine = self._hosts.get(queue.host_id)
            if mine is not None:
                mine.politeness.rest_after(queue.politeness)
                mine.gap_s = queue.gap_s
                self._changed(mine)
        self._ips.follow(before._ips)

    def observe_rest(self, host_id: int, asked_s: float) -> None:
        """Learn that somebody else may have asked a host until an instant; it rests from then."""
        queue = self._hosts.get(host_id)
        if queue is None:
            return
        queue.politeness.rest_from(asked_s)
        self._changed(queue)

    def observe_due(self, host_id: int, due_s: float, ahead_from_s: float = inf) -> None:
        """Learn that a page of a host is due at an instant; nothing, where it is not asked.

        Parameters
        ----------
        ahead_from_s : from when it may be visited ahead of that; infinite: never
        """
        queue = self._hosts.get(host_id)
        if queue is None:
            return
        if due_s < queue.next_due_s or ahead_from_s < queue.ahead.from_s:
            queue.next_due_s = min(queue.next_due_s, due_s)
            queue.ahead.from_s = min(queue.ahead.from_s, ahead_from_s)
            self._changed(queue)

    def observe_asked(self, host_id: int, asked_s: float = -inf) -> None:
        """Learn that somebody asked for pages of a host.

        Parameters
        ----------
        asked_s : instant; visits that began by then are no answer, and are made again
        """
        queue = self._hosts.get(host_id)
        if queue is None:
            return
        queue.asked, queue.asked_s = True, max(queue.asked_s, asked_s)
        if queue.waits_for_ip and queue.ip is not None:
            self._ips.wait(queue.ip, host_id, is_first=True)
        self._changed(queue)

    def observe_recorded(self, host_id: int, visited_s: float) -> None:
        """Learn that a visit is on record: its page may have been asked for while it was made."""
        queue = self._hosts.get(host_id)
        if queue is not None and visited_s <= queue.asked_s:
            self.observe_asked(host_id)

    def observe_plan(self, least_share: float) -> None:
        """Learn that due times have moved.

        Parameters
        ----------
        least_share : of the price, below which no page is visited ahead of its time, >= 0
        """
        if self._least_share == inf:
            return
        self._least_share = self._ahead.least_share = least_share
        for queue in self._hosts.values():
            queue.ahead.from_s = -inf
            self._changed(queue)

    def observe_openings(self, gaps_s: Mapping[int, float], never: Container[str] = ()) -> None:
        """Learn for how long hosts stay closed (:mod:`.openings`); a single pass waits for nobody.

        Parameters
        ----------
        gaps_s : by host; others stay open
        never : names of hosts that do, too
        """
        if self.horizon_s < inf:
            return
        for queue in self._hosts.values():
            gap_s = 0.0 if queue.host in never else gaps_s.get(queue.host_id, 0.0)
            if gap_s != queue.gap_s:
                queue.gap_s = gap_s
                self._changed(queue)

    def worth_ahead(self, lease: Lease, now_s: float) -> float:
        """Return what a visit ahead of its time is worth; 0 where the budget is not for that."""
        share = worth_share(lease, now_s)
        return share if share > self._least_share else 0.0

    # -- what to do next --

    def pick(self, now_s: float) -> Task:
        """Return the next task. Requests are counted and their hosts marked busy here."""
        self._wake(now_s)
        while (queue := self._most_urgent(now_s)) is not None:
            if self._is_held(queue, now_s):
                continue
            if self._has_turn(queue, now_s):
                return self._task_of(queue, now_s)
        return Wait(self._next_s()) if self._least_share == inf else self._pick_ahead(now_s)

    def _task_of(self, queue: HostQueue, now_s: float) -> Task:
        if queue.stock and now_s >= queue.stock_until_s:  # while the budget was waited for
            queue.settle(now_s)
            queue.choose(now_s, self._root_of)
        known = self._knows_robots(queue, now_s)
        resting = self._take_resting(queue, now_s)
        is_short = not queue.stock or (queue.asked and queue.stock[0].tier != ASKED)
        if not queue.is_asked and self._is_unpaid(now_s):
            is_short |= not (queue.choose_new() or queue.lacks_new)
        if resting or (known and is_short):
            limit = max(self._stock_limit(queue, now_s) - len(queue.stock), 1)
            return self._refill(queue, limit, now_s, resting=tuple(resting))
        if self._is_unresolved(queue, now_s):
            return self._resolve(queue)
        is_free = self._first_free and (not known or queue.stock[queue.first].tier == NEW)
        if not is_free:
            budget_s = self.budget.ready_s(now_s)
            if budget_s > now_s:
                self._push_ready(queue, now_s)
                return Wait(min(budget_s, self._due_s()) if self._first_free else budget_s)
            self.budget.spend(now_s)
        self._start(queue)
        self._count_share(queue)
        task: Task = Fetch(queue.take()) if known else _robots_of(queue)
        self._changed(queue)
        return task

    def _pick_ahead(self, now_s: float) -> Task:
        """Return the task of most worth while nothing is due that may be visited."""
        budget_s = self.budget.ready_s(now_s)
        is_free = budget_s > now_s
        while True:
            host_id = self._ahead.to_refill(now_s, is_free=is_free)
            if host_id is None and not is_free:
                host_id = self._ahead.take(now_s)
            if host_id is None:
                return Wait(min(self._next_s(), budget_s) if is_free else self._next_s())
            queue = self._hosts[host_id]
            if self._has_turn(queue, now_s):
                return self._task_ahead_of(queue, now_s, budget_s)

    def _task_ahead_of(self, queue: HostQueue, now_s: float, budget_s: float) -> Task:
        queue.settle(now_s)  # its leases may have lapsed while it waited for its turn
        known = self._knows_robots(queue, now_s)
        if known and not queue.ahead.stock:
            return self._refill(
                queue, min(self._stock_limit(queue, now_s), _AHEAD), now_s, is_ahead=True
            )
        if budget_s > now_s:  # nothing but the budget is waited for
            self._changed(queue)
            return Wait(min(self._due_s(), budget_s))
        if self._is_unresolved(queue, now_s):
            return self._resolve(queue)
        if known:
            queue.is_robots_news = False
            task: Task = Fetch(queue.ahead.take_best(now_s))
        else:
            task = _robots_of(queue)
        self.budget.spend(now_s)
        self._start(queue)
        self._changed(queue)
        return task

    def _refill(
        self,
        queue: HostQueue,
        limit: int,
        now_s: float,
        *,
        is_ahead: bool = False,
        resting: tuple[tuple[Lease, float], ...] = (),
    ) -> Refill:
        queue.refilling = True
        if not is_ahead:
            queue.asked = False  # until it turns out otherwise, or somebody asks meanwhile
        self._changed(queue)
        queue.new_only = not is_ahead and self._is_unpaid(now_s)
        share = 1.0 if queue.new_only else None if is_ahead else self._new_share(queue, limit)
        return Refill(queue.host_id, limit, is_ahead, resting, share)

    def _new_share(self, queue: HostQueue, limit: int) -> float | None:
        """Return the part of a host's next pages that are new ones; what rounding took comes back.

        Of few pages at a time a small share would be none at all, for good.
        """
        if self.discovery_share is None:
            return None
        queue.owed_new += self.discovery_share * limit
        n_new = min(max(round(queue.owed_new), 0), limit)
        queue.owed_new -= n_new
        return n_new / limit

    def _take_resting(self, queue: HostQueue, now_s: float) -> list[tuple[Lease, float]]:
        """Take pages out of the stock that rest with their section."""
        tried, resting = self.parted_by_rest(queue.host_id, queue.stock, now_s)
        if resting:
            queue.stock = deque(tried)
        return resting

    def parted_by_rest(
        self, host_id: int, leases: Iterable[Lease], now_s: float
    ) -> tuple[list[Lease], list[tuple[Lease, float]]]:
        """Return the pages that may be visited, and until when others rest with their section.

        A single pass leaves nothing out: it waits with its host instead.

        Parameters
        ----------
        leases : of pages of the host
        """
        sections = self._hosts[host_id].politeness.sections
        if self.horizon_s < inf or not sections.are_resting(now_s):  # as nearly always
            return list(leases), []
        tried: list[Lease] = []
        resting: list[tuple[Lease, float]] = []
        for lease in leases:
            until_s = -inf if lease.tier == ASKED else sections.rests_until_s(lease.url)
            if until_s > now_s:
                resting.append((lease, until_s))
            else:
                tried.append(lease)
        return tried, resting

    def _knows_robots(self, queue: HostQueue, now_s: float) -> bool:
        """Tell whether a page may be asked for.

        What was read holds at least for the next page: where a host's turn comes more seldom than
        its rules grow old, it would otherwise be asked for nothing but its rules.
        """
        if queue.robots is None:
            return False
        return now_s < queue.robots_until_s or (queue.is_robots_news and queue.robots.reachable)

    def _next_s(self) -> float:
        """Return when there may be something to do, budget apart."""
        return min(self._due_s(), self._ahead.next_s())

    def _due_s(self) -> float:
        first, ip_s = self._waiting.first(), self._ips.next_s()
        return ip_s if first is None else min(first[0], ip_s)

    def next_ready_s(self, now_s: float) -> float:
        """Return when the next host has something to do, whatever the budget.

        A host whose pages are being leased has something to do now: what they are is not known yet.
        """
        times = (
            now_s if queue.refilling or queue.resolving else queue.pass_ready_s(self.horizon_s)
            for queue in self._hosts.values()
        )
        return max(now_s, min(times, default=inf))

    # -- what happened --

    def stock(
        self,
        host_id: int,
        leases: Sequence[Lease],
        *,
        until_s: float,
        next_due_s: float,
        now_s: float = -inf,
    ) -> list[Lease]:
        """Take leased pages of a host; return those that robots.txt forbids as it is now."""
        queue = self._hosts[host_id]
        queue.refilling = False
        queue.asked |= any(lease.tier == ASKED for lease in leases)  # there may be more of them
        queue.next_due_s = next_due_s
        if queue.new_only:
            queue.lacks_new = not any(lease.tier == NEW for lease in leases)
        allowed, forbidden = self._parted(queue, leases, now_s)
        queue.put(allowed, until_s)
        self._changed(queue)
        return forbidden

    def stock_ahead(
        self,
        host_id: int,
        leases: Sequence[Lease],
        *,
        until_s: float,
        from_s: float,
        now_s: float = -inf,
    ) -> list[Lease]:
        """Take pages leased ahead of their time; return those that robots.txt forbids.

        Parameters
        ----------
        from_s : when there may be more
        """
        queue = self._hosts[host_id]
        queue.refilling = False
        queue.ahead.until_s, queue.ahead.from_s = until_s, from_s
        queue.ahead.stock, forbidden = self._parted(queue, leases, now_s)
        self._changed(queue)
        return forbidden

    def _parted(
        self, queue: HostQueue, leases: Sequence[Lease], now_s: float
    ) -> tuple[list[Lease], list[Lease]]:
        """Return the pages that may be asked for, and those that may not.

        Rules that have grown old forbid nothing: they are read again before a page is asked for.
        Where all is forbidden, they would never be.
        """
        allowed, forbidden = parted(queue.robots, leases)
        if not forbidden or now_s < queue.robots_until_s:
            return allowed, forbidden
        queue.is_robots_news = False
        return list(leases), []

    def set_robots(
        self,
        host_id: int,
        robots: RobotsRules | None,
        until_s: float,
        *,
        why: str = "",
        is_news: bool = True,
    ) -> list[Lease]:
        """Learn a host's rules; return pages leased ahead that they forbid.

        ``why`` says what was wrong where the rules could not be had; ``is_news``: they have just
        been read, and are not those of a crawl before.
        """
        queue = self._hosts[host_id]
        queue.robots = robots
        queue.robots_until_s = until_s
        queue.is_robots_news = is_news
        if queue.robots_url is not None:  # the next request goes to the host itself again
            queue.robots_url, queue.robots_hops, queue.ip_until_s = None, 0, -inf
        forbidden: list[Lease] = []
        if robots is not None:
            self._set_delay(queue, robots.crawl_delay_s)
            if not robots.reachable:
                queue.politeness.block_until(
                    until_s, f"robots.txt cannot be read: {failure_words(why)}"
                )
            else:
                allowed, forbidden = parted(robots, queue.stock)
                queue.stock = deque(allowed)
                queue.ahead.stock, more = parted(robots, queue.ahead.stock)
                forbidden += more
        self._changed(queue)
        return forbidden

    def answered(
        self,
        host_id: int,
        now_s: float,
        status: int,
        retry_after: str | None,
        page_id: int | None = None,
        url: str = "",
    ) -> bool:
        """End a request that was answered; True if the host is blocked or forgiven by it.

        Parameters
        ----------
        page_id : the page that was asked for; None: something that speaks for the whole host
        url : of that page; "": it is in no folder
        """
        queue = self._hosts[host_id]
        self._end_silence(now_s)
        before, before_s = (queue.blocks, queue.politeness.blocked_why), queue.politeness.delay_s
        queue.politeness.answered(now_s, status, retry_after, self._random, page_id, url)
        if queue.ip is not None:
            self._ips.answered(queue.ip, now_s, status, retry_after, self._random, page_id)
        if not queue.politeness.failures:
            self._down.discard(host_id)
        self._tell_delay(queue, before_s)  # its server has drawn its own conclusion by then
        self._changed(queue)
        return before != (queue.blocks, queue.politeness.blocked_why)

    def refused(self, host_id: int, now_s: float, why: str, *, is_news: bool) -> None:
        """Learn that a host refuses what it answers, and leave it alone as one that says so.

        Parameters
        ----------
        is_news : it had answered until then
        """
        queue = self._hosts[host_id]
        before_s = queue.politeness.delay_s
        if queue.politeness.blocked_until_s > now_s:  # of pages that were asked for before that
            return
        queue.politeness.refused(now_s, why, self._random, is_news=is_news)
        self._share_looks(queue, now_s)
        self._tell_delay(queue, before_s)
        self._changed(queue)

    def unanswered(
        self, host_id: int, now_s: float, why: str, page_id: int | None = None, url: str = ""
    ) -> bool:
        """End a request that brought no answer; False where that says nothing of the host.

        Parameters
        ----------
        why : kind of the failure, in one word
        page_id, url : as for :meth:`answered`
        """
        if self._is_silent(host_id, now_s, why):
            self.cancelled(host_id, now_s)
            return False
        queue = self._hosts[host_id]
        queue.politeness.unanswered(now_s, why, self._random, page_id, url)
        self._share_looks(queue, now_s)
        if queue.ip is not None:
            self._ips.unanswered(queue.ip, now_s, why, self._random)
            if why == "connect":  # another of its IP addresses may do
                queue.ip_until_s = -inf
        self._changed(queue)
        return True

    def _is_silent(self, host_id: int, now_s: float, why: str) -> bool:
        """Have a host wait for its turn where nobody answers; a single pass ends before that."""
        if self.horizon_s < inf:
            return False
        queue, timing = self._hosts[host_id], self._hosts[host_id].politeness
        has_answered = queue.robots_status is not None
        until_s = self._silence.failed(
            host_id,
            now_s,
            why,
            was_well=timing.is_alive or (timing.failures == 0 and has_answered),
            is_new=timing.failures == 0 and not has_answered,
            n_hosts=len(self._hosts),
        )
        if until_s is None:
            return False
        timing.wait_until(until_s, f"{failure_words(why)}; nobody else answers either")
        return True

    def _end_silence(self, now_s: float) -> None:
        for host_id in self._silence.answered():
            queue = self._hosts[host_id]
            queue.politeness.wait_until(now_s, queue.politeness.blocked_why or "")
            if queue.robots is not None and not queue.robots.reachable:
                queue.robots = None
            self._changed(queue)

    def cancelled(self, host_id: int, now_s: float) -> None:
        """End a request that was cut off, if it was made at all."""
        queue = self._hosts[host_id]
        queue.politeness.ended(now_s)
        if queue.ip is not None:
            self._ips.ended(queue.ip, now_s)
        self._changed(queue)

    # -- IP addresses that hosts share --

    def set_ip_address(self, host_id: int, text: str, now_s: float, until_s: float) -> bool:
        """Learn where the next request of a host goes to; True if it is not where the last did.

        Parameters
        ----------
        until_s : the name is resolved anew before a request from then on
        """
        queue = self._hosts[host_id]
        queue.resolving, queue.ip_until_s = False, until_s
        is_news = queue.ip is None or queue.ip.text != text
        if is_news:
            self._join(queue, text, now_s)
        self._changed(queue)
        return is_news

    def unresolved(self, host_id: int, now_s: float, why: str) -> bool:
        """Learn that the name of a host could not be resolved: nothing was asked, and it rests.

        False where that says nothing of the host.
        """
        queue = self._hosts[host_id]
        queue.resolving = False
        queue.robots_url, queue.robots_hops = None, 0
        counts = not self._is_silent(host_id, now_s, why)
        if counts:
            queue.politeness.unanswered(now_s, why, self._random)
            self._share_looks(queue, now_s)
        self._changed(queue)
        return counts

    def follow_robots(self, host_id: int, url: str) -> None:
        """Learn where the rules of a host are; that is asked when its IP address may be asked."""
        queue = self._hosts[host_id]
        if host_of(url) != host_of(queue.robots_url or f"{queue.host}/"):
            queue.ip_until_s = -inf
        queue.robots_url = url
        queue.robots_hops += 1
        self._changed(queue)

    def _join(self, queue: HostQueue, text: str, now_s: float) -> None:
        before, queue.ip = queue.ip, self._ips.of(text, now_s)
        if before is not None:
            before.leave(queue.host_id)
            self._ips.changed(before)
        queue.ip.join(queue.host_id, queue.politeness)
        self._ips.changed(queue.ip)

    def _set_delay(self, queue: HostQueue, crawl_delay_s: float | None) -> None:
        before_s = queue.politeness.delay_s
        queue.politeness.crawl_delay_s = crawl_delay_s
        self._tell_delay(queue, before_s)

    def _tell_delay(self, queue: HostQueue, before_s: float) -> None:
        if queue.ip is not None and queue.politeness.delay_s != before_s:
            queue.ip.observe_delay(before_s, queue.politeness.delay_s)
            self._ips.changed(queue.ip)

    def _share_looks(self, queue: HostQueue, now_s: float) -> None:
        """Let a host that is down rest for so long that looks at all such take their share only.

        Where most are, it is more likely our own connection.
        """
        timing, is_pass = queue.politeness, self.horizon_s < inf
        if timing.failures < self._rules.dead_after:
            return
        self._down.add(queue.host_id)
        if is_pass or self._first_free or 2 * len(self._down) > len(self._hosts):
            return
        rest_s = len(self._down) / (_DOWN_SHARE * self.budget.rate_per_s)
        timing.block_until(now_s + rest_s, timing.blocked_why or "")

    def _start(self, queue: HostQueue) -> None:
        queue.politeness.start()
        if queue.ip is not None:
            self._ips.start(queue.ip)

    def _is_unresolved(self, queue: HostQueue, now_s: float) -> bool:
        return self._rules.per_address and now_s >= queue.ip_until_s

    def _resolve(self, queue: HostQueue) -> Resolve:
        queue.resolving = True
        self._changed(queue)
        host = queue.host if queue.robots_url is None else host_of(queue.robots_url)
        return Resolve(queue.host_id, host)

    def _has_turn(self, queue: HostQueue, now_s: float) -> bool:
        """Tell whether the server of a host may be asked, if it is known; else the host waits."""
        if queue.ip is None or self._is_unresolved(queue, now_s):
            return True
        if queue.ip.ready_s <= now_s:
            return True
        queue.waits_for_ip = True
        self._changed(queue)
        self._ips.wait(queue.ip, queue.host_id, is_first=queue.is_asked)
        return False

    def _wake(self, now_s: float) -> None:
        """Let hosts whose server may be asked now compete for it."""
        for address, host_id in self._ips.woken(now_s):
            queue = self._hosts[host_id]
            if queue.waits_for_ip and queue.ip is address:
                queue.waits_for_ip = False
                self._changed(queue)

    def give_back(self) -> list[Lease]:
        """Return every page leased ahead and not handed out, and forget them."""
        kept: list[Lease] = []
        for queue in self._hosts.values():
            kept += [*queue.stock, *queue.ahead.stock]
            queue.stock.clear()
            queue.ahead.stock.clear()
            self._changed(queue)
        return kept

    # -- inside --

    def _stock_limit(self, queue: HostQueue, now_s: float) -> int:
        """Return how many pages of a host are leased at once.

        What is leased is chosen: a page found meanwhile, of however much more worth, comes after.
        So few are where hosts are few, and refills cost next to nothing.
        """
        pace_s = max(queue.politeness.delay_s, 1.0 / self.budget.rate_per_s, 0.01)
        span_s = min(max(_STOCK_S, len(self._hosts) / _REFILLS_PER_S), 0.5 * self.lease_s)
        if queue.politeness.sections.are_resting(now_s):  # what rests is stepped over sooner
            span_s = 0.5 * self.lease_s
        return int(min(max(span_s / pace_s, 1), _STOCK))

    def _changed(self, queue: HostQueue, not_before_s: float = -inf) -> None:
        queue.version += 1
        if queue.waits_for_ip:  # it is in no order until its turn
            return
        ready_s = max(queue.ready_s(self.horizon_s), not_before_s)
        if ready_s < inf:
            self._waiting.push(ready_s, queue.host_id)
        ahead_s = queue.ahead_ready_s
        if ahead_s < inf and self._least_share < inf:
            self._ahead.rest(queue.host_id, ahead_s)

    def _closed_of(self, host_id: int, now_s: float) -> tuple[float, float] | None:
        """Return since when a host is closed, and until when it is; None where it is open."""
        queue = self._hosts[host_id]
        if not queue.is_closed(now_s):
            return None
        return queue.robots_until_s, max(queue.opens_s, queue.head_due_s)

    def _is_held(self, queue: HostQueue, now_s: float) -> bool:
        """Tell whether a host waits, closed since it got ready; it is ready when it is opened."""
        if not queue.is_closed(now_s) or now_s >= queue.opens_s:
            return False
        self._changed(queue, queue.opens_s)
        return True

    def _push_ready(self, queue: HostQueue, now_s: float) -> None:
        queue.settle(now_s)
        queue.choose(now_s, self._root_of)
        due_s = queue.stock[queue.first].due_s if queue.stock else queue.next_due_s
        if queue.is_asked:
            self._asked.push(due_s, queue.host_id)
        elif queue.root is None:
            self._unplanned.push(self._place(queue, due_s, now_s), queue.host_id)
        else:
            lane = lane_of(queue.root)
            if lane not in self._lanes:
                self._lanes[lane] = HostHeap(self._version_of)
            self._lanes[lane].push(due_s, queue.host_id)
        may_be_free = queue.may_have_new or not self._knows_robots(queue, now_s)
        if self._first_free and may_be_free and not queue.is_asked:
            self._free.push(due_s, queue.host_id)

    def _is_unpaid(self, now_s: float) -> bool:
        """Tell whether nothing but first visits, which cost nothing, can be made now."""
        return self._first_free and self.budget.ready_s(now_s) > now_s

    def _most_urgent(self, now_s: float) -> HostQueue | None:
        """Take the host whose next page comes first, of those that may be asked."""
        while (first := self._waiting.first()) is not None and first[0] <= now_s:
            self._push_ready(self._hosts[self._waiting.pop()], now_s)
        if self._is_unpaid(now_s) and self._free.first() is not None:
            return self._hosts[self._free.pop()]
        if self._asked.first() is not None:
            return self._hosts[self._asked.pop()]
        best, most = None, -inf
        for hosts in self._lanes.values():
            head = hosts.first()
            if head is not None:
                root = self._hosts[head[1]].root or 0.0
                if root * (now_s - head[0]) > most:
                    best, most = hosts, root * (now_s - head[0])
        new = self._unplanned.first()
        if new is not None:
            best = self._worthier(new[1], best, now_s)
        return None if best is None else self._hosts[best.pop()]

    def _place(self, queue: HostQueue, due_s: float, now_s: float) -> float:
        """Return where a host stands among those whose next page no plan knows; least is first."""
        if self.discovery_share is not None:
            return due_s
        if not queue.stock:  # nothing is known of its pages yet
            return -inf
        return -self.worth_of(queue.stock[queue.first], now_s)

    def _worthier(self, host_id: int, planned: HostHeap | None, now_s: float) -> HostHeap:
        """Return what comes first while what no plan knows waits beside what one does.

        Parameters
        ----------
        host_id : first of those whose next page no plan knows
        planned : the most urgent of the others; None: there is none
        """
        if planned is None:
            return self._unplanned
        if self.discovery_share is not None:
            return self._unplanned if self._owed + self.discovery_share >= 1.0 else planned
        # A page that is not leased yet is worth the price at least: it is due. How much more is
        # known once it is leased, which every other choice is for.
        best, most = self._unplanned, self._worth_of(host_id, now_s, unknown=inf)
        unknown = inf if self._looks else 1.0
        for hosts in self._lanes.values():
            head = hosts.first()
            if head is not None and (worth := self._worth_of(head[1], now_s, unknown)) > most:
                best, most = hosts, worth
        self._looks = best is self._unplanned
        return best

    def _worth_of(self, host_id: int, now_s: float, unknown: float) -> float:
        queue = self._hosts[host_id]
        return self.worth_of(queue.stock[queue.first], now_s) if queue.stock else unknown

    def _count_share(self, queue: HostQueue) -> None:
        """Count a request against the share of its kind; only while both kinds wait."""
        if queue.is_asked or self.discovery_share is None:
            return
        others = [self._unplanned] if queue.root is not None else self._lanes.values()
        if not any(hosts.first() for hosts in others):
            self._owed = 0.0
        else:
            taken = 1.0 if queue.root is None else 0.0
            self._owed = min(max(self._owed + self.discovery_share - taken, -1.0), 1.0)

    def _version_of(self, host_id: int) -> int:
        return self._hosts[host_id].version


def _robots_of(queue: HostQueue) -> AskRobots:
    return AskRobots(queue.host_id, queue.host, queue.robots_url)
