"""One storm: several lives of a crawler over one disk, and what must hold after each.

It runs the crawler as it is, in virtual time, against a small web that changes, throttles, breaks
off and disappears, over a disk that is slow, full or failing, through kills at any step and clocks
that jump between two lives. The same seed is the same storm, event by event::

    from tests.storms.storm import run_storm
    print(run_storm(4711))

The weather alone can be put over any fetcher: :func:`tests.storms.weather.in_weather`.
"""

import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.storms.disk import (
    Killed,
    KilledLoop,
    Leases,
    StormyDisk,
    StormyPreparation,
    handle,
)
from tests.storms.weather import Broken
from tests.storms.web import StormyFetcher, StormyWeb

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.runtime.clock import LoopClock
from recrawl.crawler.runtime.crawl import Crawl, CrawlPlan
from recrawl.crawler.runtime.parts import ImportanceRules, Rules, World
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.threads import InPlace
from recrawl.errors import StateError
from recrawl.terms import ChangeKind, Outcome, PageState

__all__ = ["Storm", "StormReport", "run_storm"]

EPOCH_S = 1_800_000_000.0
_FAIR_S = 700.0
_TOLD = (Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED)


@dataclass(frozen=True, slots=True)
class Storm:
    """Severity of a storm.

    Parameters
    ----------
    lives : times that the crawler is started; the last one sees fair weather
    life_s : mean length of a life, seconds of the web
    kills : share of the lives that end between two steps, instead of in order
    failures : probability that a call to the disk fails
    """

    lives: int = 4
    life_s: float = 200.0
    kills: float = 0.6
    failures: float = 0.002


@dataclass(frozen=True, slots=True)
class StormReport:
    """Result of one storm.

    Parameters
    ----------
    seed : of everything
    requests, visits : made, and recorded
    endings : how the lives ended: killed, stopped, disk
    outcomes : of all visits
    digest : of every request in order with its time; the same seed has the same
    """

    seed: int
    requests: int
    visits: int
    endings: tuple[str, ...]
    outcomes: dict[str, int]
    digest: str


def run_storm(seed: int, storm: Storm | None = None) -> StormReport:
    """Run a storm, and check every invariant all along.

    Raises
    ------
    Broken
        A promise was broken; the message has the seed.
    """
    with tempfile.TemporaryDirectory(dir=_memory_disk()) as folder:
        try:
            return _Weather(seed, storm or Storm(), Path(folder)).run()
        except Broken as broken:
            raise Broken(f"seed {seed}: {broken}") from broken


