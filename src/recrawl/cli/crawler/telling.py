"""Messages of `recrawl run` to people when a crawl begins, and when it ends."""

import gc

from recrawl.cli.output import note
from recrawl.crawler.control.dispatching.host_records import host_record
from recrawl.crawler.reports.moves import moved_away, moved_words
from recrawl.crawler.reports.nothing import why_nothing, why_only_seeds
from recrawl.crawler.reports.sharing import Sharing
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.contradictions import contradictions, first_pass_words
from recrawl.crawler.wiring.access import unheeded_proxies
from recrawl.errors import NothingIndexed
from recrawl.quantities import show_duration


async def greet(crawl: Crawl, settings: Settings, *, quiet: bool) -> None:
    """Say what is to be known of a crawl that begins."""
    if not crawl.seeds:
        await tell_nothing(crawl, settings, quiet=quiet)
    if not quiet:
        told = [*contradictions(settings), *unheeded_proxies(settings)]
        for words in [*told, *first_pass_words(settings), *crawl.mended]:
            note(f"Note: {words}")
    # Pages come and go by the hundred; what stands by now is not looked through every time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


async def tell_nothing(crawl: Crawl, settings: Settings, *, quiet: bool) -> None:
    """Say why nothing was indexed, if nothing was; or nothing but the seeds.

    Raises
    ------
    NothingIndexed
        Nothing was: the message says what would change that.
    """
    nothing = await crawl.world.on_state(why_nothing, crawl.world.frontier, settings)
    if nothing is not None:
        raise NothingIndexed(f"nothing was indexed: {nothing}")
    alone = await crawl.world.on_state(why_only_seeds, crawl.world.frontier, settings)
    if alone is not None and not quiet:
        note(f"Note: nothing but the seeds was found: {alone}")


def tell_blocked(crawl: Crawl) -> None:
    """Say which hosts a single pass has left out, and why."""
    hosts = [host_record(crawl.dispatcher, one.host_id) for one in crawl.dispatcher.hosts()]
    for host in Sharing(hosts, crawl.facts(), crawl.now_s).blocked():
        wait_s = host.blocked_until_s - crawl.now_s
        note(f"{host.host} was left out: {host.blocked_why} (for another {show_duration(wait_s)})")


async def tell_moved(crawl: Crawl) -> None:
    """Say which hosts have moved to where the crawl does not go."""
    for row in await crawl.world.on_state(moved_away, crawl.world.frontier):
        note(moved_words(row))
