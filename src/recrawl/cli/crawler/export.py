"""`recrawl export`: take pages and visits away as tables."""

import contextlib
import csv
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import JsonOfWritten
from recrawl.cli.output import print_json, say
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.reports.markdown import as_markdown
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.errors import InputError
from recrawl.whole_files import whole_file

Batches = Iterator[tuple[list[str], list[tuple[Any, ...]]]]
_TEXTS_AT_ONCE = 200  # of up to a megabyte each


def export(
    what: Literal["pages", "visits"],
    *,
    out: Path,
    crawl: CrawlNamed = HERE,
    text: bool = False,
    json_: JsonOfWritten = False,
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
    text
        With pages: their text and the same as Markdown, as the index holds them; empty where it
        holds no copy. There are lists, links and code in Markdown where the configuration keeps
        them (keep = "markdown" under [index]), else headings and paragraphs.
    """
    writers: dict[str, Callable[[Path, Batches], int]] = {
        ".parquet": _write_parquet,
        ".csv": _write_csv,
        ".jsonl": _write_jsonl,
    }
    if out.suffix not in writers:
        raise InputError(f"--out: {out} must end in {', '.join(writers)}")
    if text and what != "pages":
        raise InputError(f"--text: there is text of pages, not of {what}; leave it out")
    directory = crawl.place()
    frontier = open_frontier(directory, read_only=True)
    before = signal.signal(signal.SIGTERM, _interrupted)
    try:
        table = frontier.table(what)
        if text:
            table = _with_text(table, directory)
        with whole_file(out) as part:
            rows = writers[out.suffix](part, table)
    finally:  # whatever ended it: a half is worth nothing
        signal.signal(signal.SIGTERM, before)
        frontier.close()
    if json_:
        print_json({"table": what, "rows": rows, "file": str(out)})
    else:
        say(f"Wrote {rows:,} {what} to {out}")
    return 0


def _interrupted(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _with_text(table: Batches, directory: StatePlace) -> Batches:
    """Add what the index holds of each page."""
    with contextlib.closing(open_index(directory, read_only=True)) as index:
        for names, batch in table:
            url = names.index("url")
            for first in range(0, len(batch), _TEXTS_AT_ONCE):
                rows = []
                for row in batch[first : first + _TEXTS_AT_ONCE]:
                    copy = index.copy(row[url])
                    rows.append((*row, *((copy.text, as_markdown(copy)) if copy else (None, None))))
                yield [*names, "text", "markdown"], rows


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

    from recrawl.tables.exports import as_table

    rows = 0
    writer: pq.ParquetWriter | None = None
    try:
        for names, batch in batches:
            table = as_table([(names, batch)])
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
