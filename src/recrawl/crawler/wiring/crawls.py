"""A whole crawl, put together: on this machine, or in virtual time."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.fetch.reading.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.reading.isolation.reader import Limits
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.frontier.store import drop_copies
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import (
    Clock,
    EventSink,
    Extractor,
    Fetcher,
    Frontier,
    PageIndex,
    Resolver,
)
from recrawl.crawler.runtime.clock import LoopClock, WallClock
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.runtime.parts import World
from recrawl.crawler.runtime.virtual import run_virtually
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.archives import archiving, check_archive
from recrawl.crawler.wiring.fetchers import (
    browser_fetcher,
    check_browser,
    check_seeds,
    http_fetcher,
)
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.reading import reading_rules
from recrawl.crawler.wiring.rules import crawl_plan, crawl_rules, seeds_of, with_policies
from recrawl.crawler.wiring.stores import open_frontier, open_steps, open_subscriptions
from recrawl.crawler.wiring.threads import InPlace, OnThread
from recrawl.crawler.wiring.upkeep import is_lost, mend_index
from recrawl.errors import InvalidSettings, StateError


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Adapters and policies that a crawl uses in place of its own; not closed by it.

    Parameters
    ----------
    frontier, index, fetcher, extractor, clock : adapters of the ports
    revisit : when pages are visited again; default: as the settings say
    activation : which robots run; default: as the settings say
    """

    frontier: Frontier | None = None
    index: PageIndex | None = None
    fetcher: Fetcher | None = None
    extractor: Extractor | None = None
    clock: Clock | None = None
    revisit: RevisitPolicy | None = None
    activation: ActivationPolicy | None = None


@dataclass(frozen=True, slots=True)
class OpenParts:
    """The parts of a crawl, opened: crawls are made of them, one after the other."""

    settings: Settings
    parts: Parts
    world: World
    on_state: OnThread
    on_work: OnThread
    on_plan: OnThread
    mended: tuple[str, ...]

    async def prepared(self, *, once: bool = False) -> Crawl:
        """Put a crawl together, and have its state agree with its index."""
        limits = Limits(self.settings.reading_cpu_s, self.settings.reading_memory_bytes)
        reading = reading_rules(self.settings)
        extractor = self.parts.extractor or IsolatedExtractor(self.settings.name, limits, reading)
        rules, plan = crawl_rules(self.settings), crawl_plan(self.settings)
        plan = with_policies(plan, self.parts.revisit, self.parts.activation)
        crawl = Crawl(
            replace(self.world, extractor=extractor),
            rules,
            plan,
            seeds=seeds_of(self.settings, rules),
            on_plan=self.on_plan,
            once=once,
        )
        found = await crawl.prepare()
        crawl.mended = [*self.mended, *found.words]
        return crawl


@contextlib.asynccontextmanager
async def open_crawl(
    settings: Settings,
    *,
    events: EventSink,
    clock: Clock | None = None,
) -> AsyncIterator[Crawl]:
    """Open everything that a crawl needs, prepare it, and close it afterwards.

    Parameters
    ----------
    settings : of a crawl that one process has
    events : is told what happens
    clock : of the crawl; default: that of the wall
    """
    async with open_parts(settings, events=events, parts=Parts(clock=clock)) as opened:
        crawl = await opened.prepared()
        try:
            yield crawl
        finally:
            crawl.world.extractor.close()


