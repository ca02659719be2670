"""robots.txt for what asks beside the crawl's dispatcher: a page that is filled, a look at one."""

from collections.abc import Awaitable, Callable

from recrawl.crawler.control.dispatching.robots_txt import (
    MAX_ROBOTS_BYTES,
    MAX_ROBOTS_REDIRECTS,
    RobotsRules,
    robots_from_answer,
)
from recrawl.crawler.control.urls import join
from recrawl.crawler.ports import Fetcher
from recrawl.errors import FetchError

REDIRECTS = frozenset({301, 302, 303, 307, 308})


async def robots_of(
    fetcher: Fetcher, host: str, agent: str, before: Callable[[str], Awaitable[None]]
) -> RobotsRules:
    """Return what a host allows; nothing where its robots.txt cannot be had.

    Parameters
    ----------
    host : scheme, name and port
    before : awaited before each request, with its address: waits, and counts
    """
    url = f"{host}/robots.txt"
    for _ in range(MAX_ROBOTS_REDIRECTS + 1):
        await before(url)
        try:
            answer = await fetcher.fetch(url, max_bytes=MAX_ROBOTS_BYTES, truncate=True)
        except FetchError:
            return robots_from_answer(agent, None, b"")
        if answer.status not in REDIRECTS:
            return robots_from_answer(agent, answer.status, answer.body)
        target = join(url, answer.location) if answer.location else None
        if target is None:
            break
        url = target
    return robots_from_answer(agent, 404, b"")  # beyond, or to nowhere: as if it was not there
