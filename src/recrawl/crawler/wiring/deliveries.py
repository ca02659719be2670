"""Deliveries put together: a thread for each sink, with its own view of state and index."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.frontier.store import lock_state
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.runtime.delivering import Courier, CourierRules, Verified
from recrawl.crawler.runtime.feed_reader import FeedReader, Wanted
from recrawl.crawler.settings import SinkSettings
from recrawl.crawler.wiring.indexes import index_once_there
from recrawl.crawler.wiring.sinks import open_sink
from recrawl.crawler.wiring.stores import database_turn, open_deliveries, open_frontier
from recrawl.errors import InputError, SinkError, StateError
from recrawl.terms import Document

if TYPE_CHECKING:
    from recrawl.crawler.database.turns import DatabaseTurn

_LOOK_S: Final = 1.0
_FILES: Final = ("lines", "tables")


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
        lock = lock_state(state, "deliver.lock", way_out)
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
            FeedReader(frontier.feed, index_once_there(state, stack), wanted, content_as),
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
            with self._watched(sink):
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

    @contextlib.contextmanager
    def _watched(self, sink: SinkSettings) -> Iterator[None]:
        """Say of a sink in Python that it takes longer than it may: nothing can end it."""
        if sink.kind != "python":
            yield
            return
        said = (
            f"{sink.name}: no answer for {sink.timeout_s:g} s; it is waited for until it gives one"
        )
        watch = threading.Timer(sink.timeout_s, self.say, (said,))
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()

    def _fail(self, sink: SinkSettings, why: str) -> None:
        self.failed.add(sink.name)
        self.say(f"{sink.name}: {why}")
