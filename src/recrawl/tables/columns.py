"""Columns that people bring, as the few kinds of Arrow that are read here.

Arrow has several forms for one thing, and each program prefers another: text is a dictionary in
categories of pandas, large or a view in polars, bytes in files of older programs; numbers of
databases are decimals.
"""

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from recrawl.errors import InvalidTable
from recrawl.tables.complaints import told_value

TRUTHS: Final = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
_WORDS: Final = TRUTHS | {"changed": True, "new": True, "unchanged": False, "not-modified": False}


def plain(column: Any) -> Any:
    """Return a column with its values as they are meant: text as string, decimals as float64.

    What is none of these stays as it is, bytes that are no UTF-8 too.

    Parameters
    ----------
    column : array or chunked array of Arrow
    """
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(column))
    if pa.types.is_dictionary(kind):
        if isinstance(column, pa.ChunkedArray):
            return pa.chunked_array(
                [plain(chunk) for chunk in column.chunks] or [plain(pa.array([], kind.value_type))]
            )
        known = plain(column.dictionary)  # of views there is none to take from
        return pa.DictionaryArray.from_arrays(column.indices, known).dictionary_decode()
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    if not pa.types.is_string(kind) and _is_text(kind):
        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:
            return column
    return column


def _is_text(kind: pa.DataType) -> bool:
    names = ("large_string", "string_view", "binary", "large_binary", "binary_view")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def plain_table(table: pa.Table) -> pa.Table:
    """Return a table of which every column is :func:`plain`."""
    columns = [plain(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def truths(column: Any, name: str, path: Path) -> list[bool | None]:
    """Return what a column says is so: true, t or 1, false, f or 0, and outcomes of visits.

    Parameters
    ----------
    column : of any kind; what is missing is None
    name, path : what messages call it, and its table

    Raises
    ------
    InvalidTable
        A value is neither; with its row.
    """
    column = plain(column)
    if pa.types.is_string(column.type):
        given = column.to_pylist()
        told = [None if one is None else _WORDS.get(one.strip().lower(), one) for one in given]
    else:
        try:
            told = column.cast(pa.bool_()).to_pylist()
        except pa.ArrowException:
            told = column.to_pylist()
    for row, one in enumerate(told, start=1):
        if not isinstance(one, bool | None):
            raise InvalidTable(
                f"{path}, column {name}, row {row}: {told_value(one)} must be true or false"
            )
    return told
