"""The add-on: one line in the settings of a Scrapy project."""

import asyncio
import contextlib
import inspect
import logging
import os
import sys
from collections.abc import Iterator, Set
from typing import Final, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from recrawl.errors import InputError, InvalidSettings, RecrawlError
from recrawl.integrations.scrapy.options import DEFAULTS, INNER, read_options
from recrawl.integrations.scrapy.store import RequestStore, SpiderLock

_HERE: Final = "recrawl.integrations.scrapy"
_NEXT_TO_ENGINE: Final = 1
_LOOKS: Final = frozenset(
    f"scrapy.commands.{name}" for name in ("check", "fetch", "parse", "shell")
)
_MIDDLEWARES: Final = (
    ("DOWNLOADER_MIDDLEWARES", f"{_HERE}.middlewares.RecrawlDownloaderMiddleware"),
    ("SPIDER_MIDDLEWARES", f"{_HERE}.middlewares.RecrawlSpiderMiddleware"),
)


class RecrawlAddon:
    """Puts scheduler and middlewares in their places.

    Parameters
    ----------
    spider : name of the spider that is to run
    """

    def __init__(self, spider: str) -> None:
        self._spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the one of a crawler."""
        return cls(str(getattr(crawler.spidercls, "name", None)))

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Check the settings before anything runs, where Scrapy's command line asks.

        Elsewhere :meth:`update_settings` does: a program may run spiders that have their own.
        """
        with contextlib.suppress(InvalidSettings), told():
            read_options(settings)

    def update_settings(self, settings: BaseSettings) -> None:
        """Wrap the scheduler of the project, and add the middlewares.

        Commands of Scrapy that look at one page or at contracts leave the state alone.

        Raises
        ------
        InvalidSettings
            A setting that begins with ``RECRAWL_`` is unknown or wrong.
        StateError
            The state cannot be used, or this spider runs already.
        """
        with told(in_a_task=True):
            options = read_options(settings)
        if not settings.getbool("RECRAWL_ENABLED", DEFAULTS["RECRAWL_ENABLED"]):
            raise NotConfigured("RECRAWL_ENABLED is False")
        if _runs_in(_LOOKS):  # what is due would be visited with it, and its items go nowhere
            return
        # What is wrong with the state is said now, in one message: once Scrapy's engine runs, it
        # would be said again by every part that cannot be closed as it was never opened.
        with told(in_a_task=True):
            SpiderLock(options.state, self._spider).release()
            RequestStore(options.state).close()
        # With the priority that it has: a scheduler that the project names is wrapped as well.
        priority = settings.getpriority("SCHEDULER") or 0
        settings.set(INNER, settings["SCHEDULER"], priority)
        settings.set("SCHEDULER", f"{_HERE}.scheduler.RecrawlScheduler", priority)
        for name, path in _MIDDLEWARES:
            settings[name][path] = _NEXT_TO_ENGINE


@contextlib.contextmanager
def told(*, in_a_task: bool = False) -> Iterator[None]:
    """End Scrapy's command line with one message, and 2 where the input is wrong.

    Its own errors of usage end so, but are known to it only while a command reads its arguments:
    what an add-on raises becomes a traceback. A program that runs crawls by itself gets the
    exception.

    Parameters
    ----------
    in_a_task : the crawl has begun: from a task of asyncio the end of the process gets out, while
        Twisted notes it as one more failure, and goes on
    """
    try:
        yield
    except RecrawlError as error:
        if "scrapy.cmdline" not in sys.modules:
            raise
        at_once = in_a_task and not _is_task()
        # Only where Scrapy's own command is beginning a crawl, and no other program.
        if at_once and not _runs_in({"scrapy.cmdline"}):
            raise
        sys.stderr.write(f"scrapy: error: {error}\n")
        if any(isinstance(one, logging.FileHandler) for one in logging.root.handlers):
            logging.getLogger(__name__).critical("%s", error)  # by LOG_FILE: what people read
        code = 2 if isinstance(error, InputError) else 1
        if at_once:  # nothing has been begun that would have to be ended
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        raise SystemExit(code) from None


def _runs_in(modules: Set[str]) -> bool:
    """Tell whether what is being done was called by one of these modules."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") in modules:
            return True
        frame = frame.f_back
    return False


def _is_task() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:  # no loop runs
        return False
