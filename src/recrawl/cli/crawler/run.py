"""`recrawl run`: crawl a site, and keep its index fresh until stopped."""

import asyncio
import contextlib
import gc
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TextIO

from cyclopts import Parameter

from recrawl.cli.crawler.place import DEFAULT_CONFIG
from recrawl.cli.output import note, print_json
from recrawl.crawler.reports.nothing import why_nothing
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings, load_settings
from recrawl.crawler.settings.contradictions import contradictions, first_pass_words
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.lines import JsonLinesSink
from recrawl.crawler.wiring.crawls import open_crawl
from recrawl.crawler.wiring.deliveries import check_extras
from recrawl.crawler.wiring.stores import check_state
from recrawl.errors import DatabaseAway, InputError, NothingIndexed, OwnershipLost
from recrawl.quantities import parse_duration_s, parse_rate_per_s, show_duration, show_rate
from recrawl.terms import Database
from recrawl.web.listening import PORT, bind

__all__ = ["run"]


def run(  # noqa: PLR0913 - its parameters are its options
    config: Path = DEFAULT_CONFIG,
    *,
    for_: Annotated[str | None, Parameter(name="--for")] = None,
    once: Annotated[bool, Parameter(negative="")] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    log: Path | None = None,
    serve: Annotated[bool, Parameter(negative="")] = False,
    port: int = PORT,
    budget: str | None = None,
    delay: str | None = None,
    starvation_weight: float | None = None,
    metrics: int | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Crawl a site until stopped, and keep its index fresh within the budget.

    Ctrl-C, SIGTERM or SIGHUP stops it in order within ten seconds; whatever happens, the next start
    goes on where this one was.

    Parameters
    ----------
    config
        Configuration file; `recrawl init URL` writes one.
    for_
        Stop after this long, such as 10m.
    once
        Stop when every page has been visited once.
    quiet
        Show no progress.
    log
        Append every event to this file, one JSON object a line.
    serve
        Show search and the live crawl in a browser meanwhile, as `recrawl serve` does.
    port
        Port for --serve.
    budget
        Instead of the configuration's, such as 2000/h.
    delay
        Instead of the configuration's, such as 2s.
    starvation_weight
        Instead of the configuration's.
    metrics
        Answer Prometheus on this port of 127.0.0.1.
    json_
        Print one JSON object at the end and nothing else.
    """
    settings = _with(load_settings(config), budget, delay, starvation_weight)
    limit_s = None if for_ is None else parse_duration_s(for_, name="--for")
    if limit_s is not None and limit_s <= 0:
        raise InputError(f"--for: {for_!r} must be longer than nothing")
    with contextlib.ExitStack() as stack:
        stream: TextIO | None = None
        if log is not None:
            try:
                stream = stack.enter_context(log.open("a", encoding="utf-8", buffering=1))
            except OSError as error:
                raise InputError(f"--log: {log}: {error.strerror}") from error
        together = isinstance(settings.state, Database)
        if together and once:
            raise InputError("--once is for a crawl of one machine; `--for` ends any")
        stack.enter_context(_delivered(config, settings, quiet=quiet or json_))
        if serve:
            stack.enter_context(_served(config, settings, port, quiet=quiet or json_))
        end = _End(limit_s=limit_s, once=once)
        running = _run_together if together else _run
        counts = asyncio.run(
            running(settings, end, quiet=quiet or json_, stream=stream, metrics=metrics)
        )
    report = {
        "fetches": dict(counts.outcomes),
        "budget": settings.budget_per_s,
        "state": str(settings.state),
    }
    if json_:
        print_json(report)
    elif not quiet:
        told = ", ".join(f"{number:,} {name}" for name, number in counts.outcomes.most_common())
        note(f"Visits: {told or 'none'}. State: {settings.state}")
    return 0


def _with(
    settings: Settings, budget: str | None, delay: str | None, weight: float | None
) -> Settings:
    """Put what the command line says in the place of what the configuration says."""
    if budget is not None:
        rate = parse_rate_per_s(budget, name="--budget")
        if not rate > 0:
            raise InputError(f"--budget: {budget!r} must be more than nothing")
        settings = replace(settings, budget_per_s=rate)
    if delay is not None:
        settings = replace(settings, delay_s=parse_duration_s(delay, name="--delay"))
    if weight is not None:
        if not (isfinite(weight) and weight > 0):
            raise InputError(f"--starvation-weight: {weight:g} must be finite and above 0")
        settings = replace(settings, starvation_weight=weight)
    return settings


@contextlib.contextmanager
def _delivered(config: Path, settings: Settings, *, quiet: bool) -> Iterator[None]:
    """Deliver changes from a process of its own, which a slow sink cannot make ours wait for."""
    if settings.deliver:
        check_extras(settings.deliver)
    if not settings.deliver or isinstance(settings.state, Database):
        if settings.deliver and not quiet:
            note("Note: run `recrawl deliver` too, on one of the machines: nothing here delivers")
        yield
        return
    command = [sys.executable, "-m", "recrawl", "deliver", "--config", str(config)]
    command += ["--until-eof", *(["--quiet"] if quiet else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as courier:
        try:
            yield
        finally:
            assert courier.stdin is not None
            courier.stdin.close()


@contextlib.contextmanager
def _served(config: Path, settings: Settings, port: int, *, quiet: bool) -> Iterator[None]:
    """Show the crawl from a process of its own, which cannot slow the crawl's event loop down."""
    if isinstance(settings.state, Path):
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    bind("127.0.0.1", port).close()  # says so now if the port is taken
    command = [sys.executable, "-m", "recrawl", "serve", "--config", str(config)]
    command += ["--port", str(port), "--until-eof", *(["--quiet"] if quiet else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
        try:
            yield
        finally:
            assert server.stdin is not None
            server.stdin.close()


@dataclass(frozen=True, slots=True)
class _End:
    """When a crawl ends by itself."""

    limit_s: float | None
    once: bool


def _stopped_by_signals() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _run_together(
    settings: Settings, end: _End, *, quiet: bool, stream: TextIO | None, metrics: int | None
) -> CountingSink:
    """Crawl the shards of this process, and others when they are to be others, until stopped."""
    check_state(settings.state)
    from recrawl.crawler.wiring.cluster import open_cluster

    counts, stop = CountingSink(), _stopped_by_signals()
    if end.limit_s is not None:
        asyncio.get_running_loop().call_later(end.limit_s, stop.set)
    async with open_cluster(settings, events=counts) as cluster:
        while not stop.is_set():
            try:
                async with cluster.shards(stop) as crawl:
                    if crawl is None:
                        break
                    with _listening(crawl, counts, stream, metrics):
                        async with crawl.running(), _watch(crawl, counts, settings, quiet=quiet):
                            await _either(stop, cluster.changed)
            except* (DatabaseAway, OwnershipLost) as errors:
                if not quiet:
                    note(f"Note: {errors.exceptions[0]}; going on as soon as that is over")
                await cluster.begin_anew(stop)
    return counts


async def _either(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _run(
    settings: Settings, end: _End, *, quiet: bool, stream: TextIO | None, metrics: int | None
) -> CountingSink:
    counts, stop, once = CountingSink(), _stopped_by_signals(), end.once
    async with open_crawl(settings, events=counts, once=once) as crawl:
        if not crawl.seeds:
            await _tell_nothing(crawl, settings)
        if not quiet:
            for words in [*contradictions(settings), *first_pass_words(settings)]:
                note(f"Note: {words}")
        # Pages come and go by the hundred; what stands by now is not looked through every time.
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        for words in [] if quiet else crawl.mended:
            note(f"Note: {words}")
        with _listening(crawl, counts, stream, metrics):
            async with crawl.running(), _watch(crawl, counts, settings, quiet=quiet):
                await _until(crawl, stop, limit_s=end.limit_s, once=once)
                if once and not stop.is_set():
                    await crawl.planner.replan()
        if once and not quiet:
            _tell_blocked(crawl)
        await _tell_nothing(crawl, settings)
    return counts


async def _tell_nothing(crawl: Crawl, settings: Settings) -> None:
    nothing = await crawl.world.on_state(why_nothing, crawl.world.frontier, settings)
    if nothing is not None:
        raise NothingIndexed(f"nothing was indexed: {nothing}")


def _watch(
    crawl: Crawl, counts: CountingSink, settings: Settings, *, quiet: bool
) -> contextlib.AbstractAsyncContextManager[object]:
    if quiet:
        return contextlib.nullcontext()
    from recrawl.cli.crawler.watch import Watch  # only who looks pays for what draws

    title = f"{', '.join(settings.hosts[:3])}: {show_rate(settings.budget_per_s)}"
    return Watch(crawl, counts, budget_per_s=settings.budget_per_s, title=title, every_s=1.0)


@contextlib.contextmanager
def _listening(
    crawl: Crawl, counts: CountingSink, stream: TextIO | None, metrics: int | None
) -> Iterator[None]:
    """Have the log and the metrics hear every event."""
    with contextlib.ExitStack() as stack:
        if stream is not None:
            counts.then = JsonLinesSink(stream, lambda: crawl.now_s)
        if metrics is not None:
            # Its library takes a moment to import: only who asks for it pays.
            from recrawl.crawler.telemetry.metrics import MetricsServer, MetricsSink

            sink = MetricsSink(crawl.gauges, then=counts.then)
            stack.enter_context(MetricsServer(sink, metrics))
            counts.then = sink
        yield


async def _until(crawl: Crawl, stop: asyncio.Event, *, limit_s: float | None, once: bool) -> None:
    """Wait for a signal, for the time limit, or for the end of the pass."""
    waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(stop.wait())]
    if limit_s is not None:
        waits.append(asyncio.ensure_future(_sleep(limit_s)))
    if once:
        waits.append(asyncio.ensure_future(crawl.until_done()))
    done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in pending:
        wait.cancel()
    for wait in done:
        wait.result()


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


def _tell_blocked(crawl: Crawl) -> None:
    for queue in crawl.dispatcher.hosts():
        wait_s = queue.politeness.blocked_until_s - crawl.now_s
        if wait_s > 0:
            note(
                f"{queue.host} was left out: {queue.politeness.blocked_why} "
                f"(for another {show_duration(wait_s)})"
            )
