"""Page histories from web archives (WARC files): when each was seen to change, and what it said.

Archives are hostile input, and of any size: the first pass keeps some hundred bytes a capture and
no content, which is read again when it is served, up to a bound. Only answers that are HTML are
pages; their links are turned to where the archive is served, as archives that are shown do it.
"""

import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from recrawl.errors import InputError, InvalidTable
from recrawl.simulation.recorded.log import PageHistory, RecordedLog
from recrawl.simulation.recorded.warc_files import WarcFile, warc_files

_MOST: Final = 3_000_000  # captures
_LONGEST_URL: Final = 2_000
_MOST_BYTES: Final = 2 << 20  # of a page; larger ones are not read
_BLOCK: Final = 1 << 16
_HTML: Final = ("text/html", "application/xhtml+xml")
_MOVED: Final = (301, 302, 303, 307, 308)
_GONE: Final = (404, 410)
_HREF: Final = re.compile(
    r"""(\bhref\s*=\s*)(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)
_BASE: Final = re.compile(r"""<base\s[^<>]*?href\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Capture:
    """One answer: what it said by its digest and where that stands, or that nothing was there."""

    at_s: int
    digest: str | None
    file: int = 0
    offset: int = 0
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a page's content in a file."""

    file: WarcFile
    offset: int
    url: str


def _path_of(url: str) -> str:
    """Return the path at which an address is served: the host first, the query as it was."""
    parts = urlsplit(url)
    asked = f"?{parts.query}" if parts.query else ""
    return unquote(f"{parts.netloc.lower()}{parts.path or '/'}{asked}")


def read_captures(files: Sequence[Path]) -> tuple[RecordedLog, "Captures"]:
    """Read when archived pages were seen to change, over all files and in any order.

    Raises
    ------
    InputError
        A file cannot be read or is no WARC file, there are more than three million captures, or
        the library that reads them is not installed.
    """
    by_url: dict[str, list[_Capture]] = {}
    records = n_left_out = 0
    held = _held(files)
    for number, file in enumerate(held):
        for url, capture in _captures(file, number):
            records += 1
            if records > _MOST:
                raise InputError(f"{file.name}: more than {_MOST:,} captures; name fewer files")
            if capture is None or len(url) > _LONGEST_URL:
                n_left_out += 1
            else:
                by_url.setdefault(url, []).append(capture)
    places: dict[str, _Place] = {}
    pages: dict[str, PageHistory] = {}
    end_s = max((one.at_s for captures in by_url.values() for one in captures), default=0)
    for url, captures in by_url.items():
        path = _path_of(url)
        if path in pages:  # http and https, or a path written in two ways: the first one stands
            n_left_out += len(captures)
        else:
            pages[path] = _history(url, captures, held, places)
    seen = {path: page for path, page in pages.items() if any(page.blobs)}
    log = RecordedLog(seen, records, end_s, n_left_out, are_pages=True)
    return log, Captures(places, frozenset(seen))


def _history(
    url: str, captures: list[_Capture], files: Sequence[WarcFile], places: dict[str, _Place]
) -> PageHistory:
    """Return when an address said something else, and note where what it said stands."""
    page, said = PageHistory(), None
    for capture in sorted(captures, key=lambda one: one.at_s):
        if capture.digest == said:
            continue
        said, blob = capture.digest, None
        if said is not None:
            blob = hashlib.blake2b(f"{url} {said}".encode(), digest_size=20).hexdigest()
            places.setdefault(blob, _Place(files[capture.file], capture.offset, url))
        elif capture.moved_to is not None:
            page.moved_to[capture.at_s] = _path_of(capture.moved_to)
        page.at_s.append(capture.at_s)
        page.blobs.append(blob)
        page.with_others.append(1)
    return page


def _held(files: Sequence[Path]) -> list[WarcFile]:
    try:
        return [held for file in files for held in warc_files(file)]
    except InvalidTable as error:
        raise InputError(f"--warc: {error}") from None


def _captures(file: WarcFile, number: int) -> Iterator[tuple[str, _Capture | None]]:
    """Yield addresses with what was answered; None: nothing that says anything of a page."""
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError:
        raise InputError("--warc: needs the extra warc: pip install 'recrawl[warc]'") from None
    n = 0
    try:
        with file.open() as opened:
            records = ArchiveIterator(opened)
            for record in records:
                if record.rec_type not in ("response", "revisit"):
                    continue
                n += 1
                url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
                yield url, _capture(record, url, number, records.get_record_offset())
    except OSError as error:
        raise InputError(f"--warc: {file.name}: {error.strerror or error}") from None
    except (ArchiveLoadFailed, EOFError, ValueError) as error:
        if not n:
            why = str(error).strip().splitlines()[0] if str(error).strip() else "it is empty"
            raise InputError(f"--warc: {file.name} is no WARC file ({why[:200]})") from None
        return  # what came before is sound: every record ends before the next begins
    if not n:
        raise InputError(
            f"--warc: {file.name} holds no answers: response or revisit records of WARC"
        )


def _capture(record: Any, url: str, file: int, offset: int) -> _Capture | None:
    headers = record.rec_headers
    try:
        at_s = int(datetime.fromisoformat(headers.get_header("WARC-Date") or "").timestamp())
        status = int(record.http_headers.get_statuscode()) if record.http_headers else 0
        urlsplit(url)
    except (ValueError, OverflowError):
        return None
    if record.rec_type == "revisit" or not url.startswith(("http://", "https://")):
        return None  # as it was: that says nothing new
    if status in _GONE:
        return _Capture(at_s, None)
    if status in _MOVED:
        target = record.http_headers.get_header("Location") or ""
        try:
            return _Capture(at_s, None, moved_to=urljoin(url, target))
        except ValueError:
            return None
    kind = (record.http_headers.get_header("Content-Type") or "") if record.http_headers else ""
    if status != 200 or kind.partition(";")[0].strip().lower() not in _HTML:
        return None
    return _Capture(at_s, headers.get_header("WARC-Payload-Digest") or _hash(record), file, offset)


def _hash(record: Any) -> str:
    found = hashlib.blake2b(digest_size=20)
    while block := record.content_stream().read(_BLOCK):
        found.update(block)
    return found.hexdigest()


class Captures:
    """Contents of archived pages, by name.

    Parameters
    ----------
    places : where each stands
    paths : that are served, which links lead to
    """

    are_pages = True

    def __init__(self, places: dict[str, _Place], paths: frozenset[str]) -> None:
        self._places, self._paths = places, paths

    def read(self, blob: str) -> bytes | None:
        """Return a page, its links turned to where it is served; None: it cannot be had."""
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed

        place = self._places.get(blob)
        if place is None:
            return None
        try:
            with place.file.open(place.offset) as opened:
                record = next(iter(ArchiveIterator(opened)))
                content = record.content_stream().read(_MOST_BYTES + 1)
                kind = record.http_headers.get_header("Content-Type") or ""
        except (OSError, ArchiveLoadFailed, EOFError, ValueError, StopIteration, AttributeError):
            return None
        if len(content) > _MOST_BYTES:
            return None
        return self._turned(_decoded(content, kind), place.url).encode("utf-8", "replace")

    def _turned(self, page: str, url: str) -> str:
        base = _BASE.search(page)
        if base is not None:
            url = _joined(url, html.unescape(base[1])) or url

        def turned(found: re.Match[str]) -> str:
            given = next((one for one in found.groups()[1:] if one is not None), "")
            target = _joined(url, html.unescape(given))
            if target is None or given.startswith("#"):
                return found[0]
            path = _path_of(target)
            if path not in self._paths:
                return found[0]
            fragment = urlsplit(target).fragment
            return f'{found[1]}"/{quote(path)}{f"#{quote(fragment)}" if fragment else ""}"'

        return _HREF.sub(turned, page)

    def close(self) -> None:
        """Nothing is held."""


def _joined(base: str, given: str) -> str | None:
    try:
        found = urljoin(base, given)
        return found if urlsplit(found).scheme in ("http", "https") else None
    except ValueError:
        return None


def _decoded(content: bytes, kind: str) -> str:
    named = _CHARSET.search(kind.encode("latin-1", "replace")) or _CHARSET.search(content[:2048])
    try:
        return content.decode(named[1].decode() if named else "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")
