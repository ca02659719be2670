"""How a host's robots.txt is had: once a day, through redirects, and again after trouble."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.robots_txt import MAX_ROBOTS_BYTES, MAX_WILDCARD_RULES
from recrawl.crawler.control.dispatching.tasks import AskRobots
from recrawl.crawler.runtime.robots_reader import RobotsReader
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


async def reading(*replies: FetchResponse) -> tuple[VirtualCrawl, RobotsReader]:
    """Return a crawl that has begun and asks for nothing, and who reads its robots.txt."""
    virtual = virtual_crawl(SETUP)
    virtual.web.reply(ROBOTS, *replies)
    crawl = virtual.crawl
    await crawl.prepare()
    return virtual, RobotsReader(crawl.world, crawl.rules, crawl.dispatcher, crawl.recorder)


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
    """From the next reading on, and the copy goes with the one after that."""
    told = (answer(), answer("User-agent: recrawl\nDisallow: /page"))
    once, twice = crawl(2.0 * DAY_S, *told), crawl(3.2 * DAY_S, *told)

    assert state_of(once, "/page") is PageState.MISSING
    assert state_of(twice, "/page") is PageState.DISALLOWED
    assert len(once.web.asked(f"{A}/page")) == len(twice.web.asked(f"{A}/page"))
    assert once.index.n_documents() == 2
    assert [url for url, _ in twice.index.urls()] == [f"{A}/"]


@pytest.mark.parametrize("longest_d", [1, 60])
def test_a_site_that_was_forbidden_by_a_slip_is_crawled_again_a_day_later(longest_d: int) -> None:
    """Whole, and no copy went: where everything is forbidden the rules are read again, too."""
    revisit = RevisitRules(7200.0, longest_d * DAY_S, 7200.0)

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(replace(SETUP, revisit=revisit))
        virtual.web.page(f"{A}/", "home", "/page")
        virtual.web.page(f"{A}/page", "page")
        virtual.web.reply(ROBOTS, answer(), answer("User-agent: *\nDisallow: /"), answer())
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 1.5 * DAY_S)
            assert {state_of(virtual, path) for path in ("/", "/page")} == {PageState.MISSING}
            assert virtual.index.n_documents() == 2
            await virtual.clock.sleep_until(EPOCH_S + 2.9 * DAY_S)
        return virtual

    virtual = run_virtually(main())
    assert {state_of(virtual, path) for path in ("/", "/page")} == {PageState.INDEXED}
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


@pytest.mark.parametrize("named", ["", "Sitemap: http://c.test/3.xml", "Sitemap: mailto:a@b"])
def test_the_usual_sitemap_is_read_where_none_of_the_crawl_is_named(named: str) -> None:
    urls = {request.url for request in crawl(100, answer(named)).web.requests}

    assert f"{A}/sitemap.xml" in urls
    assert not any("c.test" in url for url in urls)


def test_no_more_than_500_kib_of_rules_are_kept() -> None:
    """Whatever the fetcher brought."""
    virtual = crawl(100, answer("User-agent: *\nDisallow: /page\n" + "#" * (MAX_ROBOTS_BYTES + 99)))

    assert state_of(virtual, "/page") is PageState.DISALLOWED


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_redirect_is_followed(status: int) -> None:
    """One that leads to another host is a request of the budget."""
    there = FetchResponse("http://b.test/rules", 200, b"User-agent: *\nDisallow: /page")

    async def main() -> tuple[VirtualCrawl, float]:
        virtual, reader = await reading(answer(status=status, location=there.url))
        virtual.web.reply(there.url, there)
        budget = virtual.crawl.dispatcher.budget
        budget.rate_per_s, before_s = 1e-3, virtual.clock.now_s()
        while budget.ready_s(before_s) <= before_s:
            budget.spend(before_s)
        ready_s = budget.ready_s(before_s)
        await reader.read(AskRobots(1, A))
        return virtual, budget.ready_s(before_s) - ready_s

    virtual, later_s = run_virtually(main())

    assert [one.url for one in virtual.web.requests] == [ROBOTS, there.url]
    assert later_s == pytest.approx(1_000.0, abs=1.0)


@pytest.mark.parametrize(
    ("fields", "after_s"),
    [({}, 300.0), ({"retry_after": "100000"}, DAY_S), ({"retry_after": "70000"}, 70_000.0)],
)
def test_rules_that_cannot_be_had_are_asked_for_again_soon_or_when_the_host_says(
    fields: dict[str, str], after_s: float
) -> None:
    """Within a day in any case."""

    async def main() -> float:
        virtual, reader = await reading(answer(status=503, **fields))
        await reader.read(AskRobots(1, A))
        return virtual.crawl.dispatcher.host(1).robots_until_s - virtual.clock.now_s()

    assert run_virtually(main()) == pytest.approx(after_s)


def test_rules_that_are_too_many_to_judge_by_are_read_again_in_a_day() -> None:
    """They are there, and stay as they are: what could not be had comes again in five minutes."""

    async def main() -> float:
        rules = "Disallow: /*a*b\n" * (MAX_WILDCARD_RULES + 1)
        virtual, reader = await reading(answer(f"User-agent: *\n{rules}"))
        await reader.read(AskRobots(1, A))
        queue = virtual.crawl.dispatcher.host(1)
        return min(queue.robots_until_s, queue.politeness.blocked_until_s) - virtual.clock.now_s()

    assert run_virtually(main()) == pytest.approx(DAY_S)


def test_a_page_that_is_at_hand_when_rules_forbid_it_is_on_record_as_forbidden() -> None:
    async def main() -> VirtualCrawl:
        virtual, reader = await reading(answer("User-agent: *\nDisallow: /"))
        until_s = EPOCH_S + DAY_S
        pages = virtual.frontier.lease(1, limit=1, due_by_s=EPOCH_S, now_s=EPOCH_S, until_s=until_s)
        virtual.crawl.dispatcher.stock(1, pages, until_s=until_s, next_due_s=EPOCH_S)
        await reader.read(AskRobots(1, A))
        await virtual.crawl.recorder.flush()
        return virtual

    assert state_of(run_virtually(main()), "/") is PageState.DISALLOWED


def test_a_robot_that_is_cut_off_leaves_its_host_to_others() -> None:
    """After the rest of the host; nothing is known of its rules."""

    async def main() -> tuple[bool, bool, bool]:
        virtual, reader = await reading(answer())
        task = asyncio.create_task(reader.read(AskRobots(1, A)))
        await asyncio.sleep(0.05)
        queue = virtual.crawl.dispatcher.host(1)
        queue.politeness.start()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), queue.politeness.in_flight, queue.robots is None

    assert run_virtually(main()) == (True, False, True)


def test_rules_that_cannot_be_had_for_long_are_asked_for_ever_more_seldom() -> None:
    """First after five minutes, then as a host in trouble: once a day, or a tenth of one later."""
    times = asked_at(crawl(3 * DAY_S, answer(status=500)))
    rests = [later - sooner for sooner, later in pairwise(times)]

    assert len(times) < 24
    assert rests[0] == pytest.approx(300.0, abs=2.0)
    assert max(rests) <= 1.1 * DAY_S + 60.0


def test_pages_that_were_forbidden_for_long_are_back_when_one_of_them_is() -> None:
    """Each by itself would come after a delay that doubles, some of them a week later."""
    revisit = RevisitRules(7200.0, 60 * DAY_S, 7200.0)
    paths = [f"/{number}" for number in range(24)]

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(
            replace(SETUP, revisit=revisit, budget_per_s=36 / DAY_S, least_worth=0.0)
        )
        virtual.web.page(f"{A}/", "home", *paths)
        for path in paths:
            virtual.web.page(A + path, f"page {path}")
        forbidden = answer("User-agent: *\nDisallow: /")
        virtual.web.reply(ROBOTS, answer())
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 3 * DAY_S)
            virtual.web.reply(ROBOTS, forbidden)
            await virtual.clock.sleep_until(EPOCH_S + 12 * DAY_S)
            assert virtual.index.n_documents() == 0
            virtual.web.reply(ROBOTS, answer())
            await virtual.clock.sleep_until(EPOCH_S + 15 * DAY_S)
        return virtual

    assert run_virtually(main()).index.n_documents() == 25


def test_a_sitemap_that_was_not_there_is_read_once_robots_txt_names_it() -> None:
    """Else it is looked for ever later: after one day, three, and seven."""

    def days(later: str) -> list[float]:
        async def main() -> VirtualCrawl:
            revisit = RevisitRules(7_200.0, 30 * DAY_S, 7_200.0)
            virtual = virtual_crawl(replace(SETUP, revisit=revisit, least_worth=0.0))
            virtual.web.page(f"{A}/", "home")
            virtual.web.reply(ROBOTS, *[answer("")] * 5, answer(later))
            await virtual.run_for(6.5 * DAY_S)
            return virtual

        requests = run_virtually(main()).web.asked(f"{A}/sitemap.xml")
        return [(one.at_s - EPOCH_S) / DAY_S for one in requests]

    assert days("User-agent: other") == pytest.approx([0.0, 1.0, 3.0], abs=0.1)
    assert days("Sitemap: /sitemap.xml") == pytest.approx([0.0, 1.0, 3.0, 5.0], abs=0.1)
