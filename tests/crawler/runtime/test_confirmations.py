"""A host that says "not modified" whatever it is asked, crawled in virtual time."""

from random import Random

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.terms import FetchResponse
from recrawl.testing import ScriptedFetcher, Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request

A = "http://a.test"
EDITION_S = 7_200.0
BUDGET_PER_S = 8 * 13 / EDITION_S
PAGES = [f"{A}/page-{name}" for name in "abcdefghijkl"]


def edition(at_s: float) -> int:
    return int(at_s / EDITION_S)


def script(web: ScriptedFetcher) -> None:
    def reply(request: Request) -> FetchResponse:
        if request.etag:
            return FetchResponse(request.url, 304, etag='"1"')
        drawn = Random(request.url)
        own = " ".join("".join(drawn.choices("abcdefghi", k=6)) for _ in range(40))
        links = "".join(f'<a href="{url}">{url[-1]}</a>' for url in PAGES)
        body = f"<main><p>{own} in edition{edition(request.at_s)}.</p>{links}</main>"
        return FetchResponse(request.url, 200, body.encode(), "text/html", etag='"1"')

    for url in (f"{A}/", *PAGES):
        web.reply(url, reply)


def test_a_host_that_always_says_not_modified_is_found_out() -> None:
    """Its pages are asked for in full from then on, after a start as well."""
    frontier = MemoryFrontier()

    async def main(editions: float) -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=BUDGET_PER_S), frontier=frontier)
        script(virtual.web)
        await virtual.run_for(editions * EDITION_S)
        return virtual

    first = run_virtually(main(6))
    today = edition(first.clock.now_s())
    texts = [first.index.copy(url).text for url in PAGES]  # type: ignore[union-attr]
    assert sum(f"edition{today}" in text or f"edition{today - 1}" in text for text in texts) == 12
    (host,) = frontier.hosts()
    assert host.is_read_in_full

    second = run_virtually(main(1))
    asked = [one for url in PAGES for one in second.web.asked(url)]
    assert len(asked) > 12
    assert {one.etag for one in asked} == {None}
