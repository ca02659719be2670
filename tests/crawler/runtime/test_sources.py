"""Sources of the configuration in a running crawl: probed by the clock, the others by the plan."""

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.crawler.control.revisiting.timetables import ProbedBy
from recrawl.processes.local_clock import HOUR_S, WEEK_S, LocalClock
from recrawl.terms import Discovery, FetchResponse, Kind
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

FEED = "http://a.test/feed.xml"
_HOURS = np.arange(EPOCH_S, EPOCH_S + 20 * WEEK_S, HOUR_S)
_OF_WEEK = (_HOURS - 345_600.0) % WEEK_S
NEWS = _HOURS[
    (_OF_WEEK < 5 * 86_400)
    & (_OF_WEEK % 86_400 // HOUR_S >= 9)
    & (_OF_WEEK % 86_400 // HOUR_S < 17)
]


def feed(noise: bool) -> Callable[[Request], FetchResponse]:
    """Answer with the news so far, and perhaps with the time of the request."""

    def answer(request: Request) -> FetchResponse:
        n_news = int(np.searchsorted(NEWS, request.at_s))
        entries = "".join(
            f"<item><link>http://b.test/{number}</link></item>" for number in range(n_news)[-10:]
        )
        date = f"<lastBuildDate>{request.at_s}</lastBuildDate>" if noise else ""
        body = f'<rss version="2.0"><channel><title>x</title>{date}{entries}</channel></rss>'
        return FetchResponse(FEED, 200, body.encode(), "application/rss+xml")

    return answer


async def crawl(
    kind: Kind, weeks: float, answer: Callable[[Request], FetchResponse]
) -> VirtualCrawl:
    rules = ProbedBy(FEED, kind, 21, HOUR_S, np.ones(168), LocalClock.utc())
    setup = Setup(seeds=(), hosts=("a.test",), rules={"sources": (rules,), "replan_s": 12 * HOUR_S})
    virtual = virtual_crawl(setup)
    virtual.web.reply(FEED, answer)
    limits = virtual.crawl.rules.limits
    virtual.frontier.admit([Discovery(FEED, "http://a.test", kind)], EPOCH_S, limits)
    await virtual.run_for(weeks * WEEK_S)
    return virtual


def delays_s(probes: list[float]) -> float:
    """Return how long the news of the last two weeks waited, on average."""
    news = NEWS[(probes[-1] - 2 * WEEK_S < NEWS) & (probes[-1] - 86_400.0 > NEWS)]
    at = np.array(probes)
    return float(np.mean(at[np.searchsorted(at, news)] - news))


@pytest.mark.parametrize(
    "noise",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["plain", "with the time of the request"],
)
def test_a_feed_is_probed_when_its_news_come(noise: bool) -> None:
    """As often as before, but news wait less than two thirds of what they did; the gap is kept."""
    virtual = run_virtually(crawl(Kind.FEED, 12, feed(noise)))

    probes = [request.at_s for request in virtual.web.asked(FEED)]
    learning = [instant for instant in probes if instant < EPOCH_S + 2.5 * WEEK_S]
    assert len(probes) == pytest.approx(21 * 12, abs=6)
    assert np.diff(probes).min() >= HOUR_S
    assert delays_s(probes) < 0.67 * delays_s(learning)
    assert virtual.counts.events["timetable"] >= 2


def test_a_listing_that_is_a_page_is_probed_too_and_left_out_of_the_plan() -> None:
    """Its due times come from the timetable alone."""

    def answer(request: Request) -> FetchResponse:
        n_news = int(np.searchsorted(NEWS, request.at_s))
        html = f"<title>News</title><main>number {n_news} {'word ' * (n_news % 7)}</main>"
        return FetchResponse(FEED, 200, html.encode(), "text/html")

    virtual = run_virtually(crawl(Kind.PAGE, 4, answer))

    details = virtual.frontier.details(FEED)
    assert details is not None
    assert details.crawl_rate_per_s is None
    assert len(virtual.web.asked(FEED)) == pytest.approx(21 * 4, abs=5)
