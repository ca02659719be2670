"""What a crawl is put together from its plan, how it begins, and how it comes to its end."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import pytest
from typing_extensions import override

from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.fleet.activation import FixedRobots
from recrawl.crawler.facts import FactRecord
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER, Mended
from recrawl.crawler.runtime.crawl import Crawl, CrawlPlan
from recrawl.crawler.runtime.stopping import cancelled
from recrawl.errors import ReadingCut
from recrawl.terms import (
    Discovery,
    Extract,
    FetchResponse,
    HostRecord,
    Lease,
    PageState,
    PageUpdate,
    VisitedPage,
)
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, B = "http://a.test", "http://b.test"
DAY_S = 86_400.0


def made(setup: Setup | None = None, **options: Any) -> VirtualCrawl:
    """Return a crawl that does not run."""

    async def main() -> VirtualCrawl:
        return virtual_crawl(setup, **options)

    return run_virtually(main())


@pytest.mark.parametrize(
    ("budget_per_s", "burst_s", "burst"),
    [(0.01, 10.0, 1.0), (5.0, 10.0, 50.0), (5.0, 30.0, 150.0), (2_000.0, 10.0, 1_000.0)],
)
def test_so_many_seconds_of_the_budget_may_be_spent_at_once(
    budget_per_s: float, burst_s: float, burst: float
) -> None:
    """At least a request, or none could be made, and at most a thousand."""
    plan = CrawlPlan(budget_per_s, PolitenessRules(), burst_s=burst_s)

    assert made(plan=plan).crawl.dispatcher.budget.burst == burst


@pytest.mark.parametrize(
    ("rules", "share"),
    [
        ({}, None),
        ({"discovery_share": 0.2}, 0.2),
        ({"first_free": True}, 0.95),
        ({"first_free": True, "discovery_share": 0.2}, 0.2),
    ],
)
def test_first_visits_that_cost_nothing_are_nearly_all_unless_it_is_said(
    rules: dict[str, object], share: float | None
) -> None:
    assert made(Setup(rules=rules)).crawl.dispatcher.discovery_share == share


def test_a_crawl_goes_on_for_good_unless_a_single_pass_is_asked_for() -> None:
    """As one that a program puts together and says nothing of it."""

    async def main() -> float:
        one = virtual_crawl().crawl
        plan = CrawlPlan(1.0, PolitenessRules())
        on_plan = one.world.on_state
        return Crawl(one.world, one.rules, plan, seeds=(), on_plan=on_plan).dispatcher.horizon_s

    assert run_virtually(main()) == inf
    assert made(once=True).crawl.dispatcher.horizon_s == EPOCH_S


@pytest.mark.parametrize("prior_days", [2.0, 14.0])
def test_before_a_plan_a_visit_keeps_a_page_fresh_until_it_usually_changes(
    prior_days: float,
) -> None:
    setup = Setup(rules={"prior_rate_per_s": 1.0 / (prior_days * DAY_S)})

    assert made(setup).crawl.price.fresh_s == pytest.approx(prior_days * DAY_S)


@pytest.mark.parametrize(
    ("weight", "least_worth", "told_weight", "told_worth"),
    [(None, float("inf"), 0.0, 0.0), (1.4, 0.3, 1.4, 0.3), (0.5, 0.0, 0.5, 0.0)],
)
def test_what_a_crawl_goes_by_is_in_its_state(
    weight: float | None, least_worth: float, told_weight: float, told_worth: float
) -> None:
    """What does not count, as without a control or a least worth, is told as nothing."""
    plan = CrawlPlan(3.0, PolitenessRules(delay_s=2.0), starvation_weight=weight)
    rules: dict[str, object] = {"n_robots": 4, "buffer_capacity": 9, "n_servers": 2}
    facts = made(Setup(least_worth=least_worth, rules=rules), plan=plan).crawl.facts()

    assert (facts.starvation_weight, facts.least_worth) == (told_weight, told_worth)
    assert (facts.budget_per_s, facts.delay_s) == (3.0, 2.0)
    assert (facts.robots, facts.buffer_capacity, facts.servers) == (4, 9, 2)


@pytest.mark.parametrize(
    ("callback", "has_place", "once", "is_there"),
    [
        ("https://here.test/", True, False, True),
        ("", True, False, False),
        ("https://here.test/", False, False, False),
        ("https://here.test/", True, True, False),
    ],
)
def test_hubs_are_asked_where_they_can_call_back(
    callback: str, has_place: bool, once: bool, is_there: bool
) -> None:
    """There is an address for it, a place to keep what was asked, and a crawl that goes on."""
    kept: Any = object() if has_place else None
    crawl = made(Setup(rules={"callback": callback}), subscriptions=kept, once=once).crawl

    assert (crawl.subscriber is not None) == is_there


@pytest.mark.parametrize(
    ("least_worth", "share"), [(0.0, 0.3414), (0.3, 0.3414), (float("inf"), 0.0)]
)
def test_before_a_plan_every_page_may_be_visited_ahead_of_its_time(
    least_worth: float, share: float
) -> None:
    """Unless none may be; half of its interval is over, so by (1 - 1.5 / e**0.5) / (1 - 2 / e)."""
    crawl = made(Setup(least_worth=least_worth)).crawl
    page = Lease(1, f"{A}/", 1, 1, EPOCH_S + 1.0, last_visit_s=EPOCH_S - 1.0)

    assert crawl.dispatcher.worth_ahead(page, EPOCH_S) == pytest.approx(share, rel=1e-3)


class Visited(MemoryFrontier):
    """A state in which pages of one kind were visited that have brought nothing."""

    @override
    def visited(self, latest: int) -> Iterable[VisitedPage]:
        left_out = PageState.EXCLUDED
        return [
            VisitedPage(f"{A}/x?do=edit&id={n}", left_out, None, 200, 0, None) for n in range(40)
        ]


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_start_goes_by_the_robots_txt_that_it_read_before(*, is_kept: bool) -> None:
    """As long as that holds; then it is read again before a page is asked for."""
    frontier = MemoryFrontier()
    until_s = EPOCH_S + 1e6 if is_kept else EPOCH_S - 1.0

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(seeds=(f"{A}/", f"{A}/private")), frontier=frontier)
        frontier.admit([Discovery(f"{A}/", A)], EPOCH_S, AdmissionLimits())
        rules = b"User-agent: *\nDisallow: /private"
        frontier.save_host(HostRecord(1, A, EPOCH_S, 200, rules, until_s))
        virtual.web.page(f"{A}/", "home")
        await virtual.run_for(30.0)
        return virtual

    web = run_virtually(main()).web

    assert len(web.asked(f"{A}/")) == 1
    assert len(web.asked(f"{A}/private")) == (not is_kept)
    assert len(web.asked(f"{A}/robots.txt")) == (not is_kept)


def test_no_block_outlasts_what_the_rules_allow() -> None:
    """Of a host or its server, whatever the clock said when it was made."""
    frontier = MemoryFrontier()
    later_s = EPOCH_S + 1e9

    async def main() -> VirtualCrawl:
        politeness = PolitenessRules(delay_s=1.0, per_address=True)
        virtual = virtual_crawl(Setup(politeness=politeness), frontier=frontier)
        frontier.admit([Discovery(f"{A}/", A)], EPOCH_S, AdmissionLimits())
        kept = HostRecord(1, A, EPOCH_S, None, None, 0.0, 3, later_s, "busy")
        frontier.save_host(replace(kept, ip_address="10.0.0.1", ip_blocked_until_s=later_s))
        await virtual.crawl.prepare()
        return virtual

    dispatcher = run_virtually(main()).crawl.dispatcher

    queue, longest_s = dispatcher.host(1), EPOCH_S + dispatcher.longest_block_s
    assert queue.ip is not None
    assert queue.politeness.blocked_until_s == longest_s
    assert queue.ip.politeness.blocked_until_s == longest_s


def test_what_was_found_while_the_clock_was_ahead_waits_for_nothing() -> None:
    """By a machine whose clock is right from this start on."""
    frontier = MemoryFrontier()

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(seeds=(f"{A}/",)), frontier=frontier)
        frontier.admit([Discovery(f"{A}/found", A)], EPOCH_S + DAY_S, AdmissionLimits())
        virtual.web.page(f"{A}/found", "home")
        await virtual.run_for(30.0)
        return virtual

    assert len(run_virtually(main()).web.asked(f"{A}/found")) == 1


@pytest.mark.parametrize(("every_s", "n_looks"), [(float("inf"), 0), (4.0, 3)])
def test_it_is_looked_for_what_people_ask_for_where_that_is_set(
    monkeypatch: pytest.MonkeyPatch, every_s: float, n_looks: int
) -> None:
    looks: list[object] = []

    def take_asked(*asked: object) -> Sequence[int]:
        looks.append(asked)
        return []

    async def main() -> None:
        virtual = virtual_crawl(Setup(rules={"asked_every_s": every_s}))
        monkeypatch.setattr(virtual.frontier, "take_asked", take_asked)
        await virtual.run_for(10.0)

    run_virtually(main())

    assert len(looks) == n_looks


def test_a_start_knows_what_kinds_of_address_have_brought_before() -> None:
    """One more of a kind that brought nothing is put off; another kind is tried at once."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(frontier=Visited())
        await virtual.crawl.prepare()
        return virtual

    yields = run_virtually(main()).crawl.recorder.yields
    edit, page = (Lease(1, f"{A}{path}", 1, 1, 0.0) for path in ("/x?do=edit&id=99", "/x?id=99"))
    assert yields.due_s(edit, EPOCH_S) > EPOCH_S
    assert yields.due_s(page, EPOCH_S) == EPOCH_S


