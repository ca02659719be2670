"""An index of many sitemaps, in a running crawl on a small budget."""

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, N_DAYS = "http://a.test", 86_400.0, 60
PARTS, PAGES = 12, 3  # pages of each part
_RANDOM = np.random.default_rng(3)
CHANGES = {
    (part, page): EPOCH_S + np.sort(_RANDOM.uniform(0, N_DAYS * DAY_S, N_DAYS // 10))
    for part in range(PARTS)
    for page in range(PAGES)
}
SCHEMA = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
Answer = Callable[[Request], FetchResponse]


def n_changes(part: int, page: int, at_s: float) -> int:
    return int(np.searchsorted(CHANGES[part, page], at_s))


def lastmod(part: int, page: int, at_s: float) -> str:
    n = n_changes(part, page, at_s)
    latest_s = int(CHANGES[part, page][n - 1]) if n else int(EPOCH_S) - 1
    return f"<lastmod>{np.datetime64(latest_s, 's')}Z</lastmod>"


def page(part: int, number: int) -> Answer:
    def answer(request: Request) -> FetchResponse:
        body = f"page {number} of {part} as it is {n_changes(part, number, request.at_s)}"
        return FetchResponse(request.url, 200, body.encode(), "text/plain")

    return answer


def listing(kind: str, entries: Callable[[float], list[str]]) -> Answer:
    def answer(request: Request) -> FetchResponse:
        told = "".join(entries(request.at_s))
        body = f"<{kind} {SCHEMA}>{told}</{kind}>"
        return FetchResponse(request.url, 200, body.encode(), "application/xml")

    return answer


def sitemap(part: int) -> Answer:
    def entries(at_s: float) -> list[str]:
        return [
            f"<url><loc>{A}/{part}/{number}</loc>{lastmod(part, number, at_s)}</url>"
            for number in range(PAGES)
        ]

    return listing("urlset", entries)


def index(dated: bool) -> Answer:
    def entries(at_s: float) -> list[str]:
        latest = [max(lastmod(part, page, at_s) for page in range(PAGES)) for part in range(PARTS)]
        return [
            f"<sitemap><loc>{A}/{part}.xml</loc>{latest[part] if dated else ''}</sitemap>"
            for part in range(PARTS)
        ]

    return listing("sitemapindex", entries)


async def crawl(dated: bool) -> VirtualCrawl:
    setup = Setup(
        budget_per_s=6.0 / DAY_S,
        revisit=RevisitRules(600.0, 40 * DAY_S, 5 * DAY_S, listing_s=DAY_S / 4),
        rules={"replan_s": 7_200.0},
        seeds=(f"{A}/",),
        least_worth=0.0,
    )
    virtual = virtual_crawl(setup)
    virtual.web.page(f"{A}/", "home")
    virtual.web.reply(f"{A}/sitemap.xml", index(dated))
    for part in range(PARTS):
        virtual.web.reply(f"{A}/{part}.xml", sitemap(part))
        for number in range(PAGES):
            virtual.web.reply(f"{A}/{part}/{number}", page(part, number))
    await virtual.run_for(N_DAYS * DAY_S)
    return virtual


def fresh(virtual: VirtualCrawl) -> float:
    """Return the share of pages that were as they are, over the second half, in truth."""
    instants, found = np.linspace(0.5, 1.0, 1_000) * N_DAYS * DAY_S + EPOCH_S, []
    for (part, number), changes in CHANGES.items():
        at = np.array([one.at_s for one in virtual.web.asked(f"{A}/{part}/{number}")])
        last = at[np.searchsorted(at, instants) - 1]
        found.append(np.searchsorted(changes, instants) == np.searchsorted(changes, last))
    return float(np.mean(found))


@pytest.mark.slow
@pytest.mark.parametrize("dated", [True, False])
def test_many_sitemaps_leave_the_budget_to_pages(dated: bool) -> None:
    """Thirteen, each read as often as one would be, took all of six requests a day."""
    virtual = run_virtually(crawl(dated))

    paths = [request.url.removeprefix(A) for request in virtual.web.requests]
    n_listings = sum(path.endswith(".xml") for path in paths)
    assert n_listings < 0.5 * len(paths)
    assert fresh(virtual) > 0.6
    index = virtual.frontier.details(f"{A}/sitemap.xml", recent=1)
    assert index is not None
    kept = virtual.crawl.due_times.dates.memory(index.page_id)
    assert (sum(kept) > 0) is dated, "changes are counted as told or not where there are dates"
