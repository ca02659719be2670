"""Tables of pages that people bring: Parquet, CSV or JSON Lines, read piece by piece.

Columns, by name: ``change_rate`` (needed), ``weight``, ``fetch_cost``, ``min_interval``,
``max_interval``, ``host``, ``url``. A format is recognised by what the file holds, not by its name.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recrawl.errors import InvalidTable

__all__ = ["NUMBERS", "PageTable", "open_page_table"]

NUMBERS: Final[tuple[str, ...]] = (
    "change_rate",
    "weight",
    "fetch_cost",
    "min_interval",
    "max_interval",
)
_TEXTS: Final[tuple[str, ...]] = ("host", "url")
_POSITIVE: Final[tuple[str, ...]] = ("fetch_cost", "min_interval", "max_interval")
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
    format: Literal["parquet", "csv", "jsonl"]
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
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise InvalidTable(_explain(self, str(error))) from None

    def _parquet(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        done = 0
        # without pre_buffer, which would hold the whole file by the time it has been read
        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
                done += batch.num_rows
                yield done, batch

    def _csv(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        types = {name: pa.float64() if name in self.numeric else pa.string() for name in columns}
        options = pa.csv.ConvertOptions(
            column_types=types, include_columns=columns, null_values=[""]
        )
        size = pa.csv.ReadOptions(block_size=_BLOCK_BYTES)
        with pa.OSFile(str(self.path)) as file:
            for batch in pa.csv.open_csv(file, convert_options=options, read_options=size):
                yield file.tell(), batch

    def _jsonl(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        known = [(name, pa.float64()) for name in self.numeric if name in self.columns]
        known += [(name, pa.string()) for name in _TEXTS if name in self.columns]
        parse = pa.json.ParseOptions(explicit_schema=pa.schema(known))
        size = pa.json.ReadOptions(block_size=_BLOCK_BYTES)
        with pa.OSFile(str(self.path)) as file:
            for batch in pa.json.open_json(file, parse_options=parse, read_options=size):
                yield file.tell(), batch.select([c for c in columns if c in batch.schema.names])

    def numbers(self, batch: pa.RecordBatch, name: str, first_row: int) -> NDArray[np.float64]:
        """Return a numeric column, checked.

        Raises
        ------
        InvalidTable
            Naming the file, the row (the first is 1), the column, the value and its domain.
        """
        column = batch.column(name)
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise InvalidTable(f"{self.path}: column {name} holds {column.type}, must be numbers")
        if column.null_count:
            row = first_row + int(np.flatnonzero(column.is_null().to_numpy(False))[0])
            raise InvalidTable(f"{self.path}, row {row}, column {name}: the value is missing")
        values = np.ascontiguousarray(column.to_numpy(False), dtype=np.float64)
        positive = name in _POSITIVE
        good = np.isfinite(values) & ((values > 0) if positive else (values >= 0))
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
        texts = batch.column(source)
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
        with path.open("rb") as file:
            head = file.read(65_536)
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror}") from None
    if not head.strip():
        raise InvalidTable(f"{path}: the file is empty; a table of pages needs a row for each")
    n_rows = None
    if head.startswith(b"PAR1"):
        try:
            with pq.ParquetFile(path) as parquet:
                names, n_rows = parquet.schema_arrow.names, parquet.metadata.num_rows
        except pa.ArrowInvalid as error:
            raise InvalidTable(f"{path}: not a whole Parquet file ({error})") from None
        kind: Literal["parquet", "csv", "jsonl"] = "parquet"
    elif head.lstrip().startswith(b"{"):
        kind, names = "jsonl", _json_names(path, head)
    else:
        kind, names = "csv", _csv_names(path, head)
    if not set(needs) & set(names):
        raise InvalidTable(
            f"{path}: column {' or '.join(needs)} is missing; "
            f"the columns are {', '.join(names[:12])}"
        )
    if n_rows == 0:
        raise InvalidTable(f"{path}: 0 pages, at least 1 is needed")
    return PageTable(path, kind, tuple(names), n_rows, size, numeric)


def _csv_names(path: Path, head: bytes) -> list[str]:
    try:
        line = head.decode("utf-8-sig", errors="strict" if len(head) < 65_536 else "ignore")
    except UnicodeDecodeError:
        line = "\0"
    if "\0" in line:
        raise InvalidTable(f"{path}: neither Parquet, CSV nor JSON Lines")
    return next(csv.reader(line.splitlines()[:1]))


def _json_names(path: Path, head: bytes) -> list[str]:
    """Names of the first object; later rows may leave out what the first has."""
    try:
        first = msgspec.json.decode(head.lstrip().splitlines()[0])
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InvalidTable(
            f"{path}, row 1: not a JSON object on one line; JSON Lines has one in each line"
        ) from None
    return list(first)


def _explain(table: PageTable, message: str) -> str:
    """Say which row and column could not be read; Arrow only says that one could not."""
    rows = _csv_rows(table.path) if table.format == "csv" else _json_rows(table.path)
    if table.format != "parquet":
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                return f"{table.path}, row {number}: not a JSON object on one line"
            if table.format == "csv" and (None in row or None in row.values()):
                return f"{table.path}, row {number}: {len(table.columns)} columns are expected"
            for name in table.numeric:
                if name in row and not _is_number(row[name], table.format):
                    return f"{table.path}, row {number}, column {name}: {row[name]!r} is no number"
    return f"{table.path}: {message.splitlines()[0]}"


def _is_number(value: object, kind: str) -> bool:
    if kind == "jsonl":
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    try:
        float(str(value))
    except ValueError:
        return not value
    return True


def _csv_rows(path: Path) -> Iterator[dict[Any, Any]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        yield from csv.DictReader(file)


def _json_rows(path: Path) -> Iterator[object]:
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                try:
                    yield msgspec.json.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    yield None
