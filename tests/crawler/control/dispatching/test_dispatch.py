"""Which request is made next, over all hosts: order, politeness, budget, robots.txt."""

from dataclasses import replace
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from recrawl.crawler.control.dispatching.budget import FetchBudget
from recrawl.crawler.control.dispatching.dispatch import (
    AskRobots,
    Dispatcher,
    Fetch,
    Refill,
    Resolve,
    Wait,
)
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff
from recrawl.crawler.control.dispatching.robots_txt import RobotsRules, robots_from_answer
from recrawl.crawler.control.worth.tiers import ASKED, TIMED
from recrawl.terms import HostRecord, Lease

NOW_S = 1_800_000_000.0
OPEN = RobotsRules("recrawl")
CLOSED = RobotsRules("recrawl", reachable=False)
DAY_S = 86_400.0
ALWAYS_S = NOW_S + 1e9


def dispatcher(
    rate: float = 1000.0, delay_s: float = 1.0, burst: float = 10.0, **options: Any
) -> Dispatcher:
    rules = PolitenessRules(delay_s=delay_s, backoff=Backoff(jitter=0.0))
    budget = FetchBudget(rate, burst=burst)
    budget.spend(NOW_S - 1000.0)
    options.setdefault("least_share", inf)  # what is due, and nothing ahead of its time
    return Dispatcher(politeness=rules, budget=budget, random=Random(1), **options)


def known(
    made: Dispatcher,
    host_id: int,
    due_s: float = NOW_S,
    robots: RobotsRules | None = OPEN,
    until_s: float = ALWAYS_S,
) -> None:
    record = HostRecord(host_id, f"http://{host_id}.test", due_s, robots_until_s=until_s)
    made.observe_host(record, robots)


def lease(host_id: int, number: int, due_s: float = NOW_S, path: str = "") -> Lease:
    url = f"http://{host_id}.test/{path}{number}"
    return Lease(page_id=100 * host_id + number, url=url, host_id=host_id, token=1, due_s=due_s)


def stocked(made: Dispatcher, host_id: int, *leases: Lease, next_due_s: float = inf) -> list[Lease]:
    return made.stock(host_id, leases, until_s=ALWAYS_S, next_due_s=next_due_s)


def test_nothing_known_is_nothing_to_wait_for() -> None:
    """The runtime sleeps until there is news."""
    assert dispatcher().pick(NOW_S) == Wait(inf)


def test_a_host_that_does_not_belong_to_the_crawl_is_not_asked() -> None:
    """Whatever is due on it, by whomever."""
    made = dispatcher(takes=lambda host: host != "http://1.test")
    for host_id in (1, 2):
        known(made, host_id, due_s=inf)
    made.observe_due(1, NOW_S)
    made.observe_asked(1)
    made.observe_rest(1, NOW_S)

    assert [queue.host for queue in made.hosts()] == ["http://2.test"]
    assert made.pick(NOW_S) == Wait(inf)


def test_rules_hold_for_one_page_however_late_its_turn_comes() -> None:
    """A request every other day, rules that grow old in one: pages are asked for all the same."""
    day_s = 86_400.0
    made = dispatcher(rate=0.5 / day_s, burst=1.0)
    made.budget.spend(NOW_S - 0.1)
    known(made, 1, robots=None)
    asked: list[str] = []
    now_s, turn = NOW_S, 0
    while len(asked) < 6:
        task = made.pick(now_s)
        if isinstance(task, Wait):
            now_s = max(task.until_s, now_s + 1.0)
        elif isinstance(task, Refill):
            turn += 1
            made.stock(1, [lease(1, turn)], until_s=now_s + 1e9, next_due_s=now_s)
        elif isinstance(task, AskRobots):
            asked.append("rules")
            made.answered(1, now_s, 200, None)
            made.set_robots(1, OPEN, now_s + day_s)
        else:
            asked.append("page")
            made.answered(1, now_s, 200, None)

    assert asked == ["rules", "page"] * 3


def test_the_life_of_a_host() -> None:
    """robots.txt first, then a refill, then its pages one by one, then its next due time."""
    made = dispatcher()
    known(made, 1, robots=None)

    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")
    assert made.pick(NOW_S) == Wait(inf)
    made.answered(1, NOW_S + 0.5, 200, None)
    made.set_robots(1, OPEN, ALWAYS_S)
    assert made.pick(NOW_S + 0.5) == Wait(NOW_S + 1.5)
    refill = made.pick(NOW_S + 1.5)
    assert isinstance(refill, Refill)
    assert made.pick(NOW_S + 1.5) == Wait(inf)
    stocked(made, 1, lease(1, 1), lease(1, 2), next_due_s=NOW_S + 60.0)
    assert made.pick(NOW_S + 1.5) == Fetch(lease(1, 1))
    assert made.pick(NOW_S + 9.0) == Wait(inf)
    made.answered(1, NOW_S + 9.0, 200, None)
    assert made.pick(NOW_S + 9.0) == Wait(NOW_S + 10.0)
    assert made.pick(NOW_S + 10.0) == Fetch(lease(1, 2))
    made.answered(1, NOW_S + 10.0, 200, None)
    assert made.pick(NOW_S + 11.0) == Wait(NOW_S + 60.0)


def test_of_all_hosts_that_may_be_asked_the_longest_due_comes_first() -> None:
    """Not the host that became ready first."""
    made = dispatcher()
    for host_id, due_s in ((1, NOW_S - 5.0), (2, NOW_S - 9.0), (3, NOW_S - 7.0)):
        known(made, host_id, due_s)
        stocked(made, host_id, lease(host_id, 1, due_s))

    picked = [made.pick(NOW_S) for _ in range(3)]

    assert [task.lease.host_id for task in picked if isinstance(task, Fetch)] == [2, 3, 1]


def planned(host_id: int, number: int, late_s: float, weight: float) -> Lease:
    made = lease(host_id, number, NOW_S - late_s)
    return replace(made, crawl_rate_per_s=0.01, change_rate_per_s=0.01, weight=weight)


@pytest.mark.parametrize(
    ("order", "pages"),
    [
        # 30 x 4 > 40 x 2 > 50 x 1, and 50 x 1 > 10 x 4 > 5 x 4
        (
            [1, 2, 0],
            [planned(1, 1, 50.0, 1.0), planned(1, 2, 30.0, 16.0), planned(2, 1, 40.0, 4.0)],
        ),
        (
            [1, 2, 0],
            [planned(1, 1, 5.0, 16.0), planned(1, 2, 50.0, 1.0), planned(2, 1, 10.0, 16.0)],
        ),
        (
            [0, 2, 1],
            [planned(1, 1, 50.0, 1.0), planned(1, 2, 5.0, 16.0), planned(2, 1, 10.0, 16.0)],
        ),
    ],
)
def test_the_most_urgently_late_page_comes_first(order: list[int], pages: list[Lease]) -> None:
    """Lateness counts with the root of the weight, within a host and between hosts."""
    made = dispatcher(delay_s=0.0)
    for host_id in (1, 2):
        known(made, host_id)
        stocked(made, host_id, *[page for page in pages if page.host_id == host_id])

    picked = []
    for _ in pages:
        task = made.pick(NOW_S)
        assert isinstance(task, Fetch)
        picked.append(task.lease)
        made.answered(task.lease.host_id, NOW_S, 200, None)

    assert picked == [pages[number] for number in order]


