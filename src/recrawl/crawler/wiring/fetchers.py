"""Fetchers of a configuration: over HTTP, and with a browser for some pages."""

import contextlib
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from recrawl.crawler.fetch.addresses import is_named, is_private_name
from recrawl.crawler.fetch.browser import BrowserFetcher, RenderRule, browser_program
from recrawl.crawler.fetch.http import FetchBounds, HttpFetcher
from recrawl.crawler.ports import Fetcher
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.access import host_headers, proxy
from recrawl.errors import InvalidSettings


def http_fetcher(
    settings: Settings,
    *,
    is_stranger: bool = False,
    ready: Callable[[], Awaitable[None]] | None = None,
) -> HttpFetcher:
    """Return what fetches over HTTP.

    Parameters
    ----------
    is_stranger : it knows no secret, and reaches no private address
    ready : awaited right before each request is sent

    Raises
    ------
    InvalidSettings
        A secret that the configuration names cannot be read.
    """
    return HttpFetcher(
        user_agent=settings.user_agent,
        contact=settings.contact,
        bounds=FetchBounds(timeout_s=settings.timeout_s, max_bytes=settings.max_bytes),
        allow_private=() if is_stranger else settings.allow_private,
        keep_headers=settings.warc is not None,
        besides=None if is_stranger else host_headers(settings),
        proxy=proxy(settings),
        ready=ready,
        per_address=settings.per_address,
    )


def check_seeds(settings: Settings) -> None:
    """See that not all seeds lie, by their names, where no crawl asks.

    Raises
    ------
    InvalidSettings
        They do: the message says what allows it.
    """
    names = [urlsplit(url).hostname or "" for url in settings.seeds]
    allowed = {name.lower().rstrip(".") for name in settings.allow_private}
    near = [name for name in names if is_private_name(name) and not is_named(name, allowed)]
    if near and len(near) == len(names):
        listed = ", ".join(f'"{name}"' for name in sorted(set(near))[:4])
        raise InvalidSettings(
            f"seeds: {settings.seeds[0]} lies on this machine or in a private network, which is "
            f"asked only by name; if that is meant, write under [politeness]: "
            f"allow_private = [{listed}]"
        )


def check_browser(settings: Settings) -> str | None:
    """Return the browser that pages are to be filled by; None: none are.

    Raises
    ------
    InvalidSettings
        Chromium or the package that drives it is missing.
    """
    if not settings.render:
        return None
    program = browser_program()
    if program is None:
        raise InvalidSettings(
            "render: pages are to be filled by a browser: install recrawl[browser], and Chromium "
            "(Debian: apt-get install chromium)"
        )
    return program


async def browser_fetcher(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    inner: Fetcher,
    *,
    ready: Callable[[], Awaitable[None]] | None = None,
) -> BrowserFetcher:
    """Return what has some pages filled by a browser, and leaves the others to ``inner``.

    Parameters
    ----------
    ready : awaited right before each request to other hosts is sent

    Raises
    ------
    InvalidSettings
        Chromium or the package that drives it is missing.
    """
    program = check_browser(settings) or ""
    strangers = await stack.enter_async_context(
        http_fetcher(settings, is_stranger=True, ready=ready)
    )
    return BrowserFetcher(
        inner,
        strangers,
        rules=[RenderRule(rule.path, rule.wait_for, rule.settle_s) for rule in settings.render],
        program=program,
        agent=settings.name,
        delay_s=settings.delay_s,
        timeout_s=settings.timeout_s,
        max_bytes=settings.max_bytes,
    )
