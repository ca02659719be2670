"""`recrawl run` on a database: the crawl that several processes share."""

import asyncio
from functools import partial

from recrawl.cli.crawler.attending import Ears, stopped_by_signals, watched
from recrawl.cli.crawler.reload import ConfigWatch
from recrawl.cli.output import note
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.stores import check_state
from recrawl.errors import DatabaseAway, OwnershipLost

__all__ = ["run_together"]


async def run_together(
    settings: Settings,
    *,
    limit_s: float | None,
    once: bool,
    quiet: bool,
    ears: Ears,
    watch: ConfigWatch | None,
) -> CountingSink:
    """Crawl the shards of this process, and others when they are to be others, until stopped."""
    assert not once, "for a crawl of one machine"
    assert watch is None, "for a crawl of one machine"
    check_state(settings.state)
    from recrawl.crawler.wiring.cluster import open_cluster

    counts, stop = CountingSink(), stopped_by_signals()
    if limit_s is not None:
        asyncio.get_running_loop().call_later(limit_s, stop.set)
    async with open_cluster(settings, events=counts) as cluster:
        while not stop.is_set():
            try:
                async with cluster.shards(stop) as crawl:
                    if crawl is None:
                        break
                    with ears.listening(counts, partial(_itself, crawl), settings.state):
                        async with crawl.running(), watched(crawl, counts, settings, quiet=quiet):
                            await _either(stop, cluster.changed)
            except* (DatabaseAway, OwnershipLost) as errors:
                if not quiet:
                    note(f"Note: {errors.exceptions[0]}; going on as soon as that is over")
                await cluster.begin_anew(stop)
    return counts


def _itself(crawl: Crawl) -> Crawl:
    return crawl


async def _either(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
