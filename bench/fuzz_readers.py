"""What `bench/fuzz.py` fuzzes beside the readers of pages: files that people bring, queries, HTTP.

Each check takes bytes and raises where a promise is broken: one documented error, or an answer.
"""

import asyncio
import atexit
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.cli.probe.source import read_source
from recrawl.cli.robots.model_file import EXAMPLE, read_model
from recrawl.cli.robots.policy_file import read_policy_file
from recrawl.crawler.fetch.http import FetchBounds, HttpFetcher
from recrawl.crawler.index.searching.queries import read_query
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.errors import FetchError, InputError
from recrawl.tables.event_logs import read_event_log
from recrawl.tables.reading import open_page_table, read_table
from recrawl.terms import Document

__all__ = ["EXAMPLE", "Answers", "Asked", "FileReaders", "as_parquet", "model_readers", "tables"]

_MOST_BYTES = 100_000


class FileReaders:
    """Gives the same file to several readers; each reads it or says in one message why not."""

    def __init__(self, ending: str, *readers: Callable[[Path], object]) -> None:
        self._path = Path(tempfile.mkdtemp()) / f"given{ending}"
        self._readers = readers

    def __call__(self, data: bytes) -> None:
        """Write the file and read it."""
        self._path.write_bytes(data)
        for read in self._readers:
            try:
                read(self._path)
            except InputError as error:
                if not str(error).strip():
                    raise AssertionError("nothing was said") from error


def _pages(path: Path) -> None:
    table = open_page_table(path)
    row = 1
    for _, batch in table.batches():
        table.numbers(batch, "change_rate", row)
        row += batch.num_rows
        assert row < 1_000_000
        batch.to_pylist()


def tables() -> FileReaders:
    """Return the readers of CSV, JSON Lines and Parquet, whole and piece by piece."""
    return FileReaders(".dat", read_table, _pages, read_event_log)


def model_readers() -> tuple[FileReaders, FileReaders, FileReaders]:
    """Return those of buffer models, of robots' policies and of patterns of sources."""
    return (
        FileReaders(".toml", read_model),
        FileReaders(".json", read_policy_file),
        FileReaders(".json", lambda path: read_source(path, None, None)),
    )


def as_parquet() -> bytes:
    """Return a small table."""
    sink = io.BytesIO()
    table = pa.table({"url": ["a", "b"], "change_rate": [1.0, 2.0]})
    pq.write_table(table, sink, compression="none")
    return sink.getvalue()


class Asked:
    """A small index: whatever is typed is answered, in a bounded number of words."""

    def __init__(self) -> None:
        self._index = TantivyIndex(Path(tempfile.mkdtemp()) / "index")
        self._index.replace(Document("http://a.test/", "a title", "some text", 1e9, b"s" * 16))
        self._index.commit()

    def __call__(self, data: bytes) -> None:
        """Ask."""
        text = data.decode("utf-8", "replace")
        read = read_query(text)
        assert sum(map(len, read.groups)) + len(read.never) <= 24
        total, hits = self._index.search(text, limit=5, offset=0)
        assert total >= len(hits)


class Answers:
    """A server that answers with the input: there is a response within bounds, or a FetchError."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._sent = b""
        self._port = self._loop.run_until_complete(self._open())
        atexit.register(self.close)

    async def _open(self) -> int:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._fetcher = await HttpFetcher(
            user_agent="fuzz",
            bounds=FetchBounds(timeout_s=0.8, max_bytes=_MOST_BYTES),
            allow_private=["127.0.0.1"],
            keep_headers=True,
        ).__aenter__()
        return int(server.sockets[0].getsockname()[1])

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self._sent)
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            pass

    def close(self) -> None:
        """End its connections."""
        self._loop.run_until_complete(self._fetcher.__aexit__(None, None, None))

    def __call__(self, data: bytes) -> None:
        """Fetch it."""
        self._sent = data
        try:
            got = self._loop.run_until_complete(
                self._fetcher.fetch(f"http://127.0.0.1:{self._port}/")
            )
        except FetchError:
            return
        assert 100 <= got.status <= 999
        assert len(got.body) <= _MOST_BYTES
