"""Delivery progress of each sink, kept in the state beside the crawl that writes it."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from typing_extensions import override

from recrawl.crawler.frontier.sql import queries
from recrawl.crawler.frontier.store import DATABASE, Door, open_state, translated
from recrawl.crawler.ports import Deliveries
from recrawl.terms import SinkState

_DEAD: Final = 1_000  # letters that are kept of each sink
_LONGEST: Final = 500


class SqliteDeliveries(Door, Deliveries):
    """Deliveries of one state directory, for one thread.

    Not every save waits for the disk: what a sink got shortly before the power went is delivered
    again.

    Parameters
    ----------
    directory : of the state
    read_only : only look

    Raises
    ------
    StateError
        There is no crawl, it is damaged, or of another version.
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        if read_only:
            path = directory / DATABASE
            self._use(open_state(path, read_only=True), path, queries())
            return
        super().__init__(directory)
        with translated(self._path):
            self._db.execute("PRAGMA synchronous = NORMAL")

    @override
    def of(self, sink: str) -> SinkState:
        with translated(self._path):
            row = self._row("delivery", sink=sink)
        return SinkState(sink) if row is None else SinkState(*row)

    @override
    def save(self, state: SinkState, dead: Sequence[tuple[int, str, str]] = ()) -> None:
        letters = [
            {"sink": state.sink, "seq": seq, "url": url, "at_s": time.time(), "why": why[:_LONGEST]}
            for seq, url, why in dead
        ]
        with self._writing():
            self._run("save_delivery", **asdict(state))
            if letters:
                self._db.executemany(self._q["add_dead_letter"], letters)
                self._run("forget_dead_letters", sink=state.sink, most=_DEAD)

    @override
    def every(self) -> list[SinkState]:
        with translated(self._path):
            return [SinkState(*row) for row in self._run("deliveries")]

    @override
    def keep_form(self, sink: str, form: str) -> str | None:
        label = {"name": f"form of {sink}"}
        with self._writing():
            before = self._run("label", **label).fetchone()
            if before != (form,):
                self._run("save_label", **label | {"value": form})
        return None if before is None else str(before[0])

    @override
    def dead(self, sink: str, limit: int) -> list[tuple[int, str, str]]:
        return self._rows("dead_letters", sink=sink, limit=limit)
