"""Changes in files: a line for each, or a table for each batch; whole after any end.

Lines are added to one file a day. What an end left of a line is cut off, and what the last lines
say is not written again. A table is made beside its place, and then put there.
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from glob import escape
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.terms import Item, Taken, Verdict

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["LineFiles", "TableFiles"]

_DATE: Final = "{date}"
_SEQ: Final = "{seq}"
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_TAKEN: Final = Taken(Verdict.OK)


class LineFiles(Sink):
    """JSON lines, compressed where the name ends in ``.zst``; a file a day.

    Parameters
    ----------
    pattern : path with ``{date}`` where the day stands, or without: one file
    """

    def __init__(self, pattern: Path) -> None:
        self._pattern = pattern
        self._is_compressed = pattern.suffix == ".zst"
        self._last: int | None = None  # number of the last change that was written

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        try:
            if self._last is None:
                written = _files(self._pattern)
                self._last = self._mended(max(written, key=_age)) if written else 0
            new = [item for item in items if item.change.seq > self._last]
            if new:
                self._add(new)
                self._last = new[-1].change.seq
        except OSError as error:
            self._last = None  # who knows how much of it is there
            raise SinkError(f"{self._pattern}: {error.strerror or error}") from error
        first = new[0].change.seq if new else 2**63
        stale = Taken(Verdict.STALE)
        return [_TAKEN if item.change.seq >= first else stale for item in items]

    def _add(self, items: Sequence[Item]) -> None:
        path = _dated(self._pattern)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(item.record) + "\n" for item in items).encode()
        written = zstd.compress(lines) if self._is_compressed else lines
        is_new = not path.exists()
        number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            before = os.fstat(number).st_size
            try:
                _write_all(number, written)
                os.fsync(number)
            except OSError:
                os.ftruncate(number, before)
                raise
        finally:
            os.close(number)
        if is_new:
            _sync_folder(path.parent)

    def _mended(self, path: Path) -> int:
        """Cut off what is no whole line or frame; return the number that the last line has."""
        size = path.stat().st_size
        if not size:
            return 0
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            if self._is_compressed:
                start, whole = _last_frame(content)
                last = content[start:whole]
            else:
                whole = content.rfind(b"\n") + 1
                last = content[content.rfind(b"\n", 0, max(whole - 1, 0)) + 1 : whole]
        if whole < size:
            os.truncate(path, whole)
        if not last:
            return 0
        try:
            last = zstd.decompress(last) if self._is_compressed else last
            return int(json.loads(last.splitlines()[-1])["seq"])
        except (ValueError, KeyError, TypeError, RecursionError, zstd.ZstdError) as error:
            raise SinkError(f"{path} holds something else than changes; move it away") from error

    @override
    def scan(self) -> Iterable[tuple[str, int]] | None:
        return None

    @override
    def close(self) -> None:
        self._last = None


class TableFiles(Sink):
    """Parquet, a file for each batch, named by the day and the numbers of its changes.

    Parameters
    ----------
    pattern : path with ``{seq}`` where those numbers stand
    content : name of the column with the content; "none": there is none
    importance : whether there is a column for what pages are worth
    """

    def __init__(self, pattern: Path, content: str, *, importance: bool = False) -> None:
        self._pattern = pattern
        self._content = content
        self._importance = importance
        self._last: int | None = None

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        try:
            if self._last is None:
                numbers = map(self._number_of, _files(self._pattern))
                self._last = max(numbers, default=0)
            new = [item for item in items if item.change.seq > self._last]
            if new:
                self._write(new)
                self._last = new[-1].change.seq
        except OSError as error:
            raise SinkError(f"{self._pattern}: {error.strerror or error}") from error
        return [_TAKEN] * len(items)

    def _number_of(self, path: Path) -> int:
        found = re.findall(r"([0-9]{12})-([0-9]{12})", path.name)
        return int(found[-1][1]) if found else 0

    def _write(self, items: Sequence[Item]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        first, last = items[0].change.seq, items[-1].change.seq
        path = _dated(self._pattern, f"{first:012}-{last:012}")
        path.parent.mkdir(parents=True, exist_ok=True)
        names = (
            "at kind url title fetched_at signature canonical language content_type moved_to why"
        )
        columns: dict[str, Any] = {"seq": pa.int64(), "version": pa.int64()}
        columns |= dict.fromkeys(names.split(), pa.string())
        if self._importance:
            columns["importance"] = pa.float64()
        if self._content != "none":
            columns[self._content] = pa.string()
        rows = [{name: item.record.get(name) for name in columns} for item in items]
        part = path.with_name(f"{path.name}.part")
        try:
            pq.write_table(
                pa.Table.from_pylist(rows, schema=pa.schema(list(columns.items()))),
                part,
                compression="zstd",
            )
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, path)
            _sync_folder(path.parent)
        finally:
            part.unlink(missing_ok=True)

    @override
    def scan(self) -> Iterable[tuple[str, int]] | None:
        return None

    @override
    def close(self) -> None:
        self._last = None


def _dated(pattern: Path, seq: str = "") -> Path:
    date = datetime.now(UTC).date().isoformat()
    return Path(str(pattern).replace(_DATE, date).replace(_SEQ, seq))


def _files(pattern: Path) -> list[Path]:
    """Return the files that are there, of all days."""
    wild = escape(str(pattern)).replace(escape(_DATE), "*").replace(escape(_SEQ), "*")
    root = Path(wild).anchor
    relative = wild[len(root) :]
    return sorted(path for path in Path(root or ".").glob(relative) if path.is_file())


def _last_frame(content: mmap) -> tuple[int, int]:
    """Return where the last whole frame begins and ends, by the headers of blocks (RFC 8878)."""
    start = at = 0
    while (end := _frame_end(content, at)) is not None:
        start, at = at, end
    return start, at


def _frame_end(content: mmap, at: int) -> int | None:
    """Return where a frame ends; None where there is no whole one."""
    size = len(content)
    if content[at : at + 4] != _MAGIC or at + 6 > size:
        return None
    described = content[at + 4]
    is_single = described >> 5 & 1
    at += 5 + (1 - is_single) + (0, 1, 2, 4)[described & 3]
    at += (is_single, 2, 4, 8)[described >> 6]
    while at + 3 <= size:
        head = int.from_bytes(content[at : at + 3], "little")
        at += 3 + (1 if head >> 1 & 3 == 1 else head >> 3)
        if head & 1:
            at += 4 * (described >> 2 & 1)
            return at if at <= size else None
    return None


def _age(path: Path) -> tuple[float, str]:
    return path.stat().st_mtime, path.name


def _write_all(number: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(number, left) :]


def _sync_folder(folder: Path) -> None:
    """Have a new name be on disk, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