@pytest.mark.parametrize(("budget_per_s", "per_s"), [(2.0, 1.0), (0.1, 0.05)])
def test_pages_that_are_read_otherwise_now_are_visited_at_half_of_the_budget(
    budget_per_s: float, per_s: float
) -> None:
    """And it is said how many they are, and how long that takes."""
    rates: list[float] = []

    class ReadOtherwise(MemoryFrontier):
        @override
        def read_again(self, mark_of: Callable[[str], int], now_s: float, per_s: float) -> int:
            rates.append(per_s)
            return 30

    async def main() -> Mended:
        setup = Setup(budget_per_s=budget_per_s)
        return await virtual_crawl(setup, frontier=ReadOtherwise()).crawl.prepare()

    mended = run_virtually(main())
    assert rates == pytest.approx([per_s])
    assert mended.read_again == 30
    assert mended.read_again_s == pytest.approx(30.0 / per_s)


def ended(access_s: float, service_s: float, **grace: float) -> VirtualCrawl:
    """Crawl a page that links to another, and end while the first is fetched."""

    async def main() -> VirtualCrawl:
        setup = Setup(access_s=access_s, service_s=service_s, rules={"n_robots": 1})
        virtual = virtual_crawl(setup)
        virtual.web.page(f"{A}/robots.txt", "", status=404)
        virtual.web.page(f"{A}/", "home", "/next")
        await virtual.crawl.prepare()
        async with virtual.crawl.running(**grace):
            await virtual.clock.sleep_until(EPOCH_S + access_s + 1.01)  # a second after robots.txt
            assert virtual.web.asked(f"{A}/")
        return virtual

    return run_virtually(main())


