"""Takes up visits that people ask for while the crawl runs."""

import asyncio
from collections.abc import Callable

from recrawl.crawler.control.addresses.scope import why_outside
from recrawl.crawler.control.dispatching.dispatch import Dispatcher
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.terms import Discovery, HostRecord


class AskedVisits:
    """Looks for them again and again, and has their hosts serve them before all else.

    Parameters
    ----------
    world, rules, dispatcher : of the crawl
    every_s : seconds of the loop between two looks
    on_news : called when there are some
    """

    def __init__(
        self,
        world: World,
        rules: Rules,
        dispatcher: Dispatcher,
        *,
        every_s: float,
        on_news: Callable[[], None],
    ) -> None:
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self._every_s = every_s
        self._on_news = on_news
        self.is_looking = False  # pages may have been taken up that no robot knows of yet

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._every_s)

    async def look(self) -> None:
        """Take up what was asked for."""
        now_s = min(self._world.clock.now_s(), self._dispatcher.horizon_s)
        self.is_looking = True
        try:
            hosts = await self._world.on_state(self._take, now_s)
            for record in hosts:
                self._dispatcher.observe_host(record, None)
                self._dispatcher.observe_asked(record.host_id, self._world.clock.now_s())
        finally:
            self.is_looking = False
        if hosts:
            self._on_news()

    def _take(self, now_s: float) -> list[HostRecord]:
        frontier = self._world.frontier
        touched = frontier.take_asked(self.read, now_s, self._rules.limits)
        return [frontier.host(host_id, now_s=now_s) for host_id in touched]

    def read(self, text: str) -> Discovery | str:
        """Make a discovery of an address, or say why it does not belong to the crawl."""
        url = normalise(text)
        if url is None:
            return "no http or https address"
        admission = self._rules.admission
        outside = why_outside(admission.scope, url, depth=0, hops=0)
        return outside or admission.of([url])[0]
