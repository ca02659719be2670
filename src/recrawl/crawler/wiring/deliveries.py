"""Deliveries put together: a thread for each sink, with its own view of state and index."""

import base64
import binascii
import contextlib
import importlib
import importlib.util
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recrawl.crawler.control.scope import Weights
from recrawl.crawler.frontier.store import StateLock
from recrawl.crawler.ports import PageIndex, Sink, StatePlace
from recrawl.crawler.runtime.delivering import Courier, CourierRules, Verified
from recrawl.crawler.runtime.feed_reader import FeedReader, Wanted
from recrawl.crawler.settings import SinkSettings
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import database_turn, open_deliveries, open_frontier
from recrawl.errors import InputError, InvalidSettings, SinkError, StateError
from recrawl.terms import Document

if TYPE_CHECKING:
    from recrawl.crawler.database.turns import DatabaseTurn

__all__ = ["DeliveryThreads", "check_extras", "delivering", "open_courier", "open_sink", "verified"]

_LOOK_S: Final = 1.0
_MOST_SECRET: Final = 4_096
_SHORTEST_KEY: Final = 16
_FILES: Final = ("lines", "tables")


def check_extras(sinks: tuple[SinkSettings, ...]) -> None:
    """See that what sinks need is installed.

    Raises
    ------
    InvalidSettings
        It is not.
    """
    for sink in sinks:
        if sink.kind == "python":
            _maker(sink)
    needs = any(sink.kind == "postgresql" for sink in sinks)
    if needs and importlib.util.find_spec("psycopg") is None:
        raise InvalidSettings("deliver: PostgreSQL needs one more package: recrawl[postgresql]")


def open_sink(settings: SinkSettings) -> Sink:
    """Return a sink; it connects when it is told something."""
    secret = _secret(settings)
    match settings.kind:
        case "postgresql":
            from recrawl.crawler.delivery.postgresql import PostgresSink

            return PostgresSink(
                settings.to,
                table=settings.table,
                keeps_removed=settings.keeps_removed,
                importance=settings.importance,
                secret=secret,
                timeout_s=settings.timeout_s,
            )
        case "webhook":
            from recrawl.crawler.delivery.webhook import WebhookSink

            key = None if secret is None else (lambda: _key(settings.name, secret()))
            return WebhookSink(
                settings.to, name=settings.name, secret=key, timeout_s=settings.timeout_s
            )
        case "bulk":
            from recrawl.crawler.delivery.bulk import BulkSink

            return BulkSink(settings.to, secret=secret, timeout_s=settings.timeout_s)
        case "meilisearch" | "typesense" | "solr":
            from recrawl.crawler.delivery.engines import ENGINES

            return ENGINES[settings.kind](settings.to, secret=secret, timeout_s=settings.timeout_s)
        case "command":
            from recrawl.crawler.delivery.command import CommandSink

            return CommandSink(settings.command, timeout_s=settings.timeout_s)
        case "python":
            return _made(settings, secret)
        case "tables":
            from recrawl.crawler.delivery.files import TableFiles

            return TableFiles(Path(settings.to), settings.content, importance=settings.importance)
        case _:
            from recrawl.crawler.delivery.files import LineFiles

            return LineFiles(Path(settings.to))


def _maker(settings: SinkSettings) -> Callable[[Callable[[], bytes] | None], Sink]:
    """Return what makes a sink that somebody wrote in Python."""
    module, _, name = settings.to.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever is done there when it is imported
        said = f"{type(error).__name__}: {error}"[:300]
        raise InvalidSettings(
            f"deliver, {settings.name}: {settings.to} cannot be imported ({said}); it has to be "
            "installed, or found by PYTHONPATH"
        ) from error
    if not callable(make):
        raise InvalidSettings(f"deliver, {settings.name}: {settings.to} makes no sink")
    found: Callable[[Callable[[], bytes] | None], Sink] = make
    return found


def _made(settings: SinkSettings, secret: Callable[[], bytes] | None) -> Sink:
    make, where = _maker(settings), f"deliver, {settings.name}"
    try:
        made = make(secret)
    except Exception as error:  # whatever was written there
        said = f"{settings.to} made no sink: {type(error).__name__}: {error!s:.300}"
        raise InvalidSettings(f"{where}: {said}") from error
    lacking = [one for one in ("apply", "scan", "close") if not callable(getattr(made, one, None))]
    if lacking:
        raise InvalidSettings(f"{where}: what {settings.to} makes has no {', '.join(lacking)}")
    return made


