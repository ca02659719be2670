"""The numbers of a page table, ready to be read again and again in little memory.

The first reading of a table checks it and keeps what the solver needs, as plain arrays: in memory
while they are few, in a temporary file beyond that (24 bytes or less for most pages).
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recrawl.errors import InvalidTable
from recrawl.freshness import Pages
from recrawl.freshness.fading import as_changes
from recrawl.tables.complaints import told_columns
from recrawl.tables.reading import NUMBERS, Addresses, PageTable

# Yields the batches of a table, of the named columns or of all, and may tell how far it is.
Track: TypeAlias = Callable[[PageTable, Sequence[str] | None, str], Iterator[pa.RecordBatch]]

_FIELDS = ("change_rates", "weights", "fetch_costs", "min_rates", "max_rates")
_IN_MEMORY = 100 << 20  # bytes kept before the file is used


@dataclass(frozen=True)
class Common:
    """Settings for every page of a table, in seconds.

    Parameters
    ----------
    min_interval_s, max_interval_s : bounds on the interval between visits; the tighter holds
    half_life_s : in which what is new loses half of its worth, where the table does not say it
    measure : what is planned for; only under freshness can content fade
    """

    min_interval_s: float | None = None
    max_interval_s: float | None = None
    half_life_s: float | None = None
    measure: str = "freshness"


@dataclass(eq=False)
class PageSpool:
    """Parts of a table of pages; iterate over it as often as you like.

    Rates are per second. ``hosts`` are the names of the hosts by number, ``pages_by_host`` their
    sizes; both stay empty when hosts were not asked for.
    """

    hosts: list[str] = field(default_factory=list)
    n_pages: int = 0
    total_cost: float = 0.0
    total_change: float = 0.0
    total_weight: float = 0.0
    n_fading: int = 0
    _parts: list[Pages] = field(default_factory=list)
    _file: IO[bytes] | None = None
    _shapes: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    _bytes: int = 0

    def add(self, pages: Pages) -> None:
        """Keep one more part."""
        costs = pages.fetch_costs
        self.n_pages += len(pages)
        self.total_weight += pages.total_weight()
        self.total_cost += len(pages) if costs is None else float(costs.sum())
        change = pages.change_rates
        self.total_change += float(change.sum() if costs is None else change @ costs)
        columns = [c for name in (*_FIELDS, "hosts") if (c := getattr(pages, name)) is not None]
        self._bytes += sum(column.nbytes for column in columns)
        if self._bytes <= _IN_MEMORY:
            self._parts.append(pages)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="recrawl-plan-")  # noqa: SIM115 - kept open
        names = tuple(n for n in (*_FIELDS, "hosts") if getattr(pages, n) is not None)
        for name in names:
            column = getattr(pages, name)
            (column.astype(np.int32) if name == "hosts" else column).tofile(self._file)
        self._shapes.append((len(pages), names))

    def __iter__(self) -> Iterator[Pages]:
        n_hosts = len(self.hosts)
        yield from self._parts
        if self._file is None:
            return
        self._file.flush()
        self._file.seek(0)
        for n, names in self._shapes:
            columns: dict[str, NDArray[np.generic]] = {}
            for name in names:
                kind = np.int32 if name == "hosts" else np.float64
                column = np.fromfile(self._file, dtype=kind, count=n)
                columns[name] = column.astype(np.int64) if name == "hosts" else column
            yield Pages.unchecked(n_hosts, **columns)

    def sample(self, size: int) -> Pages:
        """Return every k-th page, about ``size`` of them."""
        step = max(1, self.n_pages // size)
        taken, start = [], 0
        for part in self:
            first = -start % step
            if first < len(part):
                rows = np.arange(first, len(part), step)
                taken.append(part.part(rows))
            start += len(part)
        return Pages.join(taken)

    def close(self) -> None:
        """Give the temporary file back."""
        if self._file is not None:
            self._file.close()


def untracked(table: PageTable, columns: Sequence[str] | None, _: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a table and tell nobody.

    Parameters
    ----------
    table : the table
    columns : those wanted; None: all
    _ : is not used
    """
    return (batch for _, batch in table.batches(columns))


