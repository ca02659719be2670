"""Foresight in a crawl of sixty virtual days, where all pages of a directory change at once."""

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.crawler.control.lifecycle import RevisitRules
from recrawl.crawler.control.politeness import PolitenessRules
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, FOLDERS, EACH, N_DAYS = "http://a.test", 86_400.0, 10, 8, 60
URLS = [(folder, f"{A}/{folder}/{page}") for folder in range(FOLDERS) for page in range(EACH)]
SINCE_S, END_S = EPOCH_S + 0.5 * N_DAYS * DAY_S, EPOCH_S + N_DAYS * DAY_S


def changes_of(seed: int) -> list[np.ndarray]:
    """When the directories change: every eight days on average."""
    random = np.random.default_rng(seed)
    return [
        EPOCH_S + np.sort(random.uniform(0.0, N_DAYS * DAY_S, random.poisson(N_DAYS / 8)))
        for _ in range(FOLDERS)
    ]


def page(url: str, changes: np.ndarray) -> Callable[[Request], FetchResponse]:
    """Answer with the number of changes so far."""

    def answer(request: Request) -> FetchResponse:
        body = f"{url} as it is {np.searchsorted(changes, request.at_s)}"
        return FetchResponse(request.url, 200, body.encode(), "text/plain")

    return answer


def freshness(policy: str, seed: int) -> float:
    """Share of time in the second half that the copies of eighty pages are fresh."""
    changes = changes_of(seed)

    async def days() -> VirtualCrawl:
        setup = Setup(
            revisit=RevisitRules(600.0, 60 * DAY_S, 4 * DAY_S, listing_s=30 * DAY_S),
            rules={"replan_s": 14_400.0},
            seeds=tuple(url for _, url in URLS),
            least_worth=0.0,  # the whole budget is spent
        )
        plan = CrawlPlan(10.0 / DAY_S, PolitenessRules(delay_s=1.0), revisit=policy)
        virtual = virtual_crawl(setup, plan=plan)
        for folder, url in URLS:
            virtual.web.reply(url, page(url, changes[folder]))
        await virtual.run_for(N_DAYS * DAY_S)
        return virtual

    virtual, fresh_s = run_virtually(days()), 0.0
    for folder, url in URLS:
        at = np.array([request.at_s for request in virtual.web.asked(url)])
        following = np.append(changes[folder], np.inf)[np.searchsorted(changes[folder], at)]
        until = np.minimum(following, np.append(at[1:], END_S))
        fresh_s += float(np.sum(np.maximum(until - np.maximum(at, SINCE_S), 0.0)))
    return fresh_s / (len(URLS) * (END_S - SINCE_S))


@pytest.mark.slow
def test_a_crawl_that_foresees_is_fresher_where_directories_change_at_once() -> None:
    """At one visit for each change; five points over three webs."""
    leads = [freshness("foresight", seed) - freshness("recrawl", seed) for seed in range(3)]

    assert np.mean(leads) > 0.02
