"""A table of pages in several files, such as the parts of a table in a lake."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.errors import InvalidTable
from recrawl.tables.complaints import told_columns
from recrawl.tables.reading import NUMBERS, PageTable, open_page_table, read_table

_ENDINGS = (".parquet", ".csv", ".jsonl")


@dataclass(frozen=True)
class ManyTables(PageTable):
    """Tables with the same columns, read one after the other.

    Parameters
    ----------
    tables : in their order
    """

    tables: tuple[PageTable, ...] = ()
    _starts: list[int] = field(default_factory=list)  # first row of each table, from 1

    @override
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        rows, bytes_before = 0, 0
        self._starts.clear()
        for table in self.tables:
            self._starts.append(rows + 1)
            before = rows if self.n_rows is not None else bytes_before
            for done, batch in table.batches(columns or self.columns):
                rows += batch.num_rows
                yield before + done, batch
            bytes_before += table.n_bytes

    @override
    def numbers(self, batch: pa.RecordBatch, name: str, first_row: int) -> NDArray[np.float64]:
        table, row = self._at(first_row)
        return table.numbers(batch, name, row)

    @override
    def hosts(self, batch: pa.RecordBatch, first_row: int) -> pa.DictionaryArray:
        table, row = self._at(first_row)
        return table.hosts(batch, row)

    def _at(self, row: int) -> tuple[PageTable, int]:
        """Return the table that holds a row, and its number there: messages name the file."""
        place = bisect_right(self._starts, row) - 1
        return self.tables[place], row - self._starts[place] + 1


def table_paths(path: Path) -> list[Path]:
    """Return the files that are meant by a path, a pattern (``pages-*.parquet``) or a folder.

    Raises
    ------
    InvalidTable
        There is none.
    """
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix in _ENDINGS)
        if not found:
            raise InvalidTable(
                f"{path}: there is no table in it that ends in {', '.join(_ENDINGS)}"
            )
        return found
    if path.exists() or not has_magic(str(path)):
        return [path]
    found = sorted(map(Path, glob(str(path))))
    if not found:
        raise InvalidTable(f"{path}: no file matches")
    return found


def open_page_tables(path: Path) -> PageTable:
    """Look into one file or several, and recognise their columns, which must be the same.

    Parameters
    ----------
    path : file, folder, or pattern such as ``pages-*.parquet``

    Raises
    ------
    InvalidTable
        There is no such table, it lacks the column change_rate, or two have other columns.
    """
    tables = [open_page_table(one) for one in table_paths(path)]
    first = tables[0]
    if len(tables) == 1:
        return first
    _check_alike({table.path: table.columns for table in tables})
    counts = [table.n_rows for table in tables]
    n_rows = None if None in counts else sum(count or 0 for count in counts)
    n_bytes = sum(table.n_bytes for table in tables)
    return ManyTables(path, first.format, first.columns, n_rows, n_bytes, NUMBERS, tuple(tables))


def read_tables(path: Path) -> pa.Table:
    """Read a table whole that is in one file or in several, whose rows follow one another.

    Raises
    ------
    InvalidTable
        There is no such table, or two of its files have other columns or types.
    """
    tables = {one: read_table(one) for one in table_paths(path)}
    _check_alike({one: table.column_names for one, table in tables.items()})
    try:
        return pa.concat_tables(list(tables.values()), promote_options="permissive")
    except pa.ArrowException as error:
        raise InvalidTable(f"{path}: a column has other types in other files: {error}") from None


def _check_alike(columns: Mapping[Path, Sequence[str]]) -> None:
    first = next(iter(columns))
    for path, names in columns.items():
        if names != columns[first]:
            raise InvalidTable(
                f"{path}: {told_columns(names)}; in {first} {told_columns(columns[first])}; "
                "parts of a table have the same"
            )