def test_a_page_whose_lease_lapsed_while_its_host_was_asked_for_another_is_leased_again() -> None:
    """It is due as before, though nothing else of its host is."""
    made = dispatcher()
    known(made, 1)
    pages = [planned(1, 1, 9.0, 1.0), planned(1, 2, 5.0, 1.0)]
    made.stock(1, pages, until_s=NOW_S + 10.0, next_due_s=inf)
    assert made.pick(NOW_S) == Fetch(pages[0])

    made.answered(1, NOW_S + 20.0, 200, None, 101)

    task = made.pick(NOW_S + 21.0)
    assert isinstance(task, Refill)
    assert made.host(1).next_due_s == pages[1].due_s


@pytest.mark.parametrize("share", [0.5, 0.2, 0.0, 1.0])
def test_pages_never_visited_have_their_share_over_all_hosts(share: float) -> None:
    """However long and however urgently the others have waited."""
    made = dispatcher(delay_s=0.0, burst=1000.0, discovery_share=share)
    made.budget.spend(NOW_S)
    for host_id in range(1, 101):
        known(made, host_id)
        new = lease(host_id, 1, NOW_S - 1.0)
        stocked(made, host_id, planned(host_id, 1, 1e6, 9.0) if host_id <= 50 else new)

    tasks = [made.pick(NOW_S) for _ in range(40)]

    n_new = sum(isinstance(task, Fetch) and task.lease.host_id > 50 for task in tasks)
    assert n_new == pytest.approx(40 * share, abs=1)


@pytest.mark.parametrize(("delay_s", "limit"), [(10.0, 1), (1.0, 4), (0.3, 13)])
@pytest.mark.parametrize("share", [0.95, 0.5, 0.04])
def test_of_few_pages_at_a_time_those_of_a_small_share_come_now_and_then(
    share: float, delay_s: float, limit: int
) -> None:
    """Rounded each time they would never come."""
    made = dispatcher(delay_s=delay_s, discovery_share=share)
    known(made, 1)
    n_new = 0.0
    for _ in range(100):
        task = made.pick(NOW_S)
        assert isinstance(task, Refill)
        assert task.new_share is not None
        assert task.limit == limit
        n_new += task.new_share * limit
        stocked(made, 1, next_due_s=NOW_S)

    assert n_new == pytest.approx(100 * limit * share, abs=0.51)


def test_first_visits_that_cost_nothing_wait_for_no_budget() -> None:
    """Nor does who may be asked before there is some wait until then."""
    made = dispatcher(rate=0.01, burst=1.0, first_free=True, discovery_share=0.0)
    made.budget.spend(NOW_S)
    old = replace(planned(1, 1, 50.0, 1.0), tier=10)
    known(made, 1)
    stocked(made, 1, old)
    known(made, 2)
    stocked(made, 2, lease(2, 1), lease(2, 2))

    assert made.pick(NOW_S) == Refill(1, 1, new_share=1.0)  # there may be some of this host too
    stocked(made, 1)
    assert made.pick(NOW_S) == Fetch(lease(2, 1))
    made.answered(2, NOW_S, 200, None)
    assert made.pick(NOW_S) == Wait(NOW_S + 1.0)
    assert made.pick(NOW_S + 1.0) == Fetch(lease(2, 2))
    assert made.pick(NOW_S + 1.0) == Wait(NOW_S + 100.0)
    assert made.pick(NOW_S + 100.0) == Fetch(old)


def test_what_waits_for_budget_holds_up_no_first_visit() -> None:
    """Neither of its own host nor of others: a retry, a listing, whatever no plan knows."""
    made = dispatcher(rate=0.01, burst=1.0, first_free=True, discovery_share=0.95)
    made.budget.spend(NOW_S)
    retries = [replace(lease(host_id, 1, NOW_S - 9.0), tier=TIMED) for host_id in (1, 2)]
    for retry in retries:
        known(made, retry.host_id)
        stocked(made, retry.host_id, retry)

    assert made.pick(NOW_S) == Refill(1, 1, new_share=1.0)
    stocked(made, 1, lease(1, 2))
    assert made.pick(NOW_S) == Fetch(lease(1, 2))
    made.answered(1, NOW_S, 200, None)
    assert made.pick(NOW_S) == Refill(2, 1, new_share=1.0)
    stocked(made, 2)
    assert made.pick(NOW_S) == Wait(NOW_S + 1.0)
    known(made, 2)  # a page was found
    assert made.pick(NOW_S) == Refill(2, 1, new_share=1.0)
    stocked(made, 2, lease(2, 2))
    assert made.pick(NOW_S) == Fetch(lease(2, 2))
    made.answered(2, NOW_S, 200, None)
    assert made.pick(NOW_S + 100.0) in [Fetch(retry) for retry in retries]


def test_without_a_share_first_visits_come_by_their_worth() -> None:
    """Beside each other by weight, beside what is due by the price."""
    made = dispatcher(
        delay_s=0.0,
        worth_of=lambda one, _: one.weight if one.crawl_rate_per_s is None else 2.0,
    )
    for host_id, weight in ((1, 1.0), (2, 9.0), (3, 3.0)):
        known(made, host_id)
        stocked(made, host_id, replace(lease(host_id, 1), weight=weight))
    known(made, 4)
    stocked(made, 4, planned(4, 1, 50.0, 1.0))

    tasks = [made.pick(NOW_S) for _ in range(4)]

    assert [task.lease.host_id for task in tasks if isinstance(task, Fetch)] == [2, 3, 4, 1]


def test_a_host_at_rest_holds_up_no_other() -> None:
    """Its turn comes when it is ready."""
    made = dispatcher()
    for host_id in (1, 2):
        known(made, host_id, NOW_S - host_id)
        stocked(made, host_id, lease(host_id, 1), lease(host_id, 2))

    assert {made.pick(NOW_S), made.pick(NOW_S)} == {Fetch(lease(1, 1)), Fetch(lease(2, 1))}
    made.answered(2, NOW_S, 503, "500")
    made.answered(1, NOW_S, 200, None)
    assert made.pick(NOW_S + 1.0) == Fetch(lease(1, 2))


