"""Runs crawls by Scrapy one after the other, in a process of its own, at instants that it is told.

Reads from standard input: the site's address, the reactor, settings of all runs, and the runs.
Writes one JSON line: statistics and items of each run.
"""

import json
import sys
import time
import urllib.request
from typing import Any

import scrapy
from scrapy import signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import CrawlerRunner
from scrapy.utils.log import configure_logging
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import inlineCallbacks

TASK: dict[str, Any] = json.load(sys.stdin)
START_S = 1_800_000_000.0


class VirtualTime:
    """Stands at an instant, or goes on from there so many times as fast as real time."""

    def __init__(self) -> None:
        self.at_s, self.speed, self.since = START_S, 0.0, 0.0

    def __call__(self) -> float:
        return self.at_s + self.speed * (time.monotonic() - self.since)

    def stand(self, at_s: float, speed: float) -> None:
        self.at_s, self.speed, self.since = START_S + at_s, speed, time.monotonic()


def main() -> None:
    if TASK["reactor"] == "asyncio":
        install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    else:
        install_reactor("twisted.internet.epollreactor.EPollReactor")
    from twisted.internet import reactor

    loop: Any = reactor

    ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.02
    configure_logging({"LOG_LEVEL": "WARNING"})
    clock, told = VirtualTime(), []

    @inlineCallbacks
    def all_runs() -> Any:
        for run in TASK["runs"]:
            clock.stand(run.get("at", 0.0), run.get("speed", 0.0))
            urllib.request.urlopen(f"{TASK['site']}/_at/{run.get('at', 0.0)}").close()
            settings = (
                {
                    "ADDONS": {"recrawl.integrations.scrapy.RecrawlAddon": 300},
                    "RECRAWL_CLOCK": clock,
                    "TELNETCONSOLE_ENABLED": False,
                    "LOG_LEVEL": "WARNING",
                    "TWISTED_REACTOR": None
                    if TASK["reactor"] != "asyncio"
                    else "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
                }
                | TASK["settings"]
                | run.get("settings", {})
            )
            cls: type[scrapy.Spider] = load_object(run.get("spider", TASK["spider"]))
            runner = CrawlerRunner(settings)
            crawler = runner.create_crawler(cls)
            items: list[Any] = []

            def taken(item: Any, items: list[Any] = items) -> None:
                items.append(dict(item))

            crawler.signals.connect(taken, signals.item_scraped)
            error = None
            try:
                yield runner.crawl(crawler, site=TASK["site"])
            except Exception as wrong:
                error = f"{type(wrong).__name__}: {wrong}"
            stats = {} if error else crawler.stats.get_stats()
            told.append({"stats": stats, "items": items, "error": error})

    def begin() -> None:
        done = all_runs()
        done.addErrback(lambda failure: told.append({"error": failure.getTraceback()}))
        done.addBoth(lambda _: loop.stop())

    loop.callWhenRunning(begin)
    loop.run()
    sys.stdout.write(json.dumps(told, default=str))


main()
