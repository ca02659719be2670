"""Foresight in a crawl of sixty virtual days, where all pages of a directory change at once."""

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.reports.page import explain_page
from recrawl.crawler.reports.status import status_report
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


@pytest.mark.slow
def test_what_clocks_tell_is_in_the_state_for_whoever_asks() -> None:
    """After a burst: the directory that runs fast, by name, and what that moved for its pages."""
    bursts = EPOCH_S + DAY_S * np.array([20.0, 21.0, 22.0, 23.0, 24.0])

    async def days() -> VirtualCrawl:
        setup = Setup(
            revisit=RevisitRules(600.0, 60 * DAY_S, 4 * DAY_S, listing_s=30 * DAY_S),
            rules={"replan_s": 14_400.0},
            seeds=tuple(url for _, url in URLS),
            least_worth=0.0,
        )
        plan = CrawlPlan(20.0 / DAY_S, PolitenessRules(delay_s=1.0), revisit="foresight")
        virtual = virtual_crawl(setup, plan=plan)
        for folder, url in URLS:
            virtual.web.reply(url, page(url, bursts if folder == 3 else np.zeros(0)))
        await virtual.run_for(24 * DAY_S)
        return virtual

    frontier = run_virtually(days()).crawl.world.frontier
    told = status_report(frontier, now_s=EPOCH_S + 24 * DAY_S)["activity"]

    (fast,) = told["fast"]
    assert fast["group"] == f"{A}/3/"
    assert fast["factor"] > 1.5
    assert fast["changes"] > fast["expected"]
    assert told["directories"][0]["directory"] == f"{A}/3/"
    explained = [explain_page(frontier, url, None)[0]["companions"] for _, url in URLS[24:32]]
    shares = [one["share"] for one in explained if one["share"] is not None]
    assert shares
    assert max(shares) > 0.0
    assert all(
        "pages of /3/ have changed since" in one["words"]
        for one in explained
        if one["n_changed"] > 1
    )