def test_the_budget_makes_everybody_wait() -> None:
    """Two a second for any number of hosts; refills cost nothing."""
    made = dispatcher(rate=2.0, burst=1.0)
    for host_id in range(1, 6):
        known(made, host_id)
        stocked(made, host_id, lease(host_id, 1))

    assert isinstance(made.pick(NOW_S), Fetch)
    assert made.pick(NOW_S) == Wait(NOW_S + 0.5)
    known(made, 9, NOW_S - 99.0)
    assert made.pick(NOW_S) == Refill(9, 4)
    assert isinstance(made.pick(NOW_S + 0.5), Fetch)


def test_what_robots_txt_forbids_is_handed_back() -> None:
    """At a refill, and when the rules change while pages wait."""
    made = dispatcher()
    known(made, 1)
    rules = robots_from_answer("recrawl", 200, b"User-agent: *\nDisallow: /no")
    open_lease, shut = lease(1, 1), lease(1, 2, path="no/")

    assert stocked(made, 1, open_lease, shut) == []
    assert made.set_robots(1, rules, ALWAYS_S) == [shut]
    assert stocked(made, 1, shut) == [shut]
    assert made.pick(NOW_S) == Fetch(open_lease)


def test_what_robots_txt_forbids_is_handed_back_ahead_of_its_time_too() -> None:
    """At a look, and when the rules change while pages wait, those that are due before."""
    made = dispatcher(least_share=0.0)
    known(made, 1)
    rules = robots_from_answer("recrawl", 200, b"User-agent: *\nDisallow: /no")
    early, due = lease(1, 1, NOW_S + 9.0, path="no/"), lease(1, 2, path="no/")

    assert stocked(made, 1, due) == []
    assert made.stock_ahead(1, [early], until_s=ALWAYS_S, from_s=inf) == []
    assert made.set_robots(1, rules, ALWAYS_S) == [due, early]
    assert made.stock_ahead(1, [early], until_s=ALWAYS_S, from_s=inf) == [early]


@pytest.mark.parametrize("is_news", [True, False])
def test_rules_that_lapsed_forbid_nothing_but_are_read_before_a_page_is(is_news: bool) -> None:
    """Or nobody would learn that they have changed, where they forbade everything."""
    made = dispatcher(least_share=0.0)
    rules = robots_from_answer("recrawl", 200, b"User-agent: *\nDisallow: /")
    known(made, 1)
    made.set_robots(1, rules, NOW_S, is_news=is_news)
    due, early = lease(1, 1), lease(1, 2, NOW_S + 9.0)
    before = {"until_s": ALWAYS_S, "now_s": NOW_S - 1.0}
    after = {"until_s": ALWAYS_S, "now_s": NOW_S}

    assert made.stock(1, [due], next_due_s=inf, **before) == [due]
    assert made.stock_ahead(1, [early], from_s=inf, **before) == [early]
    assert made.stock(1, [due], next_due_s=inf, **after) == []
    assert made.stock_ahead(1, [early], from_s=inf, **after) == []
    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")
    made.answered(1, NOW_S, 200, None)
    assert made.set_robots(1, rules, ALWAYS_S) == [due, early]


def test_rules_are_asked_for_again_when_they_lapse() -> None:
    """Pages leased ahead wait for it."""
    made = dispatcher()
    known(made, 1, until_s=NOW_S + 100.0)
    stocked(made, 1, lease(1, 1))

    assert made.pick(NOW_S + 100.0) == AskRobots(1, "http://1.test")
    made.answered(1, NOW_S + 100.0, 200, None)
    made.set_robots(1, OPEN, ALWAYS_S)
    assert made.pick(NOW_S + 101.0) == Fetch(lease(1, 1))


def test_without_rules_a_host_is_left_alone_until_they_are_tried_again() -> None:
    """And the reason is there for people."""
    made = dispatcher()
    known(made, 1, robots=None)
    made.pick(NOW_S)
    made.unanswered(1, NOW_S, "connect")
    made.set_robots(1, CLOSED, NOW_S + 300.0, why="connect")

    assert made.host(1).politeness.blocked_why == "robots.txt cannot be read: no connection"
    assert made.pick(NOW_S + 299.0) == Wait(NOW_S + 300.0)
    assert made.pick(NOW_S + 300.0) == AskRobots(1, "http://1.test")


@pytest.mark.parametrize(("n_hosts", "rests_s"), [(40, 3.5 * DAY_S), (13, 960.0)])
def test_hosts_that_are_down_share_a_twentieth_of_the_requests(
    n_hosts: int, rests_s: float
) -> None:
    """Seven of forty, of forty requests a day; where most are down, it is rather we who are."""
    made = dispatcher(rate=40.0 / DAY_S)
    for host_id in range(n_hosts):
        known(made, host_id, robots=None)
    for host_id in [host_id for host_id in range(7) for _ in range(5)]:
        timing = made.host(host_id).politeness
        timing.start()
        made.unanswered(host_id, NOW_S, "dns")

    assert made.host(6).politeness.ready_s - NOW_S == pytest.approx(rests_s)
    assert made.host(7).politeness.ready_s <= NOW_S


def test_a_host_that_answers_again_is_down_no_longer() -> None:
    """The others share what is for hosts that are."""
    made = dispatcher(rate=40.0 / DAY_S)
    for host_id in range(8):
        known(made, host_id, robots=None)
    for host_id in [0, 0, 0, 0, 0]:
        made.host(host_id).politeness.start()
        made.unanswered(host_id, NOW_S, "dns")
    made.host(0).politeness.start()
    made.answered(0, NOW_S, 200, None)
    for host_id in [1, 1, 1, 1, 1]:
        made.host(host_id).politeness.start()
        made.unanswered(host_id, NOW_S, "dns")

    assert made.host(1).politeness.ready_s - NOW_S == pytest.approx(0.5 * DAY_S)


def test_nothing_is_held_against_hosts_while_nobody_answers() -> None:
    """All may be asked at once as soon as one answers, by rules that are known still."""
    made = dispatcher()
    for host_id in range(4):
        record = HostRecord(
            host_id, f"http://{host_id}.test", NOW_S, robots_status=200, robots_until_s=ALWAYS_S
        )
        made.observe_host(record, OPEN)
    counted = []
    for host_id in (0, 1, 2, 3, 3, 3):
        made.host(host_id).politeness.start()
        counted.append(made.unanswered(host_id, NOW_S, "dns", 100 * host_id))
    waited_s = [queue.politeness.ready_s - NOW_S for queue in made.hosts()]
    made.host(3).politeness.start()
    made.answered(3, NOW_S + 10.0, 200, None, 301)

    assert counted == [True, True, False, False, False, False]
    assert waited_s == [60.0, 60.0, 60.0, 240.0]
    assert [queue.politeness.ready_s - NOW_S for queue in made.hosts()] == [10.0, 10.0, 10.0, 11.0]
    assert [queue.politeness.failures for queue in made.hosts()] == [1, 1, 0, 0]
    assert all(queue.robots is OPEN for queue in made.hosts())


