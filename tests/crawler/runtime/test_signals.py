"""What listings announce, in a running crawl: relied on as far as it has proved to be true."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from math import inf

import numpy as np
import pytest

from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.crawler.reports.status import freshness_of
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, N_PAGES, N_DAYS = "http://a.test", 86_400.0, 30, 80
_RANDOM = np.random.default_rng(3)
CHANGES = [
    EPOCH_S + np.sort(_RANDOM.uniform(0, N_DAYS * DAY_S, _RANDOM.poisson(N_DAYS / 6)))
    for _ in range(N_PAGES)
]


def page(number: int) -> Callable[[Request], FetchResponse]:
    """Answer with the number of changes so far."""

    def answer(request: Request) -> FetchResponse:
        body = f"page {number} as it is {np.searchsorted(CHANGES[number], request.at_s)}"
        return FetchResponse(request.url, 200, body.encode(), "text/plain")

    return answer


def sitemap(truth: bool) -> Callable[[Request], FetchResponse]:
    """List all pages, with their latest changes or with the time of the request."""

    def answer(request: Request) -> FetchResponse:
        entries = ""
        for number, changes in enumerate(CHANGES):
            before = np.searchsorted(changes, request.at_s)
            at_s = (changes[before - 1] if before else EPOCH_S - 1) if truth else request.at_s
            stamp = np.datetime64(int(at_s), "s")
            entries += f"<url><loc>{A}/p/{number}</loc><lastmod>{stamp}Z</lastmod></url>"
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        return FetchResponse(request.url, 200, body.encode(), "application/xml")

    return answer


async def crawl(truth: bool) -> tuple[VirtualCrawl, float]:
    """Crawl thirty pages that change every six days, with eight visits of pages a day.

    Also return what was estimated of their freshness, on average over the days of the second half.
    """
    revisit = RevisitRules(
        min_interval_s=600.0,
        max_interval_s=40 * DAY_S,
        initial_interval_s=5 * DAY_S,
        listing_s=DAY_S / 4,
    )
    setup = Setup(
        budget_per_s=13.0 / DAY_S,
        revisit=revisit,
        rules={"replan_s": 7_200.0},
        seeds=(f"{A}/",),
        least_worth=0.0,  # as users have it: no request is left unused
    )
    virtual = virtual_crawl(setup)
    virtual.web.page(f"{A}/", "home")
    virtual.web.reply(f"{A}/sitemap.xml", sitemap(truth))
    for number in range(N_PAGES):
        virtual.web.reply(f"{A}/p/{number}", page(number))
    estimates: list[float] = []

    async def look() -> None:
        for day in range(41, N_DAYS):
            now_s = EPOCH_S + day * DAY_S
            await virtual.clock.sleep_until(now_s)
            frontier = virtual.frontier
            estimate = freshness_of(frontier.planned_pages(), frontier.announcers(), now_s)
            assert estimate is not None
            estimates.append(estimate.value)

    await asyncio.gather(virtual.run_for(N_DAYS * DAY_S), look())
    return virtual, float(np.mean(estimates))


def delays_days(virtual: VirtualCrawl) -> float:
    """Return how long changes of the second half waited to be seen, on average."""
    found = []
    for number, changes in enumerate(CHANGES):
        at = np.array([request.at_s for request in virtual.web.asked(f"{A}/p/{number}")])
        late = changes[(changes > EPOCH_S + 40 * DAY_S) & (changes < at[-1])]
        found.append(at[np.searchsorted(at, late)] - late)
    return float(np.mean(np.concatenate(found))) / DAY_S


def freshness(virtual: VirtualCrawl) -> float:
    """Return the share of pages that were as they are, over the second half, in truth."""
    instants, fresh = np.linspace(EPOCH_S + 40 * DAY_S, EPOCH_S + N_DAYS * DAY_S, 2_000), []
    for number, changes in enumerate(CHANGES):
        at = np.array([request.at_s for request in virtual.web.asked(f"{A}/p/{number}")])
        last = at[np.searchsorted(at, instants) - 1]
        fresh.append(np.searchsorted(changes, instants) == np.searchsorted(changes, last))
    return float(np.mean(fresh))


def control_of(virtual: VirtualCrawl) -> RevisitControl:
    """Return what decides in this crawl."""
    control = virtual.crawl.believed._control
    assert control is not None
    return control


@pytest.mark.slow
def test_a_feed_announces_by_the_dates_of_its_entries() -> None:
    """A later date of a page that is known reaches whoever plans."""
    dates = [EPOCH_S - DAY_S, EPOCH_S + DAY_S / 2]

    def feed(request: Request) -> FetchResponse:
        stamp = np.datetime64(int(dates[request.at_s > dates[1]]), "s")
        entry = f'<entry><link href="{A}/p"/><updated>{stamp}Z</updated></entry>'
        body = f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>'
        return FetchResponse(request.url, 200, body.encode(), "application/atom+xml")

    async def announced(days: float) -> float:
        revisit = RevisitRules(600.0, 40 * DAY_S, 5 * DAY_S, listing_s=DAY_S / 4)
        virtual = virtual_crawl(Setup(seeds=(f"{A}/",), revisit=revisit))
        link = '<link rel="alternate" type="application/atom+xml" href="/feed">'
        home = FetchResponse(f"{A}/", 200, f"<head>{link}</head>home".encode(), "text/html")
        virtual.web.reply(f"{A}/", lambda request: home)
        virtual.web.page(f"{A}/p", "a page")
        virtual.web.reply(f"{A}/feed", feed)
        await virtual.run_for(days * DAY_S)
        return float(np.nanmax(virtual.frontier.planned_pages().lastmod_s))

    assert run_virtually(announced(0.4)) == dates[0]
    assert run_virtually(announced(1.2)) == dates[1]


@pytest.mark.slow
def test_what_an_honest_sitemap_announces_is_visited_soon_and_a_lying_one_loses_its_weight() -> (
    None
):
    """Changes wait less than half as long where the dates are true.

    Plans and estimates tell what is true in both. The lying sitemap has every page changed at each
    request; its pages are visited as if it said nothing, and a signal of it weighs a tenth of a
    true one at most.
    """
    (honest, of_honest), (lying, of_lying) = (
        run_virtually(crawl(truth)) for truth in (True, False)
    )

    assert delays_days(honest) < 0.5 * delays_days(lying)
    weight = [float(control_of(one)._log_odds.max()) for one in (honest, lying)]
    assert weight[1] < 0.1 * weight[0]
    for virtual, estimate, n_announcers in ((honest, of_honest, 1), (lying, of_lying, 0)):
        pages, announcers = virtual.frontier.planned_pages(), virtual.frontier.announcers()
        plan = virtual.frontier.last_plan()
        assert plan is not None
        assert len(announcers) == n_announcers
        assert np.nansum(pages.change_rates_per_s) == pytest.approx(N_PAGES / (6 * DAY_S), rel=0.25)
        assert plan.freshness == pytest.approx(freshness(virtual), abs=0.08)
        assert estimate == pytest.approx(freshness(virtual), abs=0.05)


@pytest.mark.parametrize("truth", [True, False])
def test_hosts_that_tell_when_pages_changed_are_believed_if_it_is_true(truth: bool) -> None:
    """Thirty days of the same pages, with a Last-Modified that is true, or the present."""

    def dated(number: int) -> Callable[[Request], FetchResponse]:
        plain = page(number)

        def answer(request: Request) -> FetchResponse:
            before = np.searchsorted(CHANGES[number], request.at_s)
            at_s = CHANGES[number][before - 1] if before else EPOCH_S - DAY_S
            stamp = formatdate(at_s if truth else request.at_s, usegmt=True)
            return replace(plain(request), last_modified=stamp)

        return answer

    async def days() -> VirtualCrawl:
        revisit = RevisitRules(600.0, 40 * DAY_S, DAY_S, listing_s=10 * DAY_S)
        virtual = virtual_crawl(
            Setup(
                budget_per_s=13.0 / DAY_S,
                revisit=revisit,
                rules={"replan_s": 43_200.0},
                seeds=tuple(f"{A}/p/{number}" for number in range(N_PAGES)),
            )
        )
        for number in range(N_PAGES):
            virtual.web.reply(f"{A}/p/{number}", dated(number))
        await virtual.run_for(30 * DAY_S)
        return virtual

    virtual = run_virtually(days())

    assert bool(virtual.crawl.believed.hosts.change_times.truthful) is truth


def test_what_fades_is_told_to_whoever_decides() -> None:
    """By the address: half of the pages have a half-life, the others none."""
    lives = Weights([(f"/p/{number}", 21_600.0) for number in range(0, N_PAGES, 2)], otherwise=inf)

    async def days() -> VirtualCrawl:
        virtual = virtual_crawl(
            Setup(
                budget_per_s=60.0 / DAY_S,
                revisit=RevisitRules(600.0, 40 * DAY_S, DAY_S, listing_s=10 * DAY_S),
                rules={"replan_s": 43_200.0, "half_lives": lives},
                seeds=tuple(f"{A}/p/{number}" for number in range(N_PAGES)),
            )
        )
        for number in range(N_PAGES):
            virtual.web.reply(f"{A}/p/{number}", page(number))
        await virtual.run_for(4 * DAY_S)
        return virtual

    told = control_of(run_virtually(days()))._half_lives

    assert np.count_nonzero(told == 21_600.0) == N_PAGES // 2
    assert np.count_nonzero(np.isinf(told)) == told.size - N_PAGES // 2