@pytest.mark.parametrize(
    ("access_s", "service_s", "grace", "is_indexed"),
    [
        (1.5, 0.0, {}, True),  # four tenths of four seconds are for what is on its way
        (1.7, 0.0, {}, False),
        (0.1, 3.7, {}, True),  # and all of them for what was brought
        (3.5, 0.0, {"grace_s": 10.0}, True),
        (4.5, 0.0, {"grace_s": 10.0}, False),
    ],
)
def test_what_is_under_way_at_the_end_is_brought_home_as_far_as_time_allows(
    access_s: float, service_s: float, grace: dict[str, float], is_indexed: bool
) -> None:
    """And nothing else is asked for; what is not brought home is free for another time."""
    virtual = ended(access_s, service_s, **grace)

    assert {url for url, _ in virtual.index.urls()} == ({f"{A}/"} if is_indexed else set())
    assert [one.url for one in virtual.web.requests] == [f"{A}/robots.txt", f"{A}/"]
    (host,) = virtual.frontier.hosts()
    free = virtual.frontier.lease(
        host.host_id, limit=9, due_by_s=EPOCH_S + 99.0, now_s=EPOCH_S + 99.0, until_s=EPOCH_S + 99.0
    )
    assert (f"{A}/" in {lease.url for lease in free}) != is_indexed