def test_a_start_waits_for_no_host_that_rested_as_nobody_answered() -> None:
    """The turns of thousands last for hours, and the network may be back."""
    made = dispatcher()
    for host_id, failures in ((1, 0), (2, 1)):
        record = HostRecord(
            host_id, f"http://{host_id}.test", NOW_S, failures=failures,
            blocked_until_s=NOW_S + DAY_S, robots_until_s=ALWAYS_S,
        )  # fmt: skip
        made.observe_host(record, OPEN)

    assert made.host(1).politeness.ready_s <= NOW_S
    assert made.host(2).politeness.ready_s == NOW_S + DAY_S


def test_lapsed_leases_are_not_fetched() -> None:
    """The frontier has them again, and another lease may be out."""
    made = dispatcher()
    known(made, 1)
    made.stock(1, [lease(1, 1)], until_s=NOW_S + 50.0, next_due_s=inf)

    assert isinstance(made.pick(NOW_S + 50.0), Refill)


def test_a_block_of_a_kept_host_outlives_a_restart() -> None:
    """Back-off and its reason come from the frontier."""
    made = dispatcher()
    record = HostRecord(1, "http://1.test", NOW_S, failures=3, blocked_until_s=NOW_S + 40.0)
    made.observe_host(record, None)

    assert made.pick(NOW_S) == Wait(NOW_S + 40.0)
    assert made.host(1).politeness.failures == 3


def test_news_of_due_pages_only_brings_a_host_forward() -> None:
    """A later page does not put off an earlier one."""
    made = dispatcher()
    known(made, 1, NOW_S + 50.0)
    made.observe_due(1, NOW_S + 90.0)
    assert made.pick(NOW_S) == Wait(NOW_S + 50.0)
    made.observe_due(1, NOW_S + 20.0)

    assert made.pick(NOW_S) == Wait(NOW_S + 20.0)
    assert made.next_ready_s(NOW_S) == NOW_S + 20.0


def test_a_host_whose_pages_are_being_leased_is_not_done() -> None:
    """Or a single pass would end while a slow disk looks for its pages."""
    made = dispatcher()
    known(made, 1)
    assert isinstance(made.pick(NOW_S), Refill)

    assert made.next_ready_s(NOW_S) == NOW_S
    stocked(made, 1)
    assert made.next_ready_s(NOW_S) == inf


def test_a_single_pass_leaves_later_pages_alone() -> None:
    """What becomes due after its start is for another day."""
    made = dispatcher(horizon_s=NOW_S)
    known(made, 1, NOW_S + 1.0)
    known(made, 2, NOW_S)

    assert isinstance(made.pick(NOW_S + 500.0), Refill)
    assert made.pick(NOW_S + 500.0) == Wait(inf)
    stocked(made, 2)
    assert made.next_ready_s(NOW_S) == inf


@pytest.mark.parametrize(
    ("expected", "delay_s", "rate", "lease_s", "hosts"),
    [
        (64, 0.0, 1e4, 600.0, 1),
        (8, 0.5, 1e4, 600.0, 1),
        (50, 0.5, 1e4, 600.0, 100),
        (1, 0.0, 0.1, 600.0, 1),
        (30, 10.0, 1e4, 600.0, 4_000),
        (30, 0.0, 0.1, 600.0, 4_000),
        (1, 1e4, 1e4, 600.0, 4_000),
    ],
)
def test_little_is_leased_at_once_where_hosts_are_few_and_never_more_than_half_a_lease_can_fetch(
    expected: int, delay_s: float, rate: float, lease_s: float, hosts: int
) -> None:
    """What is found meanwhile may be worth more; by the slower of host and budget."""
    made = dispatcher(rate=rate, delay_s=delay_s, lease_s=lease_s)
    for number in range(2, hosts + 1):
        known(made, number, NOW_S + 1.0)
    known(made, 1)

    assert made.pick(NOW_S) == Refill(1, expected)


def test_blocks_and_forgiveness_are_reported() -> None:
    """The runtime writes them down; an ordinary answer is not worth a transaction."""
    made = dispatcher()
    known(made, 1)
    stocked(made, 1, *[lease(1, number) for number in range(4)])
    told = []

    for at_s, status in ((0.0, 200), (1.0, 429), (100.0, 200), (5000.0, 200)):
        assert isinstance(made.pick(NOW_S + at_s), Fetch)
        told.append(made.answered(1, NOW_S + at_s, status, None))

    assert told == [False, True, False, True]


def test_a_request_that_was_cut_off_leaves_its_host_after_a_rest() -> None:
    """And what waits can be given back at the end."""
    made = dispatcher()
    known(made, 1)
    stocked(made, 1, lease(1, 1), lease(1, 2))
    assert made.pick(NOW_S) == Fetch(lease(1, 1))
    made.cancelled(1, NOW_S)

    assert made.pick(NOW_S + 1.0) == Fetch(lease(1, 2))
    made.cancelled(1, NOW_S + 1.0)
    stocked(made, 1, lease(1, 3))
    assert made.give_back() == [lease(1, 3)]
    assert made.give_back() == []
    assert made.pick(NOW_S) == Wait(inf)


def test_a_page_that_brings_no_answer_leaves_its_host_to_the_next() -> None:
    """After the usual rest."""
    made = dispatcher()
    known(made, 1)
    stocked(made, 1, lease(1, 1), lease(1, 2))
    assert made.pick(NOW_S) == Fetch(lease(1, 1))

    made.unanswered(1, NOW_S, "timeout", 101)

    assert made.pick(NOW_S) == Wait(NOW_S + 1.0)
    assert made.pick(NOW_S + 1.0) == Fetch(lease(1, 2))


def test_a_host_is_asked_once_at_a_time_for_what_is_due_and_ahead() -> None:
    """Neither for a page ahead of its time while one that is due is on its way, nor after that."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0)
    early = replace(lease(1, 1, due_s=NOW_S + 500.0), last_visit_s=NOW_S - 10.0, tier=9)
    assert made.pick(NOW_S) == Refill(1, 16, is_ahead=True)
    made.stock_ahead(1, [early], until_s=ALWAYS_S, from_s=inf)
    made.observe_due(1, NOW_S)
    assert made.pick(NOW_S) == Refill(1, 64)
    stocked(made, 1, lease(1, 2))
    assert made.pick(NOW_S) == Fetch(lease(1, 2))

    assert made.pick(NOW_S) == Wait(inf)
    made.answered(1, NOW_S, 200, None)
    assert made.pick(NOW_S) == Fetch(early)


def test_rules_that_are_read_ahead_of_time_are_asked_for_once() -> None:
    """Though a page becomes due before the answer is there."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 20.0, robots=None)

    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")
    assert made.pick(NOW_S + 20.0) == Wait(inf)


