"""A configuration that changes while its crawl runs: what can be taken up is, the rest is told."""

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

from recrawl.cli.output import note
from recrawl.crawler.settings import Settings
from recrawl.errors import InputError

# What is opened once for all: files, connections, processes beside the crawl.
NEXT_START: Final = frozenset(
    "state name contact timeout_s max_bytes allow_private per_address language warc warc_max_bytes "
    "index_command index_timeout_s n_servers callback indexnow_key deliver "
    "accept_language proxy proxy_login_env access render keep_markdown feed_importance".split()
)
_LOOK_EVERY_S: Final = 1.0
_UNITS: Final = ("_per_s", "_s", "_bytes")


@dataclass(frozen=True, slots=True)
class Taken:
    """Outcome of a changed configuration.

    Parameters
    ----------
    settings : in force from now on
    changed : names of what is taken up
    left : names of what waits for the next start
    """

    settings: Settings
    changed: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def words(self) -> str:
        """Message for people."""
        parts = []
        if self.changed:
            parts.append(f"taken up: {', '.join(self.changed)}")
        if self.left:
            parts.append(f"waits for the next start: {', '.join(self.left)}")
        return "Configuration read again; " + ("; ".join(parts) or "nothing has changed")


def take_up(before: Settings, after: Settings) -> Taken:
    """Join what is in force with what the file says now.

    Raises
    ------
    InvalidSettings
        What can be taken up contradicts what waits for the next start.
    """
    names = [one.name for one in fields(Settings)]
    differ = [name for name in names if getattr(before, name) != getattr(after, name)]
    left = [name for name in differ if name in NEXT_START]
    settings = replace(after, **{name: getattr(before, name) for name in left}) if left else after
    changed = (name for name in differ if name not in NEXT_START)
    return Taken(settings, tuple(map(_plain, changed)), tuple(map(_plain, left)))


def _plain(name: str) -> str:
    for unit in _UNITS:
        name = name.removesuffix(unit)
    return name.removeprefix("n_")


class ConfigWatch:
    """Reads the configuration again on SIGHUP and when its file changes.

    Parameters
    ----------
    path : of the configuration
    load : reads it, and puts in what the command line says instead
    """

    def __init__(self, path: Path, load: Callable[[], Settings]) -> None:
        self._path = path
        self._load = load
        self._asked = asyncio.Event()
        self._seen = self._stamp()

    def listen(self) -> None:
        """Hear SIGHUP from now on."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._asked.set)

    async def next(self, settings: Settings) -> Taken:
        """Wait for a configuration that changes what is in force; tell of what does not."""
        while True:
            await self._news()
            try:
                taken = take_up(settings, self._load())
            except InputError as error:
                note(f"recrawl: {error}; the crawl goes on as it was")
                continue
            note(taken.words)
            if taken.changed:
                return taken

    async def _news(self) -> None:
        while not self._asked.is_set() and self._stamp() == self._seen:
            await _first_of(self._asked, _LOOK_EVERY_S)
        self._asked.clear()
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:  # between two writings of it
            return None
        return found.st_mtime_ns, found.st_size


async def _first_of(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, so long at most."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