def fill_spool(
    table: PageTable,
    unit_s: float,
    common: Common,
    *,
    with_hosts: bool,
    track: Track = untracked,
) -> PageSpool:
    """Read a table once, check every value, and keep its numbers.

    Parameters
    ----------
    table : the table
    unit_s : length of its unit of time in seconds
    common : what holds for all pages
    with_hosts : whether hosts are needed
    track : how the batches are read

    Raises
    ------
    InvalidTable
        At the first value outside its domain, with row and column.
    """
    names = [name for name in NUMBERS if name in table.columns]
    if with_hosts:
        if not {"host", "url"} & set(table.columns):
            raise InvalidTable(
                f"{table.path}: host limits need a column host or url; "
                f"{told_columns(table.columns)}"
            )
        names.append("host" if "host" in table.columns else "url")
    if "url" in table.columns and "url" not in names:
        names.append("url")
    spool, numbering, addresses = PageSpool(), _Numbering(), Addresses(table.path)
    spool.hosts = numbering.names
    row = 1
    for batch in track(table, names, "reading"):
        if not batch.num_rows:
            continue
        values = {name: table.numbers(batch, name, row) for name in names if name in NUMBERS}
        hosts = numbering.number(table.hosts(batch, row)) if with_hosts else None
        spool.n_fading += _fade(table, values, unit_s, common)
        spool.add(_make_pages(table, values, hosts, unit_s, common, row))
        if "url" in names:
            addresses.add(batch.column("url").to_pylist())
        row += batch.num_rows
    addresses.check(
        lambda: (
            url for _, part in table.batches(["url"]) for url in part.column("url").to_pylist()
        )
    )
    if spool.n_pages == 0:
        raise InvalidTable(f"{table.path}: 0 pages, at least 1 is needed")
    if spool.total_weight <= 0:
        fading = "; what fades is worth its weight times its change_rate" if spool.n_fading else ""
        raise InvalidTable(
            f"{table.path}: column weight: all are 0, at least one must be > 0{fading}"
        )
    return spool


class _Numbering:
    """Numbers hosts in the order in which they are first seen."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, texts: pa.DictionaryArray) -> NDArray[np.int64]:
        known = self._numbers
        found = np.empty(len(texts.dictionary), dtype=np.int64)
        for position, name in enumerate(texts.dictionary.to_pylist()):
            number = known.setdefault(name, len(known))
            if number == len(self.names):
                self.names.append(name)
            found[position] = number
        return np.asarray(found[texts.indices.to_numpy(False)])


def _fade(
    table: PageTable, values: dict[str, NDArray[np.float64]], unit_s: float, common: Common
) -> int:
    """Put the change rates and weights in place under which freshness is the worth of what fades.

    Returns how many pages fade.
    """
    lives, rates = values.get("half_life"), values["change_rate"]
    if lives is None:
        if common.half_life_s is None:
            return 0
        lives = np.full(rates.size, np.nan)
    if common.half_life_s is not None:
        lives = np.where(np.isnan(lives), common.half_life_s / unit_s, lives)
    n_fading = int(np.count_nonzero(~np.isnan(lives)))
    if n_fading and common.measure not in ("freshness", "staleness"):
        raise InvalidTable(
            f"{table.path}, column half_life: content that fades is planned for freshness, not for "
            f"{common.measure}; leave the measure or the half-life out"
        )
    if n_fading:
        changes, weights = as_changes(rates, lives, values.get("weight"))
        values |= {"change_rate": changes, "weight": weights}
    return n_fading


def _make_pages(
    table: PageTable,
    values: dict[str, NDArray[np.float64]],
    hosts: NDArray[np.int64] | None,
    unit_s: float,
    common: Common,
    row: int,
) -> Pages:
    n = values["change_rate"].size
    shortest = _bound(values.get("min_interval"), common.min_interval_s, unit_s, np.maximum, n)
    longest = _bound(values.get("max_interval"), common.max_interval_s, unit_s, np.minimum, n)
    if shortest is not None and longest is not None and np.any(shortest > longest):
        at = int(np.argmax(shortest > longest))
        raise InvalidTable(
            f"{table.path}, row {row + at}, column min_interval: the least interval of "
            f"{shortest[at]:g} s is above the greatest, {longest[at]:g} s"
        )
    return Pages(
        values["change_rate"] / unit_s,
        values.get("weight"),
        values.get("fetch_cost"),
        None if longest is None else 1 / longest,
        None if shortest is None else 1 / shortest,
        hosts,
    )


def _bound(
    column: NDArray[np.float64] | None,
    common_s: float | None,
    unit_s: float,
    tighter: np.ufunc,
    n: int,
) -> NDArray[np.float64] | None:
    """Join the bound of each page with the one of all pages; the tighter holds."""
    if column is None:
        return None if common_s is None else np.full(n, common_s)
    seconds = column * unit_s
    return seconds if common_s is None else np.asarray(tighter(seconds, common_s))