def test_news_of_pages_worth_a_visit_ahead_of_their_time_bring_a_host_forward() -> None:
    """From the instant on that they name, though nothing is due sooner."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0)
    assert made.pick(NOW_S) == Refill(1, 16, is_ahead=True)
    made.stock_ahead(1, [], until_s=ALWAYS_S, from_s=inf)
    assert made.pick(NOW_S) == Wait(NOW_S + 500.0)

    made.observe_due(1, NOW_S + 500.0, ahead_from_s=NOW_S + 10.0)

    assert made.pick(NOW_S) == Wait(NOW_S + 10.0)
    assert made.pick(NOW_S + 10.0) == Refill(1, 16, is_ahead=True)


class AnyCrawl(RuleBasedStateMachine):
    """Hosts, answers and waits in any order; every request is checked against the rules."""

    @initialize()
    def begin(self) -> None:
        self.made = dispatcher(rate=2.0, delay_s=3.0, burst=4.0)
        self.now_s = NOW_S
        self.in_flight: dict[int, bool] = {}
        self.ended_s: dict[int, float] = {}
        self.times: list[float] = []
        self.number = 0
        self.opens_s: dict[int, float] = {}  # of hosts whose rules are known, without the gap
        self.gaps_s: dict[int, float] = {}

    @rule(gaps_s=st.dictionaries(st.integers(1, 4), st.floats(0, 90)))
    def plan(self, gaps_s: dict[int, float]) -> None:
        self.gaps_s = gaps_s
        self.made.observe_openings(gaps_s)

    @rule(host_id=st.integers(1, 4), age_s=st.floats(-20, 20))
    def discover(self, host_id: int, age_s: float) -> None:
        known(self.made, host_id, self.now_s - age_s, robots=None)

    @rule()
    def pick(self) -> None:
        task = self.made.pick(self.now_s)
        if isinstance(task, Wait):
            assert task.until_s > self.now_s
            if task.until_s < inf:
                self.now_s = task.until_s
        elif isinstance(task, Refill):
            self.number += 1
            stocked(self.made, task.host_id, lease(task.host_id, self.number, self.now_s))
        else:
            assert not isinstance(task, Resolve)
            host_id = task.host_id if isinstance(task, AskRobots) else task.lease.host_id
            assert host_id not in self.in_flight, "two in flight"
            assert self.now_s >= self.ended_s.get(host_id, -inf) + 3.0, "closer than the delay"
            if isinstance(task, AskRobots):
                opens_s = self.opens_s.get(host_id, -inf) + self.gaps_s.get(host_id, 0.0)
                assert self.now_s >= opens_s, "opened too soon"
            self.in_flight[host_id] = isinstance(task, AskRobots)
            self.times.append(self.now_s)
            for n, start_s in enumerate(reversed(self.times), start=1):
                assert n <= 2.0 * (self.now_s - start_s) + 4.0 + 1e-6, "above the budget"

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data(), status=st.sampled_from((200, 404, 429, 503, 0)), took_s=st.floats(0, 9))
    def end(self, data: st.DataObject, status: int, took_s: float) -> None:
        host_id = data.draw(st.sampled_from(sorted(self.in_flight)))
        self.now_s += took_s
        if status:
            self.made.answered(host_id, self.now_s, status, None)
        else:
            self.made.unanswered(host_id, self.now_s, "timeout")
        if self.in_flight.pop(host_id):
            is_open, until_s = status in (200, 404), self.now_s + 60
            self.made.set_robots(host_id, OPEN if is_open else CLOSED, until_s)
            self.opens_s[host_id] = until_s if is_open else -inf
        self.ended_s[host_id] = self.now_s


TestAnyCrawl = AnyCrawl.TestCase
TestAnyCrawl.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_what_is_due_comes_before_what_is_ahead_of_its_time() -> None:
    """And that comes before an unused request."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0)
    known(made, 2, due_s=NOW_S + 20.0)
    early = [
        replace(lease(1, number, due_s=NOW_S + 500.0), last_visit_s=NOW_S - age_s, tier=9)
        for number, age_s in ((1, 100.0), (2, 900.0), (3, 300.0))
    ]

    refills = [made.pick(NOW_S), made.pick(NOW_S)]
    made.stock_ahead(1, early, until_s=ALWAYS_S, from_s=NOW_S)
    made.stock_ahead(2, [], until_s=ALWAYS_S, from_s=inf)
    first = made.pick(NOW_S)
    made.answered(1, NOW_S, 200, None)
    later = made.pick(NOW_S + 20.0)
    stocked(made, 2, lease(2, 1, due_s=NOW_S + 20.0))

    assert {(task.host_id, task.is_ahead) for task in refills if isinstance(task, Refill)} == {
        (1, True),
        (2, True),
    }
    assert first == Fetch(early[1]), "the one that has come furthest towards its due time"
    assert later == Refill(2, 64)
    assert made.pick(NOW_S + 20.0) == Fetch(lease(2, 1, due_s=NOW_S + 20.0))
    assert made.pick(NOW_S + 20.0) == Fetch(early[2])


def test_whoever_waits_for_the_budget_waits_until_it_is_there() -> None:
    """Not for a host whose robots.txt is to be read: that takes a request too."""
    made = dispatcher(rate=0.01, burst=1.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0, robots=None)
    made.budget.spend(NOW_S)

    told = made.pick(NOW_S)

    assert isinstance(told, Wait)
    assert told.until_s == pytest.approx(NOW_S + 100.0, abs=1.0)
    assert made.pick(told.until_s) == AskRobots(1, "http://1.test")


