"""`recrawl run` on a database: the crawl that several processes share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

from recrawl.cli.crawler.attending import Ears, interruptible, stopped_by_signals, watched
from recrawl.cli.crawler.memory import trimmed
from recrawl.cli.crawler.reload import ConfigWatch
from recrawl.cli.crawler.telling import greet, tell_blocked, tell_nothing
from recrawl.cli.output import note
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.databases import check_state
from recrawl.crawler.wiring.sinks import check_extras
from recrawl.terms import Database

if TYPE_CHECKING:
    from recrawl.crawler.database.membership import Membership
    from recrawl.crawler.wiring.cluster import Cluster

_NO_HOST = (
    "Note: all hosts that are known so far are other processes'; this one gets some of those that "
    "are found, or theirs when they end"
)


def await_database(settings: Settings, limit_s: float | None) -> bool:
    """Wait for the database of a configuration, after all else that it names was found.

    Parameters
    ----------
    limit_s : wait no longer than a crawl of so long; None: one without an end

    Returns
    -------
    Whether it answers; not so where this process was stopped by a signal first.
    """
    check_state(settings.state)
    from recrawl.crawler.database.connections import PATIENCE_S, await_server
    from recrawl.crawler.wiring.cluster import check_parts

    assert isinstance(settings.state, Database)
    check_extras(settings.deliver)
    check_parts(settings)
    try:
        with interruptible():
            await_server(settings.state, note, limit_s=min(limit_s or PATIENCE_S, PATIENCE_S))
    except KeyboardInterrupt:
        return False
    return True


def joined(settings: Settings, limit_s: float | None, *, once: bool) -> "Membership | None":
    """Make this process one of those that crawl; wait where the database has gone away again.

    Parameters
    ----------
    limit_s : as of :func:`await_database`
    once : a single pass

    Returns
    -------
    None where this process was stopped by a signal first.
    """
    from recrawl.crawler.database.connections import PATIENCE_S, patiently
    from recrawl.crawler.wiring.cluster import Joining

    assert isinstance(settings.state, Database)
    joining = Joining(settings, once=once)
    try:
        with interruptible():
            limit_s = min(limit_s or PATIENCE_S, PATIENCE_S)
            return patiently(joining, settings.state, note, limit_s=limit_s)
    except KeyboardInterrupt:
        joining.give_up()
        return None
    except BaseException:
        joining.give_up()
        raise


async def run_together(
    settings: Settings,
    *,
    limit_s: float | None,
    once: bool,
    quiet: bool,
    ears: Ears,
    watch: ConfigWatch | None,
    member: "Membership",
) -> CountingSink:
    """Crawl the shards of this process, and others when they are to be others, until stopped."""
    assert watch is None, "for a crawl of one machine"
    from recrawl.crawler.wiring.cluster import open_cluster
    from recrawl.crawler.wiring.together import crawl_together

    counts, stop, is_greeted = CountingSink(), stopped_by_signals(), False
    if limit_s is not None:
        asyncio.get_running_loop().call_later(limit_s, stop.set)

    @contextlib.asynccontextmanager
    async def running(crawl: Crawl) -> AsyncIterator[None]:
        nonlocal is_greeted
        if not is_greeted:
            await greet(crawl, settings, quiet=quiet)
            if not (quiet or cluster.is_alone or crawl.dispatcher.hosts()):
                note(_NO_HOST)
            is_greeted = True
        with ears.listening(counts, partial(_itself, crawl), settings.state):
            async with (
                crawl.running(),
                watched(crawl, counts, settings, quiet=quiet),
                trimmed(),
            ):
                yield
        await _told(cluster, crawl, settings, ended=stop.is_set(), quiet=quiet)

    def trouble(words: str) -> None:
        counts.emit("state-away", {"said": words})
        if not quiet or counts.then is None:
            note(f"Note: {words}; going on as soon as that is over")

    async with open_cluster(settings, member, events=counts, once=once) as cluster:
        await crawl_together(cluster, stop, once=once, running=running, trouble=trouble)
    return counts


async def _told(
    cluster: "Cluster", crawl: Crawl, settings: Settings, *, ended: bool, quiet: bool
) -> None:
    """Say what is to be known at the end, if this is the end."""
    if cluster.is_over and not quiet:
        tell_blocked(crawl)
    if cluster.is_alone and (ended or cluster.is_over):  # others know other hosts
        await tell_nothing(crawl, settings, quiet=quiet)


def _itself(crawl: Crawl) -> Crawl:
    return crawl
