"""A crawl that is there to be killed: site, state, and the file that its pipeline writes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess

SITE, STATE, TAKEN = sys.argv[1:]


class Tree(scrapy.Spider):
    """Every page gives an item, and leads to others."""

    name = "tree"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"{SITE}/0"]

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Any]:
        yield {"n": response.css("h1::text").get()}
        yield from response.follow_all(css="a")


class ToDisk:
    """Has an item on disk before it says so."""

    def __init__(self) -> None:
        self.file = Path(TAKEN).open("a", encoding="utf-8")  # noqa: SIM115 - till the end

    def process_item(self, item: Any, spider: Any = None) -> Any:
        self.file.write(f"{item['n']}\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        return item


process = CrawlerProcess(
    {
        "ADDONS": {"recrawl.integrations.scrapy.RecrawlAddon": 300},
        "RECRAWL_STATE": STATE,
        "ITEM_PIPELINES": {ToDisk: 1},
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    }
)
process.crawl(Tree)
process.start()