def test_pages_leased_ahead_are_due_like_any_other_when_their_time_comes() -> None:
    """And lapse like any other lease."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0)
    early = replace(lease(1, 1, due_s=NOW_S + 50.0), last_visit_s=NOW_S - 10.0, tier=9)
    assert made.pick(NOW_S) == Refill(1, 16, is_ahead=True)
    made.stock_ahead(1, [early, replace(early, page_id=2)], until_s=NOW_S + 90.0, from_s=inf)
    made.budget.spend(NOW_S)

    due = made.pick(NOW_S + 60.0)
    made.answered(1, NOW_S + 60.0, 200, None)
    lapsed = made.pick(NOW_S + 100.0)

    assert isinstance(due, Fetch)
    assert isinstance(lapsed, Refill)
    assert not lapsed.is_ahead


def test_a_lease_that_lapsed_while_its_host_waited_for_the_budget_is_not_used() -> None:
    """The frontier may have handed the page out again; when it is due is not forgotten."""
    made = dispatcher(rate=0.01, delay_s=0.0, burst=1.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 900.0)
    early = replace(lease(1, 1, due_s=NOW_S + 500.0), last_visit_s=NOW_S - 10.0, tier=9)
    made.budget.spend(NOW_S)
    assert made.pick(NOW_S) == Refill(1, 1, is_ahead=True)
    made.stock_ahead(1, [early], until_s=NOW_S + 50.0, from_s=inf)
    assert isinstance(made.pick(NOW_S), Wait)

    later = made.pick(NOW_S + 100.0)

    assert later == Refill(1, 1, is_ahead=True)
    made.stock_ahead(1, [], until_s=NOW_S + 150.0, from_s=inf)
    assert made.pick(NOW_S + 101.0) == Wait(NOW_S + 500.0)


def test_a_due_page_whose_lease_lapsed_while_the_budget_was_waited_for_is_leased_again() -> None:
    """With few requests an hour a lease is over before its turn; somebody else may have it."""
    made = dispatcher(rate=0.01, delay_s=0.0, burst=1.0)
    known(made, 1)
    made.budget.spend(NOW_S)
    assert isinstance(made.pick(NOW_S), Refill)
    made.stock(1, [lease(1, 1), lease(1, 2)], until_s=NOW_S + 50.0, next_due_s=inf)
    assert made.pick(NOW_S) == Wait(NOW_S + 100.0)

    assert isinstance(made.pick(NOW_S + 100.0), Refill)
    made.stock(1, [lease(1, 2)], until_s=NOW_S + 150.0, next_due_s=inf)
    assert made.pick(NOW_S + 100.0) == Fetch(lease(1, 2))


def test_a_dispatcher_that_follows_another_keeps_its_distance() -> None:
    """Other rules that are taken up in flight ask no host sooner than the rest allows."""
    before, after = dispatcher(delay_s=5.0), dispatcher(delay_s=5.0)
    for made in (before, after):
        known(made, 1)
        stocked(made, 1, lease(1, 1), lease(1, 2))
    assert isinstance(before.pick(NOW_S), Fetch)
    before.answered(1, NOW_S + 0.5, 200, None)

    after.follow(before)

    assert after.pick(NOW_S + 1.0) == Wait(NOW_S + 5.5)
    assert isinstance(after.pick(NOW_S + 5.5), Fetch)


def test_a_host_whose_pages_are_being_leased_is_not_asked_for_more_pages() -> None:
    """Neither for what is ahead of its time while what is due is leased, nor the other way."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1)
    known(made, 2, due_s=NOW_S + 20.0)

    tasks = [made.pick(NOW_S), made.pick(NOW_S)]

    assert tasks == [Refill(1, 64), Refill(2, 16, is_ahead=True)]
    assert made.pick(NOW_S) == Wait(inf)
    assert made.pick(NOW_S + 30.0) == Wait(inf)


def test_pages_that_are_leased_later_make_no_earlier_lease_longer() -> None:
    """What lapses first counts for all; nothing is asked for whose lease may have gone."""
    made = dispatcher(delay_s=0.0)
    known(made, 1)
    assert isinstance(made.pick(NOW_S), Refill)
    made.stock(1, [lease(1, 1), lease(1, 2)], until_s=NOW_S + 50.0, next_due_s=inf)
    made.stock(1, [lease(1, 3)], until_s=NOW_S + 500.0, next_due_s=inf)

    assert isinstance(made.pick(NOW_S + 60.0), Refill)


def test_a_host_that_another_may_have_asked_rests_from_then() -> None:
    """Though its page is due by now."""
    made = dispatcher()
    known(made, 1)

    made.observe_rest(1, NOW_S + 3.0)

    assert made.pick(NOW_S) == Wait(NOW_S + 4.0)
    assert isinstance(made.pick(NOW_S + 4.0), Refill)


def test_what_somebody_asks_for_is_leased_though_nothing_is_due() -> None:
    """At once."""
    made = dispatcher()
    known(made, 1, due_s=NOW_S + 60.0)
    assert made.pick(NOW_S) == Wait(NOW_S + 60.0)

    made.observe_asked(1)

    assert isinstance(made.pick(NOW_S), Refill)
    wanted = replace(lease(1, 1, due_s=NOW_S + 60.0), tier=ASKED)
    stocked(made, 1, wanted, next_due_s=NOW_S + 60.0)
    assert made.pick(NOW_S) == Fetch(wanted)
    made.answered(1, NOW_S, 200, None)
    assert isinstance(made.pick(NOW_S + 1.0), Refill), "there may be more of them"
    stocked(made, 1, next_due_s=NOW_S + 60.0)
    assert made.pick(NOW_S + 1.0) == Wait(NOW_S + 60.0)


def test_who_asks_while_pages_are_leased_is_heard() -> None:
    """What was leased by then may be too early to hold it."""
    made = dispatcher()
    known(made, 1)
    assert isinstance(made.pick(NOW_S), Refill)

    made.observe_asked(1)
    stocked(made, 1, next_due_s=NOW_S + 60.0)

    assert isinstance(made.pick(NOW_S), Refill)
    stocked(made, 1, next_due_s=NOW_S + 60.0)
    assert made.pick(NOW_S) == Wait(NOW_S + 60.0)


@pytest.mark.parametrize(("visited_s", "again"), [(NOW_S - 1.0, True), (NOW_S + 1.0, False)])
def test_a_page_that_was_asked_for_during_its_visit_is_visited_again(
    visited_s: float, again: bool
) -> None:
    """Once that visit is on record: until then it cannot be leased."""
    made = dispatcher()
    known(made, 1, due_s=NOW_S + 60.0)
    made.observe_asked(1, NOW_S)
    assert isinstance(made.pick(NOW_S), Refill)
    stocked(made, 1, next_due_s=NOW_S + 60.0)
    assert made.pick(NOW_S) == Wait(NOW_S + 60.0)

    made.observe_recorded(1, visited_s)

    assert isinstance(made.pick(NOW_S + 2.0), Refill) is again


def test_a_new_plan_may_have_pages_that_are_worth_a_visit_ahead_of_their_time() -> None:
    """Though there were none at the last look."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0)
    assert made.pick(NOW_S) == Refill(1, 16, is_ahead=True)
    made.stock_ahead(1, [], until_s=ALWAYS_S, from_s=inf)
    assert made.pick(NOW_S) == Wait(NOW_S + 500.0)

    made.observe_plan(0.0)

    assert made.pick(NOW_S) == Refill(1, 16, is_ahead=True)


def test_a_plan_says_below_which_worth_no_page_is_visited_ahead_of_its_time() -> None:
    """As a share of the price: halfway a visit is worth a third of it, or a little more."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + 500.0)
    early = replace(lease(1, 1, NOW_S + 500.0), tier=9, last_visit_s=NOW_S - 500.0)

    made.observe_plan(0.3)
    before = made.worth_ahead(early, NOW_S)
    made.observe_plan(0.4)

    assert before == pytest.approx((1 - 1.5 * np.exp(-0.5)) / (1 - 2 * np.exp(-1)))
    assert made.worth_ahead(early, NOW_S) == 0.0


