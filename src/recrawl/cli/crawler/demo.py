"""`recrawl demo`: a changing web on this machine, crawled for real for a minute."""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Annotated, Any

from cyclopts import Parameter
from typing_extensions import override

from recrawl.cli.crawler.watch import Watch
from recrawl.cli.output import called_as, console, note, print_json, print_table
from recrawl.cli.sizes import check_seed
from recrawl.crawler.ports import EventSink
from recrawl.crawler.runtime.clock import LoopClock
from recrawl.crawler.settings import Settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.crawls import open_crawl, run_virtual_crawl
from recrawl.errors import InputError, StateError
from recrawl.quantities import show_rate
from recrawl.simulation.fetcher import SiteFetcher
from recrawl.simulation.site import Site
from recrawl.simulation.truth import TruthMeter
from recrawl.simulation.web import DAY_S, SyntheticWeb, WebShape

__all__ = ["demo"]

SPEED = DAY_S / 2.0  # two seconds of the demo are a day of the web
ACCESS_S = 0.003  # what an exchange takes without a network, in seconds of the demo
WARM_UP = 0.25  # share of the time in which every arm may learn before it is measured


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What every arm of the demo has in common."""

    shape: WebShape
    seed: int
    seconds: float
    port: int
    budget_per_s: float
    epoch_s: float

    @property
    def start_s(self) -> float:
        """When it begins."""
        return self.epoch_s + WARM_UP * self.seconds * SPEED

    @property
    def end_s(self) -> float:
        """When the measurement ends, in the web's time."""
        return self.epoch_s + self.seconds * SPEED


