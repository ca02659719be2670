"""Tables that are in memory already: mappings, and whatever speaks Arrow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from typing_extensions import override

from recrawl.errors import InvalidTable
from recrawl.tables.reading import PageTable, check_names, check_needs, open_page_table

__all__ = ["as_arrow", "as_page_table"]


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


def as_page_table(source: Any, needs: Sequence[str] = ("change_rate",)) -> PageTable:
    """Return a table of pages, whatever it comes as.

    Parameters
    ----------
    source : a path; a mapping of columns; or anything with the Arrow stream interface, as tables of
        pandas, polars, pyarrow and duckdb have
    needs : columns of which one must be there

    Raises
    ------
    InvalidTable
        It is none of these, or lacks the column that is needed.
    """
    if isinstance(source, str | Path):
        return open_page_table(Path(source), needs)
    table = as_arrow(source)
    path = Path("table")
    check_names(path, table.column_names)
    check_needs(path, needs, table.column_names)
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
    try:
        if isinstance(source, Mapping):
            return pa.table({str(name): pa.array(column) for name, column in source.items()})
        if isinstance(source, pa.Table):
            return source
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidTable(f"table: its columns make no table: {error}") from None
    raise InvalidTable(
        f"table: {type(source).__name__} is no table; give a path, a mapping of columns, or "
        "anything with the Arrow stream interface (pandas, polars, pyarrow, duckdb)"
    )
