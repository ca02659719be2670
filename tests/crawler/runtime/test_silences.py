"""The network of the machine goes away and comes back: no host, no page pays for it."""

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

HOUR_S = 3_600.0
AWAY_S, BACK_S = EPOCH_S + 4 * HOUR_S, EPOCH_S + 28 * HOUR_S


async def crawled(n_sites: int, kind: str) -> VirtualCrawl:
    """Crawl sites of three pages, of which none can be reached for a day."""
    hosts = [f"http://s{number}.test" for number in range(n_sites)]
    virtual = virtual_crawl(
        Setup(
            seeds=tuple(f"{host}/" for host in hosts),
            budget_per_s=4.0 * n_sites / HOUR_S,
            revisit=RevisitRules(HOUR_S, 240 * HOUR_S, 6 * HOUR_S),
            access_s=0.1,
            least_worth=0.0,
            rules={"replan_s": 12 * HOUR_S},
        )
    )

    def script(url: str, *links: str) -> None:
        virtual.web.page(url, f"<p>{url}</p>", *links)
        well = virtual.web._replies[url][0]

        def told(request: Request) -> FetchResponse:
            if AWAY_S <= request.at_s < BACK_S:
                raise FetchError(kind, "away")
            assert isinstance(well, FetchResponse)
            return well

        virtual.web.reply(url, told)

    for host in hosts:
        for page in ("/", "/1", "/2"):
            script(host + page, f"{host}/1", f"{host}/2")
        script(f"{host}/robots.txt")
    await virtual.run_for(31 * HOUR_S)
    return virtual


@pytest.mark.parametrize(("n_sites", "kind"), [(4, "dns"), (4, "timeout"), (1, "lookup")])
def test_after_a_day_without_a_network_a_crawl_goes_on_within_half_an_hour(
    n_sites: int, kind: str
) -> None:
    """It waited for half a day more, as if every host had failed eleven times."""
    virtual = run_virtually(crawled(n_sites, kind))

    times = [request.at_s for request in virtual.web.requests]
    away = [at_s for at_s in times if AWAY_S <= at_s < BACK_S]
    n_after = sum(at_s >= BACK_S for at_s in times)
    assert min(at_s for at_s in times if at_s >= BACK_S) < BACK_S + 0.5 * HOUR_S
    assert n_after >= 4.0 * n_sites * 2.2
    assert len(away) < 300
    assert virtual.counts.events["silence"] > 10
    assert virtual.frontier.n_indexed() == 3 * n_sites
    assert not any(host.failures for host in virtual.frontier.hosts())
