"""A web that changes hundreds of times faster than a crawl assumes at first."""

import numpy as np

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.reports.status import freshness_of
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

N_PAGES, EVERY_S, MINUTES = 300, 5_400.0, 50
A = "http://a.test"
REVISIT = RevisitRules(min_interval_s=600.0, max_interval_s=30 * 86_400.0)


def changes() -> list[np.ndarray]:
    """Return when each page changes: every other one never does."""
    random = np.random.default_rng(3)
    waits = random.exponential(EVERY_S, (N_PAGES, 60))
    waits[::2] = 1e9
    return list(EPOCH_S + np.cumsum(waits, axis=1))


async def crawl(changed: list[np.ndarray], minutes: float = MINUTES) -> VirtualCrawl:
    """Crawl them, a visit of each in twenty minutes."""
    setup = Setup(
        seeds=(f"{A}/",),
        budget_per_s=N_PAGES / 1_200.0,
        politeness=PolitenessRules(delay_s=0.1),
        revisit=REVISIT,
        access_s=0.01,
        rules={"replan_s": 300.0},
    )
    virtual = virtual_crawl(setup)
    virtual.web.page(f"{A}/", "home", *(f"/{number}" for number in range(N_PAGES)))

    def page(request: Request) -> FetchResponse:
        number = int(request.url.rpartition("/")[2])
        version = int(np.searchsorted(changed[number], request.at_s))
        body = f"<title>{number}</title><main>page {number}, version {version}</main>".encode()
        return FetchResponse(request.url, 200, body, "text/html")

    for number in range(N_PAGES):
        virtual.web.reply(f"{A}/{number}", page)
    await virtual.run_for(60.0 * minutes)
    return virtual


def test_its_freshness_is_known_once_revisits_have_shown_it() -> None:
    """Not taken for the prior's, once in two weeks, until visit after visit has said otherwise."""
    changed = changes()
    virtual = run_virtually(crawl(changed))
    end_s = EPOCH_S + 60.0 * MINUTES
    fresh = []
    for number, at_s in enumerate(changed):
        last_s = max(request.at_s for request in virtual.web.asked(f"{A}/{number}"))
        fresh.append(np.searchsorted(at_s, last_s) == np.searchsorted(at_s, end_s))

    pages, plan = virtual.frontier.planned_pages(), virtual.frontier.last_plan()
    estimate = freshness_of(pages, virtual.frontier.announcers(), end_s)
    assert plan is not None
    assert estimate is not None
    assert abs(estimate.value - np.mean(fresh)) < 0.05
    assert abs(plan.freshness - np.mean(fresh)) < 0.05


def test_it_is_kept_of_pages_too_that_nobody_has_looked_at_again() -> None:
    """What others were seen to do is the best that is known of them."""
    virtual = run_virtually(crawl(changes(), minutes=35.0))

    details = [virtual.frontier.details(f"{A}/{number}", recent=1) for number in range(N_PAGES)]
    once = [one.change_rate_per_s for one in details if one is not None and one.visits == 1]
    assert len(once) > 50
    assert min(rate or 0.0 for rate in once) > 10.0 * virtual.crawl.rules.prior_rate_per_s
