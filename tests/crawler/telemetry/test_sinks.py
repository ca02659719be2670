"""Sinks take note of everything and disturb nothing."""

import io
import json
from math import inf

from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.lines import JsonLinesSink


def test_events_and_outcomes_are_counted_and_passed_on() -> None:
    """In the order in which they happened."""
    log = io.StringIO()
    counts = CountingSink(JsonLinesSink(log, lambda: 1.23456))
    counts.emit("visit", {"url": "http://a/", "outcome": "new"})
    counts.emit("visit", {"url": "http://a/", "outcome": "new"})
    counts.emit("plan", {"until_s": inf})

    assert counts.events == {"visit": 2, "plan": 1}
    assert counts.outcomes == {"new": 2}
    assert [json.loads(line) for line in log.getvalue().splitlines()] == [
        {"at": 1.235, "event": "visit", "url": "http://a/", "outcome": "new"},
        {"at": 1.235, "event": "visit", "url": "http://a/", "outcome": "new"},
        {"at": 1.235, "event": "plan", "until_s": None},
    ]


class FullDisk(io.StringIO):
    """A stream that takes nothing until there is room."""

    full = True

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(28, "No space left on device")
        return super().write(text)


def test_a_full_disk_costs_lines_and_no_crawl() -> None:
    """The log goes on where there is room again."""
    stream = FullDisk()
    sink = JsonLinesSink(stream, lambda: 0.0)

    sink.emit("visit", {"url": "http://a/"})
    stream.full = False
    sink.emit("plan", {})

    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["plan"]


def test_a_closed_log_ends_no_crawl() -> None:
    """Whoever read the log has gone; what listens beside it still hears."""
    stream = io.StringIO()
    stream.close()
    counts = CountingSink(then=JsonLinesSink(stream, lambda: 0.0))

    counts.emit("visit", {"outcome": "new"})
    counts.emit("visit", {"outcome": "new"})

    assert counts.outcomes == {"new": 2}
