"""``recrawl backtest``: what would have happened, policy against policy, at the same budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from typing_extensions import override

from recrawl.api.backtesting import backtest_of, compare_policies, with_reference
from recrawl.cli.backtest.report import backtest_json, print_backtest
from recrawl.cli.cluster import open_cluster
from recrawl.cli.figures import check_picture
from recrawl.cli.options import JsonForTables
from recrawl.cli.output import print_json, progress_console
from recrawl.cli.sizes import check_memory, check_seed, check_whole
from recrawl.errors import InputError
from recrawl.quantities import parse_rate_per_s
from recrawl.simulation.backtest import POLICIES, Backtest
from recrawl.simulation.cells import Replayer, replay_here
from recrawl.simulation.comparison import resample_pages
from recrawl.tables.announced import parse_signals
from recrawl.tables.histories import history_of


class TransferRate(ProgressColumn):
    """Visits a second."""

    @override
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0.0:,.0f}/s")


def main(  # noqa: PLR0913 - the options of the verb
    history: Path,
    /,
    *,
    pages: Path | None = None,
    polls: Path | None = None,
    budget: str = "0.25x,1x,4x",
    policies: str = ",".join(POLICIES),
    weights: Literal["table", "links", "pareto"] = "table",
    links: Path | None = None,
    learning: float = 0.5,
    host_limit: str | None = None,
    resamples: int = 400,
    seed: int = 0,
    orders: int = 1,
    signals: str | None = None,
    jobs: int | None = None,
    engine: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Replay a recorded history of changes and compare policies at the same budget.

    Each policy sees only what its visits show. What others are compared with is foresight, by
    which a crawl goes unless it is told otherwise; or recrawl, each page by itself, where only
    that is named. Rules that spend less than the budget are beside it with as few visits.

    Parameters
    ----------
    history
        When pages really changed: columns page or url and changed_at (with a time zone or Z),
        optionally site and weight; Parquet, CSV or JSON Lines. Or its parts, as a folder or a
        pattern such as 'changes-*.parquet'; so for all tables.
    pages
        All pages, those that never changed included: page or url, observed_from, observed_until,
        optionally site, alive, weight.
    polls
        The only instants at which anyone could look: polled_at.
    budget
        Visits of all pages together, as 500/d or as multiples of the total change rate.
    policies
        Which to compare.
    weights
        Those of the table (1 where it has none), by the links between pages, or drawn from a
        Pareto law of shape 1.2.
    links
        With --weights links: columns source and target, pages as the history calls them.
    learning
        Share of the time that is for learning and not judged.
    host_limit
        Visits that any one host allows, as 100/d, whatever the policy. A visit that finds every
        host busy is lost.
    resamples
        Resamples of directories, or of pages where these are few, for the intervals.
    seed
        Of the resamples, and of the order in which pages with the same due time are visited.
    orders
        Such orders that results are averaged over; one can be two points luckier than another.
    signals
        Changes that sitemaps or feeds announce to recrawl and foresight:
        recall=0.5,precision=0.9,delay=1h,every=1d, or a table (page or url, announced_at,
        optionally site, changed_at), as announced.csv,every=1d. Each reading of a host's listing
        costs a visit; without every, a fiftieth of the budget reads them.
    jobs
        Policies replayed at once. [default: the number of cores, at most 4]
    engine
        Who works: this process, or the workers of a Dask cluster, each on some of the replays.
    scheduler
        Address of a Dask scheduler, as tcp://host:8786.  [default: a cluster on this machine]
    plot
        Draw freshness over time and against the budget: .svg, .png or .pdf.
    """
    check_picture(plot)
    chosen = _chosen(policies)
    if not 0 < learning < 1:
        raise InputError(f"--learning: {learning} must lie in (0, 1)")
    check_whole("--resamples", resamples, 100_000, least=20)
    check_seed(seed)
    check_whole("--orders", orders, 1_000)
    if jobs is not None:
        check_whole("--jobs", jobs, 1024)
    _check_engine(engine, scheduler, jobs)
    if (links is None) != (weights != "links"):
        raise InputError("--links: a table of links goes with --weights links, and that with it")
    record = history_of(history, pages, polls, pareto=weights == "pareto", links=links)
    cap = None if host_limit is None else parse_rate_per_s(host_limit, name="--host-limit")
    if cap is not None and not cap > 0:
        raise InputError(f"--host-limit: {host_limit} must be > 0")
    budgets = [text.strip() for text in budget.split(",")]
    told = None
    if signals is not None:
        told = parse_signals(signals, record, called="--signals", seed=seed)
    tests = [
        (
            text,
            backtest_of(
                record,
                text,
                learning,
                host_limit_per_s=cap,
                called="--budget",
                seed=seed,
                told=told,
            ),
        )
        for text in budgets
    ]
    for _, test in tests:
        _warn_of_few(test)
    check_memory("--resamples", 8.0 * record.n_pages * resamples)
    counts = resample_pages(record, resamples, seed)
    with _replayer(engine, scheduler, jobs) as replayer, _progress() as bar:
        tasks = [
            bar.add_task(text, total=test.n_ticks * len(chosen) * orders) for text, test in tests
        ]
        found = compare_policies(
            tests,
            dict.fromkeys(chosen),
            counts,
            orders=orders,
            replayer=replayer,
            on_progress=lambda number, n: bar.advance(tasks[number], n),
        )
    if plot is not None:
        from recrawl.cli.backtest.pictures import draw_backtest

        draw_backtest(plot, found)
    if json:
        print_json(backtest_json(history, record, found))
    else:
        print_backtest(history, record, found)


def _check_engine(engine: str, scheduler: str | None, jobs: int | None) -> None:
    if engine == "dask" and jobs is not None:
        raise InputError("--jobs: works with --engine local; workers have threads of their own")
    if engine == "local" and scheduler is not None:
        raise InputError("--scheduler: works with --engine dask")


@contextmanager
def _replayer(engine: str, scheduler: str | None, jobs: int | None) -> Iterator[Replayer]:
    if engine == "local":
        yield partial(replay_here, jobs=jobs)
        return
    with open_cluster(scheduler) as client:
        from recrawl.integrations.dask.replays import DaskReplayer

        yield DaskReplayer(client)


def _chosen(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in POLICIES:
            raise InputError(f"--policies: {name!r} is none of {', '.join(POLICIES)}")
    return with_reference(names)


def _warn_of_few(test: Backtest) -> None:
    n_pages = test.history.n_pages
    if test.n_ticks < n_pages:
        progress_console().print(
            f"note: this budget pays {test.n_ticks:,} visits, less than one for each of "
            f"{n_pages:,} pages: {test.n_ticks / n_pages:.0%} of them once",
        )


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:>10}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TextColumn("visits", markup=False),
        TransferRate(),
        TimeRemainingColumn(),
        console=progress_console(),
        transient=True,
    )
