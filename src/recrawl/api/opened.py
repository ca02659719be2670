"""A crawl inside another program, whose state is open."""

import asyncio
import contextlib
import os
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from recrawl.api.parts import check_search, one_or_more
from recrawl.crawler.control.addresses.scope import why_outside
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.errors import InputError, StateError
from recrawl.terms import Hit, VisitAnswer


class OpenCrawl:
    """A crawl whose state is open. Made by :func:`open_crawl`, and closed when that is left."""

    _look_every_s: float | None = None  # for what is recorded elsewhere

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process = os.getpid()
        self._runs = self._is_closed = False
        self._crawl: Crawl | None = None  # while it runs, once it is prepared
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
            await self._run(once=once, for_s=for_s)
        finally:
            self._runs, self._crawl = False, None
            self._tell()

    @abstractmethod
    async def _run(self, *, once: bool, for_s: float | None) -> None: ...

    @contextlib.asynccontextmanager
    async def _running(self, crawl: Crawl) -> AsyncIterator[None]:
        """Have a crawl run, and who waits for news hear of it."""
        self._crawl = crawl
        crawl.recorder.on_flush(self._tell)
        self._tell()
        async with crawl.running():
            yield

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
        self._end()
        while self._runs:
            await self._news.wait()

    @abstractmethod
    def _end(self) -> None:
        """Have :meth:`run` end, if it is under way."""

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
        await asyncio.sleep(0)  # a task that was made to run it may begin
        if wait and not self._runs:
            raise StateError(
                "the crawl does not run: start `run` as a task, or ask with wait=False"
            )
        numbers = await self._ask(asked)
        if wait:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._answered(numbers)
        self._check_open()
        return await self._answers(numbers)

    @abstractmethod
    async def _ask(self, urls: Sequence[str]) -> Sequence[int]: ...

    @abstractmethod
    async def _answers(self, numbers: Sequence[int]) -> list[VisitAnswer]: ...

    async def _answered(self, numbers: Sequence[int]) -> None:
        """Wait until these questions are answered, or the crawl has ended."""
        while self._runs and self._crawl is None:
            await self._news.wait()
        if self._crawl is not None:
            await self._crawl.asked.look()
        while self._runs:
            news = self._news  # of what happens while the state answers, too
            answers = await self._answers(numbers)
            if all(one.outcome is not None for one in answers):
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._look_every_s):
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
        return self._found(query, limit, offset)

    @abstractmethod
    def _found(self, query: str, limit: int, offset: int) -> list[Hit]: ...

    def status(self) -> dict[str, Any]:
        """Return pages, visits, budget, price, freshness and control: ``recrawl status``."""
        self._check_open()
        return self._status()

    @abstractmethod
    def _status(self) -> dict[str, Any]: ...

    def _checked(self, urls: str | Iterable[str]) -> Sequence[str]:
        scope = crawl_rules(self._settings).admission.scope
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
