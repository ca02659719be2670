"""View of a crawl while it runs: a live panel in a terminal, plain lines elsewhere."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recrawl.cli.output import note, progress_console
from recrawl.crawler.control.dispatching.host_records import host_record
from recrawl.crawler.control.revisiting.estimate import FreshnessEstimate, estimate_freshness
from recrawl.crawler.control.worth.announced import unannounced
from recrawl.crawler.reports.progress import first_pass_of, why_idle
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.learning.beliefs import PRIOR_SHAPE
from recrawl.quantities import show_duration, show_measured_rate, show_rate
from recrawl.terms import Outcome, PageState

_QUIET_S = 5.0  # of our own time
_WIDE = 78  # characters, in which two columns of numbers have room beside each other
_TELLING = (Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED)


@dataclass(frozen=True, slots=True)
class Look:
    """Snapshot of a state's pages at an instant.

    Parameters
    ----------
    pages : by state
    first_pass : how far it is; None once it is over
    estimate : of the share that is fresh; None: there are no pages
    """

    pages: Mapping[PageState, int]
    first_pass: Mapping[str, int] | None
    estimate: FreshnessEstimate | None


def look_at(crawl: Crawl, now_s: float) -> Look:
    """Return how things stand; runs on the frontier's thread."""
    frontier = crawl.world.frontier
    counts = frontier.n_pages_by_state()
    pages = frontier.planned_pages()
    rates = np.nan_to_num(pages.change_rates_per_s, nan=crawl.rules.prior_rate_per_s)
    # A page without an estimate is known as well as the prior: a factor of exp(1/sqrt(shape)).
    doubt = np.nan_to_num(np.log(pages.change_rate_factors), nan=1.0 / np.sqrt(PRIOR_SHAPE))
    told = unannounced(pages, frontier.announcers(), pages.seen_s, now_s)
    estimate = estimate_freshness(rates, doubt, pages.weights, *told)
    return Look(counts, first_pass_of(counts, frontier.refused()), estimate)


class Watch:
    """Shows a crawl while its ``async with`` block runs.

    Parameters
    ----------
    crawl, counts : what to look at
    budget_per_s : what the crawl may spend
    truth : true freshness now, where it is known
    quiet : show nothing
    title : first line of the panel
    every_s : seconds between two looks; lines come ten times as seldom
    """

    def __init__(
        self,
        crawl: Crawl,
        counts: CountingSink,
        *,
        budget_per_s: float,
        truth: Callable[[], float] | None = None,
        quiet: bool = False,
        title: str = "",
        every_s: float = 0.5,
    ) -> None:
        self._crawl = crawl
        self._counts = counts
        self._budget_per_s = budget_per_s
        self._truth = truth
        self._quiet = quiet
        self._title = title
        self._every_s = every_s
        self._console = progress_console()
        self._started_s = 0.0
        self._crawl_started_s = 0.0
        self._spent_before = 0
        self._seen: tuple[float, int] = (0.0, 0)
        self._speed: float | None = None
        self._first_per_s: float | None = None  # pages that were visited for the first time
        self._stands = Look({}, first_pass_of({}, ()), None)
        self._last_fetch_s: float | None = None
        self._fetched_at_s = time.monotonic()
        self._has_told = False  # a visit of this crawl or before it, how pages change
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._started_s = time.monotonic()
        self._crawl_started_s = self._crawl.now_s
        self._spent_before = self._crawl.dispatcher.budget.n_spent
        self._seen = (self._started_s, self._fetches())
        if not self._quiet:
            self._task = asyncio.create_task(self._show(), name="watch")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            # A terminal that has gone away ends the show, not the crawl; all else is a defect.
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await self._task

    async def _show(self) -> None:
        frontier = self._crawl.world.frontier
        before = await self._crawl.world.on_state(frontier.n_visits_by_outcome)
        self._has_told = any(before.get(one) for one in _TELLING)
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            with Live(self._panel(), console=self._console, auto_refresh=False) as live:
                while True:
                    pause_s = await self._look()
                    live.update(self._panel(), refresh=True)
                    await asyncio.sleep(pause_s)
        pause_s = self._every_s
        while True:
            await asyncio.sleep(10.0 * pause_s)
            pause_s = await self._look()
            note(self._line())

    async def _look(self) -> float:
        """Look anew; return the pause until the next look, longer where looking takes a while."""
        started_s, fetches = time.monotonic(), self._fetches()
        before = self._stands
        self._stands = await self._crawl.world.on_state(look_at, self._crawl, self._crawl.now_s)
        passed_s = started_s - self._seen[0]
        if passed_s >= self._every_s:
            self._speed = _smoothed(self._speed, (fetches - self._seen[1]) / passed_s)
            if before.pages:
                first = _n_visited(self._stands.pages) - _n_visited(before.pages)
                self._first_per_s = _smoothed(self._first_per_s, max(first, 0) / passed_s)
            if fetches > self._seen[1]:
                self._last_fetch_s, self._fetched_at_s = self._crawl.now_s, started_s
            self._seen = (started_s, fetches)
        return max(self._every_s, 10.0 * (time.monotonic() - started_s))

    def _fetches(self) -> int:
        outcomes = self._counts.outcomes
        return sum(outcomes.values()) - outcomes["disallowed"] + self._counts.events["robots"]

    def _has_seen(self) -> bool:
        """Whether a visit has told how pages change: else freshness is what was assumed."""
        return self._has_told or any(self._counts.outcomes[one.value] for one in _TELLING)

    def _rows(self) -> list[tuple[str, str]]:
        crawl, outcomes = self._crawl, self._counts.outcomes
        passed_s = max(crawl.now_s - self._crawl_started_s, 1e-9)
        spent = crawl.dispatcher.budget.n_spent - self._spent_before
        used = spent / (self._budget_per_s * passed_s + 1.0)
        troubles = sum(outcomes[name] for name in ("failed", "server-error", "throttled", "denied"))
        speed = self._speed or 0.0
        in_flight = sum(queue.politeness.in_flight for queue in crawl.dispatcher.hosts())
        pages, first_pass, estimate = (
            self._stands.pages, self._stands.first_pass, self._stands.estimate,
        )  # fmt: skip
        is_free = first_pass is not None and crawl.rules.first_free
        beside = ", first visits come beside it" if is_free else ""
        rows = [
            ("fetches", f"{self._fetches():,} ({show_measured_rate(speed) if speed else '0/s'})"),
            ("budget", f"{show_rate(self._budget_per_s)}, {min(used, 1.0):.0%} used{beside}"),
            ("pages known", f"{sum(pages.values()):,}"),
            ("indexed", f"{pages.get(PageState.INDEXED, 0):,}"),
        ]
        if first_pass is not None:
            # What came of the last minutes tells nothing of when a host can be asked again.
            to_come, per_s = first_pass["to_come"], self._first_per_s
            left = ""
            if per_s and self._idle() is None:
                left = f", in about {show_duration(to_come / per_s)}"
            rows.append(("to come", f"{to_come:,}{left}"))
        rows += [
            ("new", f"{outcomes['new']:,}"),
            ("changed", f"{outcomes['changed']:,}"),
            ("unchanged", f"{outcomes['unchanged'] + outcomes['not-modified']:,}"),
            ("of them 304", f"{outcomes['not-modified']:,}"),
            ("moved, gone", f"{outcomes['moved'] + outcomes['gone'] + outcomes['not-found']:,}"),
            ("trouble", f"{troubles:,}"),
            ("in flight", f"{in_flight} of {crawl.fleet.n_robots} robots"),
            (
                "buffer",
                f"{crawl.buffer.length} of {crawl.buffer.capacity}, {crawl.buffer.lost} lost",
            ),
        ]
        if estimate is not None and first_pass is None and not self._has_seen():
            rows.append(("fresh, estimated", "once pages have been visited again"))
        elif estimate is not None and first_pass is None:
            seen, low, high = (
                100.0 * share for share in (estimate.value, estimate.low, estimate.high)
            )
            rows.append(("fresh, estimated", f"{seen:.1f} % ({low:.1f} to {high:.1f})"))
        if self._truth is not None:
            rows.append(("fresh, in truth", f"{100 * self._truth():.1f} %"))
        return rows

    def _panel(self) -> Group:
        grid = Table.grid(padding=(0, 3, 0, 0))
        n_beside = 2 if self._console.width >= _WIDE else 1
        for _ in range(n_beside):
            grid.add_column(style="dim")
            grid.add_column(min_width=22 if n_beside > 1 else None)
        rows = self._rows()
        high = -(-len(rows) // n_beside)
        rows += [("", "")] * (n_beside * high - len(rows))
        for place in range(high):
            grid.add_row(*(Text(cell) for row in rows[place::high] for cell in row))
        first_pass, estimate = self._stands.first_pass, self._stands.estimate
        done = estimate.value if estimate else 0.0
        if first_pass is not None:
            done = 1.0 - first_pass["to_come"] / max(first_pass["known"], 1)
        bar = ProgressBar(total=1.0, completed=done, width=60)
        idle = self._idle()
        return Group(Text(self._title, style="bold"), grid, bar, *([Text(idle)] if idle else []))

    def _line(self) -> str:
        rows = "  ".join(f"{name}: {value}" for name, value in self._rows())
        idle = self._idle()
        return f"{rows}  {idle}" if idle else rows

    def _idle(self) -> str | None:
        crawl = self._crawl
        # A crawl whose time runs faster than ours is idle when we see it so.
        if time.monotonic() - self._fetched_at_s < _QUIET_S:
            return None
        hosts = [host_record(crawl.dispatcher, one.host_id) for one in crawl.dispatcher.hosts()]
        last_fetch_s = crawl.started_s if self._last_fetch_s is None else self._last_fetch_s
        return why_idle(crawl.now_s, last_fetch_s, hosts, crawl.facts(), self._stands.pages)


def _n_visited(pages: Mapping[PageState, int]) -> int:
    return sum(pages.values()) - pages.get(PageState.DISCOVERED, 0)


def _smoothed(before: float | None, latest: float) -> float:
    """A tenth of what is shown is new, so that a rate below one a second can be read."""
    return latest if before is None else 0.9 * before + 0.1 * latest