def test_a_share_counts_only_requests_that_were_made_while_both_kinds_waited() -> None:
    """Who comes late takes up nothing that was left to the others before, nor is it owed."""
    made = dispatcher(delay_s=0.0, burst=1000.0, discovery_share=0.32)
    made.budget.spend(NOW_S)
    for host_id in range(1, 21):
        known(made, host_id)
        stocked(made, host_id, planned(host_id, 1, 50.0, 1e6 if host_id == 1 else 1.0))
    asked = ""

    for new in ((50, 51), (52,)):
        for host_id in new:
            known(made, host_id)
            stocked(made, host_id, lease(host_id, 1))
        for _ in range(9):
            task = made.pick(NOW_S)
            assert isinstance(task, Fetch)
            asked += "new " if task.lease.host_id >= 50 else "old "

    assert asked == "old old old new old old new old old old old old new old old old old old "


def test_what_a_new_host_has_is_looked_at_before_anything_is_visited() -> None:
    """That costs no request, and may be worth more."""
    made = dispatcher(delay_s=0.0)
    known(made, 1)
    known(made, 2)
    stocked(made, 2, planned(2, 1, 50.0, 9.0))

    assert isinstance(made.pick(NOW_S), Refill)
    stocked(made, 1)
    assert isinstance(made.pick(NOW_S), Fetch)


@pytest.mark.parametrize(("is_new", "weight"), [(False, 0.5), (True, 1.5)])
def test_a_due_page_that_is_not_leased_yet_is_worth_the_price(is_new: bool, weight: float) -> None:
    """A first visit comes before it if it is worth more than that."""
    made = dispatcher(delay_s=0.0, worth_of=lambda one, _: one.weight)
    known(made, 2)
    stocked(made, 2, planned(2, 1, 50.0, 9.0), next_due_s=NOW_S)
    assert isinstance(made.pick(NOW_S), Fetch)
    made.answered(2, NOW_S, 200, None)
    known(made, 1)
    new = replace(lease(1, 1), weight=weight)
    stocked(made, 1, new)

    assert (made.pick(NOW_S) == Fetch(new)) is is_new


def test_what_a_due_page_is_worth_is_looked_at_between_two_first_visits() -> None:
    """Its host would not be known for it while others have pages that were never visited."""
    made = dispatcher(delay_s=0.0, worth_of=lambda one, _: one.weight)
    known(made, 2)
    stocked(made, 2, planned(2, 1, 50.0, 9.0), next_due_s=NOW_S)
    assert isinstance(made.pick(NOW_S), Fetch)
    made.answered(2, NOW_S, 200, None)
    known(made, 1)
    first, second = (replace(lease(1, number), weight=1.5) for number in (1, 2))
    stocked(made, 1, first, second)

    assert made.pick(NOW_S) == Fetch(first)
    made.answered(1, NOW_S, 200, None)
    looked = made.pick(NOW_S)
    assert isinstance(looked, Refill)
    assert looked.host_id == 2
    front = replace(planned(2, 2, 50.0, 9.0), weight=7.0)
    stocked(made, 2, front)

    assert made.pick(NOW_S) == Fetch(front)
    made.answered(2, NOW_S, 200, None)
    assert made.pick(NOW_S) == Fetch(second)


@pytest.mark.parametrize("per_address", [False, True])
def test_what_is_kept_of_a_server_counts_where_its_hosts_are_asked_as_one(
    *, per_address: bool
) -> None:
    """Whatever the settings were when it was kept, or are of a crawl that it follows."""

    def made(*, per_address: bool) -> Dispatcher:
        rules = PolitenessRules(delay_s=1.0, per_address=per_address)
        budget = FetchBudget(100.0, burst=10.0)
        return Dispatcher(politeness=rules, budget=budget, random=Random(0))

    record = HostRecord(
        1, "http://1.test", NOW_S, ip_address="10.0.0.1", ip_blocked_until_s=NOW_S + 90.0
    )
    one = made(per_address=per_address)

    one.observe_host(record, OPEN)
    one.follow(made(per_address=not per_address))

    assert (one.ips is not None) == per_address
    assert (one.host(1).ip is not None) == per_address
    assert one.host(1).pass_ready_s(inf) == (NOW_S + 90.0 if per_address else NOW_S)


def test_a_host_that_refuses_is_left_alone_once_for_all_that_it_had_been_asked_for() -> None:
    """Pages wait to be read while others are fetched."""
    made = dispatcher()
    known(made, 1)
    for _ in range(5):
        made.refused(1, NOW_S, "refuses", is_news=False)

    timing = made.host(1).politeness
    assert timing.failures == 1
    assert timing.blocked_until_s == NOW_S + 60.0


def closed(made: Dispatcher, host_id: int, closed_s: float, gap_s: float) -> None:
    """Tell of a host with a page due, whose rules grew old so long ago."""
    known(made, host_id, until_s=NOW_S - closed_s)
    made.set_robots(host_id, OPEN, NOW_S - closed_s, is_news=False)
    made.observe_openings({host_id: gap_s})


def test_a_closed_host_is_opened_after_its_gap_for_all_that_waits() -> None:
    """And then its pages come one after another, without rules in between."""
    made = dispatcher(delay_s=0.0)
    closed(made, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)

    waits = made.pick(NOW_S)
    opened_s = NOW_S + 2.0 * DAY_S
    opens = made.pick(opened_s)
    made.answered(1, opened_s, 200, None)
    made.set_robots(1, OPEN, opened_s + DAY_S)
    refill = made.pick(opened_s)
    stocked(made, 1, lease(1, 1), lease(1, 2))
    first = made.pick(opened_s)
    made.answered(1, opened_s, 200, None)
    later_s = opened_s + 0.9 * DAY_S
    known(made, 1, due_s=later_s)

    assert waits == Wait(opened_s)
    assert opens == AskRobots(1, "http://1.test")
    assert isinstance(refill, Refill)
    assert first == Fetch(lease(1, 1))
    assert made.pick(later_s) == Fetch(lease(1, 2))


def test_who_asks_for_a_page_waits_for_no_gap() -> None:
    made = dispatcher()
    closed(made, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)
    made.observe_asked(1)

    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")


def test_a_host_that_closes_while_its_turn_is_waited_for_waits_as_others_do() -> None:
    """It was ready before, and the budget was not."""
    made = dispatcher(rate=0.01, burst=1.0)
    known(made, 1, until_s=NOW_S + 50.0)
    made.observe_openings({1: 400.0})
    stocked(made, 1, lease(1, 1))
    made.budget.spend(NOW_S)
    waits = made.pick(NOW_S)
    assert isinstance(waits, Wait)
    assert waits.until_s > NOW_S + 50.0, "the budget is not there before its rules grow old"

    assert made.pick(waits.until_s) == Wait(NOW_S + 450.0)


