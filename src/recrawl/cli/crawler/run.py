"""`recrawl run`: crawl a site, and keep its index fresh until stopped."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

from cyclopts import Parameter

from recrawl.cli.crawler.attending import Ears, interruptible, stopped_by_signals, watched
from recrawl.cli.crawler.memory import give_memory_back, trimmed
from recrawl.cli.crawler.open_files import allow_open_files
from recrawl.cli.crawler.place import DEFAULT_CONFIG
from recrawl.cli.crawler.reload import ConfigWatch
from recrawl.cli.crawler.telling import greet, tell_blocked, tell_moved, tell_nothing
from recrawl.cli.crawler.together import await_database, joined, run_together
from recrawl.cli.options import JsonAtEnd, Quiet
from recrawl.cli.output import note, print_json
from recrawl.cli.streams import open_log
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings, load_settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.crawls import OpenParts, open_parts
from recrawl.crawler.wiring.fetchers import check_seeds
from recrawl.crawler.wiring.indexes import is_to_be_brought_over
from recrawl.crawler.wiring.sinks import check_extras
from recrawl.errors import InputError, InvalidSettings
from recrawl.quantities import parse_duration_s, parse_rate_per_s
from recrawl.terms import Database
from recrawl.web.listening import PORT, bind, place_of

_BROUGHT_OVER = (
    "The index is of another version: what it holds is brought over before the crawl goes on; "
    "some minutes for each 100,000 pages."
)


def run(  # noqa: PLR0913 - its parameters are its options
    config: Path = DEFAULT_CONFIG,
    *,
    for_: Annotated[str | None, Parameter(name="--for")] = None,
    once: bool = False,
    quiet: Quiet = False,
    log: Path | None = None,
    log_format: Literal["json", "text"] = "json",
    log_level: Literal["debug", "info", "warning"] = "debug",
    config_reload: bool = False,
    serve: bool = False,
    port: int = PORT,
    budget: str | None = None,
    delay: str | None = None,
    starvation_weight: float | None = None,
    metrics: str | None = None,
    json_: JsonAtEnd = False,
) -> int:
    """Crawl a site until stopped, and keep its index fresh within the budget.

    Ctrl-C, SIGTERM or SIGHUP stops it in order within ten seconds (with --config-reload SIGHUP has
    the configuration read again); whatever happens, the next start goes on where this one was.

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
        Append events to this file, one a line; - is standard error.
    log_format
        JSON objects for programs, or text for people.
    log_level
        debug has every visit, info plans and robots.txt, warning what is in trouble.
    config_reload
        Take the configuration up again on SIGHUP and when its file changes.
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
        Answer Prometheus on this [HOST:]PORT; without a host on 127.0.0.1, which only this machine
        reaches. There is no password.
    """

    def load() -> Settings:
        return _with(load_settings(config), budget, delay, starvation_weight)

    give_memory_back()
    settings = load()
    allow_open_files(settings.n_robots)
    if config_reload:
        _check_reload(settings, once=once)
    try:
        check_seeds(settings)
    except InvalidSettings as error:
        raise InvalidSettings(f"{config}: {error}") from error
    scraped = None if metrics is None else place_of(metrics, "--metrics", host="127.0.0.1")
    limit_s = _limit_s(for_)
    with contextlib.ExitStack() as stack:
        stream: TextIO | None = None
        if log is not None:
            stream = stack.enter_context(_opened(log))
        together = isinstance(settings.state, Database)
        counts = CountingSink()
        if not together or await_database(settings, limit_s):
            stack.enter_context(_delivered(config, settings, quiet=quiet or json_))
            if serve:
                stack.enter_context(_served(config, settings, port, quiet=quiet or json_))
            member = joined(settings, limit_s, once=once) if together else None
            running = _run if member is None else partial(run_together, member=member)
            if member is not None or not together:
                counts = asyncio.run(
                    running(
                        settings,
                        limit_s=limit_s,
                        once=once,
                        quiet=quiet or json_,
                        ears=Ears(stream, log_format, log_level, scraped),
                        watch=ConfigWatch(config, load) if config_reload else None,
                    )
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


def _check_reload(settings: Settings, *, once: bool) -> None:
    if once:
        raise InputError("--config-reload: a single pass (--once) keeps its configuration")
    if isinstance(settings.state, Database):
        raise InputError(
            "--config-reload is for a crawl of one machine: several have one configuration, "
            "and are started anew with another"
        )


def _limit_s(for_: str | None) -> float | None:
    limit_s = None if for_ is None else parse_duration_s(for_, name="--for")
    if limit_s is not None and limit_s <= 0:
        raise InputError(f"--for: {for_!r} must be longer than nothing")
    return limit_s


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
def _opened(log: Path) -> Iterator[TextIO]:
    if str(log) == "-":
        yield sys.stderr
        return
    try:
        stream = open_log(log)
    except OSError as error:
        raise InputError(f"--log: {log}: {error.strerror}") from error
    with stream:
        yield stream


@contextlib.contextmanager
def _delivered(config: Path, settings: Settings, *, quiet: bool) -> Iterator[None]:
    """Deliver changes from a process of its own, which a slow sink cannot make ours wait for."""
    if not settings.deliver:
        yield
        return
    check_extras(settings.deliver)
    with _beside("deliver", config, quiet=quiet):
        yield


@contextlib.contextmanager
def _served(config: Path, settings: Settings, port: int, *, quiet: bool) -> Iterator[None]:
    """Show the crawl from a process of its own, which cannot slow the crawl's event loop down."""
    if isinstance(settings.state, Path):
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    bind("127.0.0.1", port).close()  # says so now if the port is taken
    with _beside("serve", config, "--port", str(port), quiet=quiet):
        yield


