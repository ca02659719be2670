"""Counts what happens, for the screen and for tests."""

from collections import Counter
from collections.abc import Mapping

from typing_extensions import override

from recrawl.crawler.ports import EventSink


class CountingSink(EventSink):
    """Counts events by name, and visits by outcome.

    Parameters
    ----------
    then : hears every event too, after it has been counted
    """

    def __init__(self, then: EventSink | None = None) -> None:
        self.events: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.then = then

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        self.events[event] += 1
        if event == "visit":
            self.outcomes[str(fields["outcome"])] += 1
        if self.then is not None:
            self.then.emit(event, fields)
