"""Hosts of one IP address are asked as one, by one process or by several."""

from dataclasses import dataclass, field, replace
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from recrawl.crawler.control.dispatching import ip_addresses
from recrawl.crawler.control.dispatching.budget import FetchBudget
from recrawl.crawler.control.dispatching.dispatch import (
    AskRobots,
    Dispatcher,
    Fetch,
    Refill,
    Resolve,
    Task,
    Wait,
)
from recrawl.crawler.control.dispatching.host_queue import by_server, n_by_ip_address
from recrawl.crawler.control.dispatching.ip_addresses import IpAddresses, IpAddressState
from recrawl.crawler.control.dispatching.politeness import HostPoliteness, PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff
from recrawl.crawler.control.dispatching.robots_txt import robots_from_answer
from recrawl.crawler.control.worth.tiers import ASKED
from recrawl.terms import HostRecord, Lease

NOW_S = 1_800_000_000.0
ALWAYS_S = NOW_S + 1e9
SERVER, OTHER = "192.0.2.1", "192.0.2.2"
RULES = PolitenessRules(delay_s=1.0, backoff=Backoff(jitter=0.0), per_address=True)


def dispatcher(**options: Any) -> Dispatcher:
    options.setdefault("least_share", inf)
    budget = FetchBudget(1e6, burst=1e6)
    budget.spend(NOW_S - 1000.0)
    return Dispatcher(
        politeness=RULES,
        budget=budget,
        random=Random(1),
        **options,
    )


def robots(delay_s: float | None = None) -> Any:
    text = "" if delay_s is None else f"User-agent: *\nCrawl-delay: {delay_s}\n"
    return robots_from_answer("recrawl", 200, text.encode())


def known(made: Dispatcher, host_id: int, delay_s: float | None = None, **fields: Any) -> None:
    record = HostRecord(host_id, f"http://{host_id}.test", NOW_S, robots_until_s=ALWAYS_S, **fields)
    made.observe_host(record, robots(delay_s))


def stocked(made: Dispatcher, host_id: int, *due_s: float, tier: int = 9) -> None:
    leases = [
        Lease(1000 * host_id + n, f"http://{host_id}.test/{n}", host_id, 1, at_s, tier=tier)
        for n, at_s in enumerate(due_s)
    ]
    made.stock(host_id, leases, until_s=ALWAYS_S, next_due_s=inf)


def at(made: Dispatcher, host_id: int, text: str = SERVER, **fields: Any) -> None:
    """Have a host that leads to an IP address, with pages that are due."""
    known(made, host_id, **fields)
    stocked(made, host_id, NOW_S - host_id, NOW_S - host_id)
    made.set_ip_address(host_id, text, NOW_S, ALWAYS_S)


def fetched(task: Task) -> int:
    assert isinstance(task, Fetch)
    return task.lease.host_id


def test_a_name_is_resolved_before_its_host_is_asked_for_anything() -> None:
    """The first request, which is for robots.txt, too."""
    made = dispatcher()
    made.observe_host(HostRecord(1, "http://1.test", NOW_S), None)

    assert made.pick(NOW_S) == Resolve(1, "http://1.test")
    assert made.pick(NOW_S) == Wait(inf)
    assert made.next_ready_s(NOW_S) == NOW_S
    assert made.set_ip_address(1, SERVER, NOW_S, NOW_S + 300.0)
    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")


def test_a_name_is_resolved_again_when_its_answer_is_old() -> None:
    """And its next request goes by the politeness of where it leads now."""
    made = dispatcher()
    at(made, 1, OTHER)
    known(made, 2)
    stocked(made, 2, NOW_S)
    made.set_ip_address(2, SERVER, NOW_S, NOW_S + 300.0)
    assert fetched(made.pick(NOW_S)) == 1  # is in flight at the other address
    later_s = NOW_S + 300.0

    assert made.pick(later_s) == Resolve(2, "http://2.test")
    assert made.set_ip_address(2, OTHER, later_s, ALWAYS_S)
    assert made.pick(later_s) == Wait(inf)
    made.answered(1, later_s + 5.0, 200, None, 1)
    assert made.pick(later_s + 5.0) == Wait(later_s + 6.0)
    assert fetched(made.pick(later_s + 6.0)) in (1, 2)


