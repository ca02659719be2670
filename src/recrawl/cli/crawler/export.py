"""`recrawl export`: take pages and visits away as tables."""

import contextlib
import csv
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from recrawl.cli.crawler.place import state_directory
from recrawl.cli.output import print_json, say
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.errors import InputError, StateError

__all__ = ["export"]

Batches = Iterator[tuple[list[str], list[tuple[Any, ...]]]]


def export(
    what: Literal["pages", "visits"],
    *,
    out: Path,
    config: Path | None = None,
    state: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Write pages or visits to a Parquet, CSV or JSON Lines file, by its ending.

    `recrawl plan` and `recrawl order` read the pages, `recrawl fit changes` and `recrawl backtest`
    the visits. Rates without a unit in their name are per day; a page of which nothing is known yet
    has the average one.

    Parameters
    ----------
    what
        pages: what is known of each; visits: every visit there was.
    out
        File to write: .parquet, .csv or .jsonl.
    config
        Configuration of the crawl.  [default: recrawl.toml]
    state
        State directory of the crawl, instead of a configuration.
    json_
        Print one JSON object about what was written.
    """
    writers: dict[str, Callable[[Path, Batches], int]] = {
        ".parquet": _write_parquet,
        ".csv": _write_csv,
        ".jsonl": _write_jsonl,
    }
    if out.suffix not in writers:
        raise InputError(f"--out: {out} must end in {', '.join(writers)}")
    frontier = open_frontier(state_directory(config, state), read_only=True)
    part = out.with_name(f"{out.name}.part")
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        rows = writers[out.suffix](part, frontier.table(what))
        os.replace(part, out)
    except OSError as error:
        raise StateError(f"{out}: {error.strerror}; nothing was written") from error
    finally:  # whatever ended it: a half is worth nothing
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        frontier.close()
    if json_:
        print_json({"table": what, "rows": rows, "file": str(out)})
    else:
        say(f"Wrote {rows:,} {what} to {out}")
    return 0


def _interrupted(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _write_csv(path: Path, batches: Batches) -> int:
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for names, batch in batches:
            if not rows:
                writer.writerow(names)
            writer.writerows(batch)
            rows += len(batch)
    return rows


def _write_jsonl(path: Path, batches: Batches) -> int:
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        for names, batch in batches:
            for row in batch:
                file.write(
                    json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n"
                )
            rows += len(batch)
    return rows


def _write_parquet(path: Path, batches: Batches) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from recrawl.tables.exports import arrow_type

    rows = 0
    writer: pq.ParquetWriter | None = None
    try:
        for names, batch in batches:
            columns = {
                name: pa.array([row[place] for row in batch], type=arrow_type(name))
                for place, name in enumerate(names)
            }
            table = pa.table(columns)
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table)
            rows += len(batch)
        if writer is None:
            pq.write_table(pa.table({}), path)
    finally:
        if writer is not None:
            writer.close()
    return rows
