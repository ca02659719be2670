"""Visits as `recrawl export visits` and `scrapy recrawl visits` write them, joined and in order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from recrawl.errors import InvalidTable
from recrawl.tables.captures.looks import Look, Tally
from recrawl.tables.columns import TRUTHS, plain
from recrawl.tables.complaints import told_columns
from recrawl.tables.instants import instants
from recrawl.tables.reading import open_page_table

WANTED: Final = "rows with url, visited_at and changed"
_SEEN: Final = TRUTHS | {"": None}
_FIRST: Final = "new"
_COLUMNS: Final = ("url", "visited_at", "changed", "outcome", "status")


def read_visits(path: Path, tally: Tally) -> Iterator[Look]:
    """Yield the visits of a table, piece by piece.

    Parameters
    ----------
    path : a table with columns url, visited_at, changed; optionally outcome, status
    tally : counts and complaints, is written

    Raises
    ------
    InvalidTable
        A column is missing or a value wrong; with file, row and column.
    """
    table = open_page_table(path, needs=("visited_at",), numeric=())
    for name in ("url", "visited_at", "changed"):
        if name not in table.columns:
            raise InvalidTable(f"{path}: column {name} is missing; {told_columns(table.columns)}")
    before, row = tally.done_bytes, 0
    wanted = [name for name in _COLUMNS if name in table.columns]
    for done, batch in table.batches(wanted):
        part = pa.Table.from_batches([batch])
        at = instants(part, "visited_at", path).tolist()
        columns = [
            plain(part.column(name)).cast(pa.string()).to_pylist()
            if name in wanted
            else [None] * len(at)
            for name in ("url", "changed", "outcome", "status")
        ]
        for at_s, url, told, outcome, status in zip(at, *columns, strict=True):
            row += 1
            tally.n_records += 1
            key = (told or "").lower()
            if not url or key not in _SEEN:
                name, value = ("url", url) if not url else ("changed", told)
                wanted_value = "an address" if name == "url" else "true, false or empty"
                tally.bad(path, f"row {row}, column {name}", f"{value!r} must be {wanted_value}")
                continue
            found = True if outcome == _FIRST else _SEEN[key]
            code = int(status) if status and status.isdigit() else None
            yield Look(url, at_s, None, found, code)
        tally.done_bytes = before + (done if table.n_rows is None else table.n_bytes)