def _secret(settings: SinkSettings) -> Callable[[], bytes] | None:
    """Return what reads the secret of a sink, anew each time: it may be changed."""
    file, variable = settings.secret_file, settings.secret_env
    if file is None and variable is None:
        return None

    def read() -> bytes:
        if file is not None:
            try:
                with file.open("rb") as opened:
                    said = opened.read(_MOST_SECRET + 1)
            except OSError as error:
                raise SinkError(f"secret_file {file}: {error.strerror}") from error
        else:
            said = os.environ.get(variable or "", "").encode()
            if not said:
                raise SinkError(f"secret_env: {variable} is not set, or empty")
        said = said.strip()
        if not said or len(said) > _MOST_SECRET or any(byte < 32 for byte in said):
            raise SinkError(f"{file or variable} holds no secret: one line of text is wanted")
        return said

    return read


def _key(name: str, secret: bytes) -> bytes:
    """Return the key that a signing secret stands for: ``whsec_`` and Base64, or as it is."""
    try:
        key = base64.b64decode(secret[6:], validate=True) if secret[:6] == b"whsec_" else secret
    except (ValueError, binascii.Error) as error:
        raise SinkError(f"the secret of {name} has no Base64 after whsec_") from error
    if len(key) < _SHORTEST_KEY:
        raise SinkError(f"the secret of {name} is shorter than {_SHORTEST_KEY} bytes")
    return key


@contextlib.contextmanager
def delivering(state: StatePlace, *, at_once: bool) -> Iterator["DatabaseTurn | None"]:
    """Be the one process that delivers the changes of a state.

    Gives this process's turn at it where several machines share the state: they deliver one after
    the other, and the next one goes on when one ends or is not heard of.

    Parameters
    ----------
    at_once : where it is another's turn, do not wait for one's own

    Raises
    ------
    StateError
        Another process delivers, and there is no waiting for it.
    """
    if isinstance(state, Path):
        way_out = "it delivers the changes; one process does at a time"
        lock = StateLock(state, "deliver.lock", way_out)
        try:
            yield None
        finally:
            lock.release()
        return
    turn = database_turn(state, "deliver")
    turn.begin(at_once=at_once)
    try:
        yield turn
    finally:
        turn.end()


@contextlib.contextmanager
def open_courier(
    state: StatePlace,
    settings: SinkSettings,
    content_as: Callable[[Document, str], str],
    turn: "DatabaseTurn | None" = None,
) -> Iterator[Courier]:
    """Open everything that bringing changes to one sink needs; for one thread.

    Parameters
    ----------
    state : of the crawl; of it only how far the sink has been told is written
    settings : of the sink
    content_as : returns the content of a copy as text, Markdown or HTML
    turn : of this process, where several share the state; else None
    """
    with contextlib.ExitStack() as stack:
        frontier = open_frontier(state, read_only=True)
        stack.callback(frontier.close)
        deliveries = open_deliveries(state, turn=turn)
        stack.callback(deliveries.close)
        opened: list[PageIndex] = []

        def index() -> PageIndex | None:
            if not opened:
                with contextlib.suppress(StateError):
                    opened.append(open_index(state, read_only=True))
                    stack.callback(opened[0].close)
            return opened[0] if opened else None

        patterns = Weights([(path, 1.0) for path in settings.paths], otherwise=0.0)
        wanted = Wanted(
            content=settings.content,
            matches=(lambda url: patterns.of(url) > 0) if settings.paths else None,
            latest=True,
            chunk=settings.chunk,
            importance=settings.importance,
        )
        yield Courier(
            settings.name,
            stack.enter_context(contextlib.closing(open_sink(settings))),
            FeedReader(frontier.feed, index, wanted, content_as),
            deliveries,
            rules=CourierRules(
                batch=settings.batch,
                retry_for_s=settings.retry_for_s,
                is_named=settings.kind == "webhook",
            ),
            now_s=time.time,
        )


