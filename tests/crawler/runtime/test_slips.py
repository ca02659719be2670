"""What a whole host says for some minutes, as by a slip in its configuration."""

from operator import attrgetter

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.terms import FetchResponse, Outcome, PageState
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, N, HOUR_S = "http://a.test", 8, 3_600.0
URLS = [f"{A}/page/{number}" for number in range(N)]
AWAY_S, CLOSED_S = EPOCH_S + 2.0 * HOUR_S, EPOCH_S + 22.0 * HOUR_S
REVISIT = RevisitRules(min_interval_s=600.0, max_interval_s=30 * 86_400.0, initial_interval_s=600.0)


def crawled(
    to: str, away_s: float, *, since_s: float = AWAY_S, until_s: float = 6 * HOUR_S
) -> VirtualCrawl:
    """Crawl pages that lead elsewhere for a while, with a number in the place of a star."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=0.2, revisit=REVISIT))
        for number, url in enumerate(URLS):
            target = to.replace("*", str(number))

            def answer(request: Request, target: str = target) -> FetchResponse:
                if since_s <= request.at_s < since_s + away_s:
                    return FetchResponse(request.url, 301, location=target)
                told = f"<title>{request.url}</title><p>What is told of {request.url}</p>"
                return FetchResponse(request.url, 200, told.encode(), "text/html")

            virtual.web.reply(url, answer)
            virtual.web.page(f"{A}/new/{number}", f"What is told of {url} there")
        virtual.web.page(f"{A}/", "Start", *URLS)
        virtual.web.page(f"{A}/rest", "We are at rest")
        await virtual.run_for(until_s)
        return virtual

    return run_virtually(main())


def told(virtual: VirtualCrawl, kind: str) -> int:
    """Return how many of the pages are told to be so."""
    feed = virtual.frontier.feed.changes(after=0, limit=999)
    return len({one.url for one in feed if one.kind.value == kind and one.url in URLS})


def n_indexed(virtual: VirtualCrawl) -> int:
    """Return how many of the pages are held."""
    details = [virtual.frontier.details(url) for url in URLS]
    return sum(page is not None and page.state is PageState.INDEXED for page in details)


@pytest.mark.parametrize(("to", "n_away"), [(f"{A}/", 0), (f"{A}/rest", 1)])
def test_a_site_that_sends_all_pages_to_one_for_minutes_keeps_them(to: str, n_away: int) -> None:
    """But for one, which may have moved there; each was asked for meanwhile."""
    virtual = crawled(to, 0.25 * HOUR_S)
    away = [[one.at_s for one in virtual.web.asked(url)] for url in URLS]

    assert sum(any(0 <= at_s - AWAY_S < 0.25 * HOUR_S for at_s in one) for one in away) > N / 2
    assert (told(virtual, "moved"), n_indexed(virtual)) == (n_away, N - n_away)


def test_a_site_that_sends_all_pages_to_one_for_good_has_moved_when_that_is_confirmed() -> None:
    virtual = crawled(f"{A}/", 99 * HOUR_S)

    assert (told(virtual, "moved"), n_indexed(virtual)) == (N, 0)


@pytest.mark.parametrize("to", [f"{A}/", f"{A}/new/*"])
def test_pages_that_led_elsewhere_for_hours_are_back_a_day_later(to: str) -> None:
    """One of them is looked at, and as it is back those beside it, and so on."""
    virtual = crawled(to, 4.0 * HOUR_S, until_s=6.0 * HOUR_S)
    later = crawled(to, 4.0 * HOUR_S, until_s=28.0 * HOUR_S)

    assert n_indexed(virtual) < N / 2
    assert n_indexed(later) == N


def test_pages_that_move_to_places_of_their_own_have_moved_at_once() -> None:
    """Half an hour afterwards, and an hour before anything would be confirmed."""
    virtual = crawled(f"{A}/new/*", 99 * HOUR_S, until_s=2.5 * HOUR_S)

    assert told(virtual, "moved") > N / 2


def test_of_pages_that_never_were_anything_else_none_is_asked_for_twice() -> None:
    """Nothing is held that could be lost."""
    virtual = crawled(f"{A}/", 99 * HOUR_S, since_s=EPOCH_S)

    assert [len(virtual.web.asked(url)) for url in URLS] == [1] * N


def closed(
    away_h: float, *, answers_all: bool, every_h: float = 5.0, n_more: int = 0
) -> VirtualCrawl:
    """Crawl pages, each once in so many hours, that say the same for so long.

    So do addresses that do not exist, or these are not found.
    """
    urls = [*URLS, *(f"{A}/more/{number}" for number in range(n_more))]

    async def main() -> VirtualCrawl:
        budget_per_s = len(urls) / (every_h * HOUR_S)
        setup = Setup(budget_per_s=budget_per_s, revisit=REVISIT, least_worth=0.0)
        virtual = virtual_crawl(setup)

        def answer(request: Request) -> FetchResponse:
            is_closed = CLOSED_S <= request.at_s < back_s
            told = "We are closed and will be back soon"
            if not is_closed and request.url not in urls:
                return FetchResponse(request.url, 404)
            if not is_closed:
                told = f"<title>{request.url}</title><p>What is told of {request.url}</p>"
            return FetchResponse(request.url, 200, told.encode(), "text/html")

        back_s = CLOSED_S + away_h * HOUR_S
        for url in urls:
            virtual.web.reply(url, answer)
        virtual.web.page(f"{A}/", "Start", *urls)
        if answers_all:
            virtual.web.fallback = answer
        await virtual.run_for(60 * HOUR_S)
        return virtual

    return run_virtually(main())


@pytest.mark.slow
@pytest.mark.parametrize("answers_all", [True, False])
def test_a_site_that_says_one_thing_on_all_pages_for_hours_keeps_them(*, answers_all: bool) -> None:
    """But for one, as one page may say something new; nothing is asked for besides."""
    virtual = closed(4.0, answers_all=answers_all)
    usual = closed(0.0, answers_all=answers_all)
    away = [[one.at_s - CLOSED_S for one in virtual.web.asked(url)] for url in URLS]

    assert sum(any(0 <= at_s < 4 * HOUR_S for at_s in one) for one in away) >= N / 2
    assert (told(virtual, "changed"), told(virtual, "removed")) == (1, 0)
    assert n_indexed(virtual) == N
    assert len(virtual.web.requests) <= len(usual.web.requests) + 1


@pytest.mark.slow
def test_no_page_is_not_found_by_the_first_visit_that_says_so() -> None:
    """Though it is known by then what the site says of what does not exist."""
    virtual = closed(2.9, answers_all=True, every_h=2.0, n_more=42)
    urls = [*URLS, *(f"{A}/more/{number}" for number in range(42))]
    pages = [virtual.frontier.details(url, recent=99) for url in urls]
    visits = [sorted(page.recent, key=attrgetter("visited_at_s")) for page in pages if page]
    while_closed = [[one for one in of if one.visited_at_s >= CLOSED_S] for of in visits]
    outcomes = [[one.outcome for one in of] for of in while_closed]

    assert {of[0] for of in outcomes} <= {Outcome.SERVER_ERROR, Outcome.CHANGED, Outcome.UNCHANGED}
    assert any(Outcome.NOT_FOUND in of for of in outcomes)


def test_pages_that_say_one_thing_for_good_have_changed_when_that_is_confirmed() -> None:
    virtual = closed(99.0, answers_all=False)

    assert (told(virtual, "changed"), n_indexed(virtual)) == (N, N)
    for url in URLS:
        page = virtual.frontier.details(url, recent=99)
        assert page is not None
        said = [visit.outcome for visit in page.recent if visit.visited_at_s > CLOSED_S]
        assert said.count(Outcome.SERVER_ERROR) <= 1


def test_single_passes_tell_by_the_second_one_what_pages_say_for_good() -> None:
    """What the first one has doubted the second one, another process, does not."""
    said = {url: f"<title>{url}</title><p>What is told of {url}</p>" for url in URLS}

    def answer(request: Request) -> FetchResponse:
        return FetchResponse(request.url, 200, said[request.url].encode(), "text/html")

    async def passes() -> list[int]:
        frontier, index, n_told = MemoryFrontier(), MemoryIndex(), []
        for number in range(3):
            setup = Setup(URLS, revisit=REVISIT, epoch_s=EPOCH_S + number * 86_400.0)
            virtual = virtual_crawl(setup, once=True, frontier=frontier, index=index)
            for url in URLS:
                virtual.web.reply(url, answer)
            await virtual.run_for(HOUR_S)
            n_told.append(told(virtual, "changed"))
            said.update(dict.fromkeys(URLS, "This site is closed for good"))
        return n_told

    assert run_virtually(passes()) == [0, 1, N]