@contextlib.asynccontextmanager
async def open_parts(
    settings: Settings, *, events: EventSink, parts: Parts | None = None
) -> AsyncIterator[OpenParts]:
    """Open everything that crawls of a state need, and close it afterwards.

    Parameters
    ----------
    settings : of a crawl that one process has
    events : is told what happens
    parts : those that are there already; the others are opened as the settings say
    """
    parts = parts or Parts()
    check_archive(settings)
    # What the configuration names and is not there is said before anything is written.
    reading, unopened = reading_rules(settings), http_fetcher(settings)
    check_browser(settings)
    if parts.fetcher is None:
        check_seeds(settings)
    on_state, on_work, on_plan = (OnThread(name) for name in ("state", "work", "plan"))
    async with contextlib.AsyncExitStack() as stack:
        frontier, index, mended = _opened(stack, settings, parts)
        prepare = open_steps(settings)
        if prepare is not None:
            stack.callback(prepare.close)
        for thread in (on_state, on_work, on_plan):
            stack.callback(thread.close)  # first: they finish what they do with frontier and index
        clock = parts.clock or WallClock()
        client = await stack.enter_async_context(unopened)
        fetcher: Fetcher = parts.fetcher or client
        subscriptions = open_subscriptions(settings.state) if settings.callback else None
        if subscriptions is not None:
            stack.callback(subscriptions.close)
        if settings.warc is not None:
            fetcher = archiving(stack, settings, settings.warc, fetcher, clock)
        if settings.render:
            fetcher = await stack.enter_async_context(
                await browser_fetcher(stack, settings, fetcher)
            )
        world = World(
            clock=clock,
            frontier=frontier,
            fetcher=fetcher,
            extractor=parts.extractor or InPlaceExtractor(settings.name, rules=reading),
            index=index,
            events=events,
            on_state=on_state,
            on_work=on_work,
            prepare=prepare,
            hubs=client,
            subscriptions=subscriptions,
            resolver=_resolver(settings, parts.fetcher or client),
        )
        yield OpenParts(settings, parts, world, on_state, on_work, on_plan, tuple(mended))
        if parts.frontier is None:
            drop_copies(
                _folder(settings)
            )  # of the state before its migration: this version ran well


def _resolver(settings: Settings, fetcher: Fetcher) -> Resolver | None:
    return fetcher if settings.per_address and isinstance(fetcher, Resolver) else None


def _opened(
    stack: contextlib.ExitStack | contextlib.AsyncExitStack, settings: Settings, parts: Parts
) -> tuple[Frontier, PageIndex, list[str]]:
    """Return frontier and index, and what was mended to open them."""
    mended: list[str] = []
    frontier, index = parts.frontier, parts.index
    if frontier is None:
        if index is None and is_lost(_folder(settings)):
            raise StateError(
                f"{settings.state}: the database is gone or empty, though the index beside it "
                "holds copies; `recrawl restore` brings a backup back, `recrawl check --repair` "
                "takes the pages in from the index"
            )
        frontier = open_frontier(settings.state)
        stack.callback(frontier.close)
    if index is None:
        mended = [] if frontier.facts().end.ended_in_order else mend_index(_folder(settings))
        index = open_index(settings.state, language=settings.language)
        stack.callback(index.close)
        if isinstance(index, TantivyIndex):
            if n := index.n_brought:
                mended.append(f"{n:,} copies were brought over from another version's index")
            if n := index.change_language(settings.language):
                mended.append(f"{n:,} copies were indexed anew, as index.language is another one")
    return frontier, index, mended


def _folder(settings: Settings) -> Path:
    """Return the state directory of a crawl that one process has.

    Raises
    ------
    InvalidSettings
        The state is a database, that processes share.
    """
    if isinstance(settings.state, Path):
        return settings.state
    raise InvalidSettings(
        f"state: {settings.state} is a database, into which crawls with a frontier and an index of "
        "recrawl's own go; name a folder for a crawl with others"
    )


def run_virtual_crawl(
    settings: Settings,
    fetcher_at: Callable[[Clock], Fetcher],
    *,
    events: EventSink,
    epoch_s: float,
    until_s: float,
    speed: float = 1.0,
    frontier: Frontier | None = None,
) -> None:
    """Crawl in virtual time whatever a fetcher brings, by the same engine and rules.

    Parameters
    ----------
    settings : of the crawl; its state directory is not used
    fetcher_at : makes the fetcher, which tells the time by the clock that it is given
    events : hears every visit
    epoch_s, until_s : when it starts and ends, in the web's time
    speed : crawl seconds per second of the loop
    frontier : default: one in memory
    """

    async def crawl_it() -> None:
        clock = LoopClock(epoch_s=epoch_s, speed=speed)
        in_place = InPlace()
        world = World(
            clock=clock,
            frontier=frontier or MemoryFrontier(),
            fetcher=fetcher_at(clock),
            extractor=InPlaceExtractor(settings.name, rules=reading_rules(settings)),
            index=MemoryIndex(),
            events=events,
            on_state=in_place,
            on_work=in_place,
        )
        rules = crawl_rules(settings)
        seeds = seeds_of(settings, rules)
        crawl = Crawl(world, rules, crawl_plan(settings), seeds=seeds, on_plan=in_place)
        await crawl.prepare()
        async with crawl.running():
            await clock.sleep_until(until_s)

    run_virtually(crawl_it())
