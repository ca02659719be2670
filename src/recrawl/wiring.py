"""The only module that names concrete adapters: plain constructor calls."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from typing_extensions import override

from recrawl.control.admission import Admission
from recrawl.control.lifecycle import RevisitRules
from recrawl.control.politeness import PolitenessRules
from recrawl.control.retry import Backoff
from recrawl.control.scope import Scope, Weights
from recrawl.fetch.extract import PageExtractor
from recrawl.fetch.http import FetchBounds, HttpFetcher
from recrawl.frontier.memory import MemoryFrontier
from recrawl.frontier.sqlite import SqliteFrontier
from recrawl.index.memory import MemoryIndex
from recrawl.index.tantivy import TantivyIndex
from recrawl.ports import AdmissionLimits, Clock, EventSink, Fetcher, Offload
from recrawl.runtime.clock import LoopClock
from recrawl.runtime.crawl import Crawl, CrawlPlan
from recrawl.runtime.parts import Rules, World
from recrawl.runtime.virtual import run_virtually
from recrawl.settings import Settings
from recrawl.simulation.fetcher import SiteFetcher
from recrawl.simulation.site import Site

__all__ = [
    "InPlace",
    "OnThread",
    "crawl_plan",
    "crawl_rules",
    "open_crawl",
    "open_frontier",
    "open_index",
    "run_virtual_crawl",
]

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


def crawl_rules(settings: Settings) -> Rules:
    """Return the rules that settings stand for."""
    scope = Scope(
        hosts=settings.hosts,
        include=settings.include,
        exclude=settings.exclude,
        max_depth=settings.max_depth,
        max_hops=settings.max_redirects,
    )
    admission = Admission(
        scope, Weights(settings.weights), sitemaps=settings.sitemaps, feeds=settings.feeds
    )
    revisit = RevisitRules(
        min_interval_s=settings.min_interval_s,
        max_interval_s=settings.max_interval_s,
        initial_interval_s=settings.initial_interval_s,
        confirm_s=settings.confirm_s,
        retry_s=max(settings.min_interval_s, settings.first_backoff_s),
        listing_s=settings.listing_s,
    )
    limits = AdmissionLimits(
        max_pages=settings.max_pages,
        max_pages_per_host=settings.max_pages_per_host,
        max_query_variants=settings.max_query_variants,
    )
    return Rules(
        agent=settings.name,
        admission=admission,
        limits=limits,
        revisit=revisit,
        n_robots=settings.n_robots,
        buffer_capacity=settings.buffer_capacity,
        buffer_deadline_s=settings.buffer_deadline_s,
        lease_s=2.0 * settings.buffer_deadline_s + 20.0 * settings.timeout_s,
        discovery_share=settings.discovery_share,
        replan_s=settings.replan_s,
        prior_rate_per_s=settings.prior_rate_per_s,
        commit_s=settings.commit_s,
    )


def crawl_plan(settings: Settings) -> CrawlPlan:
    """Return the budget and the manners that settings stand for."""
    backoff = Backoff(first_s=settings.first_backoff_s, longest_s=settings.longest_backoff_s)
    return CrawlPlan(
        budget_per_s=settings.budget_per_s,
        burst_s=settings.burst_s,
        politeness=PolitenessRules(delay_s=settings.delay_s, backoff=backoff),
        measure=settings.measure,
    )


def open_frontier(state: Path, *, read_only: bool = False) -> SqliteFrontier:
    """Open the frontier of a state directory."""
    return SqliteFrontier(state, read_only=read_only)


def open_index(state: Path, *, language: str = "english", read_only: bool = False) -> TantivyIndex:
    """Open the index of a state directory."""
    return TantivyIndex(state / "index", language=language, read_only=read_only)


@contextlib.asynccontextmanager
async def open_crawl(
    settings: Settings,
    *,
    events: EventSink,
    clock: Clock | None = None,
    once: bool = False,
) -> AsyncIterator[Crawl]:
    """Open everything that a crawl needs, prepare it, and close it afterwards."""
    threads = [OnThread("state"), OnThread("work"), OnThread("plan")]
    async with contextlib.AsyncExitStack() as stack:
        frontier = open_frontier(settings.state)
        stack.callback(frontier.close)
        index = open_index(settings.state, language=settings.language)
        stack.callback(index.close)
        for thread in threads:  # closed first: they finish what they do with frontier and index
            stack.callback(thread.close)
        fetcher: Fetcher = await stack.enter_async_context(
            HttpFetcher(
                user_agent=settings.user_agent,
                contact=settings.contact,
                bounds=FetchBounds(timeout_s=settings.timeout_s, max_bytes=settings.max_bytes),
                allow_private=settings.allow_private,
            )
        )
        on_state, on_work, on_plan = threads
        world = World(
            clock=clock or LoopClock(),
            frontier=frontier,
            fetcher=fetcher,
            extractor=PageExtractor(settings.name),
            index=index,
            events=events,
            on_state=on_state,
            on_work=on_work,
        )
        rules = crawl_rules(settings)
        crawl = Crawl(
            world,
            rules,
            crawl_plan(settings),
            seeds=rules.admission.of(settings.seeds),
            on_plan=on_plan,
            once=once,
        )
        await crawl.prepare()
        yield crawl


def run_virtual_crawl(
    settings: Settings,
    site: Site,
    *,
    events: EventSink,
    epoch_s: float,
    until_s: float,
    speed: float = 1.0,
    access_s: float = 0.003,
) -> None:
    """Crawl a synthetic web in virtual time, in memory, by the same engine and rules.

    Parameters
    ----------
    settings : of the crawl; its state directory is not used
    site : what is crawled
    events : hears every visit
    epoch_s, until_s : when it starts and ends, in the web's time
    speed : crawl seconds per second of the loop
    access_s : what an exchange takes, in seconds of the loop
    """

    async def crawl_it() -> None:
        clock = LoopClock(epoch_s=epoch_s, speed=speed)
        in_place = InPlace()
        world = World(
            clock=clock,
            frontier=MemoryFrontier(),
            fetcher=SiteFetcher(site, clock, access_s=access_s * speed),
            extractor=PageExtractor(settings.name),
            index=MemoryIndex(),
            events=events,
            on_state=in_place,
            on_work=in_place,
        )
        rules = crawl_rules(settings)
        seeds = rules.admission.of(settings.seeds)
        crawl = Crawl(world, rules, crawl_plan(settings), seeds=seeds, on_plan=in_place)
        await crawl.prepare()
        async with crawl.running():
            await clock.sleep_until(until_s)

    run_virtually(crawl_it())
