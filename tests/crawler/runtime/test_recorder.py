"""What was found out reaches the disk in an order that no failure can spoil."""

import asyncio
from dataclasses import replace
from math import inf

import pytest

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.frontier.worths import SqliteWorths
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.outcomes import Finding, update_of
from recrawl.errors import StateError
from recrawl.terms import Discovery, FetchResponse, Lease, Outcome, PageState, PageUpdate
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"


def read_home(virtual: VirtualCrawl) -> None:
    """Tell the recorder that the home page was read, and led to another."""
    crawl, frontier = virtual.crawl, virtual.frontier
    host_id = frontier.hosts()[0].host_id
    (lease,) = frontier.lease(
        host_id, limit=1, due_by_s=EPOCH_S, now_s=EPOCH_S, until_s=EPOCH_S + 60.0,
        discovery_share=1.0,
    )  # fmt: skip
    finding = Finding(Outcome.NEW, FetchResponse(f"{A}/", 200), signature=b"s", raw_hash=b"r")
    crawl.recorder.add(found=crawl.rules.admission.of([f"{A}/led-to"], depth=1))
    crawl.recorder.add([update_of(lease, finding, EPOCH_S, crawl.due_times)], committed=True)


@pytest.mark.parametrize("name", ["admit", "complete"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_no_page_is_on_record_as_read_before_what_it_led_to(
    monkeypatch: pytest.MonkeyPatch, name: str, when: str
) -> None:
    """Killed before or after either is written, a crawl finds the other page all the same."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl()
        await virtual.crawl.prepare()
        read_home(virtual)
        real = getattr(virtual.frontier, name)

        def failing(*args: object) -> object:
            if when == "after":
                real(*args)
            raise StateError("the disk is full")

        monkeypatch.setattr(virtual.frontier, name, failing)
        with pytest.raises(StateError):
            await virtual.crawl.recorder.flush()
        return virtual

    frontier = run_virtually(main()).frontier

    home = frontier.details(f"{A}/")
    assert home is not None
    assert home.visits == 0 or frontier.details(f"{A}/led-to") is not None


def test_what_a_failed_flush_held_is_written_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A crawl that stops in order, because its disk fails, may still write what it can."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl()
        await virtual.crawl.prepare()
        recorder = virtual.crawl.recorder
        read_home(virtual)

        def full(*_: object) -> None:
            raise StateError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(virtual.frontier, "admit", full)
            with pytest.raises(StateError):
                await recorder.flush()
        assert not recorder.is_empty
        await recorder.flush()
        return virtual

    virtual = run_virtually(main())

    assert virtual.crawl.recorder.is_empty
    assert virtual.frontier.details(f"{A}/led-to") is not None


def test_what_is_old_is_dropped_with_every_flush_until_there_is_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Visits once a day, by two hundred pages; entries of the feed each ten minutes."""
    forgot, compacted = list[tuple[float, float, int, int]](), list[tuple[float, float]]()
    pages, entries = iter([7, None, None, None]), iter([3, 0, 0, 0, 0])

    async def main() -> None:
        virtual = virtual_crawl()
        frontier, recorder = virtual.frontier, virtual.crawl.recorder
        clock = virtual.crawl.world.clock
        recorder._rules = replace(recorder._rules, keep_visits_s=1_000.0, feed_keep_s=100.0)

        def forget(before_s: float, *, after: int, limit: int) -> int | None:
            forgot.append((clock.now_s() - EPOCH_S, clock.now_s() - before_s, after, limit))
            return next(pages)

        def compact(before_s: float) -> int:
            compacted.append((clock.now_s() - EPOCH_S, clock.now_s() - before_s))
            return next(entries)

        monkeypatch.setattr(frontier, "forget_visits", forget)
        monkeypatch.setattr(frontier.feed, "compact", compact)
        for wait_s in (0.0, 1.0, 599.0, 1.0, 85_799.0, 1.0):
            await asyncio.sleep(wait_s)
            recorder.refuse([f"{A}/beyond"])
            await recorder.flush()

    run_virtually(main())

    assert forgot == [(0.0, 1_000.0, 0, 200), (1.0, 1_000.0, 7, 200), (86_401.0, 1_000.0, 0, 200)]
    assert compacted == [(n, 100.0) for n in (0.0, 1.0, 601.0, 86_400.0)]


def found(*paths: object, lastmod_s: float | None = None) -> list[Discovery]:
    """Return discoveries of pages of one host."""
    return [Discovery(f"{A}/{path}", A, lastmod_s=lastmod_s) for path in paths]


def test_what_is_known_is_not_taken_in_again_unless_it_has_another_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is too much for now is counted, and is as if it had not been found."""
    admitted: list[str] = []

    async def main() -> tuple[list[int], list[bool], VirtualCrawl]:
        limits = AdmissionLimits(max_new_per_minute=0.6)  # five minutes' worth at once
        virtual = virtual_crawl(Setup(rules={"limits": limits}))
        recorder = virtual.crawl.recorder

        def admit(some: list[Discovery], *_: object) -> list[int]:
            admitted.extend(one.url.rpartition("/")[2] for one in some)
            return []

        monkeypatch.setattr(virtual.frontier, "admit", admit)
        told = [
            found(1, 2), found(1, 2), found(3, 4, 5), found(1, lastmod_s=5.0),
            found(1, lastmod_s=5.0), found(1, lastmod_s=6.0),
        ]  # fmt: skip
        put_off = [recorder.add(found=some) for some in told]
        await recorder.flush()
        return put_off, [recorder.knows(f"{A}/{n}") for n in (1, 3, 4)], virtual

    put_off, known, virtual = run_virtually(main())

    assert put_off == [0, 0, 2, 0, 0, 0]
    assert known == [True, True, False]
    assert admitted == ["1", "2", "3", "1", "1"]
    assert virtual.frontier.refused() == [(A, "too-fast", 2)]


@pytest.mark.parametrize(("count", "is_at_once"), [(1_599, False), (1_600, True)])
def test_a_full_batch_is_written_at_once_and_others_soon(
    monkeypatch: pytest.MonkeyPatch, count: int, is_at_once: bool
) -> None:
    """Within the time that is set, from when the first was found; nothing is written without."""
    at_s: list[float] = []

    async def main() -> float:
        virtual = virtual_crawl(Setup(rules={"limits": AdmissionLimits(max_new_per_minute=1e9)}))
        recorder, clock = virtual.crawl.recorder, virtual.crawl.world.clock

        def admit(*_: object) -> list[int]:
            at_s.append(clock.now_s() - EPOCH_S)
            return []

        monkeypatch.setattr(virtual.frontier, "admit", admit)
        running = asyncio.create_task(recorder.run())
        await asyncio.sleep(100.0)
        recorder.add(found=found(*range(count)))
        await asyncio.sleep(100.0)
        recorder.stop()
        await running
        return virtual.crawl.rules.flush_s

    flush_s = run_virtually(main())

    assert at_s == [100.0 + (0.0 if is_at_once else flush_s)]


def test_a_find_is_written_at_once_where_robots_have_nothing_else_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether they wait before it is found or after; not while one of them is under way."""
    at_s: list[float] = []

    async def main() -> float:
        virtual = virtual_crawl(Setup())
        crawl, clock = virtual.crawl, virtual.crawl.world.clock
        await crawl.prepare()
        crawl.dispatcher.host(1).next_due_s = EPOCH_S + 1e6
        crawl.dispatcher.cancelled(1, EPOCH_S - 99.0)

        def admit(*_: object) -> list[int]:
            at_s.append(clock.now_s() - EPOCH_S)
            return []

        monkeypatch.setattr(virtual.frontier, "admit", admit)
        running = asyncio.create_task(crawl.recorder.run())
        waiting = asyncio.create_task(crawl.tasks.next())
        for number, at in enumerate((10.0, 20.0, 30.0)):
            await asyncio.sleep(at - (clock.now_s() - EPOCH_S))
            crawl.tasks.in_flight = int(number == 1)
            crawl.tasks.wake()
            if number == 2:
                crawl.recorder.add(found=found(number))
            await asyncio.sleep(0.01)
            if number < 2:
                crawl.recorder.add(found=found(number))
        await asyncio.sleep(10.0)
        waiting.cancel()
        crawl.recorder.stop()
        await running
        return crawl.rules.flush_s

    flush_s = run_virtually(main())

    assert at_s == pytest.approx([10.01, 20.01 + flush_s, 30.0])


def went(virtual: VirtualCrawl) -> PageUpdate:
    """Return the visit that found the home page gone, which was there a hundred seconds before."""
    crawl, frontier = virtual.crawl, virtual.frontier
    host_id = frontier.hosts()[0].host_id
    page = Lease(
        1, f"{A}/", host_id, 1, EPOCH_S, state=PageState.INDEXED, last_visit_s=EPOCH_S - 100.0
    )
    return update_of(page, Finding(Outcome.GONE), EPOCH_S, crawl.due_times)


def test_what_lies_beside_pages_that_went_has_four_fifths_of_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is there is kept fresh as well: the next are due when these had their time."""
    looks: list[tuple[dict[int, float], float]] = []

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=2.0))
        await virtual.crawl.prepare()
        recorder, dispatcher = virtual.crawl.recorder, virtual.crawl.dispatcher

        def look_beside(gone: dict[int, float], due_s: float, *, are_back: bool) -> int:
            assert not are_back
            looks.append((gone, due_s - EPOCH_S))
            return 4

        monkeypatch.setattr(virtual.frontier, "look_beside", look_beside)
        for _ in range(3):
            dispatcher.host(1).next_due_s = inf
            recorder.add([went(virtual)], committed=True)
            await recorder.flush()
        return virtual

    virtual = run_virtually(main())

    since_s = EPOCH_S - 0.25 * 100.0
    assert [gone for gone, _ in looks] == [{1: since_s}] * 3
    assert [due_s for _, due_s in looks] == pytest.approx([n * 4 / (0.8 * 2.0) for n in range(3)])
    assert virtual.crawl.dispatcher.host(1).next_due_s <= EPOCH_S


def test_who_found_what_first_has_only_the_lead() -> None:
    """It is on disk with the next flush."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl()
        await virtual.crawl.prepare()
        recorder = virtual.crawl.recorder
        recorder.add(found=[replace(one, found_on=1) for one in found("x", "y")])
        await asyncio.sleep(5.0)
        recorder.found_again(2, [f"{A}/x", f"{A}/unheard-of"])
        await recorder.flush()
        return virtual

    taken: list[object] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SqliteWorths, "found_again", lambda _, leads: taken.append(leads))
        run_virtually(main())

    assert taken == [{1: (1, 5.0)}]


@pytest.mark.parametrize("interval_s", [None, 5_000.0])
def test_a_page_may_be_visited_ahead_of_its_time_after_the_shortest_interval(
    monkeypatch: pytest.MonkeyPatch, interval_s: float | None
) -> None:
    """Never, where its due time is fixed."""
    told: list[tuple[object, ...]] = []

    async def main() -> float:
        virtual = virtual_crawl()
        await virtual.crawl.prepare()
        monkeypatch.setattr(virtual.crawl.dispatcher, "observe_due", lambda *one: told.append(one))
        update = replace(went(virtual), due_s=EPOCH_S + 9_000.0, interval_s=interval_s)
        monkeypatch.setattr(virtual.frontier, "complete", lambda *_: None)
        virtual.crawl.recorder.add([update], committed=True)
        await virtual.crawl.recorder.flush()
        return virtual.crawl.rules.revisit.min_interval_s

    least_s = run_virtually(main())

    ahead_s = inf if interval_s is None else EPOCH_S + least_s
    assert told[0] == (1, EPOCH_S + 9_000.0, ahead_s)


def test_a_domain_has_as_many_hosts_after_a_start_as_before_it() -> None:
    """Names below a domain cost their owner nothing, so those of an earlier run count too."""

    async def main() -> VirtualCrawl:
        limits, frontier = AdmissionLimits(max_hosts_per_domain=2), MemoryFrontier()
        before = [f"http://h{number}.trap.test" for number in range(2)]
        frontier.admit([Discovery(f"{host}/", host) for host in before], EPOCH_S, limits)
        virtual = virtual_crawl(Setup(rules={"limits": limits}), frontier=frontier)
        await virtual.crawl.prepare()
        virtual.crawl.recorder.add(
            found=[Discovery(f"{host}/", host) for host in ("http://h2.trap.test", "http://b.test")]
        )
        await virtual.crawl.recorder.flush()
        return virtual

    frontier = run_virtually(main()).frontier

    assert frontier.refused() == [("trap.test", "domain-full", 1)]
    assert frontier.details("http://b.test/") is not None