def test_at_the_end_nothing_more_is_asked_for() -> None:
    """What is under way is waited for, and the one robot goes on to no other of ten hosts."""

    async def main() -> tuple[int, int]:
        hosts = [f"http://{letter}.test" for letter in "abcdefghij"]
        setup = Setup(seeds=[f"{one}/" for one in hosts], access_s=0.307, rules={"n_robots": 1})
        virtual = virtual_crawl(setup)
        for one in hosts:
            virtual.web.page(f"{one}/robots.txt", "", status=404)
            virtual.web.page(f"{one}/", "home")
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 2.0)
            asked = len(virtual.web.requests)
        return asked, len(virtual.web.requests)

    before, after = run_virtually(main())
    assert before == after == 7  # one request in 0.307 s


def test_at_the_end_what_waits_is_indexed_until_seven_tenths_of_the_time_have_passed() -> None:
    """Pages of 1.7 s each: one begins at once, one after 1.7 s, and none after 2.8 s."""

    async def main() -> VirtualCrawl:
        hosts = [f"http://{letter}.test" for letter in "abc"]
        setup = Setup(seeds=[f"{one}/" for one in hosts], service_s=1.7)
        virtual = virtual_crawl(setup)
        for one in hosts:
            virtual.web.page(f"{one}/robots.txt", "", status=404)
            virtual.web.page(f"{one}/", f"home of {one}")
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 1.25)
            assert virtual.crawl.buffer.length == 3
        return virtual

    assert run_virtually(main()).index.n_documents() == 2


