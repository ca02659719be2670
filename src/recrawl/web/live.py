"""The live view: one look at the state serves every open dashboard.

A *pulse* is small and comes every second; a *report* reads all pages, and comes as seldom as its
reading takes long. Nobody looks while nobody watches. Each dashboard holds at most the newest of
both kinds, so that a slow one costs no memory.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

import msgspec

from recrawl.errors import RecrawlError
from recrawl.web.observation import CrawlObserver
from recrawl.web.source import CrawlSource
from recrawl.web.threads import Reader

_PULSE_S: Final = 1.0
_REPORT_S: Final = 5.0
_KEEP_ALIVE_S: Final = 15.0


class LiveView:
    """Looks at the crawl while anybody watches, and tells all who do.

    Parameters
    ----------
    reader : the thread that looks
    agent : the crawler's name
    at_most : dashboards at the same time
    """

    def __init__(self, reader: Reader, *, agent: str, at_most: int = 200) -> None:
        self._reader = reader
        self._at_most = at_most
        self._observer = CrawlObserver(agent)
        self._watchers: dict[int, dict[str, bytes]] = {}
        self._woken: dict[int, asyncio.Event] = {}
        self._latest: dict[str, bytes] = {}
        self._next = 0
        self._anyone = asyncio.Event()
        self._closing = False

    @property
    def is_full(self) -> bool:
        """Whether no more dashboards are taken."""
        return len(self._watchers) >= self._at_most

    async def run(self) -> None:
        """Look and tell, until cancelled."""
        report_at_s = 0.0
        while True:
            await self._anyone.wait()
            if await self._look("pulse", self._observer.pulse):
                report_at_s = 0.0  # a plan came into force, or the crawl started or stopped
            now_s = time.monotonic()
            if now_s >= report_at_s:
                await self._look("report", self._observer.report)
                took_s = time.monotonic() - now_s
                report_at_s = now_s + max(_REPORT_S, 20.0 * took_s)
            await asyncio.sleep(_PULSE_S)
            if not self._watchers:
                self._anyone.clear()

    def close(self) -> None:
        """Let every dashboard go."""
        self._closing = True
        for event in self._woken.values():
            event.set()

    def enter(self) -> int:
        """Return the number of a new dashboard, whose place is taken from now on.

        To be given to :meth:`messages`, or back to :meth:`leave`.
        """
        number = self._next
        self._next += 1
        self._watchers[number] = dict(self._latest)
        woken = self._woken[number] = asyncio.Event()
        if self._latest:
            woken.set()
        self._anyone.set()
        return number

    def leave(self, number: int) -> None:
        """Give a dashboard's place back."""
        self._watchers.pop(number, None)
        self._woken.pop(number, None)

    async def messages(self, number: int) -> AsyncIterator[bytes]:
        """Yield server-sent events for one dashboard: what is known at once, then what comes."""
        woken = self._woken[number]
        try:
            yield b"retry: 2000\n\n"
            while not self._closing:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_KEEP_ALIVE_S):
                        await woken.wait()
                woken.clear()
                waiting, self._watchers[number] = self._watchers[number], {}
                yield b"".join(waiting.values()) or b": still here\n\n"
        finally:
            self.leave(number)

    async def _look(self, kind: str, look: Callable[[CrawlSource], dict[str, object]]) -> bool:
        try:
            seen = await self._reader(look)
        except RecrawlError as error:
            kind, seen = "trouble", {"message": str(error)}
            self._latest.clear()
        message = b"event: " + kind.encode() + b"\ndata: " + msgspec.json.encode(seen) + b"\n\n"
        self._latest[kind] = message
        if kind != "trouble":
            self._latest.pop("trouble", None)
        for number, waiting in self._watchers.items():
            waiting[kind] = message
            self._woken[number].set()
        return bool(seen.get("turned"))
