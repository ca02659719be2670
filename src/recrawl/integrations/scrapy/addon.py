"""The add-on: one line in the settings of a Scrapy project."""

from typing import Final, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from recrawl.integrations.scrapy.options import DEFAULTS, INNER, read_options
from recrawl.integrations.scrapy.store import RequestStore, SpiderLock

__all__ = ["RecrawlAddon"]

_HERE: Final = "recrawl.integrations.scrapy"
_NEXT_TO_ENGINE: Final = 1
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

    def update_settings(self, settings: BaseSettings) -> None:
        """Wrap the scheduler of the project, and add the middlewares.

        Raises
        ------
        InvalidSettings
            A setting that begins with ``RECRAWL_`` is unknown or wrong.
        StateError
            The state cannot be used, or this spider runs already.
        """
        options = read_options(settings)
        if not settings.getbool("RECRAWL_ENABLED", DEFAULTS["RECRAWL_ENABLED"]):
            raise NotConfigured("RECRAWL_ENABLED is False")
        # What is wrong with the state is said now, in one message: once Scrapy's engine runs, it
        # would be said again by every part that cannot be closed as it was never opened.
        SpiderLock(options.state, self._spider).release()
        RequestStore(options.state).close()
        # With the priority that it has: a scheduler that the project names is wrapped as well.
        priority = settings.getpriority("SCHEDULER") or 0
        settings.set(INNER, settings["SCHEDULER"], priority)
        settings.set("SCHEDULER", f"{_HERE}.scheduler.RecrawlScheduler", priority)
        for name, path in _MIDDLEWARES:
            settings[name][path] = _NEXT_TO_ENGINE
