"""What attends a crawl that runs: signals."""

import signal

import pytest

from recrawl.cli.crawler.attending import interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_takes_its_time_is_interrupted_by_what_stops_a_crawl(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before
