"""Tables that people bring to any verb: Parquet, CSV or JSON Lines; read whole or piece by piece.

A format is recognised by what the file holds, not by its name. No two columns have one name, and
text is as :mod:`recrawl.tables.text_bytes` says. Columns of a table of pages, by name:
``change_rate`` (needed), ``weight``, ``fetch_cost``, ``min_interval``, ``max_interval``,
``half_life`` (empty where a page does not fade), ``host``, ``url``.
"""

import codecs
import contextlib
import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recrawl.errors import InvalidTable
from recrawl.tables.columns import plain, plain_table
from recrawl.tables.complaints import check_form, explain_table, told_columns, told_value
from recrawl.tables.text_bytes import CheckedBytes, check_nesting, read_text_bytes

NUMBERS: Final[tuple[str, ...]] = (
    "change_rate",
    "weight",
    "fetch_cost",
    "min_interval",
    "max_interval",
    "half_life",
)
_TEXTS: Final[tuple[str, ...]] = ("host", "url")
_POSITIVE: Final[tuple[str, ...]] = ("fetch_cost", "min_interval", "max_interval", "half_life")
_MAY_LACK: Final = ("half_life",)  # a value that is missing says something, and is read as nan
Format: TypeAlias = Literal["parquet", "csv", "jsonl"]
_MARK: Final = codecs.BOM_UTF8
_LARGEST: Final = 1e30  # sums of many, and their squares, stay finite
_HEAD: Final = 65_536  # bytes that are looked at to recognise a file
_BATCH = 1 << 18
_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class PageTable:
    """A readable table.

    Parameters
    ----------
    path : where it is
    format : what it holds
    columns : names of all its columns
    n_rows : number of rows where the file says so, as Parquet does
    n_bytes : size of the file
    numeric : names of the columns that hold numbers
    """

    path: Path
    format: Format
    columns: tuple[str, ...]
    n_rows: int | None
    n_bytes: int
    numeric: tuple[str, ...] = NUMBERS

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (bytes or rows read so far, batch), in order; all columns when none are named.

        Raises
        ------
        InvalidTable
            Where a value cannot be read as what its column holds.
        """
        readers = {"parquet": self._parquet, "csv": self._csv, "jsonl": self._jsonl}
        try:
            yield from readers[self.format](list(columns or self.columns))
        except pa.ArrowException:
            raise InvalidTable(
                explain_table(self.path, self.format, self.columns, self.numeric)
            ) from None

    def _parquet(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        done = 0
        # without pre_buffer, which would hold the whole file by the time it has been read
        with open_parquet(self.path, pre_buffer=False, buffer_size=1 << 20) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
                batch.validate(full=True)
                done += batch.num_rows
                yield done, batch

    def _csv(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        types = {name: pa.float64() if name in self.numeric else pa.string() for name in columns}
        options = pa.csv.ConvertOptions(
            column_types=types, include_columns=columns, null_values=[""]
        )
        size = pa.csv.ReadOptions(block_size=_BLOCK_BYTES)
        with self._text() as file:
            for batch in pa.csv.open_csv(file, convert_options=options, read_options=size):
                yield file.tell(), batch

    def _jsonl(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        with self.path.open("rb") as file:
            texts = _json_texts(_json_first(self.path, file.read(_HEAD).removeprefix(_MARK)))
        known = {name: pa.string() for name in (*texts, *_TEXTS) if name in self.columns}
        known |= {name: pa.float64() for name in self.numeric if name in self.columns}
        parse = pa.json.ParseOptions(explicit_schema=pa.schema(known))
        size = pa.json.ReadOptions(block_size=_BLOCK_BYTES)
        with self._text() as file:
            for batch in pa.json.open_json(file, parse_options=parse, read_options=size):
                yield file.tell(), batch.select([c for c in columns if c in batch.schema.names])

    @contextlib.contextmanager
    def _text(self) -> Iterator[pa.PythonFile]:
        is_json = self.format == "jsonl"
        with (
            self.path.open("rb", buffering=0) as file,
            pa.PythonFile(CheckedBytes(file, self.path, is_json=is_json), mode="r") as checked,
        ):
            yield checked

    def numbers(self, batch: pa.RecordBatch, name: str, first_row: int) -> NDArray[np.float64]:
        """Return a numeric column, checked.

        Raises
        ------
        InvalidTable
            Naming the file, the row (the first is 1), the column, the value and its domain.
        """
        column = plain(batch.column(name))
        if pa.types.is_null(column.type):  # no value at all
            column = column.cast(pa.float64(), safe=False)
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise InvalidTable(f"{self.path}: column {name} holds {column.type}, must be numbers")
        missing = column.is_null().to_numpy(False) if column.null_count else np.False_
        if column.null_count and name not in _MAY_LACK:
            row = first_row + int(np.flatnonzero(missing)[0])
            raise InvalidTable(f"{self.path}, row {row}, column {name}: the value is missing")
        values = np.ascontiguousarray(column.to_numpy(False), dtype=np.float64)
        vast = np.flatnonzero(values > _LARGEST)
        if vast.size and np.isfinite(values[vast[0]]):
            raise InvalidTable(
                f"{self.path}, row {first_row + int(vast[0])}, column {name}: {values[vast[0]]:g} "
                f"is too large to be computed with; at most {_LARGEST:g}"
            )
        positive = name in _POSITIVE
        good = missing | (np.isfinite(values) & ((values > 0) if positive else (values >= 0)))
        if not np.all(good):
            at = int(np.argmin(good))
            wanted = "> 0" if positive else ">= 0"
            raise InvalidTable(
                f"{self.path}, row {first_row + at}, column {name}: {values[at]:g} must be finite "
                f"and {wanted}"
            )
        return values

    def hosts(self, batch: pa.RecordBatch, first_row: int) -> pa.DictionaryArray:
        """Return the host of each row: the column host, or scheme, name and port of the URL."""
        source = "host" if "host" in self.columns else "url"
        texts = plain(batch.column(source))
        if pa.types.is_null(texts.type):
            texts = texts.cast(pa.string())
        if not pa.types.is_string(texts.type):
            raise InvalidTable(f"{self.path}: column {source} holds {texts.type}, must be text")
        if source == "url":
            found = pc.extract_regex(texts, r"^(?P<host>[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+)")
            texts = pc.utf8_lower(pc.struct_field(found, "host"))
        if texts.null_count:
            at = int(np.flatnonzero(texts.is_null().to_numpy(False))[0])
            given = batch.column(source)[at].as_py()
            raise InvalidTable(
                f"{self.path}, row {first_row + at}, column {source}: {given!r} names no host; "
                "write URLs as https://example.com/page, or add a column host"
            )
        return texts.dictionary_encode()


class Addresses:
    """Tells whether any address is in a table twice, in eight bytes for each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hashes: list[NDArray[np.int64]] = []

    def add(self, addresses: Sequence[str | None]) -> None:
        """Take in the addresses of some rows, in order."""
        self._hashes.append(np.fromiter(map(hash, addresses), np.int64, len(addresses)))

    def check(self, again: Callable[[], Iterator[str | None]]) -> None:
        """Complain of an address that is there twice; ``again`` yields all of them once more.

        Raises
        ------
        InvalidTable
            With both rows.
        """
        if not self._hashes:
            return
        hashes = np.sort(np.concatenate(self._hashes))
        alike = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if not alike:
            return
        first: dict[str, int] = {}
        for row, address in enumerate(again(), start=1):
            if address is not None and hash(address) in alike:
                if address in first:
                    raise InvalidTable(
                        f"{self._path}, row {row}, column url: {address} is in row "
                        f"{first[address]} already; a page has one row"
                    )
                first[address] = row


