"""Plans as tables: the pages as they came, with a column crawl_rate."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from recrawl.cli.plan.spool import PageSpool, track
from recrawl.cli.tables import PageTable
from recrawl.errors import InputError, StateError
from recrawl.freshness import PriceList

__all__ = ["SINKS", "check_out", "write_batch", "write_plan"]

COLUMN = "crawl_rate"


class _Sink(Protocol):
    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        ...

    def __enter__(self) -> "_Sink": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class _JsonLines:
    """Writes one JSON object a row."""

    def __init__(self, path: str, schema: pa.Schema) -> None:
        self._file: IO[bytes] = open(path, "wb")  # noqa: SIM115 - closed on exit
        self._names = schema.names

    def write(self, batch: pa.RecordBatch) -> None:
        encode = msgspec.json.encode
        self._file.write(b"".join(encode(row) + b"\n" for row in batch.to_pylist()))

    def __enter__(self) -> "_JsonLines":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _parquet(path: str, schema: pa.Schema) -> pq.ParquetWriter:
    """Write numbers as they are: a dictionary of rates that all differ only costs time."""
    texts = [field.name for field in schema if not pa.types.is_floating(field.type)]
    return pq.ParquetWriter(path, schema, use_dictionary=texts)


SINKS: dict[str, Callable[[str, pa.Schema], _Sink]] = {
    ".parquet": _parquet,
    ".csv": pyarrow.csv.CSVWriter,
    ".jsonl": _JsonLines,
}


def check_out(out: Path | None) -> None:
    """Refuse a file that could not be written, before any work is done."""
    if out is None:
        return
    if out.suffix not in SINKS:
        raise InputError(f"--out: {out} must end in {', '.join(SINKS)}")
    if not out.parent.is_dir():
        raise InputError(f"--out: there is no directory {out.parent}")


def write_batch(out: Path, batch: pa.RecordBatch) -> None:
    """Write a small table; all of it or nothing.

    Raises
    ------
    StateError
        When the file cannot be written.
    """
    part = out.with_name(f"{out.name}.part")
    try:
        with SINKS[out.suffix](str(part), batch.schema) as sink:
            sink.write(batch)
        os.replace(part, out)
    except OSError as error:
        raise StateError(f"{out}: cannot be written: {os.strerror(error.errno or 5)}") from error
    finally:
        part.unlink(missing_ok=True)


def write_plan(
    table: PageTable, spool: PageSpool, prices: PriceList, out: Path, unit_s: float
) -> None:
    """Write the table again with crawl rates, in its unit of time; all of it or nothing.

    Raises
    ------
    StateError
        When the file cannot be written.
    """
    part = out.with_name(f"{out.name}.part")
    rates = _Rates(prices, spool)
    sink: _Sink | None = None
    try:
        batches = track(table, None, "writing")
        first = _with_rates(next(batches), rates, unit_s)
        with SINKS[out.suffix](str(part), first.schema) as sink:
            sink.write(first)
            for batch in batches:
                sink.write(_with_rates(batch, rates, unit_s))
        os.replace(part, out)
    except OSError as error:
        raise StateError(f"{out}: cannot be written: {os.strerror(error.errno or 5)}") from error
    finally:
        part.unlink(missing_ok=True)


def _with_rates(batch: pa.RecordBatch, rates: "_Rates", unit_s: float) -> pa.RecordBatch:
    values = pa.array(rates.take(batch.num_rows) * unit_s)
    names = batch.schema.names
    if COLUMN in names:
        return batch.set_column(names.index(COLUMN), COLUMN, values)
    return batch.append_column(COLUMN, values)


class _Rates:
    """Hands out crawl rates in the order of the pages, in pieces of any size."""

    def __init__(self, prices: PriceList, spool: PageSpool) -> None:
        self._rates: Iterator[NDArray[np.float64]] = (prices.rates(part) for part in spool)
        self._rest = np.empty(0)

    def take(self, count: int) -> NDArray[np.float64]:
        while self._rest.size < count:
            self._rest = np.concatenate([self._rest, next(self._rates)])
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken
