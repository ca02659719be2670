"""Reading what takes long beside the rest: no page of another host waits for it.

Whoever reads waits a moment; what is not read by then is noted, so that not even a kill brings it
back at once, and finished in the background. Where that has no more room, honest pages hold up
those who bring them; but while there is poison about, what finds no room is put off. A host that
has its share of the room holds up nobody else: its page is deferred, or waits where no other does.
A page that cannot be read is recorded as poison by whoever asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from math import inf
from typing import Any, Final, TypeVar

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.runtime.parts import World
from recrawl.crawler.runtime.stopping import wait_until
from recrawl.errors import PoisonPage, ReadingPutOff
from recrawl.terms import Lease

T = TypeVar("T")

_BRIEF_S: Final = 0.02  # a moment, while others are read in the background
_ALERT_S: Final = 60.0
MAX_ASIDE: Final = 32
MAX_OF_HOST: Final = 8
MAX_ASIDE_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    host_id: int
    n_bytes: int


class SlowReading:
    """Readings that take longer than a moment.

    Parameters
    ----------
    world, revisit : of the crawl
    patience_s : a moment, in seconds of the loop
    """

    def __init__(self, world: World, revisit: RevisitRules, patience_s: float) -> None:
        self._world = world
        self._revisit = revisit
        self._patience_s = patience_s
        self._group: asyncio.TaskGroup | None = None
        self._held: set[_Held] = set()
        self._poisoned_until_s = -inf

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Finish in the background from now on, as tasks of a group."""
        self._group = group

    @property
    def is_idle(self) -> bool:
        """True when nothing is read in the background."""
        return not self._held

    async def read(
        self,
        lease: Lease,
        call: Coroutine[Any, Any, T],
        then: Callable[[Awaitable[T]], Awaitable[None]],
        *,
        n_bytes: int,
        may_wait: bool = True,
        defer: Callable[[], bool] = lambda: False,
    ) -> None:
        """Have ``then`` called with what is read; now, or later if that takes long.

        Parameters
        ----------
        lease : of the page
        call : reads it
        then : awaits what was read, or what went wrong
        n_bytes : of the page, which are held so long
        may_wait : until there is room, as long as no page was poison lately
        defer : asked while there is none because of other pages of the host; gives the page up and
            returns True, if pages of other hosts wait
        """
        reading = asyncio.ensure_future(call)
        try:
            if self._group is None:
                await then(reading)
                return
            await asyncio.wait((reading,), timeout=_BRIEF_S if self._held else self._patience_s)
            while not reading.done() and not self._has_room(lease.host_id, n_bytes):
                has_share = self._has_share(lease.host_id)
                if has_share and defer():
                    reading.cancel()
                    return
                if not may_wait or (self._is_poisoned() and not has_share):
                    reading.cancel()
                    await then(_refused())
                    return
                await asyncio.wait((reading,), timeout=_BRIEF_S)
            if reading.done():
                await self._finish(lease, reading, then)
                return
            held = _Held(lease.host_id, n_bytes)
            self._held.add(held)
            finish = self._finish(lease, reading, then)
            task = self._group.create_task(finish, name="slow-reading")
            task.add_done_callback(lambda _: self._held.discard(held))
        except asyncio.CancelledError:
            reading.cancel()
            raise

    async def _finish(
        self,
        lease: Lease,
        reading: asyncio.Future[T],
        then: Callable[[Awaitable[T]], Awaitable[None]],
    ) -> None:
        if not (await asyncio.wait((reading,), timeout=self._patience_s))[0]:
            await self._note(lease)
        await then(reading)
        if isinstance(reading.exception(), PoisonPage):
            self._poisoned_until_s = asyncio.get_running_loop().time() + _ALERT_S

    async def _note(self, lease: Lease) -> None:
        """See that a page that takes long is not read at once by whoever starts after a kill."""
        due_s = self._world.clock.now_s() + self._revisit.backoff_s(lease.failures + 1)
        await self._world.on_state(self._world.frontier.defer, lease, due_s)

    def _is_poisoned(self) -> bool:
        return asyncio.get_running_loop().time() < self._poisoned_until_s

    def _has_room(self, host_id: int, n_bytes: int) -> bool:
        held = sum(one.n_bytes for one in self._held)
        return not held or (
            len(self._held) < MAX_ASIDE
            and held + n_bytes <= MAX_ASIDE_BYTES
            and not self._has_share(host_id)
        )

    def _has_share(self, host_id: int) -> bool:
        """Tell whether a host has as much of the room as any may have."""
        of_host = [one.n_bytes for one in self._held if one.host_id == host_id]
        return len(of_host) >= MAX_OF_HOST or sum(of_host) >= MAX_ASIDE_BYTES // 4

    async def ended(self) -> None:
        """Return when nothing is read in the background."""
        await wait_until(lambda: self.is_idle, inf)


async def _refused() -> Any:
    raise ReadingPutOff("too much is being read that takes long")