def open_page_table(
    path: Path, needs: Sequence[str] = ("change_rate",), numeric: tuple[str, ...] = NUMBERS
) -> PageTable:
    """Look into a file and recognise its format and columns.

    Parameters
    ----------
    path : the table
    needs : columns of which one must be there
    numeric : names of the columns that hold numbers

    Raises
    ------
    InvalidTable
        When there is no such table, or it lacks the column that is needed.
    """
    try:
        size = path.stat().st_size
        _check_again(path)
        with path.open("rb") as file:
            head = file.read(_HEAD).removeprefix(_MARK)
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror}") from None
    if not head.strip():
        raise InvalidTable(f"{path}: the file is empty; a table of pages needs a row for each")
    check_form(path, head)
    n_rows = None
    kind: Format = "csv"
    if head.startswith(b"PAR1"):
        kind = "parquet"
        with open_parquet(path) as parquet:
            names, n_rows = parquet.schema_arrow.names, parquet.metadata.num_rows
    elif head.lstrip().startswith(b"{"):
        kind, names = "jsonl", list(_json_first(path, head))
    else:
        names = _csv_names(path, head)
    check_names(path, names)
    check_needs(path, needs, names)
    if n_rows == 0:
        raise InvalidTable(f"{path}: 0 pages, at least 1 is needed")
    return PageTable(path, kind, tuple(names), n_rows, size, numeric)