def test_one_host_of_an_address_is_asked_at_a_time_and_the_most_urgent_first() -> None:
    """What waits longest, as among the pages of one host; others do not wait for them."""
    made = dispatcher()
    for host_id in (1, 2, 3):
        at(made, host_id)
    at(made, 9, OTHER)

    first = {fetched(made.pick(NOW_S)), fetched(made.pick(NOW_S))}
    assert first == {3, 9}
    assert made.pick(NOW_S) == Wait(inf)
    made.answered(3, NOW_S + 0.5, 200, None, 1)
    assert made.pick(NOW_S + 0.5) == Wait(NOW_S + 1.5)
    assert fetched(made.pick(NOW_S + 1.5)) == 3
    made.answered(3, NOW_S + 2.0, 200, None, 1)
    assert fetched(made.pick(NOW_S + 3.0)) == 2


def test_a_host_waits_once_for_its_turn_whether_its_page_is_due_or_ahead_of_its_time() -> None:
    made = dispatcher(least_share=0.0)
    for host_id in (1, 2, 3):
        at(made, host_id)
    assert fetched(made.pick(NOW_S)) == 3

    assert made.pick(NOW_S) == Wait(inf)
    server = made.host(3).ip
    assert server is not None
    assert sorted(server.waiting) == [1, 2]


def test_the_longest_delay_of_the_hosts_counts_for_all() -> None:
    """From when it is learnt, until its host leads elsewhere."""
    made = dispatcher()
    at(made, 1)
    at(made, 2, delay_s=20.0)

    assert fetched(made.pick(NOW_S)) == 2
    made.answered(2, NOW_S, 200, None, 1)
    assert made.pick(NOW_S + 1.0) == Wait(NOW_S + 20.0)
    made.set_robots(2, robots(7.0), ALWAYS_S)
    assert made.pick(NOW_S + 1.0) == Wait(NOW_S + 7.0)
    made.set_ip_address(2, OTHER, NOW_S, ALWAYS_S)
    assert fetched(made.pick(NOW_S + 1.0)) == 1


@pytest.mark.parametrize(
    ("status", "retry_after", "rest_s"),
    [(429, None, 60.0), (429, "300", 300.0), (503, "300", 300.0), (404, None, 1.0)],
)
def test_a_refusal_of_one_host_lets_its_server_rest(
    status: int, retry_after: str | None, rest_s: float
) -> None:
    """It is the server that is too busy; for the neighbours too."""
    made = dispatcher()
    at(made, 1)
    at(made, 2)
    assert fetched(made.pick(NOW_S)) == 2
    is_news = made.answered(2, NOW_S, status, retry_after, 2000)

    assert is_news == (status != 404)
    assert made.pick(NOW_S) == Wait(NOW_S + rest_s)


def test_no_connection_lets_the_server_rest_and_has_the_name_resolved_anew() -> None:
    """Another of its IP addresses may do."""
    made = dispatcher()
    at(made, 1)
    at(made, 2)
    assert fetched(made.pick(NOW_S)) == 2
    made.unanswered(2, NOW_S, "connect", 2000)

    assert made.pick(NOW_S) == Wait(NOW_S + 60.0)
    tasks = [made.pick(NOW_S + 60.0), made.pick(NOW_S + 60.0)]
    assert Resolve(2, "http://2.test") in tasks


@pytest.mark.parametrize("why", ["timeout", "dns", "tls", "certificate", "disconnected"])
def test_what_is_wrong_with_one_host_does_not_hold_up_its_neighbours(why: str) -> None:
    """Nor do its pages that fail, however many; they do hold up the host."""
    broken, failing = dispatcher(), dispatcher()
    for made in (broken, failing):
        at(made, 1)
        at(made, 2)
    now_s = NOW_S
    for n in range(6):
        for made in (broken, failing):
            made._start(made.host(2))
        broken.unanswered(2, now_s, why, 2000 + n)
        failing.answered(2, now_s, 500, None, 2000 + n)
        now_s += 2.0

    for made in (broken, failing):
        assert made.host(2).politeness.blocked_until_s > now_s
        assert fetched(made.pick(now_s)) == 1


