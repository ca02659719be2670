"""Conformance tests for every clock, listener and way of running a blocking call."""

import asyncio

import pytest

from recrawl.crawler.ports import Clock, EventSink, Offload
from recrawl.crawler.runtime.virtual import run_virtually


class ClockSuite:
    """Conformance tests for every clock."""

    def make(self) -> Clock:
        """Return a clock; called inside a virtual loop."""
        raise NotImplementedError

    def test_sleeping_until_an_instant_ends_there(self) -> None:
        """Not before; and what has passed is no wait."""

        async def main() -> tuple[float, float, float]:
            clock = self.make()
            start = clock.now_s()
            await clock.sleep_until(start + 100.0)
            slept = clock.now_s()
            await clock.sleep_until(start)
            return start, slept, clock.now_s()

        start, slept, after = run_virtually(main())

        assert slept - start == pytest.approx(100.0, abs=1e-3)
        assert after == slept


class OffloadSuite:
    """Conformance tests for every way of running a blocking call."""

    def make(self) -> Offload:
        """Return one; called inside an event loop."""
        raise NotImplementedError

    def test_it_returns_what_the_call_returns(self) -> None:
        """With the arguments that it was given."""

        async def main() -> int:
            return await self.make()(int, "ff", base=16)

        assert asyncio.run(main()) == 255

    def test_it_raises_what_the_call_raises(self) -> None:
        """The caller handles it as if it had made the call itself."""

        async def main() -> int:
            return await self.make()(int, "no number")

        with pytest.raises(ValueError, match="no number"):
            asyncio.run(main())


class EventSuite:
    """Conformance tests for every listener."""

    def make(self) -> EventSink:
        """Return a listener."""
        raise NotImplementedError

    @pytest.mark.parametrize("event", ["visit", "plan", "robots", "never-heard-of"])
    def test_no_event_is_refused_or_changed(self, event: str) -> None:
        """A crawl does not end because nobody expected what happened."""
        fields = {"url": "http://a.test/", "outcome": "new", "at_s": 1.0, "why": None}
        told = dict(fields)

        assert self.make().emit(event, told) is None  # type: ignore[func-returns-value]

        assert told == fields
