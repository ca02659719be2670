"""A crawl inside another program: `recrawl.open_crawl`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from recrawl.api.opened import OpenCrawl
from recrawl.api.parts import check_part
from recrawl.api.shared import CrawlInDatabase
from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.ports import Clock, EventSink, Extractor, Fetcher, Frontier, PageIndex
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.reports.status import status_report
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.crawls import OpenParts, Parts, open_parts
from recrawl.crawler.wiring.databases import check_state
from recrawl.crawler.wiring.deliveries import DeliveryThreads, delivering
from recrawl.crawler.wiring.sinks import check_extras
from recrawl.errors import InputError, StateError
from recrawl.terms import Database, Hit, VisitAnswer

_DELIVERED_WITHIN_S: Final = 5.0  # what is still to be told when a crawl is closed


class _Silence(EventSink):
    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        pass


class _CrawlInFolder(OpenCrawl):
    """A crawl that this process has for itself."""

    def __init__(self, opened: OpenParts) -> None:
        super().__init__(opened.settings)
        self._opened = opened
        self._until: asyncio.Timeout | None = None  # it runs

    @override
    async def _run(self, *, once: bool, for_s: float | None) -> None:
        crawl = await self._opened.prepared(once=once)
        try:
            async with self._running(crawl):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.0 if self._is_closed else for_s) as self._until:
                        if once:
                            await crawl.until_done()
                        else:
                            await asyncio.get_running_loop().create_future()  # until cancelled
                if once:
                    await crawl.planner.replan()
        finally:
            self._until = None
            if self._opened.parts.extractor is None:
                crawl.world.extractor.close()

    @override
    def _end(self) -> None:
        if self._until is not None:
            with contextlib.suppress(RuntimeError):  # it is ending by itself
                self._until.reschedule(asyncio.get_running_loop().time())

    @override
    async def _ask(self, urls: Sequence[str]) -> Sequence[int]:
        world = self._opened.world
        return await self._opened.on_state(world.frontier.ask, urls, world.clock.now_s())

    @override
    async def _answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        return await self._opened.on_state(self._opened.world.frontier.answers, numbers)

    @override
    def _found(self, query: str, limit: int, offset: int) -> list[Hit]:
        index = self._opened.world.index
        return self._opened.on_work.now(index.search, query, limit=limit, offset=offset)[1]

    @override
    def _status(self) -> dict[str, Any]:
        return self._opened.on_state.now(status_report, self._opened.world.frontier)


@contextlib.asynccontextmanager
async def open_crawl(  # noqa: PLR0913 - each part can be one's own
    settings: Settings,
    *,
    frontier: Frontier | None = None,
    index: PageIndex | None = None,
    fetcher: Fetcher | None = None,
    extractor: Extractor | None = None,
    clock: Clock | None = None,
    revisit: RevisitPolicy | None = None,
    activation: ActivationPolicy | None = None,
    events: EventSink | None = None,
) -> AsyncIterator[OpenCrawl]:
    """Open a crawl: its state, its index and all that it needs; close it afterwards.

    Its changes are delivered to the sinks of the settings meanwhile, where state and index are
    recrawl's own and no other process delivers them. Where the state is a database, this is one of
    the processes that crawl into it, with adapters of recrawl's own.

    Parameters
    ----------
    settings : what is crawled, and how
    frontier, index, fetcher, extractor, clock : in the place of recrawl's own; they are used from
        one thread each, and not closed
    revisit : when pages are visited again
    activation : which robots run
    events : hears every visit, plan and failure

    Raises
    ------
    StateError
        The state is in use, damaged, or of another version.
    InputError
        A part is a class, or lacks a method that it must have; or it is an adapter, and the state
        is a database.

    Examples
    --------
    ::

        settings = recrawl.Settings(seeds=["https://docs.example.com/"], contact="me@my.domain")
        async with recrawl.open_crawl(settings) as crawl:
            await crawl.run(once=True)
            for hit in crawl.search("task group"):
                print(hit.title, hit.url)
    """
    check_part("frontier", frontier, Frontier)
    check_part("index", index, PageIndex)
    check_part("fetcher", fetcher, Fetcher)
    check_part("extractor", extractor, Extractor)
    check_part("clock", clock, Clock)
    check_part("revisit", revisit, RevisitPolicy)
    check_part("activation", activation, ActivationPolicy)
    check_part("events", events, EventSink)
    parts = Parts(
        frontier=frontier,
        index=index,
        fetcher=fetcher,
        extractor=extractor,
        clock=clock,
        revisit=revisit,
        activation=activation,
    )
    heard = events or _Silence()
    if isinstance(settings.state, Database) and (frontier is None or index is None):
        _check_shared(settings, parts)
        async with _delivering(settings, heard):
            shared = CrawlInDatabase(settings, heard, revisit, activation)
            try:
                yield shared
            finally:
                await shared.close()
        return
    async with open_parts(settings, events=heard, parts=parts) as opened:
        is_ours = frontier is None and index is None
        async with _delivering(settings, heard) if is_ours else contextlib.nullcontext():
            crawl = _CrawlInFolder(opened)
            try:
                yield crawl
            finally:
                await crawl.close()


def _check_shared(settings: Settings, parts: Parts) -> None:
    """Refuse what a crawl into a database does not take, and see that what it needs is there."""
    for name in ("frontier", "index", "fetcher", "extractor", "clock"):
        if getattr(parts, name) is not None:
            raise InputError(
                f"{name}: {settings.state} is a database, into which crawls with adapters of "
                "recrawl's own go; name a folder as state, or leave this part out"
            )
    check_state(settings.state)
    from recrawl.crawler.wiring.cluster import check_parts
    from recrawl.crawler.wiring.together import make_tables

    check_parts(settings)
    make_tables(settings)


@contextlib.asynccontextmanager
async def _delivering(settings: Settings, events: EventSink) -> AsyncIterator[None]:
    """Bring changes to the sinks of the settings meanwhile, unless another process does."""
    check_extras(settings.deliver)
    loop = asyncio.get_running_loop()

    def say(words: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(events.emit, "delivery", {"said": words})

    threads = DeliveryThreads(settings.state, settings.deliver, content_as, say=say)
    with contextlib.ExitStack() as turn:
        if settings.deliver:
            try:
                threads.turn = turn.enter_context(delivering(settings.state, at_once=True))
            except StateError as error:
                say(str(error))
            else:
                threads.start()
        try:
            yield
        finally:
            await asyncio.to_thread(threads.end, _DELIVERED_WITHIN_S)