@contextlib.contextmanager
def open_parquet(path: Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; whatever is found wrong with it meanwhile is said in one message.

    Raises
    ------
    InvalidTable
        It cannot be read, or is damaged.
    """
    try:
        with pq.ParquetFile(path, **options) as file:
            yield file
    except FileNotFoundError as error:
        raise InvalidTable(f"{path}: {error.strerror}") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InvalidTable(
            f"{path}: not a whole Parquet file; it is damaged or was cut short"
        ) from None


def read_table(path: Path, *, first_name: str | None = None) -> pa.Table:
    """Read a table whole, with the types that its values have.

    Parameters
    ----------
    path : the table
    first_name : the column of a CSV file whose first line is a timestamp already; None: there is
        always a line of names

    Raises
    ------
    InvalidTable
        If the file cannot be read, is empty or holds none of the three forms.
    """
    try:
        _check_again(path)
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise InvalidTable(f"{path}: cannot be read: {error.strerror}") from None
    check_form(path, head)
    if head.startswith(b"PAR1"):
        with open_parquet(path) as file:
            check_names(path, file.schema_arrow.names)
            table = file.read()
            table.validate(full=True)
            return plain_table(table)
    content = read_text_bytes(path)
    if not content.strip():
        raise InvalidTable(f"{path}: is empty; a line of names and one row at least are needed")
    kind: Format = "csv"
    if content.lstrip().startswith(b"{"):
        first = _json_first(path, content)
        names, kind = list(first), "jsonl"
        texts = pa.schema({name: pa.string() for name in _json_texts(first)})
        CheckedBytes(io.BytesIO(content), path, is_json=True).read()
    else:
        names = _csv_names(path, content)
    start = content.lstrip()[:4]
    is_bare = first_name is not None and start.isdigit() and len(names) == 1
    check_names(path, names)
    try:
        if kind == "jsonl":
            parse = pa.json.ParseOptions(explicit_schema=texts)
            return pa.json.read_json(io.BytesIO(content), parse_options=parse)
        given = pa.csv.ReadOptions(column_names=[first_name]) if is_bare else None
        return pa.csv.read_csv(io.BytesIO(content), given)
    except pa.ArrowException:
        otherwise = "not Parquet, CSV or JSON Lines"
        raise InvalidTable(explain_table(path, kind, names, otherwise=otherwise)) from None


def _check_again(path: Path) -> None:
    """Refuse what can be read only once."""
    if path.is_fifo():
        raise InvalidTable(
            f"{path}: is a pipe, and tables are read more than once; write it to a file first"
        )


def check_needs(path: Path, needs: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a table that has none of these columns."""
    if not set(needs) & set(names):
        raise InvalidTable(f"{path}: column {' or '.join(needs)} is missing; {told_columns(names)}")


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse a table of which two columns have one name."""
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise InvalidTable(
            f"{path}: {times} columns are named {told_value(name)}; give each a name of its own"
        )


def _csv_names(path: Path, head: bytes) -> list[str]:
    line = head.splitlines()[0]
    if b"\0" in line:
        raise InvalidTable(f"{path}: neither Parquet, CSV nor JSON Lines")
    try:
        return next(csv.reader([line.decode("utf-8")]), [])
    except (UnicodeDecodeError, csv.Error):
        raise InvalidTable(f"{path}, line 1: is not UTF-8; save the file as UTF-8") from None


def _json_first(path: Path, head: bytes) -> dict[str, Any]:
    """Return the first object; later rows may leave out what it has."""
    line = head.lstrip().splitlines()[0]
    check_nesting(line, f"{path}, line 1")
    try:
        first = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        first = None
    if not isinstance(first, dict):
        raise InvalidTable(
            f"{path}, row 1: not a JSON object on one line; JSON Lines has one in each line"
        )
    return first


def _json_texts(first: dict[str, Any]) -> list[str]:
    """Return the columns that hold text: Arrow would make times of some, and drop their zones."""
    return [name for name, value in first.items() if isinstance(value, str)]
