"""Announcements of changes, from how well listings announce them, or from a table."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from recrawl.errors import InputError, InvalidModel, InvalidTable
from recrawl.quantities import parse_duration_s
from recrawl.simulation.announcements import Announcements, SignalRates, draw_announcements
from recrawl.simulation.history import ChangeHistory
from recrawl.tables.histories import need_columns, page_names, table_of
from recrawl.tables.instants import instants

_FORM: Final = "recall=0.5,precision=0.9,delay=1h,every=1d or announced.csv,every=1d"


def parse_signals(text: str, history: ChangeHistory, *, called: str, seed: int) -> Announcements:
    """Read ``recall=0.5,precision=0.9,delay=1h,every=1d``, or a table, as announcements.

    Parameters
    ----------
    text : shares of changes that are announced and of announcements that are true, 1 where it is
        not said; the delay, 0; how often listings are read. Or the path of a table, and how often
    history : whose changes are announced, in seconds
    called : what messages call it
    seed : of what is drawn

    Raises
    ------
    InputError
        It is neither.
    """
    given: dict[str, str] = {}
    table: Path | None = None
    for number, part in enumerate(text.split(",")):
        key, equals, value = part.strip().partition("=")
        if not number and key and not equals:
            table = Path(key)
            continue
        allowed = ("every",) if table else ("recall", "precision", "delay", "every")
        if not equals or key not in allowed or key in given:
            raise InputError(f"{called}: {part.strip()!r} does not belong there; write {_FORM}")
        given[key] = value
    every = parse_duration_s(given["every"], name=f"{called} every") if "every" in given else None
    if every == 0.0:
        raise InputError(f"{called} every: {given['every']} must be > 0")
    if table is not None:
        return announcements_of(table, history, every=every)
    if "recall" not in given:
        raise InputError(f"{called}: recall is missing; write {_FORM}")
    shares = {
        name: _share(given[name], f"{called} {name}")
        for name in ("recall", "precision")
        if name in given
    }
    delay = parse_duration_s(given["delay"], name=f"{called} delay") if "delay" in given else 0.0
    try:
        rates = SignalRates(**shares, delay=delay, every=every)
    except InvalidModel as error:
        raise InputError(f"{called}: {error}") from None
    return draw_announcements(history, rates, seed)


def _share(text: str, called: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{called}: {text!r} is no number between 0 and 1") from None


def announcements_of(
    source: Any, history: ChangeHistory, *, every: float | None = None
) -> Announcements:
    """Make announcements of a table.

    Parameters
    ----------
    source : columns page or url, as the history calls them, and announced_at; optionally site, and
        changed_at, when the page changed as the listing says; default: when it was announced. A
        path, a mapping of columns, or anything with the Arrow stream interface
    history : whose pages they are of
    every : seconds between two readings of a listing; None: a fiftieth of the budget reads them

    Raises
    ------
    InvalidTable
        Naming the table, the row, the column, the value and what would be right.
    """
    table, path = table_of(source, "signals")
    names = page_names(table, path)
    need_columns(table, ("announced_at",), path)
    shown_at = instants(table, "announced_at", path)
    changed_at = shown_at
    if "changed_at" in table.column_names:
        changed_at = instants(table, "changed_at", path)
        late = np.flatnonzero(changed_at > shown_at)
        if late.size:
            raise InvalidTable(
                f"{path}, column changed_at, row {late[0] + 1}: the change is after it was "
                "announced_at"
            )
    number = {name: row for row, name in enumerate(history.names)}
    unknown = [row for row, name in enumerate(names) if name not in number]
    if unknown:
        raise InvalidTable(
            f"{path}, row {unknown[0] + 1}: page {names[unknown[0]][1]!r} is not in the history"
        )
    page = np.array([number[name] for name in names], np.int64)
    order = np.argsort(shown_at, kind="stable")
    return Announcements(page[order], changed_at[order], shown_at[order], every)
