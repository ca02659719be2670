"""The part of one process in a crawl that several share, from its first shards to its last."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from recrawl.crawler.database.connections import connect, make_schema
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.cluster import Cluster
from recrawl.errors import DatabaseAway, OwnershipLost
from recrawl.terms import Database

_LOOK_S: Final = 0.5  # between two looks whether the crawl waits for its database's disk


def make_tables(settings: Settings) -> None:
    """Have the database ready to be asked, before a process joins.

    Raises
    ------
    StateError
        It cannot be used: the message says why.
    """
    assert isinstance(settings.state, Database)
    with contextlib.closing(connect(settings.state, name="recrawl beginning")) as connection:
        make_schema(connection, settings.state, settings.shards)


async def crawl_together(
    cluster: Cluster,
    stop: asyncio.Event,
    *,
    once: bool,
    running: Callable[[Crawl], AbstractAsyncContextManager[None]],
    trouble: Callable[[str], None],
) -> None:
    """Crawl the shards of this process, and others when they are to be others, until stopped.

    Parameters
    ----------
    cluster : that this process has joined
    stop : ends it
    once : it ends as well when all processes have visited all pages of a single pass
    running : has a crawl run for as long as it is entered
    trouble : hears, once, why the crawl waits for its database

    Raises
    ------
    StateError
        The database cannot be used any more, and will not be by itself.
    """
    beside = [
        asyncio.create_task(_hurried(cluster, stop), name="hurry"),
        asyncio.create_task(_heard(cluster, trouble), name="room"),
    ]
    try:
        await _crawled(cluster, stop, once=once, running=running, trouble=trouble)
    finally:
        for task in beside:
            task.cancel()


async def _hurried(cluster: Cluster, stop: asyncio.Event) -> None:
    """Have nothing wait for a full disk once the process is stopped."""
    await stop.wait()
    cluster.hurry()


async def _heard(cluster: Cluster, trouble: Callable[[str], None]) -> None:
    """Tell when the crawl begins to wait for a full disk, until cancelled."""
    was_full = False
    while True:
        words = cluster.lacks
        if words and not was_full:
            trouble(words)
        was_full = bool(words)
        await asyncio.sleep(_LOOK_S)


async def _crawled(
    cluster: Cluster,
    stop: asyncio.Event,
    *,
    once: bool,
    running: Callable[[Crawl], AbstractAsyncContextManager[None]],
    trouble: Callable[[str], None],
) -> None:
    told = ""  # of trouble, as long as no crawl has begun since
    while not stop.is_set() and not cluster.is_over:
        try:
            async with cluster.shards(stop) as crawl:
                if crawl is None:
                    break
                told = ""
                async with running(crawl):
                    await _until_others(cluster, crawl, stop, once=once)
        except* (DatabaseAway, OwnershipLost) as errors:
            words = str(_first_of(errors))
            if words != told:
                trouble(words)
            told = words
            await cluster.begin_anew(stop)


async def _until_others(cluster: Cluster, crawl: Crawl, stop: asyncio.Event, *, once: bool) -> None:
    """Wait until the shards are to be others, all is done, or the process is stopped."""
    over = [cluster.until_over()] if once else []
    await _first(stop.wait(), cluster.changed.wait(), *over)
    if cluster.is_over and not stop.is_set():
        await crawl.planner.replan()


def _first_of(error: BaseException) -> BaseException:
    """Return the first of what parts of parts raised."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _first(*events: Coroutine[Any, Any, object]) -> None:
    """Wait until one has come, and pass on what it raised."""
    waits = [asyncio.ensure_future(event) for event in events]
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    for wait in done:
        wait.result()
