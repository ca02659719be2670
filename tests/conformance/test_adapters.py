"""Every adapter of every port, through its port's suite."""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from tests.acceptance.servers import Exchange, serving
from tests.oracles.frontier import PlainFrontier

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.fetch.reading.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.reading.isolation.reader import Limits
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import Clock, EventSink, Extractor, Fetcher, Frontier, Offload, PageIndex
from recrawl.crawler.runtime.clock import LoopClock, WallClock
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.lines import JsonLinesSink
from recrawl.crawler.telemetry.metrics import MetricsSink
from recrawl.crawler.wiring.threads import InPlace, OnThread
from recrawl.simulation.fetcher import SiteFetcher
from recrawl.simulation.site import Site
from recrawl.simulation.truth import TruthMeter
from recrawl.simulation.web import SyntheticWeb, WebShape
from recrawl.terms import FetchResponse
from recrawl.testing.conformance import (
    ClockSuite,
    EventSuite,
    ExtractorSuite,
    FeedSuite,
    FetcherSuite,
    FrontierSuite,
    IndexSuite,
    OffloadSuite,
    RevisitPolicySuite,
)
from recrawl.testing.scripted import Request, ScriptedFetcher
from recrawl.testing.worlds import TimedWork

EPOCH_S = 1_800_000_000.0


class TestPlainFrontier(FrontierSuite):
    def make(self, directory: Path) -> Frontier:
        return PlainFrontier()


class TestMemoryFrontier(FrontierSuite):
    def make(self, directory: Path) -> Frontier:
        return MemoryFrontier()


class TestSqliteFrontier(FrontierSuite):
    def make(self, directory: Path) -> Frontier:
        return SqliteFrontier(directory)


class TestPlainFeed(FeedSuite):
    def make(self, directory: Path) -> Frontier:
        return PlainFrontier()


class TestSqliteFeed(FeedSuite):
    def make(self, directory: Path) -> Frontier:
        return SqliteFrontier(directory)


class OwnPolicySuite(RevisitPolicySuite):
    policy: str

    def make(self) -> RevisitPolicy:
        rules = RevisitRules(min_interval_s=3_600.0)
        believed = Believed(rules, budget_per_s=1e-3, prior_rate_per_s=1e-6, prior_shape=0.5)
        return revisit_policy(self.policy, rules, believed)


class TestByWorth(OwnPolicySuite):
    policy = "recrawl"


class TestByForesight(OwnPolicySuite):
    policy = "foresight"


class TestUniform(OwnPolicySuite):
    policy = "uniform"


class TestProportional(OwnPolicySuite):
    policy = "proportional"


class TestNutch(OwnPolicySuite):
    policy = "nutch"


class TestStormCrawler(OwnPolicySuite):
    policy = "stormcrawler"


class TestNewsCrawl(OwnPolicySuite):
    policy = "news-crawl"


class TestMiniflux(OwnPolicySuite):
    policy = "miniflux"


class TestMemoryIndex(IndexSuite):
    def make(self, directory: Path) -> PageIndex:
        return MemoryIndex()


class TestTantivyIndex(IndexSuite):
    def make(self, directory: Path) -> PageIndex:
        return TantivyIndex(directory / "index")


class TestLoopClock(ClockSuite):
    def make(self) -> Clock:
        return LoopClock(epoch_s=EPOCH_S)


class TestAcceleratedClock(ClockSuite):
    def make(self) -> Clock:
        return LoopClock(epoch_s=EPOCH_S, speed=43_200.0)


class TestWallClock(ClockSuite):
    def make(self) -> Clock:
        return WallClock(epoch_s=EPOCH_S, elapsed_s=asyncio.get_running_loop().time)


class TestOnThread(OffloadSuite):
    def make(self) -> Offload:
        return OnThread("suite")


class TestInPlace(OffloadSuite):
    def make(self) -> Offload:
        return InPlace()


class TestTimedWork(OffloadSuite):
    def make(self) -> Offload:
        return TimedWork(LoopClock(epoch_s=EPOCH_S, speed=1e6), 5.0)


class TestCountingSink(EventSuite):
    def make(self) -> EventSink:
        return CountingSink()


class TestJsonLinesSink(EventSuite):
    def make(self) -> EventSink:
        return JsonLinesSink(io.StringIO(), lambda: 0.0)


class TestMetricsSink(EventSuite):
    def make(self) -> EventSink:
        return MetricsSink(dict)


class TestTruthMeter(EventSuite):
    def make(self) -> EventSink:
        return TruthMeter(_site())


class TestInPlaceExtractor(ExtractorSuite):
    def make(self) -> Extractor:
        return InPlaceExtractor("recrawl")


class TestIsolatedExtractor(ExtractorSuite):
    def make(self) -> Extractor:
        return IsolatedExtractor("recrawl", Limits(cpu_s=20.0, memory_bytes=512 * 2**20))


BODY = b"<title>Page</title><main>" + b"words and more words " * 20 + b"</main>"


class TestHttpFetcher(FetcherSuite):
    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Fetcher, str]]:
        async def answer(exchange: Exchange) -> None:
            if exchange.path != "/page":
                await exchange.reply(status=404)
            elif exchange.headers.get("if-none-match") == '"1"':
                await exchange.reply(status=304)
            else:
                await exchange.reply(BODY, ETag='"1"')

        with serving(answer) as server:
            async with HttpFetcher(user_agent="suite", allow_private=["127.0.0.1"]) as fetcher:
                yield fetcher, f"http://127.0.0.1:{server.port}/page"


class TestSiteFetcher(FetcherSuite):
    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Fetcher, str]]:
        site = _site()
        page = next(page for page in site.web.pages if page.exists(0.0))
        yield SiteFetcher(site, LoopClock(epoch_s=EPOCH_S), access_s=0.0), site.url_of(page)


class TestScriptedFetcher(FetcherSuite):
    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Fetcher, str]]:
        url = "http://a.test/page"
        page = FetchResponse(url, 200, BODY, "text/html", etag='"1"')

        def answer(request: Request) -> FetchResponse:
            return replace(page, status=304, body=b"") if request.etag == page.etag else page

        fetcher = ScriptedFetcher(LoopClock(epoch_s=EPOCH_S), access_s=0.0)
        fetcher.reply(url, answer)
        yield fetcher, url


def _site() -> Site:
    return Site(SyntheticWeb(WebShape(n_pages=20, n_hosts=1), 1), epoch_s=EPOCH_S)
