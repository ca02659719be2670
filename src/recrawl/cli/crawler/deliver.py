"""`recrawl deliver` and `recrawl sync`: bring changes to where they are needed."""

import os
import signal
import threading
from dataclasses import asdict
from pathlib import Path

from recrawl.cli.crawler.place import DEFAULT_CONFIG
from recrawl.cli.options import Json, JsonAtEnd, Quiet, UntilEof
from recrawl.cli.output import note, print_json, say
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.reports.deliveries import deliveries_report
from recrawl.crawler.settings import Settings, SinkSettings, load_settings
from recrawl.crawler.wiring.deliveries import (
    DeliveryThreads,
    delivering,
    verified,
)
from recrawl.crawler.wiring.sinks import check_extras
from recrawl.errors import InputError, StateError

_END_S = 5.0


def deliver(
    *,
    config: Path = DEFAULT_CONFIG,
    once: bool = False,
    quiet: Quiet = False,
    until_eof: UntilEof = False,
    json_: JsonAtEnd = False,
) -> int:
    """Bring changes to every sink of the configuration, until stopped.

    `recrawl run` does this beside the crawl; this is for a crawl inside another program, or after
    one. Each sink goes on where it was. Of several machines that share a state one delivers at a
    time; the others wait for their turn. Exits with 1 if --once and a sink does not take them.

    Parameters
    ----------
    config
        Configuration of the crawl.
    once
        End when every sink has been told everything, or does not take it.
    quiet
        Say nothing of sinks that do not take their changes; `recrawl status` does.
    """
    settings = load_settings(config)
    if not settings.deliver:
        raise InputError(f"{config}: there is no [[deliver]] in it, so nothing to deliver to")
    check_extras(settings.deliver)
    threads = DeliveryThreads(
        settings.state,
        settings.deliver,
        content_as,
        once=once,
        say=(lambda _: None) if quiet or json_ else note,
    )
    if once and isinstance(settings.state, Path) and not settings.state.is_dir():
        raise StateError(f"{settings.state} holds no crawl")
    with delivering(settings.state, at_once=once) as threads.turn:
        threads.start()
        if once:
            threads.join()
        else:
            _wait(until_eof=until_eof)
            threads.end(_END_S)
    _tell(settings, settings.deliver, json_=json_, quiet=quiet or until_eof)
    return int(once and bool(threads.failed))


def _wait(*, until_eof: bool) -> None:
    """Return on a signal, or when standard input ends."""
    stop = threading.Event()
    if until_eof:  # beside a crawl, which goes first and is the one that is told to stop
        os.nice(10)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

        def read() -> None:
            while os.read(0, 4096):
                pass
            stop.set()

        threading.Thread(target=read, daemon=True).start()
    else:
        signal.signal(signal.SIGINT, lambda *_: stop.set())
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    stop.wait()


def sync(
    sink: str,
    *,
    config: Path = DEFAULT_CONFIG,
    verify: bool = False,
    json_: Json = False,
) -> int:
    """Bring one sink up to date now; with --verify, compare all that it holds with the index.

    Parameters
    ----------
    sink
        Its name in the configuration; where it has none, its address.
    config
        Configuration of the crawl.
    verify
        Read what the sink holds, page by page, and mend what differs: databases, search engines and
        files, which get what they lack at their end.
    """
    settings = load_settings(config)
    chosen = tuple(one for one in settings.deliver if sink in (one.name, one.to))
    if not chosen:
        known = ", ".join(repr(one.name) for one in settings.deliver)
        there = f"there is {known}" if known else "there is none"
        raise InputError(f"{sink[:200]!r} is no sink of {config}; {there}")
    check_extras(chosen)
    if isinstance(settings.state, Path) and not settings.state.is_dir():
        raise StateError(f"{settings.state} holds no crawl")
    if verify:
        found = verified(settings.state, chosen[0], content_as)
        n_left = max(found.n_apart - found.mended, 0)
        if json_:
            print_json({"sink": chosen[0].name} | asdict(found))
            return int(n_left > 0)
        say(
            f"{chosen[0].name}: {found.pages:,} pages in the index; {found.missing:,} were missing "
            f"there, {found.older:,} older, {found.extra:,} not removed; {found.mended:,} mended"
        )
        if found.newer or found.unknown:
            note(
                f"{found.newer:,} pages are newer there than here and {found.unknown:,} are none "
                "of this crawl: something else writes there"
            )
        if n_left:
            note(f"{n_left:,} pages are as they were there: it does not take them")
        return int(n_left > 0)
    threads = DeliveryThreads(settings.state, chosen, content_as, once=True, say=note)
    with delivering(settings.state, at_once=True) as threads.turn:
        threads.start()
        threads.join()
    _tell(settings, chosen, json_=json_, quiet=False)
    return int(bool(threads.failed))


def _tell(settings: Settings, sinks: tuple[SinkSettings, ...], *, json_: bool, quiet: bool) -> None:
    names = {sink.name for sink in sinks}
    report = [row for row in deliveries_report(settings.state) if row["sink"] in names]
    if json_:
        print_json({"state": str(settings.state), "deliver": report})
    elif not quiet:
        for row in report:
            say(
                f"{row['sink']}: {row['delivered']:,} delivered, {row['behind']:,} to come"
                + (f", {row['dead']:,} not taken" if row["dead"] else "")
            )
