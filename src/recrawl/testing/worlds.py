"""A whole crawl in memory and in virtual time, over a scripted web."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import ParamSpec, TypeVar

from typing_extensions import override

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.ports import (
    Frontier,
    HubClient,
    Offload,
    PageIndex,
    Preparation,
    Subscriptions,
)
from recrawl.crawler.runtime.clock import LoopClock
from recrawl.crawler.runtime.crawl import Crawl, CrawlPlan
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.threads import InPlace
from recrawl.terms import Document
from recrawl.testing.scripted import Duration, ScriptedFetcher, drawn

__all__ = ["EPOCH_S", "Setup", "TimedPreparation", "VirtualCrawl", "virtual_crawl"]

P = ParamSpec("P")
T = TypeVar("T")

EPOCH_S = 1_800_000_000.0


@dataclass(slots=True)
class VirtualCrawl:
    """A crawl and all that it is made of. Make it inside a running loop."""

    crawl: Crawl
    web: ScriptedFetcher
    frontier: Frontier
    index: PageIndex
    counts: CountingSink
    clock: LoopClock

    async def run_for(self, seconds: float) -> None:
        """Crawl for so long."""
        await self.crawl.prepare()
        async with self.crawl.running():
            await self.clock.sleep_until(self.clock.now_s() + seconds)


class TimedPreparation(Preparation):
    """Leaves pages as they are, after a while."""

    def __init__(self, clock: LoopClock, prepare_s: Duration) -> None:
        self.at_once = 0
        self.most_at_once = 0
        self._clock = clock
        self._prepare_s = prepare_s

    @override
    async def __call__(self, document: Document) -> Document:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await self._clock.sleep_until(self._clock.now_s() + drawn(self._prepare_s))
        self.at_once -= 1
        return document

    @override
    def close(self) -> None:
        pass


class TimedWork(Offload):
    """Runs calls in place, after a while: an indexer with a service time."""

    def __init__(self, clock: LoopClock, service_s: Duration) -> None:
        self._clock = clock
        self._service_s = service_s

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._service_s:
            await self._clock.sleep_until(self._clock.now_s() + drawn(self._service_s))
        return call(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings of a virtual crawl; every field has a default that suits small scripts."""

    seeds: Sequence[str] = ("http://a.test/",)
    hosts: tuple[str, ...] = ("*",)
    budget_per_s: float = 1000.0
    politeness: PolitenessRules = field(default_factory=lambda: PolitenessRules(delay_s=1.0))
    revisit: RevisitRules = field(
        default_factory=lambda: RevisitRules(
            min_interval_s=60.0, max_interval_s=86_400.0, initial_interval_s=3_600.0
        )
    )
    access_s: Duration = 0.1
    service_s: Duration = 0.0
    prepare_s: Duration = 0.0
    least_worth: float = inf  # pages are visited when they are due, not before
    epoch_s: float = EPOCH_S
    reading: ReadingRules | None = None
    rules: dict[str, object] = field(default_factory=dict)


def virtual_crawl(
    setup: Setup | None = None,
    *,
    frontier: Frontier | None = None,
    index: PageIndex | None = None,
    once: bool = False,
    plan: CrawlPlan | None = None,
    hubs: HubClient | None = None,
    subscriptions: Subscriptions | None = None,
) -> VirtualCrawl:
    """Put a crawl together, in memory unless adapters are given."""
    setup = setup or Setup()
    clock = LoopClock(epoch_s=setup.epoch_s)
    web = ScriptedFetcher(clock, access_s=setup.access_s)
    counts = CountingSink()
    in_place, on_work = InPlace(), TimedWork(clock, setup.service_s)
    world = World(
        clock=clock,
        frontier=frontier or MemoryFrontier(),
        fetcher=web,
        # Where indexing takes time, every page takes its service time.
        extractor=InPlaceExtractor(
            "recrawl",
            on_work,
            at_once_bytes=-1 if setup.service_s else 16 * 1024,
            rules=setup.reading,
        ),
        index=index or MemoryIndex(),
        events=counts,
        on_state=in_place,
        on_work=on_work,
        prepare=TimedPreparation(clock, setup.prepare_s) if setup.prepare_s else None,
        hubs=hubs,
        subscriptions=subscriptions,
        resolver=web,
    )
    told: dict[str, object] = {
        "admission": Admission(Scope(hosts=setup.hosts)),
        "revisit": setup.revisit,
        "least_worth": setup.least_worth,
        "patience_s": inf,
    }
    rules = Rules(agent="recrawl", **(told | setup.rules))  # type: ignore[arg-type]
    crawl = Crawl(
        world,
        rules,
        plan or CrawlPlan(setup.budget_per_s, setup.politeness),
        seeds=rules.admission.of(setup.seeds),
        on_plan=in_place,
        once=once,
    )
    return VirtualCrawl(crawl, web, world.frontier, world.index, counts, clock)
