"""A crawl into a database inside another program."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from recrawl.api.opened import OpenCrawl
from recrawl.api.states import open_state
from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.ports import EventSink
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_door
from recrawl.terms import Hit, VisitAnswer


class CrawlInDatabase(OpenCrawl):
    """The part of this process in a crawl that several share."""

    _look_every_s = 0.5

    def __init__(
        self,
        settings: Settings,
        events: EventSink,
        revisit: RevisitPolicy | None,
        activation: ActivationPolicy | None,
    ) -> None:
        super().__init__(settings)
        self._events, self._policies = events, (revisit, activation)
        self._stop = asyncio.Event()

    @override
    async def _run(self, *, once: bool, for_s: float | None) -> None:
        from recrawl.crawler.wiring.cluster import open_cluster
        from recrawl.crawler.wiring.together import crawl_together

        def trouble(words: str) -> None:
            self._events.emit("state-away", {"said": words})

        revisit, activation = self._policies
        self._stop = asyncio.Event()
        if for_s is not None:
            asyncio.get_running_loop().call_later(for_s, self._stop.set)
        if self._is_closed:
            return
        async with open_cluster(
            self._settings, events=self._events, once=once, revisit=revisit, activation=activation
        ) as cluster:
            await crawl_together(
                cluster, self._stop, once=once, running=self._running, trouble=trouble
            )

    @override
    def _end(self) -> None:
        self._stop.set()

    @override
    async def _ask(self, urls: Sequence[str]) -> Sequence[int]:
        def ask() -> Sequence[int]:
            with contextlib.closing(open_door(self._settings.state)) as door:
                return door.ask(urls)

        return await asyncio.to_thread(ask)

    @override
    async def _answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        def answers() -> list[VisitAnswer]:
            with contextlib.closing(open_door(self._settings.state)) as door:
                return door.answers(numbers)

        return await asyncio.to_thread(answers)

    @override
    def _found(self, query: str, limit: int, offset: int) -> list[Hit]:
        with contextlib.closing(open_index(self._settings.state, read_only=True)) as index:
            return index.search(query, limit=limit, offset=offset)[1]

    @override
    def _status(self) -> dict[str, Any]:
        with open_state(self._settings.state) as state:
            return state.status()
