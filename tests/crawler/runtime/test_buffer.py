"""The buffer between robots and indexer."""

import asyncio

import pytest

from recrawl.crawler.runtime.buffer import MOST_BYTES, Buffer
from recrawl.terms import BufferedPage, FetchResponse, Lease
from recrawl.testing import run_virtually


def buffered(number: int, deadline_s: float, body: bytes = b"", host_id: int = 1) -> BufferedPage:
    """A page that waits for the indexer."""
    lease = Lease(number, f"http://a.test/{number}", host_id, 1, 0.0)
    return BufferedPage(lease, FetchResponse(lease.url, 200, body), 0.0, deadline_s, b"")


def test_an_obsolete_copy_makes_room_in_a_full_buffer() -> None:
    """And is given back at once; the others keep their order, and what is fresh is lost."""
    now_s: list[float] = [0.0]
    dropped: list[BufferedPage] = []
    buffer = Buffer(3, lambda: now_s[0])
    buffer.on_obsolete(dropped.append)
    pages = [buffered(0, 9.0), buffered(1, 2.0), buffered(2, 9.0)]
    for page in pages:
        assert buffer.offer(page)
    now_s[0] = 3.0

    assert buffer.offer(buffered(3, 9.0))
    assert [page.lease.page_id for page in dropped] == [1]
    assert [page.lease.page_id for page in buffer.drain()] == [0, 2, 3]
    for page in pages:
        page_id = page.lease.page_id
        assert buffer.offer(buffered(page_id, 9.0))
    assert not buffer.offer(buffered(4, 9.0))
    assert (buffer.arrivals, buffer.lost) == (8, 1)  # whatever became of it


@pytest.mark.parametrize("n_takers", [1, 3])
def test_every_page_goes_to_one_taker_in_order(n_takers: int) -> None:
    """However many servers wait, and whether pages or servers come first."""

    async def main() -> list[int]:
        buffer, taken = Buffer(20, lambda: 0.0), []

        async def server() -> None:
            while (page := await buffer.take()) is not None:
                taken.append(page.lease.page_id)
                buffer.finish()

        servers = [asyncio.ensure_future(server()) for _ in range(n_takers)]
        for number in range(12):
            assert buffer.offer(buffered(number, 9.0))
            if number % 5 == 0:
                await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)
        assert buffer.length == 0
        buffer.nudge()
        await asyncio.gather(*servers)
        return taken

    assert asyncio.run(main()) == list(range(12))


def test_nobody_waits_longer_than_asked() -> None:
    """And a page that comes afterwards is not lost to the one who left."""

    async def main() -> None:
        buffer = Buffer(2, lambda: 0.0)
        assert await buffer.take(within_s=0.0) is None
        assert buffer.offer(buffered(1, 9.0))
        page = await buffer.take(within_s=0.0)
        assert page is not None
        assert buffer.length == 1
        buffer.finish()
        assert buffer.length == 0

    asyncio.run(main())


def test_large_pages_fill_it_before_it_has_so_many() -> None:
    """Robots go by that; what they are bringing already is taken all the same."""

    async def main() -> None:
        now_s: list[float] = [0.0]
        buffer, body = Buffer(100, lambda: now_s[0]), bytes(MOST_BYTES // 4)
        buffer.on_obsolete(lambda _: None)
        fills = []
        for number in range(5):
            assert buffer.offer(buffered(number, 9.0, body))
            fills.append(buffer.fill)
        assert fills == [1, 2, 3, 100, 100]
        assert buffer.length == 5
        for _ in range(2):
            await buffer.take()
            buffer.finish()
        assert buffer.fill == buffer.length == 3
        buffer.drain()
        assert buffer.offer(buffered(9, 9.0, body))
        assert buffer.fill == 1

    asyncio.run(main())


def test_how_long_pages_wait_is_measured_whatever_becomes_of_them() -> None:
    """Nothing before the first; those that turn out to be obsolete count as well."""

    async def main() -> None:
        now_s: list[float] = [100.0]
        buffer = Buffer(2, lambda: now_s[0])
        buffer.on_obsolete(lambda _: None)
        assert buffer.usual_wait_s == 0.0

        buffer.offer(buffered(1, 999.0))
        now_s[0] = 104.0
        await buffer.take()
        buffer.finish()
        assert buffer.usual_wait_s == pytest.approx(4.0)

        now_s[0] = 110.0
        for number in (2, 3):
            buffer.offer(buffered(number, 111.0))
        now_s[0] = 114.0
        assert buffer.offer(buffered(4, 999.0))
        assert buffer.length == 1
        assert buffer.usual_wait_s == pytest.approx(4.0)
        assert (buffer.page_seconds, buffer.starved_s) == (4.0 + 2 * 4.0, 6.0)

    asyncio.run(main())


def test_whether_a_page_of_another_host_waits_is_told() -> None:
    """None does where nothing waits, or only pages of the host that asks."""
    buffer = Buffer(9, lambda: 0.0)
    assert not buffer.has_others(1)

    buffer.offer(buffered(1, 9.0))
    assert not buffer.has_others(1)
    assert buffer.has_others(2)

    buffer.offer(buffered(2, 9.0, host_id=2))
    assert buffer.has_others(1)
    assert buffer.has_others(2)


def test_the_waits_of_obsolete_copies_count_and_old_waits_count_for_less() -> None:
    """A wait counts 199/200 of the one after it, however the latter ended."""

    async def main() -> None:
        now_s: list[float] = [0.0]
        buffer = Buffer(1, lambda: now_s[0])
        buffer.on_obsolete(lambda _: None)
        buffer.offer(buffered(1, 9e9))
        now_s[0] = 4.0
        await buffer.take()
        buffer.finish()
        buffer.offer(buffered(2, 5.0))
        now_s[0] = 408.0
        assert buffer.offer(buffered(3, 9e9)), "the second is obsolete since long"
        assert buffer.usual_wait_s == pytest.approx((0.995 * 4.0 + 404.0) / 1.995)

    asyncio.run(main())


def test_who_asks_for_what_is_there_now_is_answered_in_no_time() -> None:
    """And who waits for half a second for no longer."""

    async def main() -> list[float]:
        buffer, loop, times = Buffer(2, lambda: 0.0), asyncio.get_running_loop(), []
        for within_s in (-1.0, 0.0, 0.5):
            begun_s = loop.time()
            assert await buffer.take(within_s=within_s) is None
            times.append(loop.time() - begun_s)
        return times

    assert run_virtually(main()) == pytest.approx([0.0, 0.0, 0.5], abs=1e-3)