def demo(
    *,
    seconds: float = 60.0,
    pages: int = 400,
    hosts: int = 4,
    seed: int = 1,
    state: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> int:
    """Crawl a small changing web on this machine for a minute, and see what freshness it buys.

    The web is made from a seed, served over HTTP on 127.0.0.1 and changes by itself, a day every
    two seconds. recrawl learns its pages' change rates and keeps its index fresh within a budget;
    the same crawl with uniform and with proportional visits runs beside it in virtual time.

    Parameters
    ----------
    seconds
        How long to crawl.
    pages
        Pages in the web when it starts.
    hosts
        Hosts they are spread over, 1 to 8.
    seed
        Of the web; the same seed is the same web.
    state
        Directory for the index and the state, emptied first.  [default: ./recrawl-demo]
    json_
        Print one JSON object and nothing else.
    """
    if not 2.0 <= seconds <= 3600.0:
        raise InputError(f"--seconds: {seconds:g} must be between 2 and 3600")
    if not 1 <= pages <= 100_000:
        raise InputError(f"--pages: {pages} must be between 1 and 100000")
    if not 1 <= hosts <= 8:
        raise InputError(f"--hosts: {hosts} must be between 1 and 8")
    if pages < hosts:
        raise InputError(f"--pages: {pages} must be at least one for each of {hosts} hosts")
    check_seed(seed)
    directory = _emptied(state or Path("recrawl-demo"))
    report = asyncio.run(_run(seconds, pages, hosts, seed, directory, quiet=json_))
    if json_:
        print_json(report)
    else:
        _show(report)
    return 0


def _emptied(directory: Path) -> Path:
    """Make the directory ours: only what a demo wrote is removed."""
    mark = directory / "recrawl-demo"
    if directory.exists() and not directory.is_dir():
        raise InputError(f"--state: {directory} is no directory; choose another name")
    if directory.exists() and any(directory.iterdir()):
        if not mark.exists():
            raise InputError(
                f"--state: {directory} holds something that no demo wrote; choose another directory"
            )
        try:
            shutil.rmtree(directory)
        except OSError as error:
            raise StateError(f"{directory}: {error.strerror}") from error
    try:
        directory.mkdir(parents=True, exist_ok=True)
        mark.write_text("This directory is emptied by each `recrawl demo`.\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"--state: {directory}: {error.strerror}") from error
    return directory


async def _run(
    seconds: float, pages: int, hosts: int, seed: int, directory: Path, *, quiet: bool
) -> dict[str, Any]:
    days = seconds * SPEED / DAY_S
    shape = WebShape(n_pages=pages, n_hosts=hosts, days=days + 10.0)
    # The web's time ends now, so that copies are as old as they look when the demo is over.
    epoch_s = float(round(time.time() + seconds - seconds * SPEED))
    told = {"shape": asdict(shape), "seed": seed, "epoch_s": epoch_s, "speed": SPEED}
    server = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet
        [sys.executable, "-m", "recrawl.simulation.server", json.dumps(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        port = int((await asyncio.to_thread(server.stdout.readline)) or 0)
        if not port:
            raise StateError("the demo's web server did not start")
        # Half of the web's total change rate: a budget that hurts.
        budget_per_s = 0.5 * pages * shape.mean_changes_per_day / DAY_S
        plan = DemoPlan(shape, seed, seconds, port, budget_per_s, epoch_s)
        return await _crawl(plan, directory, server.stdin, quiet=quiet)
    finally:
        server.stdin.close()
        server.wait(10)


async def _crawl(
    plan: DemoPlan, directory: Path, server: IO[str], *, quiet: bool
) -> dict[str, Any]:
    site = Site(SyntheticWeb(plan.shape, plan.seed), epoch_s=plan.epoch_s, port=plan.port)
    truth = TruthMeter(site)
    promises = _Promises(truth)
    counts = CountingSink(promises)
    await asyncio.to_thread(_warm_up, plan)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        wall_s = time.time()
        server.write(f"{wall_s}\n")
        server.flush()
        clock = LoopClock(epoch_s=plan.epoch_s, speed=SPEED)
        arms = {name: pool.submit(virtual_arm, name, plan) for name in ("uniform", "proportional")}
        async with open_crawl(
            demo_settings(plan, directory, site), events=counts, clock=clock
        ) as crawl:
            watch = Watch(
                crawl,
                counts,
                budget_per_s=plan.budget_per_s,
                truth=lambda: truth.now(clock.now_s()).weighted,
                quiet=quiet,
                title=f"a web of {len(site.web.pages)} pages on {plan.shape.n_hosts} hosts, "
                "a day every 2 seconds",
            )
            async with crawl.running(), watch:
                await clock.sleep_until(plan.start_s)
                promises.heard.clear()
                await clock.sleep_until(plan.end_s)
        fetches = sum(counts.outcomes.values()) - counts.outcomes["disallowed"]
        policies = {"optimal": _arm(truth, plan, fetches)}
        for name, arm in arms.items():
            policies[name] = await _finished(arm, name, quiet=quiet)
    return {
        "pages": len(site.web.pages),
        "fetches": fetches,
        "budget": plan.budget_per_s,
        "days": plan.seconds * SPEED / DAY_S,
        "outcomes": dict(counts.outcomes),
        "promised": sum(promises.heard) / max(len(promises.heard), 1),
        "policies": policies,
        "state": str(directory),
    }


class _Promises(EventSink):
    """Hears what plans promise, and passes all on."""

    def __init__(self, then: EventSink) -> None:
        self.heard: list[float] = []
        self._then = then

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event == "plan" and isinstance(freshness := fields["freshness"], float):
            self.heard.append(freshness)
        self._then.emit(event, fields)


def _warm_up(plan: DemoPlan) -> None:
    """Have all code compiled before the web's clock starts: a second is half a day.

    A few pages are crawled for a few days of virtual time, so that all that a plan needs is met.
    """
    small = replace(plan, shape=replace(plan.shape, n_pages=12, n_hosts=2), seconds=6.0)
    virtual_arm("recrawl", small)


async def _finished(arm: Future[dict[str, float]], name: str, *, quiet: bool) -> dict[str, float]:
    if not arm.done() and not quiet:
        note(f"waiting for the {name} arm ...")
    return await asyncio.wrap_future(arm)


def _arm(truth: TruthMeter, plan: DemoPlan, fetches: int) -> dict[str, float]:
    measured = truth.over(plan.start_s, plan.end_s)
    return {
        "freshness": measured.freshness,
        "weighted_freshness": measured.weighted,
        "fetches": fetches,
    }


def demo_settings(plan: DemoPlan, directory: Path, site: Site, policy: str = "recrawl") -> Settings:
    """Return the settings of one arm; in the web's own, accelerated time."""
    return Settings(
        seeds=tuple(f"{host}/" for host in site.hosts),
        contact="mailto:demo@localhost",
        state=directory,
        budget_per_s=plan.budget_per_s,
        burst_s=0.25 * SPEED,
        n_robots=8,
        hosts=tuple(host.partition("://")[2] for host in site.hosts),
        allow_private=("*.localhost",),
        delay_s=1.0,
        min_interval_s=DAY_S / 48.0,
        max_interval_s=plan.seconds * SPEED / 4.0,
        initial_interval_s=DAY_S,
        confirm_s=DAY_S / 4.0,
        listing_s=DAY_S,
        buffer_deadline_s=2.0 * DAY_S,
        replan_s=DAY_S,
        prior_rate_per_s=0.3 / DAY_S,
        weights=tuple(
            (f"{site.url_of(page).partition('://')[2]}", page.weight) for page in site.web.pages
        ),
        commit_s=0.5,
        policy=policy,
    )


def virtual_arm(policy: str, plan: DemoPlan) -> dict[str, float]:
    """Run the same crawl by another policy, in virtual time and without a network."""
    site = Site(SyntheticWeb(plan.shape, plan.seed), epoch_s=plan.epoch_s, port=plan.port)
    truth = TruthMeter(site)
    counts = CountingSink(truth)
    with tempfile.TemporaryDirectory() as directory:
        settings = demo_settings(plan, Path(directory), site, policy)
        run_virtual_crawl(
            settings,
            lambda clock: SiteFetcher(site, clock, access_s=ACCESS_S * SPEED),
            events=counts,
            epoch_s=plan.epoch_s,
            until_s=plan.end_s,
            speed=SPEED,
        )
    return _arm(truth, plan, sum(counts.outcomes.values()) - counts.outcomes["disallowed"])


def _show(report: dict[str, Any]) -> None:
    rows = []
    for name, told in (
        ("optimal", "recrawl's plan, crawled for real"),
        ("uniform", "every page equally often"),
        ("proportional", "as often as it changes"),
    ):
        arm = report["policies"][name]
        rows.append(
            (
                f"{name}  ({told})",
                f"{100 * arm['freshness']:.1f} %",
                f"{100 * arm['weighted_freshness']:.1f} %",
                f"{arm['fetches']:,}",
            )
        )
    print_table(
        ("policy", "fresh", "fresh, by importance", "fetches"),
        rows,
        title=f"True freshness of the index, averaged over the last {1 - WARM_UP:.0%} of "
        f"{report['days']:.3g} days, at the same budget of {show_rate(report['budget'])}",
    )
    out = console()
    if report["promised"]:
        out.print(f"recrawl's plans had promised {100 * report['promised']:.1f} % by importance.")
    state = report["state"]
    out.print(f"The index of {report['pages']} pages lies in {state}. Search it:\n")
    out.print(f"  {called_as()} search --state {state} quiet lantern\n", style="bold")
    out.print(f"  {called_as()} status --state {state}        what the crawler knows")
    out.print(f"  {called_as()} serve --state {state}         both, in a browser")