def test_pages_of_several_hosts_that_are_unavailable_let_the_server_rest() -> None:
    """503 without Retry-After: one page says nothing, most of those asked last do."""
    made = dispatcher()
    for host_id in (1, 2, 3, 4):
        at(made, host_id)
    told = []
    for n in range(3):
        task = made.pick(NOW_S + n)
        assert isinstance(task, Fetch)
        lease = task.lease
        told.append(made.answered(lease.host_id, NOW_S + n, 503, None, lease.page_id))

    assert told == [False, False, True]
    assert made.pick(NOW_S + 3.0) == Wait(NOW_S + 2.0 + 60.0)


def test_that_a_rest_is_shorter_again_is_news_to_be_kept() -> None:
    """As that it is longer is; nothing else of so many answers is."""
    made = dispatcher()
    at(made, 1, rest_s=8.0)
    stocked(made, 1, *[NOW_S] * 100)
    news = []
    for n in range(100):
        now_s = NOW_S + 10.0 * n
        news.append(made.answered(fetched(made.pick(now_s)), now_s, 200, None, n))

    assert news == [False] * 99 + [True]
    assert made.host(1).politeness.delay_s == 6.4


def test_a_server_that_refuses_one_of_its_hosts_is_asked_half_as_often() -> None:
    """Not a quarter, as the host and its server draw the same conclusion."""
    made = dispatcher()
    at(made, 1)
    at(made, 2)
    rests = []
    for n in range(2):
        for status in (200, 429):
            host_id = fetched(made.pick(NOW_S + 100.0 * (2 * n + (status == 429))))
            made.answered(host_id, NOW_S + 100.0 * (2 * n + (status == 429)), status, None, 7 + n)
        rests.append(by_server(made.hosts(), np.array([1, 2]))[1].tolist())

    assert rests == [[1.0 / 2.0], [1.0 / 4.0]]


def test_plans_count_on_the_part_of_a_server_that_other_processes_leave() -> None:
    """Of one that is seen later too; requests wait no longer for that."""
    made = dispatcher()
    at(made, 1)
    assert made.ips is not None
    made.ips.share({SERVER: 0.25, OTHER: 0.5})
    at(made, 2)
    at(made, 3, OTHER)

    _, caps = by_server(made.hosts(), np.array([3, 1, 2]))

    assert sorted(caps.tolist()) == [0.25, 0.5]
    assert [queue.ip.delay_s for queue in made.hosts() if queue.ip is not None] == [1.0] * 3
    assert n_by_ip_address(made.hosts(), np.array([3, 1, 2, 2, 9])) == {SERVER: 3, OTHER: 1}


def test_a_host_and_an_ip_address_are_never_taken_for_one_server() -> None:
    """Whatever numbers they have: four hosts of two addresses, and nine that have none yet."""
    made = dispatcher()
    for host_id in (11, 12):
        at(made, host_id)
    for host_id in (13, 14):
        at(made, host_id, OTHER)
    alone = list(range(1, 10))
    for host_id in alone:
        known(made, host_id)
    servers, caps = by_server(made.hosts(), np.array([11, 12, 13, 14, *alone]))

    assert servers[0] == servers[1] != servers[2] == servers[3]
    assert np.unique(servers).size == caps.size == 2 + len(alone)


def test_how_a_server_rests_is_known_after_a_start_before_any_name_is_resolved() -> None:
    """By what was kept of its hosts."""
    made = dispatcher()
    told: Any = {"blocked_until_s": NOW_S + 40.0, "blocked_why": "answered 429", "failures": 2}
    known(made, 1, ip_address=SERVER, ip_blocked_until_s=NOW_S + 40.0, **told)
    known(made, 2, ip_address=SERVER)
    stocked(made, 2, NOW_S)

    assert made.pick(NOW_S) == Resolve(2, "http://2.test")
    made.set_ip_address(2, SERVER, NOW_S, ALWAYS_S)
    assert made.pick(NOW_S) == Wait(NOW_S + 40.0)
    assert made.host(2).blocks[1][:2] == (2, NOW_S + 40.0)


def test_redirects_of_robots_txt_are_followed_under_the_politeness_of_where_they_lead() -> None:
    """And afterwards the host is asked at its own IP address again."""
    made = dispatcher()
    at(made, 2, OTHER)
    made.observe_host(HostRecord(1, "http://1.test", NOW_S - 99.0), None)
    made.pick(NOW_S)
    made.set_ip_address(1, SERVER, NOW_S, ALWAYS_S)
    assert {type(made.pick(NOW_S)) for _ in "ab"} == {AskRobots, Fetch}
    made.answered(1, NOW_S, 301, None)
    made.follow_robots(1, "https://2.test/rules")

    assert made.pick(NOW_S + 1.0) == Resolve(1, "https://2.test")
    made.set_ip_address(1, OTHER, NOW_S, ALWAYS_S)
    assert made.pick(NOW_S + 1.0) == Wait(inf)
    made.answered(2, NOW_S + 2.0, 200, None, 1)
    assert made.pick(NOW_S + 3.0) == AskRobots(1, "http://1.test", "https://2.test/rules")
    made.answered(1, NOW_S + 3.0, 200, None)
    made.set_robots(1, robots(), ALWAYS_S)
    stocked(made, 1, NOW_S - 99.0)
    assert made.pick(NOW_S + 4.0) == Resolve(1, "http://1.test")


def test_a_name_that_cannot_be_resolved_lets_its_host_rest() -> None:
    """Nothing was asked of any server."""
    made = dispatcher()
    at(made, 1)
    made.observe_host(HostRecord(2, "http://2.test", NOW_S - 99.0), None)
    assert made.pick(NOW_S) == Resolve(2, "http://2.test")
    made.unresolved(2, NOW_S, "dns")

    assert made.host(2).politeness.blocked_until_s == NOW_S + 60.0
    assert fetched(made.pick(NOW_S)) == 1


def test_of_very_many_hosts_every_one_has_its_turn() -> None:
    """Few compete for each request, and a page that somebody asked for is before all of them."""
    made = dispatcher()
    for host_id in range(1, 301):
        at(made, host_id)
    now_s, seen = NOW_S, list[int]()
    while len(seen) < 600:
        task = made.pick(now_s)
        if isinstance(task, Wait):
            assert now_s < task.until_s < inf
            now_s = task.until_s
        elif isinstance(task, Refill):
            stocked(made, 7, *([NOW_S] if 7 not in seen[100:] else []), tier=ASKED)
        else:
            seen.append(fetched(task))
            made.answered(seen[-1], now_s, 200, None, 1)
            if len(seen) == 100:
                made.observe_asked(7)

    assert seen[100] == 7
    assert {*seen} == {*range(1, 301)}


def test_another_configuration_hurries_no_server() -> None:
    """What was asked by the crawl before counts."""
    before, after = dispatcher(), dispatcher()
    for made in (before, after):
        at(made, 1)
        at(made, 2)
    assert fetched(before.pick(NOW_S)) == 2
    before.cancelled(2, NOW_S + 0.5)
    after.follow(before)

    assert after.pick(NOW_S + 0.5) == Wait(NOW_S + 1.5)


def test_whoever_follows_another_knows_all_its_ip_addresses() -> None:
    """Though no host has joined them there yet, and however many they are."""
    before, after = IpAddresses(RULES), IpAddresses(RULES)
    for number in range(2_000):
        before.of(f"ip {number}", NOW_S).join(number, HostPoliteness(RULES))

    after.follow(before)

    assert [one.text for one in after.all()] == [one.text for one in before.all()]


def test_ip_addresses_that_no_host_has_are_forgotten_once_they_have_rested() -> None:
    """However many a crawl comes by; those that are held, or refused, are not."""
    made = IpAddresses(RULES)
    for number in range(5_000):
        made.of(f"ip {number}", NOW_S + 2_000.0 * number)

    assert len(made.all()) <= 2_048


