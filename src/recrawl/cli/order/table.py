"""Tables for ``recrawl order``: a plan or frequencies in, sequences in and out."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from recrawl.cli.order.access_law import AccessLaw
from recrawl.errors import InvalidTable
from recrawl.kernels.arrays import Integers, Vector
from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import AgeingCosts
from recrawl.tables.columns import plain
from recrawl.tables.reading import Addresses, PageTable, open_page_table
from recrawl.tables.writing import SINKS
from recrawl.whole_files import whole_file

_NUMERIC = ("crawl_rate", "frequency", "change_rate", "weight", "page")
_FLOOR = 1e-9  # what stands for no change and no weight beside the greatest


@dataclass(frozen=True, eq=False)
class OrderTable:
    """Pages to be put in order.

    Parameters
    ----------
    path : where they came from
    frequencies : shape (n,), shares of all accesses
    rate : accesses per unit of time of the table, or None where only frequencies are known
    costs : share of time out of date, weighted, as a function of distances
    assumed : whether costs had to be assumed for want of change rates
    names : the URLs, where there are any
    hosts : shape (n,), host of each page by number, or None
    """

    path: Path
    frequencies: Vector
    rate: float | None
    costs: AgeingCosts
    assumed: bool
    names: pa.ChunkedArray | None
    hosts: Integers | None

    def show(self, page: int) -> str:
        """Name a page for people."""
        return f"page {page}" if self.names is None else str(self.names[page].as_py())


def read_order_table(path: Path, *, with_hosts: bool, law: AccessLaw = ConstantTime) -> OrderTable:
    """Read a table with a column crawl_rate or frequency; ``law`` is that of the access times.

    Raises
    ------
    InvalidTable
        Naming the row, the column, the value and what would be right.
    """
    table = open_page_table(path, ("crawl_rate", "frequency"), _NUMERIC)
    source = "crawl_rate" if "crawl_rate" in table.columns else "frequency"
    wanted = [c for c in (source, "change_rate", "weight", "url", "host") if c in table.columns]
    if with_hosts and not {"url", "host"} & set(wanted):
        raise InvalidTable(f"{path}: --host-gap needs a column host or url")
    columns: dict[str, list[Vector]] = {name: [] for name in _NUMERIC}
    names: list[pa.Array] = []
    hosts: list[pa.Array] = []
    row = 1
    for _, batch in table.batches(wanted):
        for name, parts in columns.items():
            if name in wanted:
                parts.append(table.numbers(batch, name, row))
        if "url" in wanted:
            names.append(plain(batch.column("url")))
        if with_hosts:
            hosts.append(table.hosts(batch, row).cast(pa.string()))
        row += batch.num_rows
    addresses = Addresses(path)
    for part in names:
        addresses.add(part.to_pylist())
    addresses.check(lambda: (url for part in names for url in part.to_pylist()))
    joined = {name: np.concatenate(parts) for name, parts in columns.items() if parts}
    return _assemble(path, source, joined, names, hosts, law)


def _assemble(
    path: Path,
    source: str,
    columns: dict[str, Vector],
    names: list[pa.Array],
    hosts: list[pa.Array],
    law: AccessLaw,
) -> OrderTable:
    rates = columns.get(source, np.empty(0))
    if not rates.size:
        raise InvalidTable(f"{path}: 0 pages, at least 1 is needed")
    total = float(rates.sum())
    if not (np.isfinite(total) and total > 0):
        raise InvalidTable(
            f"{path}, column {source}: the sum over all pages must be > 0, it is {total:g}"
        )
    shares = rates / total
    weights = columns.get("weight", np.ones(rates.size))
    assumed = source == "frequency" or "change_rate" not in columns
    if assumed:
        costs = _assume(shares, law)
    else:
        changes = columns["change_rate"]
        alive = np.where(changes > 0, weights, 0.0)
        scale = float(alive.max(initial=0.0)) or 1.0
        costs = AgeingCosts.obsolescence(
            np.maximum(changes, _FLOOR * total / rates.size),
            np.maximum(alive, _FLOOR * scale) / max(float(weights.sum()), _FLOOR * scale),
            law(1 / total),
        )
    numbers = None
    if hosts:
        encoded = pa.chunked_array(hosts).combine_chunks().dictionary_encode()
        numbers = encoded.indices.to_numpy().astype(np.int64)
    urls = pa.chunked_array(names) if names else None
    rate = total if source == "crawl_rate" else None
    return OrderTable(path, shares, rate, costs, assumed, urls, numbers)


def _assume(shares: Vector, law: AccessLaw) -> AgeingCosts:
    """Return costs for which these frequencies are best: one change a visit, weights alike."""
    floor = np.maximum(shares, _FLOOR / shares.size)
    return AgeingCosts.obsolescence(floor, floor / floor.sum(), law(1.0))


def read_sequence(path: Path, table: OrderTable) -> Integers:
    """Read a sequence: a column page (numbers from 0) or url.

    Raises
    ------
    InvalidTable
        Where a row names a page that the plan does not have.
    """
    given = open_page_table(path, ("page", "url"), ("page",))
    by_name = "page" not in given.columns
    if by_name and table.names is None:
        raise InvalidTable(f"{path}: column page is missing, and {table.path} has no column url")
    numbers = {}
    if by_name and table.names is not None:
        numbers = {name: page for page, name in enumerate(table.names.to_pylist())}
    parts: list[Integers] = []
    for first, batch in _rows(given, "url" if by_name else "page"):
        if by_name:
            values = plain(batch.column("url")).to_pylist()
            pages = np.array([numbers.get(value, -1) for value in values], dtype=np.int64)
        else:
            read = given.numbers(batch, "page", first)
            known = (read < table.frequencies.size) & (read == np.floor(read))
            values, pages = read, np.where(known, read, -1).astype(np.int64)
        if np.any(pages < 0):
            at = int(np.argmax(pages < 0))
            raise InvalidTable(
                f"{path}, row {first + at}: page {values[at]!s} is unknown; "
                f"{table.path} has {table.frequencies.size:,} pages"
                + ("" if by_name else ", numbered from 0")
            )
        parts.append(pages)
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _rows(table: PageTable, column: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    row = 1
    for _, batch in table.batches([column]):
        yield row, batch
        row += batch.num_rows


def write_sequence(out: Path, table: OrderTable, parts: Iterator[Integers]) -> None:
    """Write slots, page numbers from 0 (-1 for an idle slot) and URLs; all of it or nothing.

    Raises
    ------
    StateError
        When the file cannot be written.
    """
    fields = [("slot", pa.int64()), ("page", pa.int64())]
    schema = pa.schema(fields + ([("url", pa.string())] if table.names is not None else []))
    slot = 0
    with whole_file(out) as part, SINKS[out.suffix](str(part), schema) as sink:
        for pages in parts:
            arrays = [pa.array(np.arange(slot, slot + pages.size)), pa.array(pages)]
            if table.names is not None:
                known = pa.array(pages, mask=pages < 0)
                arrays.append(table.names.take(known).combine_chunks().cast(pa.string()))
            sink.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
            slot += pages.size
