"""A web of known history, crawled for real on an accelerated clock, other policies beside it."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from recrawl.cli.crawler.watch import Watch
from recrawl.cli.output import note
from recrawl.crawler.ports import Clock, EventSink, Fetcher
from recrawl.crawler.runtime.clock import LoopClock
from recrawl.crawler.settings import Settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.crawls import open_crawl, run_virtual_crawl
from recrawl.errors import StateError
from recrawl.simulation.fetcher import SiteFetcher
from recrawl.simulation.site import ServedSite
from recrawl.simulation.truth import TruthMeter

OWN = "foresight"  # what `recrawl run` goes by
ACCESS_S = 0.003  # what an exchange takes without a network, in seconds of the clock on the wall
_POINTS = 60  # of each course


@dataclass(frozen=True, kw_only=True)
class Stage(ABC):
    """Common setting of all arms of a play; can be sent to another process.

    Parameters
    ----------
    budget_per_s : requests per second of the web's time
    epoch_s : start of the play, in the web's time
    speed : seconds of the web in a second
    slow_s : duration of an answer by the server's own will, in seconds of our own clock
    """

    budget_per_s: float
    epoch_s: float
    speed: float
    slow_s: float = 0.0

    @property
    @abstractmethod
    def title(self) -> str:
        """Description of the web, for people."""

    @property
    @abstractmethod
    def start_s(self) -> float:
        """Start of the measurement."""

    @property
    @abstractmethod
    def end_s(self) -> float:
        """End of the measurement, and of the play."""

    @abstractmethod
    def site(self, port: int) -> ServedSite:
        """Make the web."""

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """Return the arguments with which the server makes the same web."""

    @abstractmethod
    def settings(self, directory: Path, site: ServedSite, policy: str) -> Settings:
        """Settings of one arm, in the web's own time."""


@dataclass(frozen=True, slots=True)
class Played:
    """Result of one arm.

    Parameters
    ----------
    freshness, weighted_freshness : in truth, averaged over the measurement
    fetches : requests, and looks at robots.txt among them
    outcomes : visits by outcome
    delays : median, 90 % and 99 % of the time from a change to its visit, seconds
    n_changes, n_overtaken : changes in the measurement; those that a later one overtook
    missed, imagined : visits that took a changed page for unchanged, and the reverse
    promised : freshness that the plans promised of the addresses known, on average; None: they
        promise none
    estimated : freshness that the crawl estimated of the addresses known, on average at its plans
    course : instants, and freshness about each
    requests : as the server counted them, by kind; empty where there was no server
    idle_s : longest time between two requests, as the server saw it, in the web's time
    """

    freshness: float
    weighted_freshness: float
    fetches: int
    outcomes: dict[str, int]
    delays: tuple[float, float, float]
    n_changes: int
    n_overtaken: int
    missed: int
    imagined: int
    promised: float | None
    estimated: float | None
    course: list[list[float]]
    requests: dict[str, int]
    idle_s: float = 0.0


class Promises(EventSink):
    """Hears what plans promise, and passes all on."""

    def __init__(self, then: EventSink) -> None:
        self._at_s: list[float] = []
        self._heard: list[tuple[float, float]] = []
        self._then = then

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event == "plan":
            # A plan speaks of the pages that it has: those not yet visited are stale.
            at_s, share, freshness, estimate = (
                float(str(fields[name])) for name in ("at_s", "share", "freshness", "estimate")
            )
            self._at_s.append(at_s)
            self._heard.append((freshness * share, estimate * share))
        self._then.emit(event, fields)

    def over(self, start_s: float, end_s: float) -> tuple[float, float] | tuple[None, None]:
        """Return what was promised and estimated from one instant to another; None: nothing was.

        Each plan counts for as long as it was in force: a slow machine makes few of them.
        """
        bounds = np.clip([*self._at_s, end_s], start_s, end_s)
        in_force_s = np.diff(bounds)
        if not in_force_s.any():
            return None, None
        promised, estimated = np.average(self._heard, axis=0, weights=in_force_s).tolist()
        return promised, estimated