def verified(
    state: StatePlace, settings: SinkSettings, content_as: Callable[[Document, str], str]
) -> Verified:
    """Compare what a sink holds with the index, and mend it.

    Files are told all that there is first: what is yet to come is not missing there.

    Parameters
    ----------
    state, settings, content_as : see :func:`open_courier`

    Raises
    ------
    InputError
        This kind of sink cannot tell what it holds.
    StateError
        It is files, and another process delivers.
    SinkError
        It does not answer, or not so that it makes sense.
    """
    with contextlib.ExitStack() as stack:
        turn = None
        if settings.kind in _FILES:  # which nobody else may add to meanwhile
            turn = stack.enter_context(delivering(state, at_once=True))
        courier = stack.enter_context(open_courier(state, settings, content_as, turn))
        while settings.kind in _FILES and (wait_s := courier.deliver()) is not None:
            if wait_s:
                raise SinkError(courier.trouble)
        found = courier.verify()
    if found is None:
        raise InputError(
            f"--verify: {settings.name} cannot tell what it holds; databases, search engines and "
            "files can"
        )
    return found


@dataclass
class DeliveryThreads:
    """A thread for each sink, all of them ended by :meth:`end`.

    Parameters
    ----------
    state : directory of the state; it may come later
    sinks : that are told
    content_as : returns the content of a copy as text, Markdown or HTML
    turn : of this process, where several share the state; else None
    once : end a thread when its sink has been told everything, or fails
    say : is told what is wrong, in words for people
    """

    state: StatePlace
    sinks: tuple[SinkSettings, ...]
    content_as: Callable[[Document, str], str]
    turn: "DatabaseTurn | None" = None
    once: bool = False
    say: Callable[[str], None] = lambda _: None
    failed: set[str] = field(default_factory=set)
    _ending: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Begin to deliver."""
        for sink in self.sinks:
            # A sink that never answers must not keep the process.
            thread = threading.Thread(
                target=self._run, args=(sink,), name=f"deliver-{sink.name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def join(self) -> None:
        """Wait until all threads have ended."""
        for thread in self._threads:
            thread.join()

    def end(self, within_s: float) -> None:
        """Deliver what is there already, as far as time allows, and end."""
        self._ending.set()
        until_s = time.monotonic() + within_s
        for thread in self._threads:
            thread.join(max(until_s - time.monotonic(), 0.0))

    @property
    def _is_our_turn(self) -> bool:
        return self.turn is None or self.turn.is_held

    def _run(self, sink: SinkSettings) -> None:
        """Deliver; where state or sink cannot be used as they are, begin anew after a while."""
        told = ""
        while True:
            is_last = self.once or self._ending.is_set()
            try:
                if self._is_our_turn:
                    self._tell_form(sink)
                    with open_courier(self.state, sink, self.content_as, self.turn) as courier:
                        self._deliver(courier, sink)
                elif not is_last:
                    self._ending.wait(_LOOK_S)
                    continue
            except StateError as error:  # not there yet, or being brought up to date
                if is_last:
                    self._fail(sink, str(error))
            except Exception as error:  # a defect is this sink's alone
                if told != str(error):
                    told = str(error)
                    self._fail(sink, f"{type(error).__name__}: {error}")
            else:
                return
            if is_last:
                return
            self._ending.wait(2.0)  # and once more, where that is the end

    def _tell_form(self, sink: SinkSettings) -> None:
        """Say once that a sink gets from now on what it did not get before."""
        form = repr((sink.content, sink.chunk, sink.paths, sink.importance))
        with contextlib.closing(open_deliveries(self.state, turn=self.turn)) as deliveries:
            before = deliveries.keep_form(sink.name, form)
        if before not in (None, form):
            self.say(
                f"{sink.name}: content, chunks, paths or importance are others than before. What "
                f"it has stays until its page changes; `recrawl sync {sink.name} --verify` brings "
                "the pages that it lacks, and another name brings everything anew"
            )

    def _deliver(self, courier: Courier, sink: SinkSettings) -> None:
        is_failing = is_refusing = False
        while True:
            if not self._is_our_turn:
                raise StateError("another process delivers the changes now")
            wait_s = courier.deliver()
            if wait_s:
                if not is_failing:
                    self._fail(sink, courier.trouble)
                is_failing = True
            elif is_failing:
                is_failing = False
                self.failed.discard(sink.name)
                self.say(f"{sink.name}: takes changes again")
            if wait_s == 0.0:
                was_refusing, is_refusing = is_refusing, bool(courier.trouble)
                if is_refusing and not was_refusing:
                    self.say(f"{sink.name}: changes are put aside, not taken: {courier.trouble}")
                continue
            if self.once or self._ending.is_set():
                return
            self._ending.wait(_LOOK_S if wait_s is None else min(wait_s, 60.0))

    def _fail(self, sink: SinkSettings, why: str) -> None:
        self.failed.add(sink.name)
        self.say(f"{sink.name}: {why}")