@contextlib.contextmanager
def _beside(verb: str, config: Path, *options: str, quiet: bool) -> Iterator[None]:
    command = [sys.executable, "-m", "recrawl", verb, "--config", str(config), *options]
    command += ["--until-eof", *(["--quiet"] if quiet else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()


async def _run(
    settings: Settings,
    *,
    limit_s: float | None,
    once: bool,
    quiet: bool,
    ears: Ears,
    watch: ConfigWatch | None,
) -> CountingSink:
    counts = CountingSink()
    async with contextlib.AsyncExitStack() as stack:
        try:
            with interruptible():
                if is_to_be_brought_over(settings.state) and not quiet:
                    note(_BROUGHT_OVER)
                opened = await stack.enter_async_context(open_parts(settings, events=counts))
        except KeyboardInterrupt:
            return counts
        ends = _Ends(stopped_by_signals(), watch, limit_s, once)
        if watch is not None:
            watch.listen()
        crawl = await opened.prepared(once=once)
        current = [crawl]
        try:
            await greet(crawl, settings, quiet=quiet)
        except BaseException:
            crawl.world.extractor.close()
            raise
        with ears.listening(counts, lambda: current[0], settings.state):
            after = await _crawled(crawl, counts, settings, ends, quiet=quiet)
            while after is not None:
                settings = after
                crawl = current[0] = await _followed(opened, settings, crawl)
                for words in [] if quiet else crawl.mended:
                    note(f"Note: {words}")
                after = await _crawled(crawl, counts, settings, ends, quiet=quiet)
        if once and not quiet:
            tell_blocked(crawl)
        if not quiet:
            await tell_moved(crawl)
        await tell_nothing(crawl, settings, quiet=quiet)
    return counts


async def _followed(opened: OpenParts, settings: Settings, before: Crawl) -> Crawl:
    """Put the next crawl together, by other settings, from what the one before has left open."""
    crawl = await replace(opened, settings=settings).prepared()
    crawl.dispatcher.follow(before.dispatcher)
    crawl.world.events.emit("reload", {"budget_per_s": settings.budget_per_s})
    return crawl


async def _crawled(
    crawl: Crawl, counts: CountingSink, settings: Settings, ends: "_Ends", *, quiet: bool
) -> Settings | None:
    """Crawl to the end, and return None; or until settings are to be taken up: those."""
    try:
        async with (
            crawl.running(),
            watched(crawl, counts, settings, quiet=quiet),
            trimmed(),
        ):
            after = await ends.reached(crawl, settings)
            if ends.once and not ends.stop.is_set():
                await crawl.planner.replan()
            return after
    finally:
        crawl.world.extractor.close()


@dataclass(slots=True)
class _Ends:
    """Causes of a crawl's end: a signal, the time limit, the end of the pass, other settings."""

    stop: asyncio.Event
    watch: ConfigWatch | None
    limit_s: float | None
    once: bool
    _limit: "asyncio.Future[None] | None" = None

    async def reached(self, crawl: Crawl, settings: Settings) -> Settings | None:
        """Wait for the first; return the settings that are to be taken up, if that it was."""
        if self.limit_s is not None and self._limit is None:  # over all crawls together
            self._limit = asyncio.ensure_future(asyncio.sleep(self.limit_s))
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self.stop.wait())]
        news = None
        if self.once:
            waits.append(asyncio.ensure_future(crawl.until_done()))
        if self.watch is not None:
            news = asyncio.ensure_future(self.watch.next(settings))
            waits.append(news)
        every = [*waits, *([self._limit] if self._limit is not None else [])]
        done, _ = await asyncio.wait(every, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            if wait not in done:
                wait.cancel()
        for wait in done:
            wait.result()
        ended = self.stop.is_set() or (self._limit is not None and self._limit.done())
        return None if ended or news is None else news.result().settings
