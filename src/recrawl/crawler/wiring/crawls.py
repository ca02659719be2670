"""A whole crawl, put together: on this machine, or in virtual time."""

import asyncio
import contextlib
import importlib.util
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from typing_extensions import override

from recrawl.crawler.fetch.archive import ArchivingFetcher, WarcArchive
from recrawl.crawler.fetch.http import FetchBounds, HttpFetcher
from recrawl.crawler.fetch.in_place import InPlaceExtractor
from recrawl.crawler.fetch.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.isolation.reader import Limits
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.frontier.store import drop_copies
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.ports import Clock, EventSink, Fetcher, Frontier, Offload
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER
from recrawl.crawler.runtime.clock import LoopClock
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.runtime.parts import World
from recrawl.crawler.runtime.virtual import run_virtually
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_plan, crawl_rules, seeds_of
from recrawl.crawler.wiring.stores import open_frontier, open_index, open_steps
from recrawl.crawler.wiring.upkeep import is_lost, mend_index
from recrawl.errors import InvalidSettings, StateError

__all__ = ["InPlace", "OnThread", "open_crawl", "run_virtual_crawl"]

P = ParamSpec("P")
T = TypeVar("T")


class OnThread(Offload):
    """Runs calls one after the other on a thread of their own."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        work = partial(call, *args, **kwargs)
        return await loop.run_in_executor(self._pool, work)

    def close(self) -> None:
        """Finish what is under way."""
        self._pool.shutdown()


class InPlace(Offload):
    """Runs calls where they are made: for virtual time, where nothing may happen unseen."""

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return call(*args, **kwargs)


@contextlib.asynccontextmanager
async def open_crawl(
    settings: Settings,
    *,
    events: EventSink,
    clock: Clock | None = None,
    once: bool = False,
) -> AsyncIterator[Crawl]:
    """Open everything that a crawl needs, prepare it, and close it afterwards."""
    if settings.warc is not None and importlib.util.find_spec("warcio") is None:
        raise InvalidSettings("archive.warc needs one more package: install recrawl[warc]")
    threads = [OnThread("state"), OnThread("work"), OnThread("plan")]
    async with contextlib.AsyncExitStack() as stack:
        if is_lost(settings.state):
            raise StateError(
                f"{settings.state}: the database is gone or empty, though the index beside it "
                "holds copies; `recrawl restore` brings a backup back, `recrawl check --repair` "
                "takes the pages in from the index"
            )
        frontier = open_frontier(settings.state)
        stack.callback(frontier.close)
        mended = [] if frontier.facts().get(ENDED_IN_ORDER) else mend_index(settings.state)
        index = open_index(settings.state, language=settings.language)
        stack.callback(index.close)
        prepare = open_steps(settings)
        if prepare is not None:
            stack.callback(prepare.close)
        for thread in threads:  # closed first: they finish what they do with frontier and index
            stack.callback(thread.close)
        fetcher: Fetcher = await stack.enter_async_context(
            HttpFetcher(
                user_agent=settings.user_agent,
                contact=settings.contact,
                bounds=FetchBounds(timeout_s=settings.timeout_s, max_bytes=settings.max_bytes),
                allow_private=settings.allow_private,
                keep_headers=settings.warc is not None,
            )
        )
        clock = clock or LoopClock()
        if settings.warc is not None:
            fetcher = _archiving(stack, settings, settings.warc, fetcher, clock)
        on_state, on_work, on_plan = threads
        limits = Limits(settings.reading_cpu_s, settings.reading_memory_bytes)
        extractor = IsolatedExtractor(settings.name, limits)
        stack.callback(extractor.close)
        world = World(
            clock=clock,
            frontier=frontier,
            fetcher=fetcher,
            extractor=extractor,
            index=index,
            events=events,
            on_state=on_state,
            on_work=on_work,
            prepare=prepare,
        )
        rules = crawl_rules(settings)
        crawl = Crawl(
            world,
            rules,
            crawl_plan(settings),
            seeds=seeds_of(settings, rules),
            on_plan=on_plan,
            once=once,
        )
        found = await crawl.prepare()
        crawl.mended = [*mended, *found.words]
        yield crawl
        drop_copies(settings.state)  # of the state before it was migrated: this version ran well


def _archiving(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    folder: Path,
    fetcher: Fetcher,
    clock: Clock,
) -> Fetcher:
    """Have everything that is fetched written to an archive, on a thread of its own."""
    software, max_bytes = settings.user_agent, settings.warc_max_bytes
    archive = WarcArchive(folder, software=software, max_bytes=max_bytes)
    stack.callback(archive.close)
    thread = OnThread("archive")
    stack.callback(thread.close)
    return ArchivingFetcher(fetcher, archive, thread, clock.now_s)


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
            extractor=InPlaceExtractor(settings.name),
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