def test_what_waits_refuses_or_is_held_is_not_forgotten() -> None:
    """The others are, each time that they are twice as many and a thousand; nobody wants them."""
    made = IpAddresses(RULES, is_shared=True)
    made.of("with a host", NOW_S).join(1, HostPoliteness(RULES))
    made.of("refused", NOW_S).politeness.block_until(NOW_S + 5_000.0, "answered 429")
    made.take(IpAddressState("held"), NOW_S)
    made.wait(made.of("left", NOW_S), 2)
    assert [state.text for state in made.wanted(NOW_S)] == ["left"]
    seen = []
    for later_s, most, text in [(6_799.0, 1_024, "new"), (6_800.0, 1_030, "newer")]:
        for n in range(most - len(made.all())):
            made.of(f"ip {n}", NOW_S + later_s)
        assert len(made.all()) == most
        made.of(text, NOW_S + later_s)
        seen.append({one.text for one in made.all()})

    assert seen == [{"with a host", "refused", "held", "new"}, {"with a host", "held", "newer"}]
    assert made.wanted(NOW_S) == []


def test_the_delay_of_an_ip_address_is_the_longest_of_the_hosts_that_it_has() -> None:
    """Shorter again when that host leaves; none without hosts."""
    rules = PolitenessRules(delay_s=0.0)
    one, delays = IpAddresses(rules).of(SERVER, NOW_S), []
    for host_id, delay_s in enumerate((0.25, 0.5, 0.125)):
        one.join(host_id, HostPoliteness(rules, crawl_delay_s=delay_s))
        delays.append(one.delay_s)
    for host_id in (1, 2, 0):
        one.leave(host_id)
        delays.append(one.delay_s)

    assert delays == [0.25, 0.5, 0.5, 0.25, 0.25, 0.0]
    one.politeness.start()
    assert one.state(NOW_S) == IpAddressState(SERVER, 0.0, blocked_s=-NOW_S)


def test_some_of_the_hosts_that_wait_compete_and_the_others_a_second_later() -> None:
    """Sixty-four, from when their server may be asked as is known by then."""
    made = IpAddresses(RULES)
    one = made.of(SERVER, NOW_S)
    for host_id in range(100):
        made.wait(one, host_id)
    made.wait(one, 100, is_first=True)
    one.politeness.block_until(NOW_S + 9.0, "answered 429")
    made.changed(one)

    assert list(made.woken(NOW_S + 8.9)) == []
    assert made.next_s() == NOW_S + 9.0
    assert [host for _, host in made.woken(NOW_S + 9.0)] == [100, *range(63)]
    assert made.next_s() == NOW_S + 10.0
    assert [host for _, host in made.woken(NOW_S + 10.0)] == [*range(63, 100)]


