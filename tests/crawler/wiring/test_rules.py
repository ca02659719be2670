"""What settings stand for, beside what the runtime goes by where nothing is said."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.revisiting.revisit_policy import Replan
from recrawl.crawler.ports import Clock
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.crawler.runtime.parts import Rules
from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import AccessSettings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.crawls import run_virtual_crawl
from recrawl.crawler.wiring.rules import crawl_plan, crawl_rules
from recrawl.terms import FetchResponse
from recrawl.testing.worlds import EPOCH_S

SETTINGS = Settings(seeds=("http://a.test/",), contact="me@a.test")
# Set by the machine, by other settings, or for one use of the engine only.
OWN = {
    "agent", "admission", "settings_mark", "asked_every_s", "importance", "mark_of",
    "keep_visits_s", "lease_s",
}  # fmt: skip


def test_what_a_program_leaves_out_is_what_a_file_leaves_out() -> None:
    """Rules and plans of an embedded crawl are those of the command line."""
    said = crawl_rules(SETTINGS)
    bare = Rules(agent=said.agent, admission=said.admission)
    plan = crawl_plan(SETTINGS)

    told = {item.name: getattr(said, item.name) for item in fields(Rules) if item.name not in OWN}
    assert told == {name: getattr(bare, name) for name in told}
    assert replace(said.importance, shares=bare.importance.shares) == bare.importance
    assert plan.politeness == PolitenessRules()
    assert plan.burst_s == CrawlPlan(plan.budget_per_s, plan.politeness).burst_s
    assert said.prior_rate_per_s == next(
        item.default for item in fields(Replan) if item.name == "prior_rate_per_s"
    )


def test_a_crawl_is_signed_in_where_it_sends_who_it_is() -> None:
    """What a visit would do there is no part of it: nothing is deleted by a crawl."""
    access = (
        AccessSettings(("wiki.a.test",), secret_env="WIKI_TOKEN"),
        AccessSettings(("shop.a.test",), cookies_file=Path("cookies.txt")),
        AccessSettings(("a.test",), headers=(("X-Version", "2"),)),
    )
    settings = replace(SETTINGS, hosts=("*.a.test", "a.test"), access=access)

    admission = crawl_rules(settings).admission

    hosts = ("wiki.a.test", "shop.a.test", "a.test")
    found = admission.of(f"https://{host}/item/7/delete" for host in hosts)
    assert [one.url for one in found] == ["https://a.test/item/7/delete"]


def test_pages_are_leased_for_as_long_as_the_budget_is_waited_for() -> None:
    """At two requests an hour the lease lapsed just before the visit was recorded."""
    asked: list[str] = []

    class Site:
        def __init__(self, clock: Clock) -> None:
            self._clock = clock

        async def fetch(self, url: str, *args: Any, **kwargs: Any) -> FetchResponse:
            await self._clock.sleep_until(self._clock.now_s() + 5.0)
            asked.append(url)
            if url.endswith((".txt", ".xml")):
                return FetchResponse(url, 404)
            links = "".join(f"<p><a href='/{n}'>page {n}</a></p>" for n in range(4))
            body = f"<title>{url}</title><main><p>The page at {url} says this.</p>{links}</main>"
            return FetchResponse(url, 200, body.encode(), "text/html", "utf-8")

        async def __aenter__(self) -> Self:
            return self

        async def __aexit__(self, *args: object) -> None:
            pass

    settings = replace(SETTINGS, budget_per_s=2 / 3600.0)
    run_virtual_crawl(
        settings, Site, events=CountingSink(), epoch_s=EPOCH_S, until_s=EPOCH_S + 5 * 3_600.0
    )

    assert {"http://a.test/", *(f"http://a.test/{n}" for n in range(4))} < set(asked)
