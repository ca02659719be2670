"""Pages of quotes that follow each other; nothing here knows of recrawl."""

from collections.abc import Iterator
from typing import Any

import scrapy


class Quotes(scrapy.Spider):
    """Start it with ``scrapy crawl quotes -a site=https://your.site/``."""

    name = "quotes"

    def __init__(self, site: str = "http://localhost:8000/", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response: Any) -> Iterator[Any]:
        """Yield the quotes of a page, and the next page."""
        for quote in response.css("div.quote"):
            yield {"text": quote.css(".text::text").get(), "of": quote.css(".author::text").get()}
        yield from response.follow_all(css="li.next a")
