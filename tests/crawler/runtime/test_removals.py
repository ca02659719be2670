"""A section of a site that is removed at once is out of the index in days, not in weeks."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recrawl.crawler.control.answers.farewells import ENDED
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.revisiting.due_times import BESIDE
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.terms import FetchResponse, Outcome, PageState
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, WENT_S = "http://a.test", 86_400.0, EPOCH_S + 20 * 86_400.0
OVER = "this offer is over, see all the others"

SETUP = Setup(
    revisit=RevisitRules(600.0, 60 * DAY_S, 4 * DAY_S, listing_s=30 * DAY_S),
    rules={"replan_s": 14_400.0},
    least_worth=0.0,
)


def urls_of(n_each: int) -> list[str]:
    """Return the addresses of five sections."""
    return [f"{A}/{section}/{number:03}" for section in "abcde" for number in range(n_each)]


def crawled(n_each: int, per_day: float, n_days: float) -> VirtualCrawl:
    """Crawl five calm sections, of which c is not there any more after twenty days."""
    urls = urls_of(n_each)

    def answer(request: Request) -> FetchResponse:
        if request.url.startswith(f"{A}/c/") and request.at_s >= WENT_S:
            return FetchResponse(request.url, 404)
        return FetchResponse(request.url, 200, f"all of {request.url}".encode(), "text/plain")

    async def days() -> VirtualCrawl:
        setup = replace(SETUP, seeds=tuple(urls))
        plan = CrawlPlan(per_day / DAY_S, PolitenessRules(delay_s=1.0), revisit="foresight")
        virtual = virtual_crawl(setup, plan=plan)
        for url in urls:
            virtual.web.reply(url, answer)
        await virtual.run_for(n_days * DAY_S)
        return virtual

    return run_virtually(days())


@pytest.mark.slow
def test_a_section_that_is_removed_is_swept() -> None:
    """Four visits of each page in the time; the sections beside it stay as they are."""
    virtual = crawled(30, 15.0, 40.0)

    first: dict[str, float] = {}
    for request in virtual.web.requests:
        if request.at_s >= WENT_S and request.url.startswith(f"{A}/c/"):
            first.setdefault(request.url, request.at_s)
    known_s = min(first.values())
    # By turns the thirty would be found evenly over the ten days that a round takes.
    assert np.quantile(list(first.values()), 0.9) - known_s < 6 * DAY_S
    states = virtual.frontier.n_pages_by_state()
    assert states[PageState.GONE] == 30
    assert states[PageState.INDEXED] == 120


@pytest.mark.slow
def test_a_sweep_leaves_visits_to_what_is_there() -> None:
    """Most of what is to be looked at waits for its share of the budget, and not in front."""
    virtual = crawled(100, 60.0, 21.5)

    pages = [virtual.frontier.details(url) for url in urls_of(100)]
    due = [one.due_s <= virtual.clock.now_s() for one in pages if one and one.due_why == BESIDE]
    assert len(due) > 50
    assert 0 < sum(due) < len(due) / 2


def test_a_single_pass_visits_each_page_once() -> None:
    """It comes by all that stands beside a page that is gone, and by all that a plan puts off."""
    urls = [f"{A}/{number:03}" for number in range(150)]
    away: set[str] = set()

    def answer(request: Request) -> FetchResponse:
        if request.url in away:
            return FetchResponse(request.url, 410)
        return FetchResponse(request.url, 200, request.url.encode(), "text/plain")

    async def passes() -> VirtualCrawl:
        setup = Setup(seeds=tuple(urls))
        first = virtual_crawl(setup, once=True)
        for url in urls:
            first.web.reply(url, answer)
        await first.run_for(200.0)
        away.update(urls[20:30])
        setup = replace(setup, epoch_s=first.clock.now_s())
        second = virtual_crawl(setup, frontier=first.frontier, index=first.index, once=True)
        for url in urls:
            second.web.reply(url, answer)
        await second.run_for(3_600.0)
        return second

    asked = [one.url for one in run_virtually(passes()).web.requests if one.url in urls]
    assert sorted(asked) == urls


def make_offers(virtual: VirtualCrawl, until: Callable[[int], float]) -> None:
    """Make thirty offers; each is over, and says so with status 200, from its day on."""

    def answer(request: Request) -> FetchResponse:
        n, day = int(request.url[-2:]), (request.at_s - EPOCH_S) / DAY_S
        text = f"all of offer {n}, number {n * n * n}" if day < until(n) else OVER
        return FetchResponse(request.url, 200, text.encode(), "text/plain")

    urls = [f"{A}/offer/{n:02}" for n in range(30)]
    links = "".join(f"<a href={url}>offer</a> " for url in urls)
    virtual.web.reply(f"{A}/", FetchResponse(f"{A}/", 200, links.encode(), "text/html"))
    for url in urls:
        virtual.web.reply(url, answer)


def held_offers(virtual: VirtualCrawl) -> list[int]:
    return [n for n in range(30) if virtual.index.copy(f"{A}/offer/{n:02}") is not None]


def offers(until: Callable[[int], float], n_days: int) -> VirtualCrawl:
    async def days() -> VirtualCrawl:
        setup = replace(SETUP, seeds=(f"{A}/",), revisit=RevisitRules(600.0, 60 * DAY_S, DAY_S))
        plan = CrawlPlan(30 / DAY_S, PolitenessRules(delay_s=1.0), revisit="foresight")
        virtual = virtual_crawl(setup, plan=plan)
        make_offers(virtual, until)
        await virtual.run_for(n_days * DAY_S)
        return virtual

    return run_virtually(days())


def test_offers_that_are_over_one_after_another_are_not_kept() -> None:
    """Though their host says that they are there; those that it still makes are."""
    virtual = offers(lambda n: 3.0 + n / 2 if n < 15 else inf, 15)

    assert held_offers(virtual) == list(range(15, 30))
    details = virtual.frontier.details(f"{A}/offer/07")
    assert details is not None
    assert (details.state, details.recent[0].note) == (PageState.GONE, ENDED)


def test_nightly_passes_keep_few_of_the_offers_that_are_over() -> None:
    """Each pass knows no more than what the state tells."""

    def until(n: int) -> float:
        return 1.5 + n

    async def nights() -> VirtualCrawl:
        setup = replace(SETUP, seeds=(f"{A}/",))
        virtual = virtual_crawl(setup, once=True)
        for night in range(16):
            setup = replace(setup, epoch_s=EPOCH_S + night * DAY_S)
            virtual = virtual_crawl(
                setup, frontier=virtual.frontier, index=virtual.index, once=True
            )
            make_offers(virtual, until)
            await virtual.run_for(3_600.0)
        return virtual

    virtual = run_virtually(nights())
    held = held_offers(virtual)
    assert held[-16:] == list(range(14, 30))
    assert len(held) <= 16 + 6
    # What went with these words does not come back with them, whoever looks.
    for n in range(5):
        details = virtual.frontier.details(f"{A}/offer/{n:02}", recent=20)
        assert details is not None
        assert [visit.outcome for visit in details.recent].count(Outcome.NEW) <= 1
        assert details.state is PageState.GONE


def test_offers_that_are_over_all_at_once_are_what_they_say() -> None:
    """Nobody knows whether that is a slip, or what is left to say for good."""
    virtual = offers(lambda _: 8.0, 15)

    copies = [virtual.index.copy(f"{A}/offer/{n:02}") for n in range(30)]
    assert all(one is not None and OVER in one.text for one in copies)


@pytest.mark.slow
def test_where_pages_go_all_the_time_they_are_visited_more_often() -> None:
    """As where they change: no page of this site ever says something else, and ads go in weeks."""
    went_s = {f"{A}/ads/{n:03}": EPOCH_S + n * DAY_S / 4 for n in range(160)}
    stay = [f"{A}/docs/{n:03}" for n in range(60)]

    def answer(request: Request) -> FetchResponse:
        if request.at_s >= went_s.get(request.url, inf):
            return FetchResponse(request.url, 404)
        return FetchResponse(request.url, 200, f"all of {request.url}".encode(), "text/plain")

    async def days() -> VirtualCrawl:
        setup = replace(SETUP, seeds=(*went_s, *stay), budget_per_s=80.0 / DAY_S)
        virtual = virtual_crawl(setup)
        for url in setup.seeds:
            virtual.web.reply(url, answer)
        await virtual.run_for(25 * DAY_S)
        return virtual

    virtual = run_virtually(days())
    pages = [virtual.frontier.details(url) for url in (*went_s, *stay)]
    there = [page for page in pages if page and page.state is PageState.INDEXED]
    ads = np.mean([page.visits for page in there if "/ads/" in page.url])
    docs = np.mean([page.visits for page in there if "/docs/" in page.url])
    assert ads > 1.5 * docs
