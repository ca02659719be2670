"""A login lapses while a crawl goes on: nothing is lost by it."""

from collections.abc import Callable
from random import Random

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.logins import LAPSED
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.terms import FetchResponse
from recrawl.testing import ScriptedFetcher, Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"
HOUR_S = 3_600.0
PAGES = [f"{A}/page-{name}" for name in "abcdefghij"]
FORM = "<h1>Sign in</h1><p>Say who you are.</p><form method=post><input type=Password></form>"


def form(url: str) -> FetchResponse:
    return FetchResponse(url, 200, f"<html><body>{FORM}</body></html>".encode(), "text/html")


DENIALS: dict[str, Callable[[str], FetchResponse]] = {
    "401": lambda url: FetchResponse(url, 401),
    "403": lambda url: FetchResponse(url, 403),
    "sign-in": lambda url: FetchResponse(url, 302, location="/login?next=%2F"),
    "single-sign-on": lambda url: FetchResponse(
        url, 302, location="https://sso.test/oauth2/authorize?client_id=1"
    ),
    "start": lambda url: form(url) if url == f"{A}/" else FetchResponse(url, 302, location="/"),
    "form": form,
}


def crawled(
    denies: Callable[[Request], FetchResponse | None],
    hours: float,
    *,
    signed_in: bool = True,
    changing: bool = False,
    frontier: MemoryFrontier | None = None,
    beside: str = "",
) -> VirtualCrawl:
    """Crawl pages that some answer may stand for."""
    frontier = frontier or MemoryFrontier()

    def reply(request: Request) -> FetchResponse:
        denied = denies(request)
        if denied is not None:
            return denied
        drawn = Random(f"{request.url}{int(request.at_s / HOUR_S) if changing else 0}")
        own = " ".join("".join(drawn.choices("abcdefghi", k=6)) for _ in range(40))
        links = "".join(f'<a href="{url}">{url[-1]}</a>' for url in PAGES)
        body = f"{beside}<main><p>{own}</p>{links}</main>"
        return FetchResponse(request.url, 200, body.encode(), "text/html")

    async def main() -> VirtualCrawl:
        scope = Scope(hosts=("a.test",), signed_in=("a.test",) if signed_in else ())
        setup = Setup(budget_per_s=30 / HOUR_S, rules={"admission": Admission(scope)})
        virtual = virtual_crawl(setup, frontier=frontier, index=MemoryIndex())
        web: ScriptedFetcher = virtual.web
        for url in (f"{A}/", *PAGES):
            web.reply(url, reply)
        await virtual.run_for(hours * HOUR_S)
        return virtual

    return run_virtually(main())


@pytest.mark.parametrize("denial", list(DENIALS))
def test_where_a_login_has_lapsed_all_copies_stay(denial: str) -> None:
    """Its host is left alone, as one that fails, and people are told why."""
    since_s = EPOCH_S + 2 * HOUR_S

    def denies(request: Request) -> FetchResponse | None:
        return DENIALS[denial](request.url) if request.at_s > since_s else None

    virtual = crawled(denies, 12)

    assert virtual.index.n_documents() == 11
    assert virtual.counts.outcomes["changed"] == 0
    (host,) = virtual.frontier.hosts()
    assert host.blocked_why == LAPSED
    asked = [one for url in PAGES for one in virtual.web.asked(url) if one.at_s > since_s]
    assert len(asked) < 20  # of three hundred


@pytest.mark.parametrize("changing", [False, True])
@pytest.mark.parametrize("denial", ["403", "sign-in", "form"])
def test_what_was_denied_is_visited_when_the_login_is_good_again(
    denial: str, changing: bool
) -> None:
    """At once, as far as the budget goes: one in two minutes."""
    first_s, last_s = EPOCH_S + 2 * HOUR_S, EPOCH_S + 5 * HOUR_S

    def denies(request: Request) -> FetchResponse | None:
        return DENIALS[denial](request.url) if first_s < request.at_s < last_s else None

    virtual = crawled(denies, 14, changing=changing)

    assert virtual.index.n_documents() == 11
    (host,) = virtual.frontier.hosts()
    assert host.blocked_why is None
    later = [[one.at_s for one in virtual.web.asked(url) if one.at_s > last_s] for url in PAGES]
    denied = [
        times[0]
        for url, times in zip(PAGES, later, strict=True)
        if any(first_s < one.at_s < last_s for one in virtual.web.asked(url))
    ]
    assert len(denied) >= 3
    assert max(denied) - min(map(min, later)) < HOUR_S / 2


def test_a_start_asks_a_host_whose_login_had_lapsed() -> None:
    """Who starts a crawl may have renewed it."""
    frontier, since_s = MemoryFrontier(), EPOCH_S + 2 * HOUR_S

    def denies(request: Request) -> FetchResponse | None:
        return FetchResponse(request.url, 401) if request.at_s > since_s else None

    crawled(denies, 12, frontier=frontier)
    (host,) = frontier.hosts()
    assert host.blocked_until_s > EPOCH_S + 2 * HOUR_S

    virtual = crawled(lambda request: None, 1.9, frontier=frontier)
    assert virtual.web.asked(PAGES[0])
    (host,) = frontier.hosts()
    assert host.blocked_why is None


@pytest.mark.parametrize("changing", [False, True])
def test_pages_that_are_denied_for_themselves_go(changing: bool) -> None:
    """Whoever lent the login may not read them any more, and reads the others."""
    some = PAGES[2:10:2]

    def denies(request: Request) -> FetchResponse | None:
        is_late = request.at_s > EPOCH_S + 2 * HOUR_S
        return FetchResponse(request.url, 403) if is_late and request.url in some else None

    virtual = crawled(denies, 12, changing=changing)

    assert [url for url in PAGES if virtual.index.copy(url) is None] == some


@pytest.mark.slow
def test_without_a_login_pages_that_are_denied_go() -> None:
    """At the first look after two days: a guard that denies all pages for a while is no reason."""

    def denies(request: Request) -> FetchResponse | None:
        is_late = request.at_s > EPOCH_S + 2 * HOUR_S
        return FetchResponse(request.url, 403) if is_late else None

    assert crawled(denies, 96, signed_in=False).index.n_documents() == 0


def test_a_page_that_becomes_a_form_is_one() -> None:
    """It is seen twice more while others are given, and then taken for what it says."""

    def denies(request: Request) -> FetchResponse | None:
        is_late = request.at_s > EPOCH_S + 2 * HOUR_S
        return form(request.url) if is_late and request.url == PAGES[3] else None

    virtual = crawled(denies, 12)

    assert virtual.index.n_documents() == 11
    copy = virtual.index.copy(PAGES[3])
    assert copy is not None
    assert "Say who you are" in copy.text


def test_pages_with_a_box_to_sign_in_change_like_others() -> None:
    frontier = MemoryFrontier()
    box = "<form method=post><input type=password></form>"

    virtual = crawled(lambda request: None, 12, changing=True, frontier=frontier, beside=box)

    (host,) = frontier.hosts()
    assert host.blocked_why is None
    assert virtual.counts.outcomes["changed"] > 20
    assert virtual.counts.outcomes["server-error"] <= 1
