"""Many small sites under a small budget: their pages wait for each other, no request is lost."""

import numpy as np
import pytest
from tests.crawler.runtime.test_never_idle import least_in_any_window

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

DAY_S = 86_400.0
SITES, PAGES = 10, 5


async def crawled(per_site: float, days: float) -> VirtualCrawl:
    """Crawl sites of five pages each, at so many requests a day for each."""
    hosts = [f"http://s{number}.test" for number in range(SITES)]
    virtual = virtual_crawl(
        Setup(
            seeds=tuple(f"{host}/" for host in hosts),
            budget_per_s=per_site * SITES / DAY_S,
            politeness=PolitenessRules(delay_s=1.0),
            revisit=RevisitRules(3_600.0, 30 * DAY_S, 5 * DAY_S),
            access_s=0.1,
            least_worth=0.0,
            rules={"replan_s": 0.25 * DAY_S},
        )
    )
    random = np.random.default_rng(5)
    for host in hosts:
        links = [f"{host}/{number}" for number in range(1, PAGES)]
        for url in (f"{host}/", *links):
            versions = random.integers(0, 10**6, 9)
            for version in versions.tolist():
                virtual.web.page(url, f"<p>{url} says {version}</p>", *links)
    await virtual.run_for(days * DAY_S)
    return virtual


@pytest.mark.slow
def test_rules_take_a_third_of_the_requests_at_most_and_none_lies_unused() -> None:
    """They take nearly half where each host is opened as soon as a request is free."""
    per_site, days = 0.5, 40.0

    virtual = run_virtually(crawled(per_site, days))

    requests = virtual.web.requests
    times = np.array([request.at_s for request in requests])
    later = times > EPOCH_S + 0.5 * days * DAY_S
    is_rules = np.array([request.url.endswith("/robots.txt") for request in requests])
    pages = {request.url for request in requests if not request.url.endswith((".txt", ".xml"))}
    span_s = 60.0 * DAY_S / (per_site * SITES)
    assert is_rules[later].mean() < 0.33
    assert len(pages) == SITES * PAGES
    assert least_in_any_window(times.tolist(), EPOCH_S, EPOCH_S + days * DAY_S, span_s) >= 57


@pytest.mark.parametrize("said", [FetchResponse("", 500), FetchError("dns", "no such name")])
def test_hosts_that_are_down_leave_the_requests_to_the_others(
    said: FetchResponse | FetchError,
) -> None:
    """Nothing is known of their pages, so they come first; where requests are few, for good."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(
            Setup(
                seeds=tuple(f"http://s{number}.test/" for number in range(4)),
                budget_per_s=40 / DAY_S,
                politeness=PolitenessRules(delay_s=1.0),
                access_s=0.1,
            )
        )
        for number in range(4):
            virtual.web.page(f"http://s{number}.test/", f"<p>This is site {number}</p>")
        for host in ("http://s0.test", "http://s1.test"):
            virtual.web.reply(f"{host}/robots.txt", said)
        await virtual.run_for(0.6 * DAY_S)
        return virtual

    asked = {request.url for request in run_virtually(main()).web.requests}

    assert asked >= {"http://s2.test/", "http://s3.test/"}
