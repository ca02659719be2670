"""`recrawl demo`: a changing web on this machine, crawled for real for a minute."""

import asyncio
import shutil
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from typing_extensions import override

from recrawl.cli.crawler.drawn import draw_courses
from recrawl.cli.crawler.recorded import Replay, replay, stray
from recrawl.cli.crawler.stage import OWN, Played, Stage, play, play_virtually
from recrawl.cli.figures import check_picture
from recrawl.cli.options import Json
from recrawl.cli.output import called_as, console, note, print_json, print_table
from recrawl.cli.sizes import check_seed, check_whole
from recrawl.crawler.settings import Settings
from recrawl.errors import InputError, StateError
from recrawl.quantities import show_rate
from recrawl.simulation.site import ServedSite, Site
from recrawl.simulation.web import DAY_S, SyntheticWeb, WebShape

SPEED = DAY_S / 2.0  # two seconds of the demo are a day of the web
_TRIED = 60  # pages, by which the machine is judged
_MOST_LOAD = 0.5  # of a processor; the server and the other arms need one as well
_SLOWEST = 4.0  # times
_LEAST_MADE = 0.95  # of the requests that are paid for; with fewer nobody could keep up
WARM_UP = 0.25  # share of the time in which every arm may learn before it is measured


@dataclass(frozen=True)
class DemoPlan(Stage):
    """A made-up web, and what every arm has in common; ``seconds`` as long as at full speed."""

    shape: WebShape
    seed: int
    seconds: float

    @property
    @override
    def title(self) -> str:
        shape = self.shape
        day_s = DAY_S / self.speed
        return f"a web of {shape.n_pages} pages on {shape.n_hosts} hosts, a day every {day_s:.2g} s"

    @property
    @override
    def start_s(self) -> float:
        return self.epoch_s + WARM_UP * self.seconds * SPEED

    @property
    @override
    def end_s(self) -> float:
        return self.epoch_s + self.seconds * SPEED

    @override
    def site(self, port: int) -> Site:
        return Site(SyntheticWeb(self.shape, self.seed), epoch_s=self.epoch_s, port=port)

    @override
    def told(self) -> dict[str, Any]:
        shape = asdict(self.shape)
        return {"shape": shape, "seed": self.seed, "epoch_s": self.epoch_s, "speed": self.speed}

    @override
    def settings(self, directory: Path, site: ServedSite, policy: str) -> Settings:
        assert isinstance(site, Site)
        return Settings(
            seeds=tuple(f"{host}/" for host in site.hosts),
            contact="mailto:demo@localhost",
            state=directory,
            budget_per_s=self.budget_per_s,
            burst_s=0.25 * SPEED,
            n_robots=8,
            hosts=tuple(host.partition("://")[2] for host in site.hosts),
            allow_private=("*.localhost",),
            delay_s=1.0,
            min_interval_s=DAY_S / 48.0,
            max_interval_s=self.seconds * SPEED / 4.0,
            initial_interval_s=DAY_S,
            confirm_s=DAY_S / 4.0,
            listing_s=DAY_S,
            buffer_deadline_s=2.0 * DAY_S,
            replan_s=DAY_S,
            prior_rate_per_s=0.3 / DAY_S,
            importance=(("even", 1.0),),  # what pages are worth is part of the web, and given
            importance_s=DAY_S,
            weights=tuple(
                (f"{site.url_of(page).partition('://')[2]}", page.weight) for page in site.web.pages
            ),
            commit_s=0.5,
            policy=policy,
        )


