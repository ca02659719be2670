"""Attendants of a crawl that runs: a log, Prometheus, whoever looks at the terminal, signals."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.lines import JsonLinesSink, TextLinesSink
from recrawl.quantities import show_rate


@dataclass(frozen=True, slots=True)
class Ears:
    """Listeners to every event: a log, Prometheus, neither or both."""

    stream: TextIO | None
    log_format: str
    log_level: str
    metrics: tuple[str, int] | None

    @contextlib.contextmanager
    def listening(
        self, counts: CountingSink, crawl: Callable[[], Crawl], state: StatePlace
    ) -> Iterator[None]:
        """Have them hear, over all crawls that follow each other."""
        with contextlib.ExitStack() as stack:
            if self.stream is not None:
                sink = JsonLinesSink if self.log_format == "json" else TextLinesSink
                counts.then = sink(self.stream, lambda: crawl().now_s, self.log_level)
            if self.metrics is not None:
                # Its library takes a moment to import: only who asks for it pays.
                from recrawl.crawler.reports.gauges import StateGauges
                from recrawl.crawler.telemetry.metrics import MetricsServer, MetricsSink

                looked = StateGauges(state) if isinstance(state, Path) else dict[str, float]
                measured = MetricsSink(lambda: crawl().gauges() | looked(), then=counts.then)
                stack.enter_context(MetricsServer(measured, *self.metrics))
                counts.then = measured
            yield


def watched(
    crawl: Crawl, counts: CountingSink, settings: Settings, *, quiet: bool
) -> contextlib.AbstractAsyncContextManager[object]:
    """Show how a crawl goes, unless nobody wants to see it."""
    if quiet:
        return contextlib.nullcontext()
    from recrawl.cli.crawler.watch import Watch  # only who looks pays for what draws

    title = f"{', '.join(settings.hosts[:3])}: {show_rate(settings.budget_per_s)}"
    return Watch(crawl, counts, budget_per_s=settings.budget_per_s, title=title, every_s=1.0)


def _that_stop() -> tuple[signal.Signals, ...]:
    """Return the signals that stop a crawl: SIGHUP not where it is ignored, as under ``nohup``."""
    is_deaf = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *(() if is_deaf else (signal.SIGHUP,)))


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C, SIGTERM and SIGHUP raise :class:`KeyboardInterrupt` in what takes its time."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in _that_stop()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stopped_by_signals() -> asyncio.Event:
    """Return what Ctrl-C, SIGTERM and SIGHUP set, from now on."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _that_stop():
        loop.add_signal_handler(number, stop.set)
    return stop
