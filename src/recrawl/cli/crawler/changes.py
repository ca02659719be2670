"""`recrawl changes`: what became of pages, in order, for whoever keeps something in step."""

import contextlib
import csv
import io
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.output import note, printable, write
from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.runtime.feed_reader import LEAST_CHUNK, MOST_CHUNK, FeedReader, Wanted
from recrawl.crawler.wiring.indexes import index_once_there
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.errors import InputError
from recrawl.terms import ChangeKind, Item
from recrawl.whole_files import whole_file

Kinds = Literal["new", "changed", "moved", "removed", "importance"]
_PIECE: Final = 500
_LOOK_S: Final = 0.5
_COLUMNS: Final = (
    "seq", "at", "kind", "url", "version", "title", "fetched_at", "signature", "canonical",
    "language", "content_type", "moved_to", "why", "importance", "overtaken",
)  # fmt: skip


def changes(  # noqa: PLR0913 - its parameters are its options
    *,
    crawl: CrawlNamed = HERE,
    since: str = "0",
    follow: bool = False,
    format_: Annotated[Literal["ndjson", "csv", "parquet"], Parameter(name="--format")] = "ndjson",
    out: Path | None = None,
    content: Literal["none", "text", "markdown", "html"] = "none",
    chunks: int | None = None,
    diff: bool = False,
    path: tuple[str, ...] = (),
    kind: tuple[Kinds, ...] = (),
    limit: int | None = None,
) -> int:
    """Tell which pages are new, changed, moved or gone, in the order in which that was found.

    From the first change on, or since where you were; works beside a running crawl. Each line has a
    number that grows: keep that of the last one, and go on there.

    Parameters
    ----------
    since
        Only what comes after this number; or since an instant, such as 2026-11-22T10:00Z.
    follow
        Go on and tell what changes, until stopped.
    format_
        A JSON object a line, a table with commas, or Parquet (which needs --out).
    out
        File to write; it is there in full or not at all.  [default: standard output]
    content
        What comes with each page: the text that the index holds, Markdown, or HTML made of that,
        in which nothing acts; with lists, tables and code where the configuration keeps them
        (keep = "markdown" under [index]).
    chunks
        Each page in pieces besides, of at most so many characters, cut at its headings; with names
        that last, and the anchors that lead there.
    diff
        With what changed in the main text: a unified diff, and HTML with the words marked.
    path
        Only pages that match, such as /docs/*; may be given more than once.
    kind
        Only changes of this kind; may be given more than once. Those of importance come where the
        configuration asks for them (importance = true under [feed]).
    limit
        At most so many.
    """
    if format_ == "parquet" and out is None:
        raise InputError("--format: parquet is no text; name a file with --out")
    if out is not None and not out.name:
        raise InputError(f"--out: {str(out)!r} is no name of a file")
    if follow and (out is not None or limit is not None):
        raise InputError("--follow: goes on until stopped; leave out --out and --limit")
    if limit is not None and limit < 1:
        raise InputError(f"--limit: {limit} must be at least 1")
    if chunks is not None and not LEAST_CHUNK <= chunks <= MOST_CHUNK:
        raise InputError(f"--chunks: {chunks} must be {LEAST_CHUNK} to {MOST_CHUNK} characters")
    if chunks is not None and (content == "none" or format_ != "ndjson"):
        raise InputError(
            "--chunks: pieces come with content, in JSON lines; add --content markdown, and leave "
            "out --format"
        )
    if any(not pattern for pattern in path):
        raise InputError("--path: a path pattern is empty; write one such as /docs/*")
    directory = crawl.place()
    patterns = Weights([(pattern, 1.0) for pattern in path], otherwise=0.0)
    wanted = Wanted(
        content=content,
        matches=(lambda url: patterns.of(url) > 0) if path else None,
        kinds=frozenset(map(ChangeKind, kind)) or frozenset(ChangeKind),
        edits=diff,
        chunk=chunks or 0,
    )
    with contextlib.ExitStack() as stack:
        frontier = open_frontier(directory, read_only=True)
        stack.callback(frontier.close)
        reader = FeedReader(frontier.feed, index_once_there(directory, stack), wanted, content_as)
        after = _since(since, reader)
        columns = [*_COLUMNS, *([content] if content != "none" else [])]
        columns += ["diff", "diff_html"] if diff else []
        pieces = _pieces(reader, after, limit, follow=follow)
        if out is not None:
            _write_file(out, format_, columns, pieces)
        else:
            _print(format_, columns, pieces)
    return 0


def _since(text: str, reader: FeedReader) -> int:
    """Return the number after which to begin."""
    last = reader.feed.last()
    if text.isascii() and text.isdigit():
        number = int(text[:19])
        if number > last:
            raise InputError(
                f"--since: {text[:40]} is ahead of this crawl, whose last change is number {last}: "
                "it was restored or begun anew; begin with --since 0"
            )
        return number
    try:
        instant = datetime.fromisoformat(text)
        instant_s = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"--since: {text[:200]!r} is neither the number of a change nor an instant, such as "
            "2026-11-22T10:00Z"
        ) from None
    return reader.feed.before(instant_s)


def _pieces(
    reader: FeedReader, after: int, limit: int | None, *, follow: bool
) -> Iterator[list[Item]]:
    left = limit
    while left is None or left > 0:
        items, upto = reader.read(after, _PIECE if left is None else min(_PIECE, left))
        if items:
            yield items
        if upto == after:
            if not follow:
                return
            time.sleep(_LOOK_S)
        after = upto
        left = None if left is None else left - len(items)


def _print(format_: str, columns: list[str], pieces: Iterator[list[Item]]) -> None:
    try:
        for text in _lines(format_, columns, pieces):
            write(text)
    except KeyboardInterrupt:
        note("Stopped.")
        raise


def _lines(format_: str, columns: list[str], pieces: Iterator[list[Item]]) -> Iterator[str]:
    """Yield text in which no character commands a terminal."""
    if format_ == "csv":
        yield ",".join(columns) + "\n"
    for items in pieces:
        if format_ == "csv":
            buffer = io.StringIO()
            writer = csv.DictWriter(buffer, columns, extrasaction="ignore", lineterminator="\n")
            writer.writerows(item.record for item in items)
            yield printable(buffer.getvalue())
        else:
            yield "".join(json.dumps(item.record) + "\n" for item in items)


def _write_file(out: Path, format_: str, columns: list[str], pieces: Iterator[list[Item]]) -> None:
    with whole_file(out) as part:
        if format_ == "parquet":
            _write_parquet(part, columns, pieces)
        else:
            with part.open("w", encoding="utf-8", newline="") as file:
                file.writelines(_lines(format_, columns, pieces))


def _write_parquet(path: Path, columns: list[str], pieces: Iterator[list[Item]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, Any] = dict.fromkeys(("seq", "version"), pa.int64())
    kinds |= {"importance": pa.float64(), "overtaken": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for items in pieces:
            rows = [{name: item.record.get(name) for name in columns} for item in items]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
