"""A crawl inside another program: `recrawl.open_crawl`."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final

from typing_extensions import override

from recrawl.api.parts import check_part, check_search, one_or_more
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
from recrawl.crawler.wiring.deliveries import DeliveryThreads, delivering
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.crawler.wiring.sinks import check_extras
from recrawl.errors import InputError, StateError
from recrawl.terms import Hit, VisitAnswer

__all__ = ["OpenCrawl", "open_crawl"]


_DELIVERED_WITHIN_S: Final = 5.0  # what is still to be told when a crawl is closed


class _Silence(EventSink):
    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        pass


class OpenCrawl:
    """A crawl whose state is open. Made by :func:`open_crawl`, and closed when that is left."""

    def __init__(self, opened: OpenParts) -> None:
        self._opened = opened
        self._process = os.getpid()
        self._runs = self._is_closed = False
        self._crawl: Crawl | None = None  # while it runs, once it is prepared
        self._until: asyncio.Timeout | None = None  # it runs
        self._news = asyncio.Event()  # of the next that happens: begun, pages recorded, ended

    @property
    def is_running(self) -> bool:
        """True while :meth:`run` is under way."""
        return self._runs

    async def run(self, *, once: bool = False, for_s: float | None = None) -> None:
        """Crawl, and keep the index fresh, until cancelled; then everything is ended in order.

        It returns as well when the crawl is closed, which waits for that. What a part of yours
        raises ends it, and comes out in an ``ExceptionGroup``.

        Parameters
        ----------
        once : return when every page has been visited once that can be
        for_s : return after so many seconds

        Raises
        ------
        StateError
            It runs already, or the crawl is closed.
        """
        self._check_open()
        if self._runs:
            raise StateError("this crawl runs already; one `run` at a time")
        if for_s is not None and not for_s > 0:
            raise InputError(f"for_s: {for_s} must be > 0")
        self._runs = True
        try:
            await self._run(await self._opened.prepared(once=once), once=once, for_s=for_s)
        finally:
            self._runs, self._crawl = False, None
            self._tell()

    async def _run(self, crawl: Crawl, *, once: bool, for_s: float | None) -> None:
        self._crawl = crawl
        crawl.recorder.on_flush(self._tell)
        self._tell()
        try:
            async with crawl.running():
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

    def _tell(self) -> None:
        """Wake whoever waits for news, and have others wait for the next."""
        self._news.set()
        self._news = asyncio.Event()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StateError("this crawl is closed: `async with recrawl.open_crawl` was left")
        if os.getpid() != self._process:  # its threads are not here, and would be waited for
            raise StateError(
                "this crawl was opened by another process, of which this one is a fork; look at "
                "its state with recrawl.open_state"
            )

    async def close(self) -> None:
        """End what runs, in order, before its state is closed; :func:`open_crawl` does this."""
        self._is_closed = True
        if self._until is not None:
            with contextlib.suppress(RuntimeError):  # it is ending by itself
                self._until.reschedule(asyncio.get_running_loop().time())
        while self._runs:
            await self._news.wait()

    async def visit(
        self, urls: str | Iterable[str], *, wait: bool = True, timeout_s: float = 300.0
    ) -> list[VisitAnswer]:
        """Have pages visited now, before all others, within politeness and budget.

        Parameters
        ----------
        urls : addresses, one or several; those that are not known yet are taken in, if they belong
            to the scope
        wait : return when they have been visited, and what changed can be found
        timeout_s : wait no longer than this, nor than the crawl runs; answers without an outcome
            are still to come

        Raises
        ------
        InputError
            An address is none, or does not belong to the crawl.
        StateError
            There is nothing to wait for, as the crawl does not run; or it is closed.
        """
        self._check_open()
        asked = self._checked(urls)
        opened = self._opened
        await asyncio.sleep(0)  # a task that was made to run it may begin
        if wait and not self._runs:
            raise StateError(
                "the crawl does not run: start `run` as a task, or ask with wait=False"
            )
        frontier, on_state = opened.world.frontier, opened.on_state
        numbers = await on_state(frontier.ask, asked, opened.world.clock.now_s())
        if wait:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._answered(numbers)
        self._check_open()
        return await on_state(frontier.answers, numbers)

    async def _answered(self, numbers: Sequence[int]) -> None:
        """Wait until these questions are answered, or the crawl has ended."""
        while self._runs and self._crawl is None:
            await self._news.wait()
        if self._crawl is not None:
            await self._crawl.asked.look()
        opened = self._opened
        while self._runs:
            news = self._news  # of what happens while the state answers, too
            answers = await opened.on_state(opened.world.frontier.answers, numbers)
            if all(one.outcome is not None for one in answers):
                return
            await news.wait()

    def search(self, query: str, *, limit: int = 10, offset: int = 0) -> list[Hit]:
        """Return the best pages of the index for a query, best first; some milliseconds.

        Raises
        ------
        InputError
            The query is no text, or limit or offset no whole number from 0 on.
        """
        check_search(query, limit, offset)
        self._check_open()
        opened = self._opened
        return opened.on_work.now(opened.world.index.search, query, limit=limit, offset=offset)[1]

    def status(self) -> dict[str, Any]:
        """Return pages, visits, budget, price, freshness and control: ``recrawl status``."""
        self._check_open()
        return self._opened.on_state.now(status_report, self._opened.world.frontier)

    def _checked(self, urls: str | Iterable[str]) -> Sequence[str]:
        scope = crawl_rules(self._opened.settings).admission.scope
        asked = []
        for text in one_or_more("urls", urls):
            url = normalise(text) if isinstance(text, str) else None
            if url is None:
                raise InputError(
                    f"urls: {text!r:.200} is no http or https address, such as https://example.org/"
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
    InputError
        A part is a class, or lacks a method that it must have.

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
    async with open_parts(settings, events=heard, parts=parts) as opened:
        is_ours = frontier is None and index is None
        async with _delivering(settings, heard) if is_ours else contextlib.nullcontext():
            crawl = OpenCrawl(opened)
            try:
                yield crawl
            finally:
                await crawl.close()


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
