"""A crawl inside another program: `recrawl.open_crawl`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from recrawl.crawler.control.activation import ActivationPolicy
from recrawl.crawler.control.revisit_policy import RevisitPolicy
from recrawl.crawler.control.scope import why_outside
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.ports import Clock, EventSink, Extractor, Fetcher, Frontier, PageIndex
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.reports.status import status_report
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.crawls import OpenParts, Parts, open_parts
from recrawl.crawler.wiring.deliveries import DeliveryThreads, check_extras, delivering
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.errors import InputError, StateError
from recrawl.terms import Hit, VisitAnswer

__all__ = ["OpenCrawl", "open_crawl"]


_DELIVERED_WITHIN_S: Final = 5.0  # what is still to be told when a crawl is closed


class _Silence(EventSink):
    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        pass


class OpenCrawl:
    """A crawl whose state is open. Made by :func:`open_crawl`."""

    def __init__(self, opened: OpenParts) -> None:
        self._opened = opened
        self._runs = False
        self._crawl: Crawl | None = None  # while it runs, once it is prepared
        self._ready = asyncio.Event()

    @property
    def is_running(self) -> bool:
        """True while :meth:`run` is under way."""
        return self._runs

    async def run(self, *, once: bool = False, for_s: float | None = None) -> None:
        """Crawl, and keep the index fresh, until cancelled; then everything is ended in order.

        Parameters
        ----------
        once : return when every page has been visited once that can be
        for_s : return after so many seconds

        Raises
        ------
        StateError
            It runs already.
        """
        if self._runs:
            raise StateError("this crawl runs already; one `run` at a time")
        if for_s is not None and not for_s > 0:
            raise InputError(f"for_s: {for_s} must be > 0")
        self._runs = True
        try:
            await self._run(await self._opened.prepared(once=once), once=once, for_s=for_s)
        finally:
            self._runs, self._crawl = False, None
            self._ready.clear()

    async def _run(self, crawl: Crawl, *, once: bool, for_s: float | None) -> None:
        self._crawl = crawl
        self._ready.set()
        try:
            async with crawl.running():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(for_s):
                        if once:
                            await crawl.until_done()
                        else:
                            await asyncio.get_running_loop().create_future()  # until cancelled
                if once:
                    await crawl.planner.replan()
        finally:
            if self._opened.parts.extractor is None:
                crawl.world.extractor.close()

    async def visit(
        self, urls: Iterable[str], *, wait: bool = True, timeout_s: float = 300.0
    ) -> list[VisitAnswer]:
        """Have pages visited now, before all others, within politeness and budget.

        Parameters
        ----------
        urls : addresses; those that are not known yet are taken in, if they belong to the scope
        wait : return when they have been visited, and what changed can be found
        timeout_s : wait no longer than this; answers without an outcome are still to come

        Raises
        ------
        InputError
            An address is none, or does not belong to the crawl.
        StateError
            There is nothing to wait for, as the crawl does not run.
        """
        asked = self._checked(urls)
        opened = self._opened
        await asyncio.sleep(0)  # a task that was made to run it may begin
        if wait and not self._runs:
            raise StateError(
                "the crawl does not run: start `run` as a task, or ask with wait=False"
            )
        frontier, on_state = opened.world.frontier, opened.on_state
        numbers = await on_state(frontier.ask, asked, opened.world.clock.now_s())
        if not wait:
            return await on_state(frontier.answers, numbers)
        await self._ready.wait()
        crawl = self._crawl
        assert crawl is not None
        flushed = asyncio.Event()
        crawl.recorder.on_flush(flushed.set)
        await crawl.asked.look()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while any(one.outcome is None for one in await on_state(frontier.answers, numbers)):
                    await flushed.wait()
                    flushed.clear()
        return await on_state(frontier.answers, numbers)

    def search(self, query: str, *, limit: int = 10, offset: int = 0) -> list[Hit]:
        """Return the best pages of the index for a query, best first; some milliseconds."""
        opened = self._opened
        return opened.on_work.now(opened.world.index.search, query, limit=limit, offset=offset)[1]

    def status(self) -> dict[str, Any]:
        """Return pages, visits, budget, price, freshness and control: ``recrawl status``."""
        return self._opened.on_state.now(status_report, self._opened.world.frontier)

    def _checked(self, urls: Iterable[str]) -> Sequence[str]:
        scope = crawl_rules(self._opened.settings).admission.scope
        asked = []
        for text in urls:
            url = normalise(text)
            if url is None:
                raise InputError(
                    f"urls: {text[:200]!r} is no http or https address, such as "
                    "https://example.org/"
                )
            outside = why_outside(scope, url, depth=0, hops=0)
            if outside is not None:
                raise InputError(f"urls: {url} does not belong to this crawl: {outside}")
            asked.append(url)
        return list(dict.fromkeys(asked))


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
    recrawl's own and no other process delivers them.

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

    Examples
    --------
    ::

        settings = recrawl.Settings(seeds=["https://docs.example.com/"], contact="me@my.domain")
        async with recrawl.open_crawl(settings) as crawl:
            await crawl.run(once=True)
            for hit in crawl.search("task group"):
                print(hit.title, hit.url)
    """
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
    async with open_parts(settings, events=heard, parts=parts) as opened:
        is_ours = frontier is None and index is None
        async with _delivering(settings, heard) if is_ours else contextlib.nullcontext():
            yield OpenCrawl(opened)


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
