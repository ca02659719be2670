"""Writes events as lines, for programs or for people."""

import contextlib
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Final, TextIO

import msgspec
from typing_extensions import override

from recrawl.crawler.ports import EventSink

LEVELS: Final = ("debug", "info", "warning")
_WARNINGS: Final = frozenset(
    {"plan-failed", "control-failed", "control-dropped", "silence", "state-away"}
)
_DETAILS: Final = frozenset({"visit", "control", "importance"})
_TROUBLES: Final = frozenset({"failed", "poison", "server-error", "throttled"})


def level_of(event: str, fields: Mapping[str, object]) -> str:
    """Return how much an event matters: debug, info or warning.

    Parameters
    ----------
    event : its name
    fields : what it tells, by name
    """
    unreachable = event == "robots" and fields.get("reachable") is False
    if event in _WARNINGS or unreachable or fields.get("outcome") in _TROUBLES:
        return "warning"
    return "debug" if event in _DETAILS else "info"


class _Lines(EventSink):
    """A log, a line for each event.

    Parameters
    ----------
    stream : where lines go
    now_s : stamps each line, seconds since the epoch
    least : events that matter less are left out
    """

    def __init__(self, stream: TextIO, now_s: Callable[[], float], least: str = "debug") -> None:
        self._stream = stream
        self._now_s = now_s
        self._heard = LEVELS[LEVELS.index(least) :]

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        level = level_of(event, fields)
        if level not in self._heard:
            return
        # A full disk or a closed pipe may end the log, but not the crawl.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(self._line(event, level, fields) + "\n")

    @abstractmethod
    def _line(self, event: str, level: str, fields: Mapping[str, object]) -> str: ...


class JsonLinesSink(_Lines):
    """A log that programs read: ``at``, ``event``, ``level``, then what the event says."""

    @override
    def _line(self, event: str, level: str, fields: Mapping[str, object]) -> str:
        line = {"at": round(self._now_s(), 3), "event": event, "level": level, **fields}
        return msgspec.json.encode(line).decode()


class TextLinesSink(_Lines):
    """A log that people read: instant in UTC, level, event, then name=value."""

    @override
    def _line(self, event: str, level: str, fields: Mapping[str, object]) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now_s()))
        told = " ".join(f"{name}={_shown(value)}" for name, value in fields.items())
        return f"{at} {level} {event} {told}".rstrip()


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if text.isprintable() and not set(text) & set(' "=') else repr(text)
