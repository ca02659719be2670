"""What attends a crawl that runs: signals."""

import asyncio
import signal
from collections.abc import Iterator

import pytest

from recrawl.cli.crawler.attending import interruptible, stopped_by_signals


@pytest.fixture(autouse=True)
def hang_up() -> Iterator[None]:
    """Let SIGHUP end a process, as it does unless whoever starts it has it ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_takes_its_time_is_interrupted_by_what_stops_a_crawl(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_a_terminal_that_closes_stops_no_crawl_that_was_started_with_nohup() -> None:
    """It hung up on a crawl that was to go on in the background."""

    async def main() -> bool:
        stop = stopped_by_signals()
        signal.raise_signal(signal.SIGHUP)
        await asyncio.sleep(0)
        return stop.is_set()

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with interruptible():
        signal.raise_signal(signal.SIGHUP)
    assert not asyncio.run(main())
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
