"""Spiders in the manner of Scrapy's tutorial, and some that do what few spiders do."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DropItem


def unnamed(response: Any) -> Iterator[Any]:
    """Be a callback that is no method of the spider."""
    yield from ()


class Quotes(scrapy.Spider):
    """Pages of quotes that follow each other, and authors behind links."""

    name = "quotes"

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/page/1"]

    def parse(self, response: Any) -> Iterator[Any]:
        for quote in response.css("div.quote"):
            yield {"text": quote.css("::text").get(), "on": response.url.rpartition("/")[2]}
        for link in response.css("a.author"):
            yield response.follow(
                link, self.parse_author, cb_kwargs={"named": link.css("::text").get()}
            )
        yield from response.follow_all(css="a.next")

    def parse_author(self, response: Any, named: str) -> Iterator[Any]:
        yield {"author": named, "born": response.css("b::text").get()}


class Twin(Quotes):
    """The same pages, for another spider."""

    name = "twin"


class Odd(scrapy.Spider):
    """Makes requests of every kind."""

    name = "odd"

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[Any]:
        for path in ("plain", "moved", "busy", "missing", "again"):
            yield scrapy.Request(f"{self.site}/{path}", errback=self.wrong)
        yield scrapy.Request(f"{self.site}/form", method="POST", body="q=1")
        yield scrapy.Request(f"{self.site}/lambda", callback=unnamed)
        yield scrapy.Request(f"{self.site}/tuple", cb_kwargs={"pair": (1, 2)}, callback=self.pair)

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"of": response.url.rpartition("/")[2], "said": response.text}
        if response.url.endswith("/plain"):
            yield scrapy.Request(f"{self.site}/always", dont_filter=True, meta=response.meta)
        if response.url.endswith("/again") and not response.meta.get("tried"):
            assert response.request is not None
            yield response.request.replace(
                dont_filter=True, meta=response.request.meta | {"tried": True}
            )

    def pair(self, response: Any, pair: tuple[int, int]) -> Iterator[Any]:
        yield {"of": "tuple", "said": repr(pair)}

    def wrong(self, failure: Any) -> Iterator[Any]:
        status = failure.value.response.status
        yield {"of": failure.request.url.rpartition("/")[2], "said": f"HTTP {status}"}


class Moody(Quotes):
    """Its callback fails while the page says so."""

    name = "moody"

    def parse(self, response: Any) -> Iterator[Any]:
        if "ill" in response.text:
            raise ValueError("not today")
        yield from super().parse(response)


class Reaches(Quotes):
    """Its callback downloads authors by itself, with all that the page's own request carries."""

    name = "reaches"

    async def parse(self, response: Any) -> AsyncIterator[Any]:  # type: ignore[override]
        for n in (1, 2):
            url = response.urljoin(f"/author/{n}")
            asked = scrapy.Request(url, meta=response.meta)
            answer = await self.crawler.engine.download_async(asked)
            yield {"born": answer.css("b::text").get()}


class Foreign(HTTP11DownloadHandler):
    """A download handler that is not Scrapy's, as those are that fetch with a browser."""


class Picky:
    """A pipeline that drops some items, and fails at others."""

    def process_item(self, item: Any, spider: Any = None) -> Any:
        text = str(item.get("text"))
        if "drop" in text:
            raise DropItem("unwanted")
        if "break" in text:
            raise RuntimeError("disk on fire")
        return item


class LogsIn(scrapy.Spider):
    """Enters by a form that hardly ever changes, and then follows its one page."""

    name = "logs-in"

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/form", self.form, meta={"recrawl_first": True})

    def form(self, response: Any) -> Iterator[Any]:
        yield response.follow("/enter", self.entered, meta={"recrawl_first": True})

    def entered(self, response: Any) -> Iterator[Any]:
        yield response.follow("/secret", self.secret)

    def secret(self, response: Any) -> Iterator[Any]:
        yield {"said": response.text}