def test_of_very_many_ip_addresses_all_are_wanted_in_turn_and_those_least_used_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thousand at a time, and all that are held beyond so many."""
    monkeypatch.setattr(ip_addresses, "_MOST_HELD", 1_500)
    made = IpAddresses(RULES, is_shared=True)
    texts = [f"ip {n}" for n in range(1_501)]
    for text in texts:
        one = made.of(text, NOW_S)
        one.join(1, HostPoliteness(RULES))
        made.wait(one, 1)
    wanted = [[state.text for state in made.wanted(NOW_S)] for _ in range(2)]
    for text in texts:
        made.take(IpAddressState(text), NOW_S)
    made.start(made.of(texts[0], NOW_S))

    assert wanted == [texts[:1_000], [*texts[1_000:], *texts[:499]]]
    assert [state.text for state in made.give([], NOW_S)] == [texts[1]]


def test_what_was_kept_of_a_server_never_shortens_its_rest() -> None:
    """Nor does what says nothing of it change anything; a rest without a reason has one."""
    made = IpAddresses(RULES)
    timing, seen = made.of(SERVER, NOW_S).politeness, []
    for text, until_s, failures in [
        (None, NOW_S + 9.0, 9), (SERVER, 0.0, 9), (SERVER, NOW_S + 5.0, 2), (SERVER, NOW_S, 1),
    ]:  # fmt: skip
        made.recall(
            HostRecord(
                1, "http://1.test", NOW_S, ip_address=text, ip_blocked_until_s=until_s,
                failures=failures,
            )
        )  # fmt: skip
        seen.append((timing.failures, timing.blocked_until_s, timing.blocked_why))

    assert seen == [(0, 0.0, None)] * 2 + [(2, NOW_S + 5.0, "blocked")] * 2


# -- one process: any order of things --


class AnyServers(RuleBasedStateMachine):
    """Hosts that come, move and answer in any order: no server is asked at once or too soon."""

    @initialize()
    def begin(self) -> None:
        self.made = dispatcher(least_share=0.0)
        self.world = _World()
        self.now_s = NOW_S

    @rule(host_id=st.integers(1, 6), age_s=st.floats(-20, 20))
    def discover(self, host_id: int, age_s: float) -> None:
        record = HostRecord(host_id, f"http://{host_id}.test", self.now_s - age_s)
        self.made.observe_host(record, None)

    @rule(host_id=st.integers(1, 6), text=st.sampled_from((SERVER, OTHER)))
    def move(self, host_id: int, text: str) -> None:
        self.world.names[host_id] = text

    @rule()
    def pick(self) -> None:
        self.now_s = self.world.do(self.made, self.now_s, self.made.pick(self.now_s))

    @precondition(lambda self: self.world.in_flight)
    @rule(
        data=st.data(),
        status=st.sampled_from((200, 301, 404, 429, 503, 0)),
        took_s=st.floats(0, 9),
        delay_s=st.none() | st.integers(0, 30),
    )
    def end(self, data: st.DataObject, status: int, took_s: float, delay_s: int | None) -> None:
        host_id = data.draw(st.sampled_from(sorted(self.world.in_flight)))
        self.now_s += took_s
        self.world.end(self.made, self.now_s, host_id, status, delay_s)


@dataclass
class _World:
    """Servers that see who asks them, and when."""

    names: dict[int, str] = field(default_factory=dict)
    led: dict[int, str] = field(default_factory=dict)  # where the requests of a host go
    in_flight: dict[int, tuple[str, bool]] = field(default_factory=dict)
    ended_s: dict[str, float] = field(default_factory=dict)
    delays_s: dict[int, float] = field(default_factory=dict)
    refused_s: dict[str, float] = field(default_factory=dict)
    n_asked: int = 0
    asked: dict[int, str] | None = None  # only hosts that were asked have told their delay

    def do(self, made: Dispatcher, now_s: float, task: Task) -> float:
        """Begin a task; return the instant of the next."""
        if isinstance(task, Wait):
            assert task.until_s > now_s
            return task.until_s if task.until_s < now_s + 1e6 else now_s
        if isinstance(task, Refill):
            self._refill(made, now_s, task)
        elif isinstance(task, Resolve):
            before = self.led.get(task.host_id)
            self.led[task.host_id] = self.names.get(task.host_id, SERVER)
            if self.asked is not None and before != self.led[task.host_id]:
                self.asked.pop(task.host_id, None)  # it had gone; its delay is told anew
            made.set_ip_address(task.host_id, self.led[task.host_id], now_s, now_s + 10.0)
        else:
            host_id = task.host_id if isinstance(task, AskRobots) else task.lease.host_id
            server = self.led[host_id]
            assert all(other != server for other, _ in self.in_flight.values()), "two at once"
            if self.asked is not None:
                self.asked[host_id] = server
            there = {host for host, led in self.led.items() if led == server}
            if self.asked is not None:
                there &= {host for host, asked in self.asked.items() if asked == server}
            rest_s = max([1.0, *(d for h, d in self.delays_s.items() if h in there)])
            assert now_s >= self.ended_s.get(server, -inf) + rest_s, "closer than the delay"
            assert now_s >= self.refused_s.get(server, -inf), "asked while it rests"
            self.in_flight[host_id] = server, isinstance(task, AskRobots)
            self.n_asked += 1
        return now_s

    def _refill(self, made: Dispatcher, now_s: float, task: Refill) -> None:
        self.n_asked += 1
        lease = Lease(self.n_asked, f"http://{task.host_id}.test/", task.host_id, 1, now_s)
        if task.is_ahead:
            made.stock_ahead(task.host_id, [], until_s=ALWAYS_S, from_s=inf)
        else:
            made.stock(task.host_id, [lease], until_s=ALWAYS_S, next_due_s=now_s)

    def end(
        self, made: Dispatcher, now_s: float, host_id: int, status: int, delay_s: int | None
    ) -> None:
        """End a request."""
        server, is_robots = self.in_flight.pop(host_id)
        self.ended_s[server] = now_s
        page_id = None if is_robots else self.n_asked
        if status:
            made.answered(host_id, now_s, status, None, page_id)
            if status == 429 or (status == 503 and is_robots):
                self.refused_s[server] = now_s + 60.0
        else:
            made.unanswered(host_id, now_s, "timeout", page_id)
        if is_robots and status == 301:
            made.follow_robots(host_id, f"http://{host_id % 6 + 1}.test/robots.txt")
        elif is_robots:
            self.delays_s[host_id] = float(delay_s or 0)
            made.set_robots(host_id, robots(delay_s), now_s + 60.0)


TestAnyServers = AnyServers.TestCase
TestAnyServers.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)


# -- several processes --


@dataclass
class _Table:
    """What the database does, in the shortest way; seconds of one clock."""

    owner: dict[str, int] = field(default_factory=dict)
    wanted: dict[str, int] = field(default_factory=dict)
    states: dict[str, tuple[float, IpAddressState]] = field(default_factory=dict)
    delay_s: dict[str, float] = field(default_factory=dict)

    def exchange(
        self,
        number: int,
        wanted: list[IpAddressState],
        given: list[IpAddressState],
        now_s: float,
    ) -> tuple[list[IpAddressState], list[IpAddressState]]:
        for state in [*wanted, *given]:
            self.delay_s[state.text] = max(self.delay_s.get(state.text, 0.0), state.delay_s)
        for state in given:
            if self.owner.get(state.text) == number:
                del self.owner[state.text]
                self.states[state.text] = now_s, state
        taken = []
        for text in [state.text for state in wanted]:
            if text not in self.owner and self.wanted.get(text, number) == number:
                self.owner[text] = number
                self.wanted.pop(text, None)
                at_s, state = self.states.get(text, (now_s, IpAddressState(text)))
                taken.append(
                    IpAddressState(
                        text,
                        state.ended_s + now_s - at_s,
                        self.delay_s[text],
                        state.blocked_s - now_s + at_s,
                        state.failures,
                    )
                )
            elif self.owner.get(text) != number:
                self.wanted.setdefault(text, number)
        asked_for = [t for t, who in self.owner.items() if who == number and t in self.wanted]
        return taken, [IpAddressState(text, delay_s=self.delay_s[text]) for text in asked_for]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_processes=st.integers(2, 3))
def test_processes_that_share_servers_ask_each_as_one(seed: int, n_processes: int) -> None:
    """Whoever looks, picks and hears an answer in whatever order, and however hosts move."""
    draw = np.random.default_rng(seed)
    world, table, now_s = _World(asked={}), _Table(), NOW_S
    made = [dispatcher(shares_addresses=True) for _ in range(n_processes)]
    asked_for: list[list[IpAddressState]] = [[] for _ in made]
    ended_s: dict[int, float] = {}
    for host_id in range(1, 9):
        record = HostRecord(host_id, f"http://{host_id}.test", now_s)
        made[host_id % n_processes].observe_host(record, None)
    for _ in range(1_500):
        number = int(draw.integers(n_processes))
        one, ips = made[number], made[number].ips
        assert ips is not None
        what = draw.random()
        if what < 0.4:
            given_up = ips.give(asked_for[number], now_s)
            wanted = ips.wanted(now_s)
            taken, asked_for[number] = table.exchange(number, wanted, given_up, now_s)
            for state in taken:
                ips.take(state, now_s)
        elif what < 0.7:
            task = one.pick(now_s)
            if not isinstance(task, Wait):
                before = set(world.in_flight)
                world.do(one, now_s, task)
                for host_id in set(world.in_flight) - before:
                    ended_s[host_id] = now_s + float(draw.exponential(1.0))
        elif what < 0.72:
            world.names[int(draw.integers(1, 9))] = str(draw.choice([SERVER, OTHER]))
        for host_id in [host for host, at_s in ended_s.items() if at_s <= now_s]:
            _, is_robots = world.in_flight[host_id]
            status = int(draw.choice([200, 200, 200, 200, 301, 404, 429, 0]))
            delay_s = int(draw.integers(0, 5)) if is_robots and status else None
            del ended_s[host_id]
            world.end(made[host_id % n_processes], now_s, host_id, status, delay_s)
        now_s += float(draw.exponential(0.3))
    assert world.n_asked > 5  # a minute is lost with each refusal


def test_the_delay_of_a_host_of_another_process_counts_before_it_is_asked() -> None:
    """From when that process says that it wants the IP address."""
    made = dispatcher(shares_addresses=True)
    at(made, 1)
    assert made.ips is not None
    assert made.pick(NOW_S) == Wait(inf)
    made.ips.take(IpAddressState(SERVER), NOW_S)
    assert fetched(made.pick(NOW_S)) == 1
    assert made.ips.give([IpAddressState(SERVER, delay_s=9.0)], NOW_S) == []
    made.answered(1, NOW_S, 200, None, 1)

    assert made.pick(NOW_S + 1.0) == Wait(NOW_S + 9.0)
    assert made.ips.give([IpAddressState(SERVER, delay_s=9.0)], NOW_S + 19.0) == []
    (given_up,) = made.ips.give([IpAddressState(SERVER, delay_s=9.0)], NOW_S + 20.0)
    assert (given_up.ended_s, given_up.delay_s) == (20.0, 1.0)
    assert made.pick(NOW_S + 99.0) == Wait(inf)


def test_an_ip_address_is_handed_over_with_what_is_known_of_it() -> None:
    """Once it is not asked any more; what the next process knows already is not made less."""
    before, after = (IpAddresses(RULES, is_shared=True) for _ in "ab")
    one, other = (made.of(SERVER, NOW_S) for made in (before, after))
    asked_for = [IpAddressState("unknown"), IpAddressState(SERVER, delay_s=3.0)]
    for made, address in ((before, one), (after, other)):
        made.wait(address, 1)
    before.take(IpAddressState(SERVER), NOW_S)
    before.start(one)
    assert before.next_s() == inf
    assert before.give(asked_for, NOW_S + 100.0) == asked_for[:1]
    before.ended(one, NOW_S + 100.0)
    assert before.next_s() == NOW_S + 103.0
    before.unanswered(one, NOW_S + 100.0, "connect", Random(1))
    assert before.next_s() == NOW_S + 160.0
    state = IpAddressState(SERVER, 10.0, 0.0, 50.0, 1, "no connection")
    assert before.give(asked_for, NOW_S + 110.0) == [*asked_for[:1], state]
    assert before.give(asked_for[1:], NOW_S + 110.0) == [IpAddressState(SERVER)]
    assert (one.ready_s, before.next_s(), before.wanted(NOW_S + 110.0)) == (inf, inf, [state])

    after.take(replace(state, delay_s=5.0), NOW_S + 110.0)
    assert (after.next_s(), after.wanted(NOW_S + 110.0)) == (NOW_S + 160.0, [])
    after.take(IpAddressState(SERVER, 20.0, 5.0, 40.0), NOW_S + 110.0)
    assert other.delay_s == 5.0
    assert after.give_all(NOW_S + 110.0) == [state]
    assert after.give_all(NOW_S + 110.0) == []


def test_two_processes_take_turns_at_a_server() -> None:
    """Each is given it within its holding time, however much the other has to ask."""
    world, table, now_s = _World(), _Table(), NOW_S
    made = [dispatcher(shares_addresses=True) for _ in range(2)]
    asked_for: list[list[IpAddressState]] = [[], []]
    asked = [0, 0]
    for host_id in range(1, 9):
        known(made[host_id % 2], host_id)
    for _ in range(4 * 200):
        for number, one in enumerate(made):
            assert one.ips is not None
            given = one.ips.give(asked_for[number], now_s)
            wanted = one.ips.wanted(now_s)
            taken, asked_for[number] = table.exchange(number, wanted, given, now_s)
            for state in taken:
                one.ips.take(state, now_s)
            while not isinstance(task := one.pick(now_s), Wait):
                world.do(one, now_s, task)
                if isinstance(task, Fetch):
                    asked[number] += 1
                    world.end(one, now_s, task.lease.host_id, 200, None)
        now_s += 0.25

    assert min(asked) >= 60
    assert sum(asked) >= 150