def test_a_single_pass_and_rules_that_could_not_be_had_wait_for_no_gap() -> None:
    once = dispatcher(horizon_s=NOW_S)
    closed(once, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)
    unread = dispatcher()
    closed(unread, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)
    unread.set_robots(1, CLOSED, NOW_S - 1.0)

    assert once.pick(NOW_S) == AskRobots(1, "http://1.test")
    assert unread.pick(NOW_S) == AskRobots(1, "http://1.test")


@pytest.mark.parametrize(("come", "opens"), [(0.9, False), (0.2, True)])
def test_a_request_to_spare_opens_a_host_or_goes_ahead_where_that_is_worth_more(
    come: float, opens: bool
) -> None:
    """Half of its gap is past: an opening is worth about a quarter of the price."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    closed(made, 1, closed_s=DAY_S, gap_s=2.0 * DAY_S)
    known(made, 2, due_s=NOW_S + DAY_S)
    early = replace(
        lease(2, 1, due_s=NOW_S + (1.0 - come) * DAY_S),
        last_visit_s=NOW_S - come * DAY_S,
        tier=9,
        change_rate_per_s=1.0 / DAY_S,
    )
    refill = made.pick(NOW_S)
    made.stock_ahead(2, [early], until_s=ALWAYS_S, from_s=inf)

    assert isinstance(refill, Refill)
    assert made.pick(NOW_S) == (AskRobots(1, "http://1.test") if opens else Fetch(early))


def test_no_request_lies_unused_while_a_host_could_be_opened() -> None:
    """However long its gap: there is nothing else to do."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    closed(made, 1, closed_s=1.0, gap_s=30.0 * DAY_S)

    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")


def test_where_a_visit_must_be_worth_something_no_host_is_opened_for_less() -> None:
    made = dispatcher(delay_s=0.0, least_share=0.5)
    made.observe_plan(0.5)
    closed(made, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)

    assert made.pick(NOW_S) == Wait(NOW_S + 2.0 * DAY_S)
    assert made.pick(NOW_S + 1.9 * DAY_S) == AskRobots(1, "http://1.test")


def ahead(host_id: int, come: float) -> Lease:
    """Return a page that has come so far towards its due time, a day after its last visit."""
    due_s = NOW_S + (1.0 - come) * DAY_S
    return replace(
        lease(host_id, 1, due_s=due_s),
        last_visit_s=due_s - DAY_S,
        tier=9,
        change_rate_per_s=1.0 / DAY_S,
    )


def leased_ahead(made: Dispatcher, host_id: int, *leases: Lease) -> None:
    """Have pages leased ahead of their time."""
    while not (isinstance(task := made.pick(NOW_S), Refill) and task.host_id == host_id):
        assert isinstance(task, Refill)
        made.stock_ahead(task.host_id, [], until_s=ALWAYS_S, from_s=inf)
    made.stock_ahead(host_id, leases, until_s=ALWAYS_S, from_s=inf)


def test_to_open_a_host_of_which_nothing_is_due_yet_is_worth_less() -> None:
    """However long its rules have been old: half of the way there, some fifth of the price."""
    made = dispatcher(delay_s=0.0, least_share=0.0)
    closed(made, 1, closed_s=DAY_S, gap_s=0.0)
    known(made, 1, due_s=NOW_S + DAY_S)
    known(made, 2, due_s=NOW_S + DAY_S)
    early = ahead(2, 0.8)
    leased_ahead(made, 2, early)

    assert made.pick(NOW_S) == Fetch(early)
    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")


@pytest.mark.parametrize("is_leased", [True, False])
def test_a_host_that_closes_before_its_visit_ahead_of_time_waits_to_be_opened(
    is_leased: bool,
) -> None:
    """And is opened where nothing else is to be done."""
    made = dispatcher(rate=0.01, burst=1.0, delay_s=0.0, least_share=0.0)
    known(made, 2, due_s=NOW_S + DAY_S)
    known(made, 3, due_s=NOW_S + DAY_S, until_s=NOW_S + 50.0)
    early = ahead(2, 0.1)
    first = made.pick(NOW_S)
    assert isinstance(first, Refill)
    made.stock_ahead(2, [early], until_s=ALWAYS_S, from_s=inf)
    made.budget.spend(NOW_S)
    if is_leased:
        second = made.pick(NOW_S)
        assert isinstance(second, Refill)
        made.stock_ahead(3, [ahead(3, 0.9)], until_s=ALWAYS_S, from_s=inf)
        assert isinstance(made.pick(NOW_S), Wait)

    goes = made.pick(NOW_S + 100.0)
    made.answered(2, NOW_S + 100.0, 200, None)
    opens = made.pick(NOW_S + 300.0)

    assert (first.host_id, goes) == (2, Fetch(early))
    assert opens == AskRobots(3, "http://3.test")


def test_rules_that_were_just_read_hold_for_a_page_before_a_host_is_closed() -> None:
    """Where the budget came to it only after they had grown old."""
    made = dispatcher()
    known(made, 1, until_s=NOW_S - 1.0)
    made.observe_openings({1: 3.0 * DAY_S})
    made.set_robots(1, OPEN, NOW_S - 1.0)
    stocked(made, 1, lease(1, 1), lease(1, 2))

    assert made.pick(NOW_S) == Fetch(lease(1, 1))
    made.answered(1, NOW_S, 200, None)
    assert made.pick(NOW_S + 9.0) == Wait(NOW_S - 1.0 + 3.0 * DAY_S)


def test_a_gap_that_a_plan_shortens_ends_sooner() -> None:
    made = dispatcher()
    closed(made, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)
    assert made.pick(NOW_S) == Wait(NOW_S + 2.0 * DAY_S)

    made.observe_openings({1: 0.5 * DAY_S})

    assert made.pick(NOW_S) == AskRobots(1, "http://1.test")


def test_hosts_stay_closed_when_the_settings_change() -> None:
    before, after = dispatcher(), dispatcher()
    closed(before, 1, closed_s=DAY_S, gap_s=3.0 * DAY_S)
    closed(after, 1, closed_s=DAY_S, gap_s=0.0)

    after.follow(before)

    assert after.pick(NOW_S) == Wait(NOW_S + 2.0 * DAY_S)


def test_a_host_that_closes_with_pages_leased_ahead_is_opened_where_nothing_else_is_left() -> None:
    made = dispatcher(rate=0.01, burst=1.0, delay_s=0.0, least_share=0.0)
    known(made, 1, due_s=NOW_S + DAY_S, until_s=NOW_S + 50.0)
    leased_ahead(made, 1, ahead(1, 0.9))
    made.budget.spend(NOW_S)
    waits = made.pick(NOW_S)

    assert isinstance(waits, Wait)
    assert made.pick(NOW_S + 100.0) == AskRobots(1, "http://1.test")
