"""Spiders for ``bench/scrapy_addon.py``; as a program: one crawl that fetches nothing, timed."""

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse

ROOT = Path(__file__).resolve().parents[1]


class Books(scrapy.Spider):
    """Lists that lead to pages of books."""

    name = "books"

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/page/0"]

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow the books and the next list."""
        assert isinstance(response, TextResponse)
        yield from response.follow_all(css="h3 a", callback=self.parse_book)
        yield from response.follow_all(css="li.next a")

    def parse_book(self, response: Response) -> Iterator[Any]:
        """Yield a book."""
        yield {"title": response.css("h1::text").get(), "price": response.css("p::text").get()}


class InPlace:
    """A download handler that answers at once: what is left is Scrapy, and the add-on."""

    lazy = False

    def __init__(self, crawler: Any) -> None:
        pass

    @classmethod
    def from_crawler(cls, crawler: Any) -> "InPlace":
        """Make one."""
        return cls(crawler)

    async def download_request(self, request: scrapy.Request) -> Response:
        """Answer."""
        return TextResponse(request.url, body=b"<html>page</html>", headers={"ETag": '"1"'},
                            request=request)  # fmt: skip

    async def close(self) -> None:
        """Do nothing."""


class Many(scrapy.Spider):
    """Pages that lead to a hundred others each, until there are enough."""

    name = "many"

    async def start(self) -> AsyncIterator[Any]:
        """Begin with the first."""
        yield scrapy.Request("http://bench.test/0", cb_kwargs={"first": 0})

    def parse(self, response: Response, first: int) -> Iterator[Any]:
        """Yield an item and the pages after it."""
        yield {"of": response.url}
        last = min(100 * first + 100, self.settings.getint("N") - 1)
        for n in range(100 * first + 1, last + 1):
            yield scrapy.Request(f"http://bench.test/{n}", cb_kwargs={"first": n})


def main() -> None:
    """Crawl, and print the seconds of processor time that it took."""
    process = CrawlerProcess(
        {
            "ADDONS": {"recrawl.integrations.scrapy.RecrawlAddon": 300},
            "DOWNLOAD_HANDLERS": {"http": InPlace},
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        }
        | json.loads(sys.argv[1])
    )
    crawler = process.create_crawler(Many)
    process.crawl(crawler)
    started = time.process_time()
    process.start()
    took = time.process_time() - started
    found = crawler.stats.get_value("item_scraped_count")
    assert found == json.loads(sys.argv[1])["N"], found
    sys.stdout.write(f"{took}\n")


if __name__ == "__main__":
    main()
