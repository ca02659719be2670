"""Reading that takes long: noted, finished beside the rest, bounded."""

import asyncio
from collections.abc import Awaitable

import pytest

from recrawl.crawler.runtime.reading import (
    MAX_ASIDE,
    MAX_ASIDE_BYTES,
    MAX_OF_HOST,
    SlowReading,
)
from recrawl.errors import PoisonPage, ReadingPutOff
from recrawl.terms import Discovery, Lease
from recrawl.testing import run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S, VirtualCrawl

HOSTS = ("http://a.test", "http://b.test")


class Read:
    """Reads pages, each for so many seconds, and remembers what became of them."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.cut: list[str] = []

    async def page(self, name: str, seconds: float) -> str:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cut.append(name)
            raise
        return name

    async def then(self, read: Awaitable[str]) -> None:
        try:
            self.told.append(await read)
        except PoisonPage as error:
            self.told.append(str(error))
        except ReadingPutOff:
            self.told.append("put off")


def leased(crawl: VirtualCrawl, host: str, n: int) -> list[Lease]:
    found = [Discovery(f"{host}/{number}", host) for number in range(n)]
    (host_id,) = crawl.frontier.admit(found, EPOCH_S, crawl.crawl.rules.limits)
    return crawl.frontier.lease(
        host_id, limit=n, due_by_s=EPOCH_S, now_s=EPOCH_S, until_s=EPOCH_S + 1e6
    )


async def reading_of(crawl: VirtualCrawl, group: asyncio.TaskGroup) -> SlowReading:
    reading = SlowReading(crawl.crawl.world, crawl.crawl.rules.revisit, patience_s=1.0)
    reading.begin(group)
    return reading


def test_what_takes_long_is_finished_beside_the_rest_and_put_off_on_disk() -> None:
    """Whoever asked goes on; a kill would not bring the page back at once."""

    async def main() -> None:
        crawl, read = virtual_crawl(), Read()
        slow, quick = leased(crawl, HOSTS[0], 2)
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            await reading.read(slow, read.page("slow", 10.0), read.then, n_bytes=1)
            await reading.read(quick, read.page("quick", 0.001), read.then, n_bytes=1)
            assert (read.told, reading.is_idle) == (["quick"], False)
            await asyncio.sleep(5.0)
            crawl.frontier.release([slow, quick])
            again = crawl.frontier.host(slow.host_id, now_s=EPOCH_S + 1e6)
            put_off = crawl.frontier.lease(
                slow.host_id, limit=9, due_by_s=EPOCH_S + 60, now_s=EPOCH_S, until_s=EPOCH_S + 1
            )
            assert again.next_due_s == EPOCH_S
            assert [lease.url for lease in put_off] == [quick.url]
            await reading.ended()
        assert read.told == ["quick", "slow"]

    run_virtually(main())


async def poison() -> str:
    await asyncio.sleep(2.0)
    raise PoisonPage("poison")


def test_what_finds_no_room_waits_for_it_until_there_is_poison_about() -> None:
    """Honest pages hold up who brings them; beside hostile ones, they come again, unread."""

    async def main() -> None:
        crawl, read = virtual_crawl(), Read()
        pages = leased(crawl, HOSTS[0], 5)
        refused = "put off"
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            await reading.read(pages[0], read.page("0", 5.0), read.then, n_bytes=MAX_ASIDE_BYTES)
            await reading.read(pages[1], read.page("1", 9.0), read.then, n_bytes=1, may_wait=False)
            assert read.told == [refused]
            await reading.read(pages[2], read.page("2", 60.0), read.then, n_bytes=1)
            assert read.told == [refused, "0"]
            await reading.read(pages[3], poison(), read.then, n_bytes=1)
            filling = read.page("4", 60.0)
            await reading.read(pages[4], filling, read.then, n_bytes=MAX_ASIDE_BYTES)
            assert read.told == [refused, "0", "poison", refused]
        assert read.told[4:] == ["2"]
        assert read.cut == ["1", "4"]

    run_virtually(main())


def test_what_whoever_asked_waits_for_no_longer_is_read_no_further() -> None:
    async def main() -> None:
        crawl, read = virtual_crawl(), Read()
        (page,) = leased(crawl, HOSTS[0], 1)
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            asked = asyncio.ensure_future(
                reading.read(page, read.page("0", 9.0), read.then, n_bytes=1)
            )
            await asyncio.sleep(0.5)
            asked.cancel()
            await asyncio.wait((asked,))
            await asyncio.sleep(0.5)
            assert (read.told, read.cut) == ([], ["0"])

    run_virtually(main())


def test_a_host_whose_pages_take_long_holds_up_no_other() -> None:
    """It has its share of the room; beyond that its pages are deferred, unless none other waits."""

    async def main() -> None:
        crawl, read = virtual_crawl(), Read()
        slow = leased(crawl, HOSTS[0], MAX_OF_HOST + 2)
        (other,) = leased(crawl, HOSTS[1], 1)
        deferred: list[str] = []

        def defer() -> bool:
            deferred.append("deferred")
            return True

        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            began_s = loop.time()
            for number, lease in enumerate(slow[:-1]):
                page = read.page(str(number), 60.0 + number)
                await reading.read(lease, page, read.then, n_bytes=1, defer=defer)
            await reading.read(other, read.page("other", 0.01), read.then, n_bytes=1, defer=defer)
            assert (deferred, read.told) == (["deferred"], ["other"])
            assert loop.time() - began_s < 2.0
            page = read.page("last", 1.0)
            await reading.read(slow[-1], page, read.then, n_bytes=1, defer=lambda: False)
            assert loop.time() - began_s < 2.0 + 1.5
            assert read.told == ["other", "last"]
            await reading.ended()
        assert len(read.told) == 2 + MAX_OF_HOST
        assert read.cut == [str(MAX_OF_HOST)]

    run_virtually(main())


def test_what_waits_for_pages_of_its_own_host_is_not_refused_for_poison() -> None:
    """One page of a manual was poison: the others wait, as long as no other host does."""

    async def main() -> None:
        crawl, read = virtual_crawl(), Read()
        pages = leased(crawl, HOSTS[0], MAX_OF_HOST + 2)
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            await reading.read(pages[0], poison(), read.then, n_bytes=1)
            await reading.ended()
            for number, lease in enumerate(pages[1:]):
                await reading.read(lease, read.page(str(number), 9.0), read.then, n_bytes=1)
        assert read.told == ["poison", *map(str, range(MAX_OF_HOST + 1))]

    run_virtually(main())


@pytest.mark.parametrize(
    ("n_hosts", "n_bytes", "held"),
    [
        (1, 1, MAX_OF_HOST),
        (99, 1, MAX_ASIDE),
        (1, MAX_ASIDE_BYTES // 8, 2),  # a quarter of the room
        (1, MAX_ASIDE_BYTES // 4 - 1, 2),
        (99, MAX_ASIDE_BYTES // 8, 8),
        (99, 2 * MAX_ASIDE_BYTES, 1),  # one at least, however large
    ],
)
def test_so_much_is_read_beside_the_rest(
    monkeypatch: pytest.MonkeyPatch, n_hosts: int, n_bytes: int, held: int
) -> None:
    """Of all hosts, and of one: by the number of pages, and their bytes."""

    async def main() -> list[str]:
        crawl, read = virtual_crawl(), Read()
        monkeypatch.setattr(crawl.frontier, "defer", lambda *_: None)
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            for number in range(MAX_ASIDE + 1):
                page = Lease(number, f"http://a.test/{number}", number % n_hosts, 1, EPOCH_S)
                call = read.page("read", 60.0)
                await reading.read(page, call, read.then, n_bytes=n_bytes, may_wait=False)
        return read.told

    assert run_virtually(main()).count("read") == held


@pytest.mark.parametrize(("after_s", "told"), [(58.0, "put off"), (62.0, "second")])
def test_who_brings_pages_waits_again_a_minute_after_poison(
    monkeypatch: pytest.MonkeyPatch, after_s: float, told: str
) -> None:
    async def main() -> list[str]:
        crawl, read = virtual_crawl(), Read()
        monkeypatch.setattr(crawl.frontier, "defer", lambda *_: None)
        pages = [Lease(n, f"http://{n}.test/", n, 1, EPOCH_S) for n in range(3)]
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            await reading.read(pages[0], poison(), read.then, n_bytes=1)
            await reading.ended()
            await asyncio.sleep(after_s)
            call = read.page("first", 5.0)
            await reading.read(pages[1], call, read.then, n_bytes=MAX_ASIDE_BYTES)
            await reading.read(pages[2], read.page("second", 9.0), read.then, n_bytes=1)
        return read.told

    assert told in run_virtually(main())


def test_what_takes_long_is_left_alone_as_after_one_more_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    due_s: list[float] = []

    async def main() -> float:
        crawl, read = virtual_crawl(), Read()
        now_s = crawl.clock.now_s
        monkeypatch.setattr(
            crawl.frontier, "defer", lambda _, until_s: due_s.append(until_s - now_s())
        )
        page = Lease(1, "http://a.test/", 1, 1, EPOCH_S, failures=2)
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            await reading.read(page, read.page("slow", 9.0), read.then, n_bytes=1)
        return crawl.crawl.rules.revisit.backoff_s(3)

    assert run_virtually(main()) == pytest.approx(due_s[0])


def test_who_is_cut_off_while_a_page_is_read_ends_and_reads_no_more() -> None:
    async def main() -> tuple[bool, list[str]]:
        crawl, read = virtual_crawl(), Read()
        page = Lease(1, "http://a.test/", 1, 1, EPOCH_S)
        async with asyncio.TaskGroup() as group:
            reading = await reading_of(crawl, group)
            call = reading.read(page, read.page("slow", 0.9), read.then, n_bytes=1)
            task = asyncio.create_task(call)
            await asyncio.sleep(0.5)
            task.cancel()
            await asyncio.wait([task])
        await asyncio.sleep(9.0)
        return task.cancelled(), read.told

    assert run_virtually(main()) == (True, [])
