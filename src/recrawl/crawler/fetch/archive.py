"""Everything that is fetched, in WARC files: for the record, and for other programs to read."""

import contextlib
import os
import zlib
from collections import OrderedDict
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from typing_extensions import Unpack, override

from recrawl.crawler.ports import Fetcher, FetchOptions, Offload
from recrawl.errors import StateError
from recrawl.terms import FetchResponse

_OPEN: Final = ".open"
_REMEMBERED: Final = 200_000  # URLs whose last copy can be referred to
_NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_REASONS: Final = {200: "OK", 301: "Moved Permanently", 304: "Not Modified", 404: "Not Found"}


class WarcArchive:
    """WARC 1.1 files in a folder, each record compressed on its own.

    A file is called ``.open`` until it is full or the archive is closed, and whole after either.
    What a killed process left open is cut after its last whole record and closed.

    Parameters
    ----------
    folder : made if it is missing
    software : named in each file's first record
    max_bytes : a file this long is closed, and another begun

    Raises
    ------
    StateError
        The folder cannot be written.
    """

    def __init__(self, folder: Path, *, software: str, max_bytes: int = 2**30) -> None:
        self._folder = folder
        self._software = software
        self._max_bytes = max_bytes
        self._seen: OrderedDict[str, tuple[str, str]] = OrderedDict()  # URL -> digest, date
        self._file: BinaryIO | None = None
        self._writer: Any = None
        self._number = 0
        with _told(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mend_all(folder)

    def write(self, response: FetchResponse, at_s: float) -> None:
        """Add one exchange: whole, or as a revisit where it brought nothing new.

        The body is kept as decoded; headers that spoke of its encoding are renamed.
        """
        with _told(self._folder):
            self._begin_where_needed(at_s)
            date = _date(at_s)
            self._writer.write_record(self._record(response, date))
            assert self._file is not None
            self._file.flush()

    def close(self) -> None:
        """End the file in hand and give it its name."""
        if self._file is None:
            return
        path = Path(self._file.name)
        with _told(self._folder):
            self._file.close()
            path.rename(path.with_suffix(""))
        self._file = self._writer = None

    def _begin_where_needed(self, at_s: float) -> None:
        from warcio.warcwriter import WARCWriter

        if self._file is not None and self._file.tell() >= self._max_bytes:
            self.close()
        if self._file is not None:
            return
        stamp = datetime.fromtimestamp(at_s, UTC).strftime("%Y%m%dT%H%M%S")
        name = ""
        while not name or any(self._folder.glob(f"{name}*")):
            self._number += 1
            name = f"recrawl-{stamp}-{self._number:05d}.warc.gz"
        self._file = (self._folder / f"{name}{_OPEN}").open("xb")
        os.fchmod(self._file.fileno(), 0o600)  # what was behind a login is for nobody else
        self._writer = WARCWriter(self._file, gzip=True, warc_version="1.1")
        info = {"software": self._software, "format": "WARC File Format 1.1"}
        self._writer.write_record(self._writer.create_warcinfo_record(name, info))

    def _record(self, response: FetchResponse, date: str) -> Any:
        from warcio.utils import Digester

        headers = self._http_headers(response)
        url, seen = response.url, self._seen.get(response.url)
        told = {"WARC-Date": date}
        if response.truncated:
            told["WARC-Truncated"] = "length"
        if response.status == 304:
            told["WARC-Profile"] = _NOT_MODIFIED
            if seen is not None:
                told |= {"WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": seen[1]}
            return self._writer.create_warc_record(
                url, "revisit", http_headers=headers, warc_headers_dict=told
            )
        digester = Digester("sha1")
        digester.update(response.body)
        digest = str(digester)
        if seen is not None and seen[0] == digest and response.body:
            return self._writer.create_revisit_record(
                url, digest, url, seen[1], http_headers=headers, warc_headers_dict=told
            )
        self._seen[url] = (digest, date)
        self._seen.move_to_end(url)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return self._writer.create_warc_record(
            url,
            "response",
            payload=BytesIO(response.body),
            http_headers=headers,
            warc_headers_dict=told,
        )

    def _http_headers(self, response: FetchResponse) -> Any:
        from warcio.statusandheaders import StatusAndHeaders

        kept = []
        for name, value in response.headers:
            encoded = name.lower() in ("content-encoding", "transfer-encoding", "content-length")
            kept.append((f"X-Archive-Orig-{name}" if encoded else name, value))
        if response.body:
            kept.append(("Content-Length", str(len(response.body))))
        reason = _REASONS.get(response.status, "")
        return StatusAndHeaders(f"{response.status} {reason}".strip(), kept, protocol="HTTP/1.1")


class ArchivingFetcher(Fetcher):
    """Fetches, and keeps what came.

    Parameters
    ----------
    inner : does the fetching, and keeps headers
    archive : where it goes
    on_archive : runs the writing, one call after the other
    now_s : the time
    """

    def __init__(
        self, inner: Fetcher, archive: WarcArchive, on_archive: Offload, now_s: Any
    ) -> None:
        self._inner = inner
        self._archive = archive
        self._on_archive = on_archive
        self._now_s = now_s

    @override
    async def fetch(self, url: str, **asked: Unpack[FetchOptions]) -> FetchResponse:
        at_s = self._now_s()
        response = await self._inner.fetch(url, **asked)
        await self._on_archive(self._archive.write, response, at_s)
        return response


def mend_all(folder: Path) -> None:
    """Mend every file that a killed process left open in a folder."""
    with _told(folder):
        for left in sorted(folder.glob(f"*.warc.gz{_OPEN}")):
            mend(left)


def mend(path: Path) -> None:
    """Cut a file after its last whole record, and take it out of use.

    O(bytes) time, O(1) memory.
    """
    whole = 0
    with path.open("r+b") as file:
        decoder, position = zlib.decompressobj(31), 0
        while piece := file.read(2**16):
            while piece:
                try:
                    decoder.decompress(piece)
                except zlib.error:
                    break
                if not decoder.eof:
                    position += len(piece)
                    piece = b""
                    continue
                position += len(piece) - len(decoder.unused_data)
                piece, whole = decoder.unused_data, position
                decoder = zlib.decompressobj(31)
            if piece:
                break
        file.truncate(whole)
    path.rename(path.with_suffix("")) if whole else path.unlink()


def _date(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@contextlib.contextmanager
def _told(folder: Path) -> Any:
    try:
        yield
    except OSError as error:
        raise StateError(f"archive {folder}: {error.strerror}") from error
