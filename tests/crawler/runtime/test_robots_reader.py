"""How a host's robots.txt is had: once a day, through redirects, and again after trouble."""

from dataclasses import replace
from itertools import pairwise

import pytest

from recrawl.crawler.control.lifecycle import RevisitRules
from recrawl.crawler.control.robots_txt import MAX_ROBOTS_BYTES
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse, PageState
from recrawl.testing import ScriptedFetcher, Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"
ROBOTS = f"{A}/robots.txt"
DAY_S = 86_400.0
SETUP = Setup(
    hosts=("a.test", "b.test"),
    revisit=RevisitRules(min_interval_s=7200.0, max_interval_s=DAY_S, initial_interval_s=7200.0),
    rules={"replan_s": DAY_S / 4},
)


def answer(text: str = "", status: int = 200, **fields: object) -> FetchResponse:
    return FetchResponse(ROBOTS, status, text.encode(), **fields)  # type: ignore[arg-type]


def crawl(seconds: float, *replies: object, **more: object) -> VirtualCrawl:
    """Crawl a host of two pages whose robots.txt answers so."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(SETUP)
        web: ScriptedFetcher = virtual.web
        web.page(f"{A}/", "home", "/page")
        web.page(f"{A}/page", "page")
        web.reply(ROBOTS, *replies)  # type: ignore[arg-type]
        for url, reply in more.items():
            web.reply(f"{A}/{url}", reply)  # type: ignore[arg-type]
        await virtual.run_for(seconds)
        return virtual

    return run_virtually(main())


def asked_at(virtual: VirtualCrawl) -> list[float]:
    return [request.at_s - EPOCH_S for request in virtual.web.asked(ROBOTS)]


def state_of(virtual: VirtualCrawl, path: str) -> PageState | None:
    details = virtual.frontier.details(A + path)
    return details.state if details else None


def test_an_answer_is_kept_for_a_day_and_no_longer() -> None:
    """RFC 9309 2.4: in two and a half days it is read three times."""
    times = asked_at(crawl(2.5 * DAY_S, answer("User-agent: *\nDisallow: /private")))

    assert len(times) == 3
    for nth, at_s in enumerate(times):
        assert nth * DAY_S <= at_s <= nth * (DAY_S + 7300.0)


def test_new_rules_hold_for_pages_that_were_allowed_before() -> None:
    """From the next reading on, and the copy goes."""
    virtual = crawl(2 * DAY_S, answer(), answer("User-agent: recrawl\nDisallow: /page"))

    assert state_of(virtual, "/page") is PageState.DISALLOWED
    assert [url for url, _ in virtual.index.urls()] == [f"{A}/"]


@pytest.mark.parametrize("longest_d", [1, 60])
def test_a_site_that_was_forbidden_by_a_slip_is_back_a_day_later(longest_d: int) -> None:
    """Whole: where everything is forbidden the rules are read again, too."""
    revisit = RevisitRules(7200.0, longest_d * DAY_S, 7200.0)

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(replace(SETUP, revisit=revisit))
        virtual.web.page(f"{A}/", "home", "/page")
        virtual.web.page(f"{A}/page", "page")
        virtual.web.reply(ROBOTS, answer(), answer("User-agent: *\nDisallow: /"), answer())
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 1.5 * DAY_S)
            assert {state_of(virtual, path) for path in ("/", "/page")} == {PageState.DISALLOWED}
            await virtual.clock.sleep_until(EPOCH_S + 2.9 * DAY_S)
        return virtual

    virtual = run_virtually(main())
    assert sorted(url for url, _ in virtual.index.urls()) == [f"{A}/", f"{A}/page"]
    assert len(asked_at(virtual)) == 3


def test_redirects_lead_to_the_rules_of_the_host_that_was_asked() -> None:
    """RFC 9309 2.3.1.2: five of them, wherever they lead."""
    moved = FetchResponse(ROBOTS, 301, location="/rules")
    virtual = crawl(100, moved, rules=answer("User-agent: *\nDisallow: /page"))

    assert state_of(virtual, "/page") is PageState.DISALLOWED
    assert state_of(virtual, "/") is PageState.INDEXED


def test_redirects_on_a_host_come_no_sooner_than_its_other_requests() -> None:
    """Six followed each other at once, where a second was to lie between any two."""
    hops = {f"r{n}": FetchResponse(f"{A}/r{n}", 302, location=f"/r{n + 1}") for n in range(1, 9)}
    virtual = crawl(100, FetchResponse(ROBOTS, 302, location="/r1"), **hops)

    asked_s = [one.at_s for one in virtual.web.requests if one.url.startswith(A)]
    assert min(later - sooner for sooner, later in pairwise(asked_s)) >= 1.0
    assert len([one for one in virtual.web.requests if "/r" in one.url]) == 6
    assert state_of(virtual, "/page") is PageState.INDEXED


@pytest.mark.parametrize("leads_to", [None, "http://b.test/rules"])
def test_where_robots_txt_could_not_be_had_is_said(leads_to: str | None) -> None:
    """The host that was asked had answered: it may have a sound certificate itself."""
    failure = FetchError("certificate", "expired")
    first = failure if leads_to is None else FetchResponse(ROBOTS, 301, location=leads_to)

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(SETUP)
        virtual.web.page(f"{A}/", "home")
        virtual.web.reply(ROBOTS, first)
        virtual.web.reply("http://b.test/rules", failure)
        await virtual.run_for(100)
        return virtual

    host = next(one for one in run_virtually(main()).frontier.hosts() if one.host == A)

    place = "" if leads_to is None else f"{leads_to}: "
    expected = f"robots.txt cannot be read: {place}its certificate is not trusted"
    assert host.blocked_why == expected


@pytest.mark.parametrize("location", [None, "mailto:x@y", "http://[bad"])
def test_a_redirect_to_nowhere_counts_as_not_there(location: str | None) -> None:
    """And so allows."""
    virtual = crawl(100, FetchResponse(ROBOTS, 302, location=location))

    assert state_of(virtual, "/page") is PageState.INDEXED


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_host_without_robots_txt_is_crawled_and_asked_again_tomorrow(status: int) -> None:
    """4xx allows everything."""
    virtual = crawl(DAY_S / 2, answer("User-agent: *\nDisallow: /", status))

    assert state_of(virtual, "/page") is PageState.INDEXED
    assert len(asked_at(virtual)) == 1


def test_retry_after_says_when_robots_txt_is_asked_again() -> None:
    """In seconds here; until then nothing is asked of the host."""
    virtual = crawl(2000, answer(status=503, retry_after="1000"), answer())

    assert asked_at(virtual) == [0.0, pytest.approx(1000.0, abs=2.0)]
    assert state_of(virtual, "/page") is PageState.INDEXED


def test_rules_that_cannot_be_had_any_more_forbid_for_now() -> None:
    """A host that is down tomorrow is not crawled by the rules of today."""
    virtual = crawl(1.5 * DAY_S, answer(), FetchError("timeout", "no answer"))

    last_page_s = max(r.at_s for r in virtual.web.requests if r.url != ROBOTS) - EPOCH_S
    assert last_page_s <= DAY_S
    assert len(asked_at(virtual)) > 2


def test_a_crawl_delay_holds_from_the_robots_txt_on() -> None:
    """The first page waits as long as every other."""
    virtual = crawl(60, answer("User-agent: *\nCrawl-delay: 9"))

    times = [request.at_s for request in virtual.web.requests]
    assert times[1] - times[0] >= 9.0


def test_sitemaps_that_robots_txt_names_are_read_instead_of_the_usual_one() -> None:
    """Those of other hosts only if they are in scope."""
    named = answer(
        "Sitemap: /one.xml\nSitemap: http://b.test/two.xml\nSitemap: http://c.test/3.xml"
    )
    urls = {request.url for request in crawl(100, named).web.requests}

    assert {f"{A}/one.xml", "http://b.test/two.xml"} <= urls
    assert f"{A}/sitemap.xml" not in urls
    assert not any("c.test" in url for url in urls)


def test_no_more_than_500_kib_of_rules_are_kept() -> None:
    """Whatever the fetcher brought."""
    virtual = crawl(100, answer("User-agent: *\nDisallow: /page\n" + "#" * (MAX_ROBOTS_BYTES + 99)))

    assert state_of(virtual, "/page") is PageState.DISALLOWED
