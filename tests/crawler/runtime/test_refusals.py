"""A guard before a host answers all addresses alike for some hours, as with a puzzle."""

from collections.abc import Callable
from random import Random

import pytest

from recrawl.crawler.control.answers.refusals import REFUSED
from recrawl.terms import ChangeKind, FetchResponse, PageState
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, HOUR_S, N = "http://a.test", 3_600.0, 60
URLS = [f"{A}/{number or ''}" for number in range(N)]
SINCE_S, UNTIL_S = EPOCH_S + 30.0 * HOUR_S, EPOCH_S + 34.0 * HOUR_S
LINKS = "".join(f'<a href="/{n}">{n}</a> ' for n in range(1, N))
WORDS = "amber birch cedar delta ember fjord garden harbour island journal kitchen ladder".split()


def puzzle(request: Request) -> FetchResponse:
    html = f"<meta name=robots content=noindex><p>Are you human? Incident {request.at_s}</p>"
    return FetchResponse(request.url, 200, html.encode(), "text/html")


def notice(request: Request) -> FetchResponse:
    html = "<title>Closed</title><main><p>We are working on it.</p></main><nav>" + LINKS
    return FetchResponse(request.url, 200, html.encode(), "text/html")


ALIKE: dict[str, Callable[[Request], FetchResponse]] = {
    "puzzle": puzzle,
    "notice": notice,
    "404": lambda request: FetchResponse(request.url, 404, b"Not found", "text/html"),
    "empty": lambda request: FetchResponse(request.url, 200, b" ", "text/html"),
    "source": lambda request: FetchResponse(request.url, 200, b"<?php", "application/x-php"),
    "403": lambda request: FetchResponse(request.url, 403, b"Blocked", "text/html"),
    "302": lambda request: FetchResponse(request.url, 302, location="http://b.test/closed"),
}


QUICK = ("notice", "404")


def page(request: Request) -> FetchResponse:
    number = int(request.url.rpartition("/")[2] or 0)
    told = f"{WORDS[number % 12]} {WORDS[number // 12]} {WORDS[number % 7]}" * 20
    html = f"<title>Page {number}</title><main><p>{told}</p></main><nav>{LINKS}</nav>"
    return FetchResponse(request.url, 200, html.encode(), "text/html")


async def crawl(
    hours: float, refused: Callable[[Request], FetchResponse] = puzzle, *, every: int = 1
) -> VirtualCrawl:
    """Crawl pages of which each, or each one in so many, is refused for some hours."""

    def answer(request: Request) -> FetchResponse:
        number = int(request.url.rpartition("/")[2] or 0)
        is_refused = SINCE_S <= request.at_s < UNTIL_S and number % every == 0
        return (refused if is_refused else page)(request)

    setup = Setup(
        (f"{A}/",), budget_per_s=N / HOUR_S, rules={"replan_s": HOUR_S, "asked_every_s": 10.0}
    )
    virtual = virtual_crawl(setup)
    for url in URLS:
        virtual.web.reply(url, answer)
    await virtual.run_for(hours * HOUR_S)
    return virtual


@pytest.mark.parametrize(
    "how",
    [one if one in QUICK else pytest.param(one, marks=pytest.mark.slow) for one in ALIKE],
)
def test_no_page_is_lost_and_the_host_is_left_alone(how: str) -> None:
    """But for those that were asked for before it is known, and they are back at once."""
    virtual = run_virtually(crawl(42.0, ALIKE[how]))
    asked = [one for url in URLS for one in virtual.web.asked(url)]
    meanwhile = [one for one in asked if SINCE_S <= one.at_s < UNTIL_S]
    states = {virtual.frontier.details(url).state for url in URLS}  # type: ignore[union-attr]
    out = [
        visit
        for url in URLS
        for visit in virtual.frontier.details(url, recent=200).recent  # type: ignore[union-attr]
        if visit.note == "noindex"
    ]

    assert states == {PageState.INDEXED}
    assert virtual.index.n_documents() == N
    assert len(out) <= 2
    assert not [url for url in URLS if (copy := virtual.index.copy(url)) and copy.title == "Closed"]
    assert len(meanwhile) <= 30
    for url in URLS:
        last = max(one.at_s for one in virtual.web.asked(url))
        assert last > UNTIL_S + 6.0 * HOUR_S


@pytest.mark.slow
@pytest.mark.parametrize("how", ["403", "302", "404"])
def test_pages_that_are_refused_while_others_are_given_go(how: str) -> None:
    """The page before them tells that it is no guard."""
    virtual = run_virtually(crawl(33.0, ALIKE[how], every=3))
    refused = [virtual.frontier.details(url) for url in URLS[::3]]
    host = virtual.frontier.host(1, now_s=UNTIL_S)

    out = [one for one in refused if one is not None and one.state is not PageState.INDEXED]
    assert len(out) > 0.9 * len(refused)
    assert virtual.index.n_documents() >= N - len(refused)
    assert host.blocked_why is None


@pytest.mark.slow
@pytest.mark.parametrize("how", ["403", "404", "notice"])
def test_one_of_two_servers_without_pages_takes_out_few(how: str) -> None:
    """Until it is known that what is gone is back; they are looked at as often as before."""

    def by_chance(request: Request) -> FetchResponse:
        is_bad = Random(f"{request.url} {request.at_s}").random() < 0.5
        return (ALIKE[how] if is_bad else page)(request)

    virtual = run_virtually(crawl(40.0, by_chance))

    feed = virtual.frontier.feed.changes(after=0, limit=9_999)
    lost = sum(one.kind in (ChangeKind.REMOVED, ChangeKind.CHANGED) for one in feed)
    assert lost < (30 if how == "notice" else 10)
    assert virtual.index.n_documents() == N
    asked = [one for url in URLS for one in virtual.web.asked(url)]
    assert sum(SINCE_S <= one.at_s < UNTIL_S for one in asked) > 2 * N


def test_that_it_is_left_alone_is_on_record() -> None:
    """For other processes that ask, and over a start."""
    (known,) = run_virtually(crawl(32.0)).frontier.hosts()

    assert known.blocked_why == REFUSED
    assert known.blocked_until_s > EPOCH_S + 32.0 * HOUR_S
