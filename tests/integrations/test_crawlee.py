"""Crawlers of Crawlee that ask again, by a local site whose pages change."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crawlee", reason="Crawlee is installed by those who use it")

from crawlee import Request
from crawlee.crawlers import BasicCrawlingContext, HttpCrawler
from crawlee.storage_clients import MemoryStorageClient
from tests.integrations.site import Answer, Site, serving

from recrawl.errors import InputError, StateError
from recrawl.integrations.crawlee import RecrawlHttpClient, RecrawlRequests

DAY_S = 86_400.0


class Web:
    """A list that leads to three pages; what each says can be changed."""

    def __init__(self) -> None:
        self.words = {"/1": "a", "/2": "b", "/3": "c"}
        self.now_s = 1_800_000_000.0
        self.site = Site(self.page)

    def page(self, host: str, path: str) -> str | Answer | None:
        if path == "/":
            return "".join(f'<a href="{one}">x</a>' for one in sorted(self.words))
        return self.words.get(path)


def crawl(
    web: Web, state: Path, *, wrong: Callable[[str], bool] = lambda path: False, **options: Any
) -> list[str]:
    """Run a crawler once; return the paths that its handler was given."""
    handled = []

    async def run() -> None:
        with RecrawlRequests(state, "100/d", clock=lambda: web.now_s, **options) as requests:
            crawler = HttpCrawler(
                request_manager=requests,
                http_client=RecrawlHttpClient(requests),
                storage_client=MemoryStorageClient(),
                max_request_retries=0,
                configure_logging=False,
            )

            @crawler.router.default_handler
            async def handle(context: BasicCrawlingContext) -> None:
                path = context.request.url.removeprefix(web.site.url)
                handled.append(path)
                if wrong(path):
                    raise ValueError("the handler failed")
                if path == "/":
                    links = [f"{web.site.url}{one}" for one in (*sorted(web.words), "/gone")]
                    await context.add_requests(links)
                await context.push_data({"path": path})

            await crawler.run([f"{web.site.url}/"])

    asyncio.run(run())
    return sorted(handled)


def test_a_crawler_comes_back_to_the_pages_that_are_due(tmp_path: Path) -> None:
    """Known pages come from disk, with validators; only what has changed reaches the handler."""
    web = Web()
    with serving(web.site):
        assert crawl(web, tmp_path) == ["/", "/1", "/2", "/3"]
        asked = web.site.asked.copy()
        web.now_s += 60.0
        assert crawl(web, tmp_path) == []
        assert web.site.asked == asked
        web.now_s += 3 * DAY_S
        web.words["/2"] = "another"
        assert crawl(web, tmp_path) == ["/2"]

    assert web.site.statuses[304] == 3


def test_a_visit_counts_once_its_handler_has_ended(tmp_path: Path) -> None:
    """A page whose handler failed is due again after a delay, long before the others."""
    web = Web()
    with serving(web.site):
        crawl(web, tmp_path, wrong=lambda path: path == "/2")
        web.now_s += 0.5 * DAY_S

        assert crawl(web, tmp_path) == ["/2"]


def test_what_a_run_did_not_get_to_is_there_for_the_next(tmp_path: Path) -> None:
    """The list's links are on disk; another run, which is given nothing to begin with, has them."""
    web = Web()

    async def add() -> None:
        with RecrawlRequests(tmp_path, clock=lambda: web.now_s) as requests:
            await requests.add_request(f"{web.site.url}/1")
            assert await requests.fetch_next_request() is not None

    async def again() -> str:
        with RecrawlRequests(tmp_path, clock=lambda: web.now_s) as requests:
            assert not await requests.is_finished()
            request = await requests.fetch_next_request()
            return "" if request is None else request.url

    with serving(web.site):
        asyncio.run(add())
        assert asyncio.run(again()) == f"{web.site.url}/1"


def test_what_is_not_kept_passes_once_a_run(tmp_path: Path) -> None:
    """A handler that asks for its own form again would never end otherwise."""
    form = Request.from_url(
        "http://a.test/", method="POST", payload="a=1", use_extended_unique_key=True
    )

    async def ask() -> list[Request | None]:
        with RecrawlRequests(tmp_path) as requests:
            given = []
            for _ in range(2):
                await requests.add_request(form)
                given.append(await requests.fetch_next_request())
                if given[-1] is not None:
                    await requests.mark_request_as_handled(given[-1])
            return given

    assert asyncio.run(ask()) == [form, None]
    assert asyncio.run(ask()) == [form, None]


def test_what_has_no_body_always_reaches_the_handler(tmp_path: Path) -> None:
    """As an answer to HEAD, which tells nothing of the page; it was unchanged for ever."""
    web = Web()
    web.words["/1"] = ""
    web.site.validators = False
    with serving(web.site):
        assert "/1" in crawl(web, tmp_path)
        web.now_s += 3 * DAY_S
        assert crawl(web, tmp_path) == ["/1"]


def test_text_can_be_what_counts(tmp_path: Path) -> None:
    web = Web()
    web.words = {"/1": "<p>text</p><script>1</script>"}
    web.site.validators = False
    with serving(web.site):
        assert crawl(web, tmp_path, change="text") == ["/", "/1"]
        web.now_s += 3 * DAY_S
        web.words["/1"] = "<p>text</p><script>2</script>"
        assert crawl(web, tmp_path, change="text") == []


@pytest.mark.parametrize(
    "given",
    [
        {"budget": "much"},
        {"change": "items"},
        {"min_interval": "x"},
        {"max_interval": "1min"},
        {"budget": "0/d"},
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(InputError, match=name):
        RecrawlRequests(tmp_path, **given)


def test_a_crawler_has_its_requests_for_itself(tmp_path: Path) -> None:
    with RecrawlRequests(tmp_path), pytest.raises(StateError, match="runs already"):
        RecrawlRequests(tmp_path)