def _memory_disk() -> str | None:
    """A disk in memory where there is one: the faults are ours, not the machine's."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


class _Weather:
    """The disk, the web, and one life after the other."""

    def __init__(self, seed: int, storm: Storm, folder: Path) -> None:
        self.seed, self.storm, self.folder = seed, storm, folder
        self.random = np.random.default_rng(seed)
        self.politeness = PolitenessRules(
            delay_s=float(self.random.choice([0.0, 0.5, 2.0])),
            backoff=Backoff(first_s=5.0, longest_s=120.0),
            longest_retry_after_s=120.0,
        )
        length_s = storm.lives * storm.life_s
        self.web = StormyWeb(self.random, length_s, self.politeness.delay_s)
        self.index = MemoryIndex()
        self.served: dict[tuple[str, float], int] = {}
        self.endings: list[str] = []
        self.known: set[str] = set()
        self.consumed: dict[str, bytes] = {}  # by one who follows the feed from life to life
        self.cursor = 0
        self.passed_s = 0.0
        self.budget_per_s = float(self.random.choice([0.5, 1.0, 3.0]))
        self.is_fair = False

    def run(self) -> StormReport:
        """Live, die, and live again."""
        for life in range(self.storm.lives):
            self.is_fair = life == self.storm.lives - 1
            if self.is_fair:
                self.web.weather.fair_s = self.passed_s
            self._live()
            # The host's rest is kept in memory only: a start takes longer than that.
            self.passed_s += self.politeness.delay_s + float(self.random.exponential(60.0))
        frontier = SqliteFrontier(self.folder)
        outcomes = {kind.value: n for kind, n in frontier.n_visits_by_outcome().items()}
        frontier.close()
        return StormReport(
            self.seed,
            self.web.requests,
            sum(outcomes.values()),
            tuple(self.endings),
            outcomes,
            self.web.trace.hexdigest(),
        )

    def _live(self) -> None:
        killed = not self.is_fair and self.random.random() < self.storm.kills
        steps = int(10.0 ** self.random.uniform(0.0, 3.5)) if killed else None
        loop = KilledLoop(steps)
        frontier = SqliteFrontier(self.folder)
        handles = (handle(frontier, Leases(frontier, lambda: 0.0)), handle(self.index))
        ending, ended_s = "stopped", 0.0
        try:
            asyncio.set_event_loop(loop)
            loop.set_exception_handler(lambda *_: None)  # nobody is left to hear of it
            loop.run_until_complete(self._crawl(loop, frontier, handles))
        except Killed:
            ending = "killed"
        except BaseExceptionGroup as group:
            ending = _ending_of(group)
        except StateError:
            ending = "disk"
        finally:
            ended_s = loop.time()
            for each in handles:
                each.is_dead = True
            loop.bury()
            asyncio.set_event_loop(None)
            self.index.close()  # what was not committed is gone
            frontier.close()
        self.passed_s += ended_s
        for host in self.web.hosts:  # whatever was in flight broke off
            self.web.ended_s[host] = self.passed_s
        self.endings.append(ending)
        self._check(stopped=ending == "stopped")

    async def _crawl(
        self, loop: KilledLoop, frontier: SqliteFrontier, handles: tuple[Any, Any]
    ) -> None:
        # The clock of a machine that starts anew may be wrong, in either direction.
        jump_s = float(self.random.choice([0.0, 0.0, -3600.0, 86_400.0])) * (not self.is_fair)
        clock = LoopClock(epoch_s=EPOCH_S + self.passed_s + jump_s)
        handles[0]._instead = Leases(frontier, clock.now_s)
        burst = max(1.0, min(self.budget_per_s * 10.0, 1_000.0))
        fetcher = StormyFetcher(
            self.web, clock, lambda: self.passed_s + loop.time(), (self.budget_per_s, burst)
        )
        fetcher.served = self.served
        disk = StormyDisk(self.random, self.storm.failures, lambda: self.is_fair)
        prepare = StormyPreparation(self.random) if self.random.random() < 0.3 else None
        rules, at_once_bytes = self._rules(), int(self.random.choice([-1, 10**6]))
        world = World(
            clock=clock,
            frontier=handles[0],
            fetcher=fetcher,
            extractor=InPlaceExtractor("recrawl", disk, at_once_bytes=at_once_bytes),
            index=handles[1],
            events=CountingSink(),
            on_state=disk,
            on_work=disk,
            prepare=prepare,
        )
        plan = CrawlPlan(self.budget_per_s, self.politeness, starvation_weight=None)
        seeds = rules.admission.of([f"{host}/" for host in self.web.hosts])
        crawl = Crawl(world, rules, plan, seeds=seeds, on_plan=InPlace())
        await crawl.prepare()
        life_s = _FAIR_S if self.is_fair else float(self.random.exponential(self.storm.life_s))
        async with crawl.running(grace_s=60.0):
            until_s = loop.time() + life_s
            while loop.time() < until_s:
                await asyncio.sleep(5.0)
                if crawl.buffer.length > crawl.buffer.capacity:
                    raise Broken(f"{crawl.buffer.length} pages in a buffer of {rules}")

    def _rules(self) -> Rules:
        return Rules(
            agent="recrawl",
            admission=Admission(Scope(hosts=("*.test",))),
            revisit=RevisitRules(20.0, 400.0, 30.0, confirm_s=10.0, retry_s=10.0, listing_s=300.0),
            n_robots=int(self.random.integers(1, 6)),
            n_servers=int(self.random.choice([1, 1, 1, 3])),
            buffer_capacity=int(self.random.integers(1, 6)),
            buffer_deadline_s=float(self.random.choice([2.0, 60.0])),
            lease_s=600.0,
            replan_s=100.0,
            commit_s=float(self.random.choice([0.1, 5.0])),
            commit_pages=int(self.random.integers(1, 20)),
            patience_s=0.5,
            feed_keep_s=50.0 if self.seed % 2 else 1e9,
            **self._importance(),
        )

    def _importance(self) -> dict[str, Any]:
        """Have some crawls learn what pages are worth, and tell it."""
        if self.seed % 5 not in (1, 3):
            return {}
        shares = {"links": 0.9, "even": 0.1}
        return {"feed_importance": True, "importance": ImportanceRules(shares, least_s=50.0)}

    # -- what must hold --

    def _check(self, *, stopped: bool) -> None:
        frontier = SqliteFrontier(self.folder)
        try:
            self._check_pages(frontier)
            self._check_visits(frontier)
            self._check_feed(frontier)
            if stopped:
                self._check_index(frontier)
            if self.is_fair:
                self._check_all_found(frontier)
        finally:
            frontier.close()

    def _check_pages(self, frontier: SqliteFrontier) -> None:
        urls = {row[0] for row in frontier._db.execute("SELECT url FROM page")}
        if lost := self.known - urls:
            raise Broken(f"pages were lost: {sorted(lost)[:3]}")
        self.known = urls

    def _check_visits(self, frontier: SqliteFrontier) -> None:
        seen = Counter(frontier._db.execute("SELECT page_id, visited_at_s FROM visit"))
        if twice := [visit for visit, times in seen.items() if times > 1]:
            raise Broken(f"visits on record twice: {twice[:3]}")

    def _check_feed(self, frontier: SqliteFrontier) -> None:
        """However a life ended: whoever follows the feed has what the state says, and no more."""
        versions: dict[str, int] = {}
        anew: dict[str, bytes] = {}
        for change in frontier.feed.changes(after=0, limit=2**31):
            if change.version <= versions.get(change.url, 0):
                raise Broken(f"the version of {change.url} did not grow")
            versions[change.url] = change.version
            for held in (anew,) if change.seq <= self.cursor else (anew, self.consumed):
                if change.signature is None:
                    held.pop(change.url, None)
                else:
                    held[change.url] = change.signature
        self.cursor = frontier.feed.last()
        should = dict(frontier.urls_indexed())
        of_copies = {
            change.url: change.signature
            for change in frontier.feed.changes(after=0, limit=2**31, latest=True)
            if change.kind is not ChangeKind.IMPORTANCE and change.signature is not None
        }
        for held in (anew, self.consumed, of_copies):
            if held != should:
                apart = sorted(url for url, _ in set(held.items()) ^ set(should.items()))
                raise Broken(f"feed and state differ in {apart[:3]}")

    def _check_index(self, frontier: SqliteFrontier) -> None:
        """After an orderly end index and state agree, and hold what was fetched last."""
        held = dict(self.index.urls())
        should = dict(frontier.urls_indexed())
        if held != should:
            apart = sorted(url for url, _ in set(held.items()) ^ set(should.items()))
            raise Broken(f"index and state differ in {apart[:3]}")
        if frontier.in_indexing():
            raise Broken("an orderly end left notes of unfinished changes")
        for url in held:
            self._check_copy(frontier, url)

    def _check_copy(self, frontier: SqliteFrontier, url: str) -> None:
        """The copy is what was seen last, or what a life brought that ended before it was told."""
        copy, details = self.index._held[url], frontier.details(url, recent=50)
        assert details is not None
        if self.web.text(url, self.served[url, copy.fetched_at_s]) not in copy.text:
            raise Broken(f"{url} is held in another edition than was fetched for it")
        told = [visit for visit in details.recent if visit.outcome in _TOLD]
        if copy.fetched_at_s not in {visit.visited_at_s for visit in told}:
            return
        if self.web.text(url, self.served[url, told[0].visited_at_s]) not in copy.text:
            raise Broken(f"{url} is held in another edition than was seen last")

    def _check_all_found(self, frontier: SqliteFrontier) -> None:
        """In fair weather every page that is there is indexed in the end, and nothing else."""
        now_s = self.passed_s
        for url, page in self.web.pages.items():
            details = frontier.details(url)
            if details is None:
                raise Broken(f"{url} was never found")
            gone, moved = page.gone_s < now_s - _FAIR_S, page.moved_to is not None
            wanted = PageState.GONE if gone else PageState.MOVED if moved else PageState.INDEXED
            if details.state is not wanted and not (page.gone_s < np.inf and not gone):
                raise Broken(f"{url} is {details.state}, not {wanted}")


def _ending_of(group: BaseExceptionGroup[BaseException]) -> str:
    """Find what ended a life; a broken promise is passed on."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return _ending_of(error)
        if not isinstance(error, StateError):
            raise error
    return "disk"
