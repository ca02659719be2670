"""Virtual time: waiting costs nothing, order stays, and a clock keeps its word."""

import asyncio
import threading

import pytest

from recrawl.crawler.runtime.clock import LoopClock, WallClock
from recrawl.crawler.runtime.virtual import VirtualLoop, run_virtually

DAY_S = 86_400.0


def test_time_jumps_to_the_next_deadline_and_no_further() -> None:
    """Sleepers wake in the order of their deadlines, each at its own."""

    async def main() -> list[tuple[str, float]]:
        woken: list[tuple[str, float]] = []

        async def sleeper(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            woken.append((name, asyncio.get_running_loop().time()))

        await asyncio.gather(sleeper("late", 5e6), sleeper("early", 3.0), sleeper("mid", 77.5))
        return woken

    assert run_virtually(main()) == [("early", 3.0), ("mid", 77.5), ("late", 5e6)]


def test_timeouts_hold_in_virtual_time() -> None:
    """What the engine relies on runs as it is."""

    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1000.0):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run_virtually(main()) == 1000.0


def test_what_comes_from_outside_comes_before_time_jumps() -> None:
    """Such as what a thread has ready."""

    async def main() -> float:
        loop, there = asyncio.get_running_loop(), asyncio.Event()
        thread = threading.Thread(target=loop.call_soon_threadsafe, args=(there.set,))
        thread.start()
        thread.join()
        async with asyncio.timeout(1000.0):
            await there.wait()
        return loop.time()

    assert run_virtually(main()) == 0.0


def test_waiting_for_ever_is_an_error() -> None:
    """Rather than a test that hangs."""

    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="never happen"):
        run_virtually(main())


def test_two_runs_are_the_same() -> None:
    """Each begins at zero, and what one leaves does not reach the other."""

    async def main() -> tuple[float, bool]:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(1.5)
        return loop.time(), isinstance(loop, VirtualLoop)

    assert [run_virtually(main()) for _ in range(2)] == [(1.5, True)] * 2


@pytest.mark.parametrize("speed", [1.0, 60.0, 43_200.0])
@pytest.mark.parametrize("days", [0.0, 0.5, 1.0, 1.5, 400.0])
def test_a_clock_sleeps_until_the_instant_however_far_it_is(days: float, speed: float) -> None:
    """Also longer than a loop can sleep at once; and what has passed is no wait."""

    async def main() -> tuple[float, float]:
        clock = LoopClock(epoch_s=1_800_000_000.0, speed=speed)
        start_s = clock.now_s()
        await clock.sleep_until(start_s + days * DAY_S)
        slept_s = clock.now_s() - start_s
        await clock.sleep_until(start_s - 5.0)
        return slept_s, asyncio.get_running_loop().time()

    slept_s, loop_s = run_virtually(main())

    assert slept_s == pytest.approx(days * DAY_S, abs=1e-3)
    assert loop_s == pytest.approx(days * DAY_S / speed, abs=1e-3)


def test_what_was_due_while_the_machine_slept_is_due_when_it_wakes() -> None:
    """The loop's clock stood still for a night; another one did not."""

    async def main() -> tuple[float, float]:
        loop, slept_s = asyncio.get_running_loop(), 0.0
        clock = WallClock(epoch_s=100.0, elapsed_s=lambda: loop.time() + slept_s)
        waiting = asyncio.ensure_future(clock.sleep_until(100.0 + 0.5 * DAY_S))
        await asyncio.sleep(90.0)
        slept_s = 8 * 3_600.0
        awake_s = clock.now_s()
        await asyncio.sleep(3 * 3_600.0)
        assert not waiting.done()
        slept_s += 8 * 3_600.0
        await waiting
        return awake_s, loop.time() - 90.0 - 3 * 3_600.0

    awake_s, late_s = run_virtually(main())

    assert awake_s == 100.0 + 90.0 + 8 * 3_600.0
    assert 0.0 < late_s <= 60.0


@pytest.mark.parametrize("seconds", [0.25, 1.0, 59.0, 61.0])
def test_the_clock_of_a_machine_that_stays_awake_wakes_nobody_early_or_late(seconds: float) -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        clock = WallClock(epoch_s=100.0, elapsed_s=loop.time)
        await clock.sleep_until(100.0 + seconds)
        return loop.time()

    assert run_virtually(main()) == pytest.approx(seconds)


def test_a_clock_begins_at_its_first_look() -> None:
    """Its epoch is the instant at which somebody first asks."""

    async def main() -> float:
        clock = LoopClock(epoch_s=100.0, speed=10.0)
        await asyncio.sleep(50.0)
        first_s = clock.now_s()
        assert first_s == 100.0
        await asyncio.sleep(2.0)
        return clock.now_s() - first_s

    assert run_virtually(main()) == pytest.approx(20.0)


def test_the_clock_of_a_machine_starts_at_its_epoch_however_long_that_has_been_up() -> None:
    up_s = [5_000.0]
    clock = WallClock(epoch_s=100.0, elapsed_s=lambda: up_s[0])
    assert clock.now_s() == 100.0
    up_s[0] += 7.0
    assert clock.now_s() == 107.0
