"""Sinks take note of everything and disturb nothing."""

import io
import json
from math import inf

import pytest

from recrawl.telemetry.counters import CountingSink
from recrawl.telemetry.lines import JsonLinesSink


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
    """A stream that takes nothing."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("stream", [FullDisk(), io.StringIO()])
def test_a_log_that_cannot_be_written_ends_no_crawl(stream: io.StringIO) -> None:
    """A full disk, and a stream that was closed."""
    if not isinstance(stream, FullDisk):
        stream.close()

    JsonLinesSink(stream, lambda: 0.0).emit("visit", {"url": "http://a/"})
