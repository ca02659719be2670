"""Complaints about a table that cannot be read: the row, the column and the value."""

import codecs
import contextlib
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from recrawl.errors import InvalidTable

_MARK: Final = codecs.BOM_UTF8
_MOST_NAMES: Final = 12
_LONGEST: Final = 80  # characters of what a stranger's table has, in a message
_OTHERS: Final = {  # what files begin with that are brought as tables, and are none
    b"\x1f\x8b": "is compressed by gzip; unpack it first",
    b"BZh": "is compressed by bzip2; unpack it first",
    b"\xfd7zXZ\0": "is compressed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; unpack it first",
    b"PK\x03\x04": "is a spreadsheet or a ZIP file; save its table as CSV",
    b"\xff\xfe": "is UTF-16; save the file as UTF-8",
    b"\xfe\xff": "is UTF-16; save the file as UTF-8",
    b"ARROW1": "is a file of Arrow; save it as Parquet",
    b"[": "begins as a list of JSON; JSON Lines has an object in each line, and nothing around it",
}
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "strokes"}


def told_columns(names: Sequence[str]) -> str:
    """Say which columns a table has, in a message that stays short whatever they are called."""
    if not names:
        return "there are no columns"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    told = f"the columns are {', '.join(map(_cut, names[:_MOST_NAMES]))}{more}"
    for sign, called in _SEPARATORS.items() if len(names) == 1 else ():
        if sign in names[0]:
            return f"{told}; there are {called} between them, where commas must be"
    return told


def check_form(path: Path, head: bytes) -> None:
    """Refuse a file by how it begins that is no table, but is often taken for one.

    Parameters
    ----------
    path : of the file, for messages
    head : its first bytes, at least 6 if it has so many

    Raises
    ------
    InvalidTable
        It is compressed, a spreadsheet, or in another form.
    """
    for begins, told in _OTHERS.items():
        if head.startswith(begins):
            raise InvalidTable(f"{path}: {told}")


def told_value(value: object) -> str:
    """Show a value as a program writes it, or the beginning of a long one."""
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def explain_table(
    path: Path,
    kind: str,
    columns: Sequence[str],
    numeric: Sequence[str] = (),
    *,
    otherwise: str = "cannot be read as a table",
) -> str:
    """Say which row and column could not be read; Arrow only says that one could not.

    Parameters
    ----------
    path, kind : the file, and what it holds: ``csv`` or ``jsonl``, of others nothing is known
    columns, numeric : names of all its columns, and of those that hold numbers
    otherwise : what is said where every row can be read
    """
    kinds: dict[str, type] = {}
    rows = {"csv": _csv_rows, "jsonl": _json_rows}.get(kind, lambda _: iter(()))
    for number, row in enumerate(rows(path), start=1):
        if not isinstance(row, dict):
            return f"{path}, row {number}: not a JSON object on one line"
        if kind == "csv" and (None in row or None in row.values()):
            return f"{path}, row {number}: {len(columns)} columns are expected"
        for name in numeric:
            if name in row and not _is_number(row[name], kind):
                place = f"{path}, row {number}, column {_cut(name)}"
                return f"{place}: {told_value(row[name])} is no number"
        for name, value in row.items() if kind == "jsonl" else ():
            held = float if isinstance(value, int | float) else type(value)
            if value is not None and kinds.setdefault(name, held) is not held:
                return (
                    f"{path}, row {number}, column {_cut(name)}: {told_value(value)} is of another "
                    "kind than the rows above"
                )
    return f"{path}: {otherwise}"


def _is_number(value: object, kind: str) -> bool:
    if kind == "jsonl":
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    try:
        float(str(value))
    except ValueError:
        return not value
    return True


def _csv_rows(path: Path) -> Iterator[dict[Any, Any]]:
    with (
        path.open(encoding="utf-8-sig", errors="replace", newline="") as file,
        contextlib.suppress(csv.Error),  # then there is no more to say
    ):
        yield from csv.DictReader(file)


def _json_rows(path: Path) -> Iterator[object]:
    with path.open("rb") as file:
        for line in file:
            text = line.removeprefix(_MARK)
            if text.strip():
                try:
                    yield msgspec.json.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    yield None
