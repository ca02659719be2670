"""A section of a site that is removed at once is out of the index in days, not in weeks."""

import numpy as np

from recrawl.crawler.control.lifecycle import RevisitRules
from recrawl.crawler.control.politeness import PolitenessRules
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.terms import FetchResponse, PageState
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, N, WENT_S = "http://a.test", 86_400.0, 30, EPOCH_S + 20 * 86_400.0


def test_a_section_that_is_removed_is_swept() -> None:
    """Calm pages, four visits of each in the time; the section beside it stays as it is."""
    urls = [f"{A}/{section}/{number:02}" for section in "abcde" for number in range(N)]

    def answer(request: Request) -> FetchResponse:
        if request.url.startswith(f"{A}/c/") and request.at_s >= WENT_S:
            return FetchResponse(request.url, 404)
        return FetchResponse(request.url, 200, f"all of {request.url}".encode(), "text/plain")

    async def days() -> VirtualCrawl:
        setup = Setup(
            revisit=RevisitRules(600.0, 60 * DAY_S, 4 * DAY_S, listing_s=30 * DAY_S),
            rules={"replan_s": 14_400.0},
            seeds=tuple(urls),
            least_worth=0.0,
        )
        plan = CrawlPlan(15.0 / DAY_S, PolitenessRules(delay_s=1.0), revisit="foresight")
        virtual = virtual_crawl(setup, plan=plan)
        for url in urls:
            virtual.web.reply(url, answer)
        await virtual.run_for(40 * DAY_S)
        return virtual

    virtual = run_virtually(days())

    first = {
        url: min(request.at_s for request in virtual.web.asked(url) if request.at_s >= WENT_S)
        for url in urls
        if url.startswith(f"{A}/c/")
    }
    known_s = min(first.values())
    # By turns the thirty would be found evenly over the ten days that a round takes.
    assert np.quantile(list(first.values()), 0.9) - known_s < 6 * DAY_S
    states = virtual.frontier.n_pages_by_state()
    assert states[PageState.GONE] == N
    assert states[PageState.INDEXED] == 4 * N
