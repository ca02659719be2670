"""A crawl whose robots are never idle: for holding their control against its theory."""

from collections.abc import Callable
from itertools import count

import numpy as np

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.terms import FetchResponse
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import Setup, VirtualCrawl, virtual_crawl

__all__ = ["costs_of", "restless_crawl"]

_HOSTS, _PAGES = 60, 5  # enough that no robot ever waits for a host


def restless_crawl(
    seed: int,
    *,
    n_robots: int,
    buffer: int,
    fetch_s: float,
    service_s: Callable[[np.random.Generator], float],
    policy: ActivationPolicy | None = None,
    weight: float | None = None,
) -> VirtualCrawl:
    """Return a crawl of pages that have changed at every visit. Make it inside a running loop.

    Parameters
    ----------
    seed : of all times
    n_robots, buffer : robots, and places in the buffer
    fetch_s : mean time of a fetch, which is exponential
    service_s : draws how long the indexer takes for a page
    policy : a fixed control; default: the one that the crawl starts with
    weight : of starvation; then the crawl looks for a control itself
    """
    random = np.random.default_rng(seed)
    politeness = PolitenessRules(delay_s=0.0)
    hosts = [f"http://h{number}.test" for number in range(_HOSTS)]
    rules = {
        "n_robots": n_robots,
        "buffer_capacity": buffer,
        "buffer_deadline_s": 1e6,
        "lease_s": 1e5,
        "replan_s": 1e9,
        "commit_s": 1e9,
        "commit_pages": 64,
        "discovery_share": 0.5,  # no stretch of first visits alone, whose answers are others
    }
    virtual = virtual_crawl(
        Setup(
            seeds=[f"{host}/{page}" for host in hosts for page in range(_PAGES)],
            politeness=politeness,
            revisit=RevisitRules(0.1, 1e6, 0.1),
            access_s=lambda: float(random.exponential(fetch_s)),
            service_s=lambda: float(service_s(random)),
            rules=dict(rules),
        ),
        plan=CrawlPlan(1000.0, politeness, policy=policy, starvation_weight=weight),
    )
    number = count()

    def changed(request: Request) -> FetchResponse:
        body = f"<title>x</title><main>edition {next(number)} of it</main>"
        return FetchResponse(request.url, 200, body.encode(), "text/html")

    for host in hosts:
        virtual.web.page(f"{host}/robots.txt", "", status=404)
        for page in range(_PAGES):
            virtual.web.reply(f"{host}/{page}", changed)
    return virtual


async def costs_of(
    virtual: VirtualCrawl, weight: float, *, warm_up_s: float, parts: int, part_s: float
) -> list[float]:
    """Return what each part of a crawl costs a second, after a warm-up.

    Parameters
    ----------
    weight : cost of an idle indexer per second; a page that is lost costs 1
    """
    crawl, buffer, found = virtual.crawl, virtual.crawl.buffer, []
    await crawl.prepare()
    async with crawl.running():
        await virtual.clock.sleep_until(crawl.now_s + warm_up_s)
        for _ in range(parts):
            buffer.account()
            starved_s, lost = buffer.starved_s, buffer.lost
            await virtual.clock.sleep_until(crawl.now_s + part_s)
            buffer.account()
            starved, losses = buffer.starved_s - starved_s, buffer.lost - lost
            found.append((weight * starved + losses) / part_s)
    return found
