"""Tables that are written: Parquet, CSV or JSON Lines by their ending, all of it or nothing."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import msgspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from recrawl.errors import InputError
from recrawl.whole_files import whole_file


class _JsonLines:
    """Writes one JSON object a row."""

    def __init__(self, path: str, schema: pa.Schema) -> None:
        self._file: IO[bytes] = open(path, "wb")  # noqa: SIM115 - closed on exit

    def write(self, batch: pa.RecordBatch) -> None:
        encode = msgspec.json.encode
        self._file.write(b"".join(encode(row) + b"\n" for row in batch.to_pylist()))

    def __enter__(self) -> "_JsonLines":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _parquet(path: str, schema: pa.Schema) -> pq.ParquetWriter:
    """Write numbers as they are: a dictionary of rates that all differ only costs time."""
    texts = [field.name for field in schema if not pa.types.is_floating(field.type)]
    return pq.ParquetWriter(path, schema, use_dictionary=texts)


SINKS: dict[str, Callable[[str, pa.Schema], AbstractContextManager[Any]]] = {
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

    Parameters
    ----------
    out : the file, ending in .parquet, .csv or .jsonl
    batch : all of its rows

    Raises
    ------
    StateError
        When the file cannot be written.
    """
    write_batches(out, batch, ())


def write_batches(out: Path, first: pa.RecordBatch, others: Iterable[pa.RecordBatch]) -> None:
    """Write a table that comes in pieces; all of it or nothing.

    Parameters
    ----------
    out : the file, ending in .parquet, .csv or .jsonl
    first, others : its rows in order, of one schema

    Raises
    ------
    StateError
        When the file cannot be written.
    """
    with whole_file(out) as part, SINKS[out.suffix](str(part), first.schema) as sink:
        sink.write(first)
        for batch in others:
            sink.write(batch)
