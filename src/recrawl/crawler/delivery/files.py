"""Changes in files: a line for each, or a table for each batch; whole after any end.

Lines are added to one file a day. What an end left of a line is cut off, and what the last lines
say is not written again. A table is made beside its place, and then put there.

Who reads all files and keeps of each page what has the greatest version has all pages; so a scan
reads them, and what is found to be lost is written once more, behind all else.
"""

import contextlib
import json
import os
import re
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from glob import escape
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.terms import ChangeKind, Item, Taken, Verdict

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_DATE: Final = "{date}"
_SEQ: Final = "{seq}"
_PRIVATE: Final = 0o600  # what was behind a login is for nobody else
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_TAKEN: Final = Taken(Verdict.OK)
_REMOVALS: Final = (ChangeKind.REMOVED.value, ChangeKind.MOVED.value)


class _Files(Sink):
    """Files that are only added to.

    Parameters
    ----------
    pattern : path with ``{date}`` where the day stands
    """

    def __init__(self, pattern: Path) -> None:
        self._pattern = pattern
        self._last: int | None = None  # number of the last change that was written
        # Of each page the version that the files have and whether it is there, once they were read.
        self._held: dict[str, tuple[int, bool]] | None = None

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        try:
            last = self._last = self._written_to() if self._last is None else self._last
            self._recall([item for item in items if item.change.seq <= last])
            new = [item for item in items if item.change.seq > last or self._lacks(item)]
            if new:
                self._add(new)
                self._last = max(last, *(item.change.seq for item in new))
        except OSError as error:
            self.close()  # who knows how much of it is there
            raise SinkError(f"{self._pattern}: {error.strerror or error}") from error
        added = {item.change.seq for item in new}
        if self._held is not None:
            self._held |= {one.change.url: _of(one.record) for one in new}
        stale = Taken(Verdict.STALE)
        return [_TAKEN if item.change.seq in added else stale for item in items]

    def _recall(self, again: Sequence[Item]) -> None:
        """Find out whether what has old numbers was written, or is of a feed that was set back.

        What comes again is in the file that was written last; only where it is not there, all
        files are read.
        """
        if not again or self._held is not None:
            return
        latest = self._told([max(_files(self._pattern), key=_age)])
        if any(one.change.version > latest.get(one.change.url, (0, False))[0] for one in again):
            self.scan()

    def _lacks(self, item: Item) -> bool:
        """Tell whether the files were read and have less of a page than this."""
        if self._held is None:
            return False
        return item.change.version > self._held.get(item.change.url, (0, False))[0]

    @override
    def scan(self) -> Iterable[tuple[str, int]]:
        try:
            if self._last is None:
                self._last = self._written_to()
            held = self._held = self._told(_files(self._pattern))
        except OSError as error:
            raise SinkError(f"{self._pattern}: {error.strerror or error}") from error
        return [(url, version) for url, (version, is_there) in held.items() if is_there]

    def _told(self, paths: Iterable[Path]) -> dict[str, tuple[int, bool]]:
        """Return what files say last of each page: version, and whether it is there."""
        held: dict[str, tuple[int, bool]] = {}
        for path in paths:
            try:
                for record in self._records(path):
                    url, told = str(record["url"]), _of(record)
                    held[url] = max(told, held.get(url, told))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise _strange(path) from error
            except (zstd.ZstdError, EOFError) as error:
                raise SinkError(f"{path} is damaged ({error}); move it away") from error
        return held

    @override
    def close(self) -> None:
        self._last = self._held = None

    @abstractmethod
    def _written_to(self) -> int:
        """Return the number of the last change that is in the files."""

    @abstractmethod
    def _records(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield what a file has: at least address, version and kind."""

    @abstractmethod
    def _add(self, items: Sequence[Item]) -> None:
        """Write changes behind all others."""


class LineFiles(_Files):
    """JSON lines, compressed where the name ends in ``.zst``; a file a day.

    Parameters
    ----------
    pattern : path with ``{date}`` where the day stands, or without: one file
    """

    def __init__(self, pattern: Path) -> None:
        super().__init__(pattern)
        self._is_compressed = pattern.suffix == ".zst"

    @override
    def _written_to(self) -> int:
        written = _files(self._pattern)
        return self._mended(max(written, key=_age)) if written else 0

    @override
    def _records(self, path: Path) -> Iterator[dict[str, Any]]:
        opened = zstd.open(path, "rb") if self._is_compressed else path.open("rb")
        with opened as lines:
            for line in lines:
                yield json.loads(line)

    @override
    def _add(self, items: Sequence[Item]) -> None:
        path = _dated(self._pattern)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(item.record) + "\n" for item in items).encode()
        written = zstd.compress(lines) if self._is_compressed else lines
        is_new = not path.exists()
        number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _PRIVATE)
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
            raise _strange(path) from error


class TableFiles(_Files):
    """Parquet, a file for each batch, named by the day and the numbers of its changes.

    Parameters
    ----------
    pattern : path with ``{seq}`` where those numbers stand
    content : name of the column with the content; "none": there is none
    importance : whether there is a column for what pages are worth
    """

    def __init__(self, pattern: Path, content: str, *, importance: bool = False) -> None:
        super().__init__(pattern)
        self._content = content
        self._importance = importance

    @override
    def _written_to(self) -> int:
        return max(map(self._number_of, _files(self._pattern)), default=0)

    @override
    def _records(self, path: Path) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            for rows in file.iter_batches(columns=["url", "version", "kind"]):
                yield from rows.to_pylist()

    def _number_of(self, path: Path) -> int:
        found = re.findall(r"([0-9]{12})-([0-9]{12})", path.name)
        return int(found[-1][1]) if found else 0

    @override
    def _add(self, items: Sequence[Item]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        numbers = [item.change.seq for item in items]
        first, last = min(numbers), max(numbers)
        path = _dated(self._pattern, f"{first:012}-{last:012}")
        again = 1
        while path.exists():  # with what was not lost of these
            again += 1
            path = _dated(self._pattern, f"{first:012}-{last:012}-{again}")
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
                os.fchmod(file.fileno(), _PRIVATE)
                os.fsync(file.fileno())
            os.replace(part, path)
            _sync_folder(path.parent)
        finally:
            part.unlink(missing_ok=True)


def _of(record: Mapping[str, object]) -> tuple[int, bool]:
    """Return the version that a record tells of, and whether the page is there since."""
    return int(str(record["version"])), record["kind"] not in _REMOVALS


def _strange(path: Path) -> SinkError:
    return SinkError(f"{path} holds something else than changes; move it away")


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