def _judge(
    stage: Stage,
    truth: TruthMeter,
    promises: Promises,
    counts: CountingSink,
    served: Mapping[str, Any],
) -> Played:
    measured = truth.over(stage.start_s, stage.end_s)
    delays = truth.delays(stage.start_s, stage.end_s)
    promised, estimated = promises.over(stage.start_s, stage.end_s)
    return Played(
        freshness=measured.freshness,
        weighted_freshness=measured.weighted,
        fetches=sum(counts.outcomes.values()) - counts.outcomes["disallowed"],
        outcomes=dict(counts.outcomes),
        delays=(delays.median, delays.ninety, delays.ninety_nine),
        n_changes=delays.n_changes,
        n_overtaken=delays.n_overtaken,
        missed=truth.missed,
        imagined=truth.imagined,
        promised=promised,
        estimated=estimated,
        course=truth.course(stage.epoch_s, stage.end_s, _POINTS).tolist(),
        requests=dict(served.get("requests", {})),
        idle_s=float(served.get("idle_s", 0.0)),
    )


def play_virtually(
    policy: str, stage: Stage, faults: Callable[[Fetcher, Clock], Fetcher] | None = None
) -> Played:
    """Run the crawl by a policy in virtual time and without a network.

    Parameters
    ----------
    policy : by which pages are visited again
    stage : what is crawled
    faults : puts something between crawl and web, as bad weather
    """
    site = stage.site(80)
    truth = TruthMeter(site)
    promises = Promises(truth)
    counts = CountingSink(promises)
    access_s = (ACCESS_S + stage.slow_s) * stage.speed

    def fetcher_at(clock: Clock) -> Fetcher:
        fetcher = SiteFetcher(site, clock, access_s=access_s)
        return fetcher if faults is None else faults(fetcher, clock)

    with tempfile.TemporaryDirectory() as directory:
        run_virtual_crawl(
            stage.settings(Path(directory), site, policy),
            fetcher_at,
            events=counts,
            epoch_s=stage.epoch_s,
            until_s=stage.end_s,
            speed=stage.speed,
        )
    site.close()
    return _judge(stage, truth, promises, counts, {})


async def play(
    stage: Stage, directory: Path, others: tuple[str, ...], *, quiet: bool
) -> tuple[Played, dict[str, Played]]:
    """Crawl over HTTP as `recrawl run` does, and by other policies beside it in virtual time."""
    _load_planning()
    server = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet
        [sys.executable, "-m", "recrawl.simulation.server", json.dumps(stage.told())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    served: dict[str, Any] = {}
    site: ServedSite | None = None
    try:
        port = int((await asyncio.to_thread(server.stdout.readline)) or 0)
        if not port:
            raise StateError("the web server of the demo did not start")
        site = await asyncio.to_thread(stage.site, port)
        truth = TruthMeter(site)
        promises = Promises(truth)
        counts = CountingSink(promises)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            server.stdin.write(f"{time.time()}\n")
            server.stdin.flush()
            arms = {name: pool.submit(play_virtually, name, stage) for name in others}
            await _crawl(stage, site, truth, counts, directory, quiet=quiet)
            server.stdin.close()
            last = await asyncio.to_thread(server.stdout.read)
            served = json.loads(last or "{}")
            found = {name: await _finished(arm, name, quiet=quiet) for name, arm in arms.items()}
        return _judge(stage, truth, promises, counts, served), found
    finally:
        if site is not None:
            site.close()
        if not server.stdin.closed:
            server.stdin.close()
        server.wait(10)


def _load_planning() -> None:
    """Load what plans are made with: at such speeds that takes days, and delays the second one."""
    from recrawl.crawler.control.revisiting.revisits import RevisitControl

    control = RevisitControl(np.ones(1), 1.0)
    control.observe(np.zeros(2, np.int64), np.arange(2.0), np.array([True, False]))
    control.decide(2.0)


async def _crawl(
    stage: Stage,
    site: ServedSite,
    truth: TruthMeter,
    counts: CountingSink,
    directory: Path,
    *,
    quiet: bool,
) -> None:
    clock = LoopClock(epoch_s=stage.epoch_s, speed=stage.speed)
    settings = stage.settings(directory, site, OWN)
    async with open_crawl(settings, events=counts, clock=clock) as crawl:
        watch = Watch(
            crawl,
            counts,
            budget_per_s=stage.budget_per_s,
            truth=lambda: truth.now(clock.now_s()).weighted,
            quiet=quiet,
            title=stage.title,
        )
        async with crawl.running(), watch:
            await clock.sleep_until(stage.end_s)


async def _finished(arm: Future[Played], name: str, *, quiet: bool) -> Played:
    if not arm.done() and not quiet:
        note(f"waiting for the {name} arm ...")
    return await asyncio.wrap_future(arm)
