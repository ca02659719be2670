"""Tables that are in memory already: mappings, and whatever speaks Arrow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from typing_extensions import override

from recrawl.errors import InvalidTable
from recrawl.tables.reading import PageTable, check_names, check_needs, open_page_table


@dataclass(frozen=True)
class TableInMemory(PageTable):
    """A table that is there already, read as one in a file is.

    Parameters
    ----------
    table : its rows
    """

    table: pa.Table = field(default_factory=lambda: pa.table({}))

    @override
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        done = 0
        for batch in self.table.select(list(columns or self.columns)).to_batches(1 << 18):
            done += batch.num_rows
            yield done, batch


def as_page_table(source: Any) -> PageTable:
    """Return a table of pages, whatever it comes as.

    Parameters
    ----------
    source : a path; a mapping of columns; or anything with the Arrow stream interface, as tables of
        pandas, polars, pyarrow and duckdb have

    Raises
    ------
    InvalidTable
        It is none of these, or lacks the column change_rate.
    """
    if isinstance(source, str | Path):
        return open_page_table(Path(source))
    table = as_arrow(source)
    path = Path("table")
    check_names(path, table.column_names)
    check_needs(path, ["change_rate"], table.column_names)
    if not table.num_rows:
        raise InvalidTable("table: 0 pages, at least 1 is needed")
    return TableInMemory(
        path, "parquet", tuple(table.column_names), table.num_rows, table.nbytes, table=table
    )


def as_arrow(source: Any) -> pa.Table:
    """Return a mapping of columns, or anything with the Arrow stream interface, as an Arrow table.

    Raises
    ------
    InvalidTable
        It is neither, or its columns differ in length.
    """
    if isinstance(source, Mapping):
        columns = {str(name): _column(str(name), given) for name, given in source.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
            raise InvalidTable(
                f"table: its columns make no table, as they differ in length: {said}"
            )
        return pa.table(columns)
    try:
        if isinstance(source, pa.Table):
            return source
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = "; ".join(map(str, error.args))
        raise InvalidTable(f"table: its columns make no table: {reason}") from None
    raise InvalidTable(
        f"table: {type(source).__name__} is no table; give a path, a mapping of columns, or "
        "anything with the Arrow stream interface (pandas, polars, pyarrow, duckdb)"
    )


def _column(name: str, given: Any) -> pa.Array | pa.ChunkedArray:
    """Return a column of a mapping; numbers of numpy in the order of bytes of another machine too.

    Raises
    ------
    InvalidTable
        Naming the column.
    """
    if given is None or isinstance(given, str | bytes | Mapping | Number):
        raise InvalidTable(
            f"table: column {name} is {given!r:.80}; give a value for each page, as a list"
        )
    if isinstance(given, np.ndarray) and not given.dtype.isnative:
        given = given.astype(given.dtype.newbyteorder("="))
    try:
        return pa.array(given)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidTable(f"table: column {name} makes no column: {error}") from None