def demo(
    *,
    seconds: float = 60.0,
    pages: int = 400,
    hosts: int = 4,
    seed: int = 1,
    state: Path | None = None,
    plot: Path | None = None,
    json_: Json = False,
    recorded: Annotated[Replay | None, Parameter(name="*")] = None,
) -> int:
    """Crawl a small changing web on this machine for a minute, and see what freshness it buys.

    The web is made from a seed, served over HTTP on 127.0.0.1 and changes by itself, a day every
    two seconds, or slower where this machine could not keep pace. recrawl learns its pages' change
    rates and keeps its index fresh within a budget; the same crawl with uniform and with
    proportional visits runs beside it in virtual time.

    With --git or --warc the web is one that really changed: the files of a repository, or the pages
    of web archives, served as they were at each instant, crawled for real, and judged by the truth.

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
    plot
        Draw how fresh the index was over time, by each policy (png, svg, pdf).
    recorded
        A history to be served instead.
    """
    if not 2.0 <= seconds <= 3600.0:
        raise InputError(f"--seconds: {seconds:g} must be between 2 and 3600")
    check_whole("--pages", pages, 100_000)
    check_whole("--hosts", hosts, 8)
    if pages < hosts:
        raise InputError(f"--pages: {pages} must be at least one for each of {hosts} hosts")
    check_seed(seed)
    check_picture(plot)
    folder = state or Path("recrawl-demo")
    source = None if recorded is None else recorded.source
    if recorded is not None and source is not None:
        return replay(recorded, source, seconds, lambda: _emptied(folder), plot=plot, json_=json_)
    if recorded is not None:
        raise InputError(f"--{stray(recorded)}: goes with --git or --warc")
    report = asyncio.run(_run(seconds, pages, hosts, seed, _emptied(folder), quiet=json_))
    if plot is not None:
        courses = {name: arm["course"] for name, arm in report["policies"].items()}
        draw_courses(courses, WARM_UP, plot)
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
    shape = WebShape(n_pages=pages, n_hosts=hosts, days=seconds * SPEED / DAY_S + 10.0)
    # Half of the web's total change rate: a budget that hurts.
    budget_per_s = 0.5 * pages * shape.mean_changes_per_day / DAY_S
    plan = DemoPlan(shape, seed, seconds, budget_per_s=budget_per_s, epoch_s=0.0, speed=SPEED)
    speed = await asyncio.to_thread(_speed, plan)
    lasts_s = seconds * SPEED / speed
    if speed < SPEED and not quiet:
        note(f"this machine is slow or busy: the demo takes {lasts_s:.0f} s instead of {seconds:g}")
    # The web's time ends now, so that copies are as old as they look when the demo is over.
    epoch_s = float(round(time.time() + lasts_s - seconds * SPEED))
    plan = replace(plan, speed=speed, epoch_s=epoch_s)
    own, others = await play(plan, directory, ("uniform", "proportional"), quiet=quiet)
    arms: dict[str, Played] = {"optimal": own, **others}
    return {
        "pages": len(plan.site(80).web.pages),
        "fetches": own.fetches,
        "budget": plan.budget_per_s,
        "days": plan.seconds * SPEED / DAY_S,
        "outcomes": own.outcomes,
        "promised": own.promised or 0.0,
        "policies": {name: asdict(arm) for name, arm in arms.items()},
        "state": str(directory),
    }


def _speed(plan: DemoPlan) -> float:
    """Return how fast the web's clock may run so that a crawl here keeps pace with its budget.

    A few pages are crawled in virtual time: once, as all that a plan needs is to be met before the
    web's clock starts, and once more by the watch.
    """
    few = replace(plan.shape, n_pages=12, n_hosts=2)
    play_virtually(OWN, replace(plan, shape=few, seconds=6.0))
    some = replace(plan.shape, n_pages=_TRIED, n_hosts=2)
    share = _TRIED / plan.shape.n_pages
    began_s = time.perf_counter()
    tried = play_virtually(
        OWN, replace(plan, shape=some, seconds=4.0, budget_per_s=share * plan.budget_per_s)
    )
    visit_s = (time.perf_counter() - began_s) / max(tried.fetches, 1)
    load = plan.budget_per_s * SPEED * visit_s
    return SPEED / min(max(load / _MOST_LOAD, 1.0), _SLOWEST)


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
    paid = report["budget"] * report["days"] * DAY_S
    if report["fetches"] < _LEAST_MADE * paid:
        out.print(
            f"This machine was busy: of {paid:,.0f} requests that the budget pays recrawl made "
            f"{report['fetches']:,}, so the policies do not compare. Fewer --pages need less."
        )
    if report["promised"]:
        out.print(f"recrawl's plans had promised {100 * report['promised']:.1f} % by importance.")
    state = report["state"]
    out.print(f"The index of {report['pages']} pages lies in {state}. Search it:\n")
    out.print(f"  {called_as()} search --state {state} quiet lantern\n", style="bold")
    out.print(f"  {called_as()} status --state {state}        what the crawler knows")
    out.print(f"  {called_as()} serve --state {state}         both, in a browser")
