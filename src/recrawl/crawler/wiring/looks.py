"""One page looked at as a crawl would read it; nothing is kept of it."""

import asyncio
import contextlib
from dataclasses import dataclass, replace

from recrawl.crawler.control.dispatching.robots_txt import RobotsRules
from recrawl.crawler.control.urls import host_of, join
from recrawl.crawler.fetch.reading.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.reading.isolation.reader import Limits
from recrawl.crawler.fetch.reading.markdown import is_available
from recrawl.crawler.fetch.reading.reading_rules import ContentRule
from recrawl.crawler.fetch.robots import REDIRECTS, robots_of
from recrawl.crawler.ports import Fetcher
from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import ContentSettings
from recrawl.crawler.wiring.fetchers import browser_fetcher, http_fetcher
from recrawl.crawler.wiring.reading import reading_rules
from recrawl.errors import FetchError
from recrawl.terms import INDEXABLE, Extract, FetchResponse

_MOST_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class Look:
    """Result of a look at a page.

    Parameters
    ----------
    response : its answer
    extract : what it says
    rule : for its content, if there is one
    """

    response: FetchResponse
    extract: Extract
    rule: ContentRule | None


def look_at(settings: Settings, url: str) -> FetchResponse:
    """Fetch one page as the crawl would: robots.txt first, by a browser where that is wanted.

    Parameters
    ----------
    settings : of the crawl
    url : of the page; redirects are followed

    Raises
    ------
    FetchError
        It cannot be had, or robots.txt forbids it.
    """

    async def fetched() -> FetchResponse:
        async with contextlib.AsyncExitStack() as stack:
            fetcher: Fetcher = await stack.enter_async_context(http_fetcher(settings))
            if settings.render:
                browser = await browser_fetcher(stack, settings, fetcher)
                fetcher = await stack.enter_async_context(browser)
            return await _followed(fetcher, settings, url)

    return asyncio.run(fetched())


async def _followed(fetcher: Fetcher, settings: Settings, url: str) -> FetchResponse:
    known: dict[str, RobotsRules] = {}
    asked: set[str] = set()

    async def before(at: str) -> None:
        if host_of(at) in asked:
            await asyncio.sleep(settings.delay_s)
        asked.add(host_of(at))

    for _ in range(_MOST_REDIRECTS + 1):
        host = host_of(url)
        if host not in known:
            known[host] = await robots_of(fetcher, host, settings.name, before)
        if not known[host].reachable:
            raise FetchError("robots", f"{host}/robots.txt cannot be had: nothing may be asked for")
        if not known[host].allows(url):
            raise FetchError("robots", "robots.txt forbids it")
        await before(url)
        response = await fetcher.fetch(url, pages_only=True)
        following = join(url, response.location) if response.location else None
        if response.status not in REDIRECTS or following is None:
            return response
        url = following
    raise FetchError("redirects", f"more than {_MOST_REDIRECTS} redirects")


def read_as(
    settings: Settings, response: FetchResponse, instead: ContentSettings | None = None
) -> Look:
    """Read a page in a process of its own, with its main content as Markdown where that can be.

    Parameters
    ----------
    instead : a rule in the place of those of the configuration

    Raises
    ------
    FetchError
        There is nothing to read in it.
    PoisonPage
        Reading takes more than it may.
    """
    if response.status != 200:
        raise FetchError("status", f"it answered {response.status}")
    if response.content_type and response.content_type not in INDEXABLE:
        raise FetchError("content", f"{response.content_type[:80]} is no page")
    if instead is not None:
        settings = replace(settings, content=(instead,))
    rules = reading_rules(replace(settings, keep_markdown=is_available()))
    limits = Limits(settings.reading_cpu_s, settings.reading_memory_bytes)

    async def read() -> Extract:
        with contextlib.closing(IsolatedExtractor(settings.name, limits, rules)) as extractor:
            return await extractor.page(response)

    return Look(response, asyncio.run(read()), rules.of(response.url))
