"""The budget is spent evenly from any state, while a visit of any page is worth something."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope, Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import (
    Discovery,
    Document,
    FetchResponse,
    HostRecord,
    Outcome,
    PageState,
    PageUpdate,
    PlanRecord,
    Visit,
)
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

HOSTS, PAGES = 4, 30
REVISIT = RevisitRules(min_interval_s=20.0, max_interval_s=30 * 86_400.0)
BLOCKED = 1  # host that may be blocked


def least_in_any_window(times: Sequence[float], start_s: float, end_s: float, span_s: float) -> int:
    """Fewest events in a window of this length between two instants."""
    starts = [start_s, *(at_s + 1e-6 for at_s in times if start_s <= at_s <= end_s - span_s)]
    return min(
        bisect_left(times, at_s + span_s) - bisect_right(times, at_s - 1e-9) for at_s in starts
    )


def page_url(number: int) -> str:
    return f"http://{'abcd'[number % HOSTS]}.test/{number}"


def stored(
    ages_s: Sequence[float | None],
    intervals_s: Sequence[float],
    change_rates: Sequence[float],
    *,
    blocked: bool,
) -> MemoryFrontier:
    """Return a state as an earlier run left it; an age of None: never visited."""
    frontier = MemoryFrontier()
    frontier.save_plan(PlanRecord(EPOCH_S, len(ages_s), 1.0, 0.0, 1.0, 0))
    for number, age_s in enumerate(ages_s):
        url = page_url(number)
        host = url.rpartition("/")[0]
        frontier.admit([Discovery(url, host)], EPOCH_S - 1e6, AdmissionLimits())
        if age_s is None:
            continue
        host_id = next(record.host_id for record in frontier.hosts() if record.host == host)
        (lease,) = (
            one
            for one in frontier.lease(
                host_id, limit=99, due_by_s=EPOCH_S, now_s=EPOCH_S, until_s=EPOCH_S
            )
            if one.url == url
        )
        at_s = EPOCH_S - age_s
        visit = Visit(at_s, Outcome.NEW, 200)
        interval_s = intervals_s[number]
        update = PageUpdate(
            lease, visit, PageState.INDEXED, at_s + interval_s, interval_s, signature=b"x"
        )
        frontier.complete([update])
    n = len(ages_s)
    ids = np.arange(1, n + 1)
    frontier.save_change_rates(ids, np.array(change_rates), np.full(n, 2.0))
    for record in frontier.hosts():
        until_s = EPOCH_S + 8e4 if blocked and record.host_id == BLOCKED else 0.0
        frontier.save_host(
            HostRecord(
                record.host_id,
                record.host,
                0.0,
                404,
                b"",
                EPOCH_S + 30.0,
                int(until_s > 0.0),
                until_s,
            )
        )
    return frontier


def indexed(frontier: MemoryFrontier) -> MemoryIndex:
    """Return an index that holds what the state says."""
    index = MemoryIndex()
    for url, signature in frontier.urls_indexed():
        index.replace(Document(url, "", "", EPOCH_S, signature))
    index.commit()
    return index


async def crawled(
    frontier: MemoryFrontier, budget_per_s: float, seconds: float, **rules: Any
) -> VirtualCrawl:
    politeness = PolitenessRules(delay_s=0.1)
    virtual = virtual_crawl(
        Setup(
            seeds=(page_url(0),),
            budget_per_s=budget_per_s,
            politeness=politeness,
            revisit=REVISIT,
            access_s=0.01,
            least_worth=0.0,
            rules={"replan_s": 40.0} | rules,
        ),
        frontier=frontier,
        index=indexed(frontier),
    )
    for number in range(HOSTS * PAGES):
        body = f"<title>{number}</title><main>page {number}</main>".encode()
        virtual.web.reply(page_url(number), FetchResponse(page_url(number), 200, body, "text/html"))
    await virtual.run_for(seconds)
    return virtual


_AGES = st.sampled_from(["one", "fresh", "overdue", "half new", "mixed", "ahead"])


@pytest.mark.slow
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    ages=_AGES,
    interval_s=st.sampled_from([25.0, 3_600.0, 86_400.0, 2e6]),
    rates=st.sampled_from(["zero", "like", "mixed"]),
    budget_per_s=st.sampled_from([0.4, 1.0, 3.0]),
    blocked=st.booleans(),
    seed=st.integers(0, 99),
)
def test_no_request_of_the_budget_lies_unused(
    ages: str, interval_s: float, rates: str, budget_per_s: float, blocked: bool, seed: int
) -> None:
    """In every span of 60 requests at least 57 are made, whatever an earlier run left behind."""
    random = np.random.default_rng(seed)
    n = HOSTS * PAGES
    drawn = {
        "one": np.full(n, 500.0),
        "fresh": np.full(n, 1e-3),
        "overdue": np.full(n, 1e5) + random.random(n),
        "half new": np.full(n, 100.0),
        "mixed": random.exponential(1e4, n),
        "ahead": np.full(n, -7_200.0),  # the clock was two hours ahead
    }[ages]
    aged: list[float | None] = drawn.tolist()
    if ages == "half new":
        aged[::2] = [None] * len(aged[::2])
    change_rates = {
        "zero": np.zeros(n),
        "like": np.full(n, 1.0 / interval_s),
        "mixed": np.exp(random.uniform(-16, -4, n)),
    }[rates]
    intervals = np.where(random.random(n) < 0.5, interval_s, 7.0 * interval_s)
    frontier = stored(aged, intervals.tolist(), change_rates.tolist(), blocked=blocked)
    span_s = 60.0 / budget_per_s

    virtual = run_virtually(crawled(frontier, budget_per_s, 4.0 * span_s))

    times = [request.at_s for request in virtual.web.requests]
    start_s = EPOCH_S + (REVISIT.min_interval_s if ages == "fresh" else 0.0)
    assert least_in_any_window(times, start_s, EPOCH_S + 4.0 * span_s, span_s) >= 57
    assert len(times) <= budget_per_s * 4.0 * span_s + max(1.0, 10.0 * budget_per_s)
    if blocked:
        assert not any(request.url.startswith("http://a.test") for request in virtual.web.requests)
    for number in range(n):
        visits = [request.at_s for request in virtual.web.asked(page_url(number))]
        assert np.all(np.diff(visits) >= REVISIT.min_interval_s - 1e-6)


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_a_budget_changed_at_a_restart_is_spent_from_the_first_minute(factor: float) -> None:
    """Due times of the old plan lie a hundred times too far ahead, or too near."""
    n = HOSTS * PAGES
    frontier = stored(
        [60.0 * k / n for k in range(n)], [60.0 / factor] * n, [1e-4] * n, blocked=False
    )
    rates = np.full(n, factor / 60.0)
    plan = PlanRecord(EPOCH_S, n, 2.0 / factor, 1.0, 0.9, 0)
    frontier.save_plan(plan)
    frontier.save_crawl_rates(plan, np.arange(1, n + 1), rates, EPOCH_S + 1.0 / rates)

    virtual = run_virtually(crawled(frontier, 2.0, 120.0))

    times = [request.at_s for request in virtual.web.requests]
    assert least_in_any_window(times, EPOCH_S, EPOCH_S + 120.0, 30.0) >= 57


@pytest.mark.slow
def test_below_the_least_worth_the_budget_is_left_unspent() -> None:
    """Who sets a floor pays for no visit that is worth less."""
    n = HOSTS * PAGES
    made = [stored([500.0] * n, [1e4] * n, [1e-5] * n, blocked=False) for _ in range(2)]

    async def spent(frontier: MemoryFrontier, least_worth: float) -> int:
        politeness = PolitenessRules(delay_s=0.1)
        virtual = virtual_crawl(
            Setup(
                seeds=(page_url(0),),
                budget_per_s=1.0,
                politeness=politeness,
                revisit=REVISIT,
                least_worth=least_worth,
                rules={"replan_s": 40.0},
            ),
            frontier=frontier,
            index=indexed(frontier),
        )
        for number in range(n):
            body = f"<main>page {number}</main>".encode()
            response = FetchResponse(page_url(number), 200, body, "text/html")
            virtual.web.reply(page_url(number), response)
        await virtual.run_for(600.0)
        return sum(request.at_s > EPOCH_S + 60.0 for request in virtual.web.requests)

    without, floored = (
        run_virtually(spent(frontier, least))
        for frontier, least in zip(made, (0.0, 0.96), strict=True)
    )

    assert without >= 530
    assert floored < 0.2 * without


def test_what_is_worth_most_is_visited_first() -> None:
    """Of pages far from due, those that have come furthest towards it."""
    n = HOSTS * PAGES
    ages = [5_000.0 if number < 10 else 50.0 for number in range(n)]
    frontier = stored(ages, [1e5] * n, [1e-5] * n, blocked=False)

    virtual = run_virtually(crawled(frontier, 1.0, 8.0, replan_s=1e6))

    urls = {request.url for request in virtual.web.requests}
    assert urls <= {page_url(number) for number in range(10)}


def test_a_first_pass_takes_hardly_longer_because_pages_are_due_again() -> None:
    """They come too: one request in twenty."""
    n, revisit = 400, RevisitRules(min_interval_s=30.0, max_interval_s=1e5, initial_interval_s=60.0)
    rules: dict[str, object] = {"first_free": True, "prior_rate_per_s": 1e-4}

    async def main() -> list[str]:
        virtual = virtual_crawl(Setup(revisit=revisit, budget_per_s=0.8, rules=rules))
        virtual.web.page("http://a.test/", "home", *[f"/{number}" for number in range(n)])
        for number in range(n):
            virtual.web.page(f"http://a.test/{number}", f"page {number} says so")
        await virtual.run_for(1.2 * n)
        return [request.url for request in virtual.web.requests]

    asked = run_virtually(main())
    first = [asked.index(url) for url in set(asked)]
    n_again = max(first) + 1 - len(first)

    assert len(first) >= n + 2  # with the home page and robots.txt
    assert 0.03 * n < n_again < 0.06 * n


def test_what_matters_and_is_new_is_found_while_others_wait_for_their_first_visit() -> None:
    """Of 250 pages at 2.4 an hour; one of twenty times their weight is born every six hours."""
    n, n_news, home = 250, 16, "http://a.test/"
    admission = Admission(Scope(hosts=("*",)), Weights([("/news/*", 20.0)]))
    rules = {"admission": admission, "least_worth": 0.0, "replan_s": 21_600.0}
    setup = Setup(budget_per_s=1 / 1_500.0, revisit=RevisitRules(), rules=rules)

    async def main() -> list[str]:
        virtual = virtual_crawl(setup)
        for number in range(n):
            virtual.web.page(f"{home}{number}", f"page {number} says so")
        pages = [f"/{number}" for number in range(n)]
        virtual.web.page(home, "home", *pages)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            for number in range(n_news):
                await virtual.clock.sleep_until(virtual.clock.now_s() + 6 * 3_600.0)
                virtual.web.page(f"{home}news/{number}", f"news {number} of today")
                pages.append(f"/news/{number}")
                virtual.web.page(home, "home", *pages)
        return [request.url for request in virtual.web.requests]

    asked = run_virtually(main())

    assert len({url for url in asked if "/news/" in url}) > 0.4 * n_news
    assert len({url for url in asked if "/news/" not in url}) > 0.85 * 14.4 * n_news
