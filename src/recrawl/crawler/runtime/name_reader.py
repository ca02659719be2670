"""Resolves the names of hosts, where those of one IP address are asked as one."""

from typing import Final

from recrawl.crawler.control.dispatching.dispatch import Dispatcher, Resolve
from recrawl.crawler.control.dispatching.host_records import host_record
from recrawl.crawler.ports import Resolver
from recrawl.crawler.runtime.parts import World
from recrawl.errors import FetchError, InvalidSettings

_HOLDS_S: Final = 300.0  # a name that moves is asked at its old place for so long


class NameReader:
    """Robot's step before it asks a host: resolve its name, if not resolved of late."""

    def __init__(self, world: World, dispatcher: Dispatcher) -> None:
        self._world, self._dispatcher = world, dispatcher

    async def read(self, task: Resolve) -> None:
        """Resolve a name, and tell where the next request goes."""
        clock = self._world.clock
        try:
            text = await checked_resolver(self._world).resolve(task.host)
        except FetchError as error:
            counts = self._dispatcher.unresolved(task.host_id, clock.now_s(), error.kind)
            record = host_record(self._dispatcher, task.host_id)
            await (self._world.save_host if counts else self._world.note_silence)(record)
            return
        now_s = clock.now_s()
        if self._dispatcher.set_ip_address(task.host_id, text, now_s, now_s + _HOLDS_S):
            await self._world.save_host(host_record(self._dispatcher, task.host_id))


def checked_resolver(world: World) -> Resolver:
    """Return what resolves the names of a crawl that goes by IP addresses.

    Raises
    ------
    InvalidSettings
        Its fetcher keeps to itself where requests go.
    """
    if world.resolver is None:
        raise InvalidSettings(
            "politeness.per_address: the fetcher of this crawl does not tell to which IP address "
            "it connects (port Resolver); leave the setting out"
        )
    return world.resolver
