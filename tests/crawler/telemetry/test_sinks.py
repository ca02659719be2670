"""Sinks take note of everything and disturb nothing."""

import io
import json
from math import inf

from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.lines import JsonLinesSink, TextLinesSink


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
        {"at": 1.235, "event": "visit", "level": "debug", "url": "http://a/", "outcome": "new"},
        {"at": 1.235, "event": "visit", "level": "debug", "url": "http://a/", "outcome": "new"},
        {"at": 1.235, "event": "plan", "level": "info", "until_s": None},
    ]


def test_lines_for_people_say_the_same() -> None:
    """An instant in UTC, how much it matters, and values that cannot be mistaken for each other."""
    log = io.StringIO()
    sink = TextLinesSink(log, lambda: 0.0)

    sink.emit("visit", {"url": "http://a/?q=x y", "outcome": "new", "fetch_s": 0.1 + 0.2})
    sink.emit("plan-failed", {"why": "line\nbreak"})

    assert log.getvalue() == (
        "1970-01-01T00:00:00Z debug visit url='http://a/?q=x y' outcome=new fetch_s=0.3\n"
        "1970-01-01T00:00:00Z warning plan-failed why='line\\nbreak'\n"
    )


def test_what_matters_less_is_left_out() -> None:
    """A visit is a detail unless it failed; robots.txt is news unless it cannot be read."""
    log = io.StringIO()
    sink = JsonLinesSink(log, lambda: 0.0, least="warning")
    for fields in ({"outcome": "new"}, {"outcome": "failed"}):
        sink.emit("visit", fields)
    for reachable in (True, False):
        sink.emit("robots", {"reachable": reachable})
    sink.emit("plan", {})

    heard = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["event"] for line in heard] == ["visit", "robots"]
    assert heard[0]["outcome"] == "failed"
    assert not heard[1]["reachable"]


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
