"""Asks hubs to announce the feeds that name them, and asks again before a lease ends."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from recrawl.crawler.control.answers.hubs import LEASE_S, hub_of, tried_again_s
from recrawl.crawler.runtime.parts import World
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse, Subscription

_AT_ONCE: Final = 20  # of one look
_VERIFIED_WITHIN_S: Final = 600.0  # a hub may take its time


class Subscriber:
    """Keeps subscriptions alive.

    Parameters
    ----------
    world : of the crawl, with hubs and subscriptions
    callback : address below which the pages of this crawl take what hubs say
    is_ours : tells whether an address belongs to the crawl
    every_s : seconds of the loop between two looks
    """

    def __init__(
        self, world: World, callback: str, *, is_ours: Callable[[str], bool], every_s: float
    ) -> None:
        self._world = world
        self._callback = callback
        self._is_ours = is_ours
        self._every_s = every_s
        self._found: dict[str, str] = {}

    def look_at(self, url: str, response: FetchResponse) -> None:
        """Note the hub that a feed names, if it does; of another site's topic nothing is noted."""
        named = hub_of(url, response.link, response.body)
        if named is not None:
            hub, topic = named
            self._found[topic if self._is_ours(topic) else url] = hub

    async def run(self) -> None:
        """Ask until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._every_s)

    async def look(self) -> None:
        """Ask hubs whose turn it is, one after the other."""
        world, found = self._world, self._found
        self._found = {}
        assert world.subscriptions is not None
        assert world.hubs is not None
        for topic, hub in found.items():
            await world.on_state(world.subscriptions.found, topic, hub, world.clock.now_s())
        for one in await world.on_state(world.subscriptions.due, world.clock.now_s(), _AT_ONCE):
            now_s = world.clock.now_s()
            # Written first: the hub may verify before its answer is here.
            asked = replace(
                one,
                due_s=tried_again_s(now_s, one.failures),
                asked_until_s=now_s + _VERIFIED_WITHIN_S,
                failures=one.failures + 1,
            )
            await world.on_state(world.subscriptions.save, asked)
            note = await self._ask(one)
            if note is not None:
                refused = replace(asked, asked_until_s=0.0, note=note)
                await world.on_state(world.subscriptions.save, refused)

    async def _ask(self, one: Subscription) -> str | None:
        """Ask a hub; return what went wrong, or None."""
        assert self._world.hubs is not None
        form = {
            "hub.mode": "subscribe",
            "hub.topic": one.topic,
            "hub.callback": f"{self._callback}/websub/{one.callback}",
            "hub.secret": one.secret,
            "hub.lease_seconds": str(int(LEASE_S)),
        }
        try:
            answer = await self._world.hubs.post(one.hub, form)
        except FetchError as error:
            return str(error)[:300]
        return None if 200 <= answer.status < 300 else f"the hub answered {answer.status}"
