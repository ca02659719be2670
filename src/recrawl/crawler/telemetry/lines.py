"""Writes events as JSON lines, one object each."""

import contextlib
from collections.abc import Callable, Mapping
from typing import TextIO

import msgspec
from typing_extensions import override

from recrawl.crawler.ports import EventSink

__all__ = ["JsonLinesSink"]


class JsonLinesSink(EventSink):
    """A log that programs read.

    Parameters
    ----------
    stream : where lines go
    now_s : stamps each line, as ``at`` in seconds since the epoch
    """

    def __init__(self, stream: TextIO, now_s: Callable[[], float]) -> None:
        self._stream = stream
        self._now_s = now_s

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        line = {"at": round(self._now_s(), 3), "event": event, **fields}
        # A full disk or a closed pipe may end the log, but not the crawl.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(msgspec.json.encode(line).decode() + "\n")
