"""What one more fetch is worth, as people are told it."""

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope, Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request

A, HOUR_S = "http://a.test", 3_600.0


def worth(budget_per_s: float, weight: float) -> float:
    """Return it for thirty pages that change four times a day, all of one weight."""

    def page(number: int) -> object:
        def reply(request: Request) -> FetchResponse:
            edition = int(request.at_s / (6 * HOUR_S) + number / 30)
            body = f"<main>page {number} in edition e{edition:x}x</main>"
            return FetchResponse(request.url, 200, body.encode(), "text/html")

        return reply

    async def main() -> float:
        admission = Admission(Scope(hosts=("*",)), Weights((("/*", weight),)))
        rules: dict[str, object] = {"replan_s": 2 * HOUR_S, "admission": admission}
        revisit = RevisitRules(600.0, 60 * HOUR_S, 6 * HOUR_S)
        setup = Setup(revisit=revisit, rules=rules)
        # Each page by itself: what is found beside it makes the course of visits too chaotic.
        plan = CrawlPlan(budget_per_s, setup.politeness, revisit="recrawl")
        virtual = virtual_crawl(setup, plan=plan)
        virtual.web.page(f"{A}/", "home", *[f"/{n}" for n in range(30)])
        for number in range(30):
            virtual.web.reply(f"{A}/{number}", page(number))  # type: ignore[arg-type]
        await virtual.run_for(100 * HOUR_S)
        told = virtual.frontier.facts().plan.fetch_worth
        assert told is not None
        return told

    return run_virtually(main())


@pytest.mark.slow
def test_a_fetch_is_worth_less_the_more_there_are_and_counts_pages_not_weights() -> None:
    """Ten times the weight of every page are no more pages."""
    little, much = worth(8 / HOUR_S, 1.0), worth(20 / HOUR_S, 1.0)

    assert 0.0 < much < 0.5 * little
    assert 0.95 < worth(8 / HOUR_S, 10.0) / little < 1.05


def asked_with_a_sitemap(n: int, listing_s: float, hours: float) -> list[str]:
    """Return what is asked of n pages, in a chain, and a sitemap in which one is born each 2 h."""
    first_s: list[float] = []

    def sitemap(request: Request) -> FetchResponse:
        first_s.append(request.at_s)
        n_born = int((request.at_s - first_s[0]) / (2 * HOUR_S))
        urls = [f"{A}/{number}" for number in range(n + n_born)]
        body = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
        return FetchResponse(request.url, 200, f"<urlset>{body}</urlset>".encode(), "text/xml")

    async def main() -> list[str]:
        revisit = RevisitRules(600.0, 720 * HOUR_S, 24 * HOUR_S, listing_s=listing_s)
        rules: dict[str, object] = {"replan_s": HOUR_S, "first_free": True}
        setup = Setup(revisit=revisit, budget_per_s=20 / HOUR_S, rules=rules)
        virtual = virtual_crawl(setup)
        virtual.web.page(f"{A}/", "home", "/0")
        for number in range(2 * n):
            following = [f"/{number + 1}"] if number + 1 < n else []
            virtual.web.page(f"{A}/{number}", f"page {number} says so", *following)
        virtual.web.reply(f"{A}/sitemap.xml", sitemap)
        await virtual.run_for(hours * HOUR_S)
        return [one.url for one in virtual.web.requests]

    return run_virtually(main())


def test_a_sitemap_is_worth_what_it_alone_brings_though_links_led_to_what_it_listed_first() -> None:
    """What both told of in the first pass says nothing of what is born: only the sitemap has it."""
    asked = asked_with_a_sitemap(30, 3 * HOUR_S, 40.0)

    assert len(set(asked)) >= 30 + 3 + 17


def test_a_plan_that_learns_what_a_sitemap_brings_has_it_read_sooner() -> None:
    """It does not wait until the interval is over that was set before that was known."""
    asked = asked_with_a_sitemap(30, 24 * HOUR_S, 40.0)

    assert asked.count(f"{A}/sitemap.xml") > 5


def test_what_a_sitemap_alone_brings_is_found_within_the_first_day() -> None:
    """Its second reading comes early, and tells how much is born in it."""
    asked = asked_with_a_sitemap(30, 48 * HOUR_S, 20.0)

    assert len(set(asked)) >= 30 + 3 + 8
