"""What one host may bring into a crawl, in virtual time over a scripted web."""

import pytest

from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.status import status_report
from recrawl.terms import FetchResponse
from recrawl.testing import ScriptedFetcher, Setup, VirtualCrawl, run_virtually, virtual_crawl

A, B = "http://a.test", "http://b.test"


def run(seconds: float, script: object, limits: AdmissionLimits, *, once: bool) -> VirtualCrawl:
    async def main() -> VirtualCrawl:
        setup = Setup(seeds=(f"{A}/", f"{B}/"), rules={"limits": limits})
        virtual = virtual_crawl(setup, once=once)
        script(virtual.web)  # type: ignore[operator]
        await virtual.run_for(seconds)
        return virtual

    return run_virtually(main())


def xml(url: str, body: str) -> FetchResponse:
    return FetchResponse(
        url=url, status=200, body=body.encode(), content_type="application/xml", etag='"1"'
    )


def sitemap(url: str, pages: list[str]) -> FetchResponse:
    rows = "".join(f"<url><loc>{page}</loc></url>" for page in pages)
    return xml(url, f"<urlset>{rows}</urlset>")


def test_a_sitemap_of_ever_new_sitemaps_ends() -> None:
    """Each lists a hundred more and a hundred pages; the other host is crawled all along."""

    def script(web: ScriptedFetcher) -> None:
        def more(name: str, depth: int) -> None:
            url = f"{A}/{name}.xml"
            further = [f"{name}-{n}" for n in range(40)]
            links = "".join(f"<sitemap><loc>{A}/{name}.xml</loc></sitemap>" for name in further)
            web.reply(url, xml(url, f"<sitemapindex>{links}</sitemapindex>"))
            if depth < 2:
                for child in further:
                    more(child, depth + 1)

        more("sitemap", 0)
        web.page(f"{B}/", "home", *[f"/{n}" for n in range(20)])
        for n in range(20):
            web.page(f"{B}/{n}", f"page {n}")

    virtual = run(200, script, AdmissionLimits(max_listings_per_host=50), once=False)

    listings = [request for request in virtual.web.requests if request.url.endswith(".xml")]
    assert len({request.url for request in listings if request.url.startswith(A)}) == 50
    assert {url for url, _ in virtual.index.urls()} == {f"{B}/", *[f"{B}/{n}" for n in range(20)]}
    (told,) = status_report(virtual.frontier)["refused"]
    assert (told["host"], "max_listings_per_host" in told["why"]) == (A, True)
    assert told["addresses"] > 1000


def test_what_a_long_sitemap_has_too_much_waits_its_turn() -> None:
    """It is read again, in full, until everything that it lists is known."""
    pages = [f"{A}/{n}" for n in range(100)]

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/sitemap.xml", sitemap(f"{A}/sitemap.xml", pages))

    limits = AdmissionLimits(max_new_per_minute=10)
    early = run(250, script, limits, once=False)
    late = run(2_000, script, limits, once=False)

    assert 40 <= sum(early.frontier.n_pages_by_state().values()) < 90
    assert sum(late.frontier.n_pages_by_state().values()) == 102
    read = late.web.asked(f"{A}/sitemap.xml")
    assert len(read) > 1
    assert read[1].at_s - read[0].at_s == pytest.approx(300.0, abs=5.0)
    assert {request.etag for request in read[:2]} == {None}
    assert any(
        "max_new_per_minute" in row["why"] for row in status_report(late.frontier)["refused"]
    )


def test_a_single_pass_puts_nothing_off() -> None:
    pages = [f"{A}/{n}" for n in range(100)]

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/sitemap.xml", sitemap(f"{A}/sitemap.xml", pages))

    virtual = run(250, script, AdmissionLimits(max_new_per_minute=10), once=True)

    assert sum(virtual.frontier.n_pages_by_state().values()) == 102