def test_visits_are_recorded_before_a_crawl_has_ended() -> None:
    """However long visits may wait to be written while it runs."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(rules={"flush_s": 50.0}))
        virtual.web.page(f"{A}/", "home")
        await virtual.run_for(20.0)
        return virtual

    details = run_virtually(main()).frontier.details(f"{A}/")
    assert details is not None
    assert details.visits == 1


@pytest.mark.parametrize(("wait_s", "n_asked"), [(100, 2), (140, 1)])
def test_a_single_pass_waits_two_minutes_for_a_host(wait_s: int, n_asked: int) -> None:
    """What is not ready by then is left for another time."""
    pages, asked = [f"{A}/", f"{A}/other"], []

    def answer(request: Request) -> FetchResponse:
        asked.append(request.url)
        if len(asked) == 1:
            return FetchResponse(request.url, 503, retry_after=str(wait_s))
        return FetchResponse(request.url, 200, b"<main>home</main>", "text/html")

    async def main() -> None:
        virtual = virtual_crawl(Setup(seeds=pages), once=True)
        virtual.web.page(f"{A}/robots.txt", "", status=404)
        for url in pages:
            virtual.web.reply(url, answer)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.crawl.until_done()

    run_virtually(main())
    assert len(asked) == n_asked


def test_in_a_running_crawl_an_obsolete_copy_makes_room_and_is_given_back() -> None:
    """One of three waits too long behind a page that takes a minute, and a fourth comes."""

    async def main() -> VirtualCrawl:
        hosts = {"a": 0.1, "b": 0.1, "c": 20.0}
        plan = CrawlPlan(1_000.0, PolitenessRules(delay_s=0.0), policy=FixedRobots(3))
        rules: dict[str, object] = {
            "buffer_capacity": 2,
            "n_robots": 3,
            "buffer_deadline_s": 5.0,
        }
        fetched = iter([0.0, 0.0, 0.0, *hosts.values()])
        setup = Setup(
            seeds=tuple(f"http://{host}.test/" for host in hosts),
            service_s=60.0,
            access_s=lambda: next(fetched, 1e6),
            rules=rules,
        )
        virtual = virtual_crawl(setup, plan=plan)
        for host in hosts:
            virtual.web.page(f"http://{host}.test/robots.txt", "", status=404)
            virtual.web.page(f"http://{host}.test/", f"home of {host}")
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 30.0)
            assert virtual.crawl.buffer.lost == 0
            assert virtual.crawl.indexer.obsolete == 1
        return virtual

    run_virtually(main())


def test_what_the_indexer_keeps_up_with_is_measured() -> None:
    """Once fifty pages have been indexed: each in a quarter of a second, and each one was new."""
    seeds = tuple(f"http://{n}.test/" for n in range(60))

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(seeds=seeds, prepare_s=0.25))
        for url in seeds:
            virtual.web.page(url, f"home of {url}")
        await virtual.run_for(59.0)
        return virtual

    capacity = run_virtually(main()).crawl.capacity

    assert capacity.by_indexer_per_s == pytest.approx(
        3 * 4.0, rel=0.05
    )  # one for rules, one for a sitemap


def slowly(reading_s: float) -> tuple[VirtualCrawl, list[str]]:
    """Crawl for ten seconds and end; the pages of one of two hosts take long to read."""
    read: list[str] = []

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(seeds=(f"{A}/", f"{B}/"), rules={"patience_s": 1.0}))
        reader = virtual.crawl.world.extractor
        at_once, ended = reader.at_once, asyncio.Event()

        async def page(response: FetchResponse) -> Extract:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(reading_s):
                    await ended.wait()
                raise ReadingCut("the crawl ends")
            extract = at_once(response)
            assert extract is not None
            read.append(response.url)
            return extract

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(
                reader, "at_once", lambda one: None if one.url == f"{A}/" else at_once(one)
            )
            patched.setattr(reader, "page", page)
            patched.setattr(reader, "close", ended.set)
            for url in (f"{A}/", f"{B}/"):
                virtual.web.page(url, f"home of {url}")
            await virtual.run_for(10.0)
        return virtual

    return run_virtually(main()), read


@pytest.mark.parametrize(("reading_s", "is_read"), [(5.0, True), (12.0, True), (20.0, False)])
def test_a_page_that_takes_long_to_read_is_finished_beside_the_rest_while_there_is_time(
    reading_s: float, *, is_read: bool
) -> None:
    """At the end four seconds more; what is not read by then is free for another time."""
    virtual, read = slowly(reading_s)

    assert read == [f"{A}/"] * is_read
    assert {url for url, _ in virtual.index.urls()} == {f"{B}/", *read}
    assert [lease.url for lease in virtual.crawl.indexer.abandoned] == [f"{A}/"] * (not is_read)


def test_a_single_pass_ends_as_soon_as_there_is_nothing_left() -> None:
    """What was read is written then, and not after the time that others might join it."""

    async def main() -> tuple[VirtualCrawl, float]:
        virtual = virtual_crawl(Setup(rules={"commit_s": 1_000.0}), once=True)
        virtual.web.page(f"{A}/", "home")
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.crawl.until_done()
            assert virtual.crawl.is_done()
            virtual.crawl.asked.is_looking = True
            assert not virtual.crawl.is_done(), "something that was asked for may be on its way"
            return virtual, virtual.clock.now_s() - EPOCH_S

    virtual, took_s = run_virtually(main())

    assert took_s < 10.0
    assert virtual.index.n_documents() == 1


def test_an_end_is_in_order_once_every_visit_is_recorded() -> None:
    """Those that waited to be written with others, too."""
    calls = list[str]()

    class Noting(MemoryFrontier):
        @override
        def complete(self, updates: Sequence[PageUpdate], now_s: float | None = None) -> None:
            calls.append("visits")
            super().complete(updates, now_s)

        @override
        def save_facts(self, *records: FactRecord) -> None:
            calls.extend("ended" for one in records if one == ENDED_IN_ORDER)
            super().save_facts(*records)

    async def main() -> None:
        virtual = virtual_crawl(Setup(rules={"flush_s": 60.0}), frontier=Noting())
        virtual.web.page(f"{A}/", "home")
        await virtual.run_for(10.0)

    run_virtually(main())

    assert calls[-2:] == ["visits", "ended"]


def test_who_is_cut_off_is_waited_for() -> None:
    """Until what it does last is done."""
    done = list[str]()

    async def work() -> None:
        try:
            await asyncio.sleep(100.0)
        finally:
            await asyncio.sleep(2.0)
            done.append("last")

    async def main() -> None:
        task = asyncio.create_task(work())
        await asyncio.sleep(1.0)
        await cancelled(task)
        assert done == ["last"]

    run_virtually(main())
