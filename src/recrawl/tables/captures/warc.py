"""Archives themselves: response and revisit records of WARC files (an extra, `recrawl[warc]`)."""

import gzip
import logging
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

import xxhash

from recrawl.errors import InputError, InvalidTable
from recrawl.simulation.recorded.warc_files import WarcFile, warc_files
from recrawl.tables.captures.looks import Look, Tally

WANTED: Final = "response or revisit records of WARC"
_BLOCK: Final = 1 << 16


def read_warc(path: Path, tally: Tally) -> Iterator[Look]:
    """Yield the answers in a WARC file, or in those of a package (WACZ).

    Raises
    ------
    InvalidTable
        The file cannot be read, or is no WARC file.
    InputError
        The library that reads WARC is not installed.
    """
    try:
        import warcio  # noqa: F401 - whether it is there
    except ImportError:
        raise InputError(
            "history from-warc: needs the extra warc: pip install 'recrawl[warc]'"
        ) from None
    before = tally.done_bytes
    for held in warc_files(path):
        yield from _answers(held, tally)
    tally.done_bytes = before + path.stat().st_size


def _answers(held: WarcFile, tally: Tally) -> Iterator[Look]:
    from warcio.exceptions import ArchiveLoadFailed

    path, before = Path(held.name), tally.done_bytes
    if not held.begins_as_one():
        raise InvalidTable(f"{path}: is no WARC file: it does not begin with WARC/")
    try:
        with held.records() as file:
            for record in _records(file, path, tally):
                if record.rec_type not in ("response", "revisit"):
                    continue
                tally.n_records += 1
                tally.done_bytes = before + min(file.tell(), held.size)
                look = _read(record, path, tally)
                if look is not None:
                    yield look
    except (ArchiveLoadFailed, EOFError, ValueError, gzip.BadGzipFile, zlib.error) as error:
        # What came before is sound: every record ends before the next begins.
        if not tally.n_records:
            raise InvalidTable(
                f"{path}: is no WARC file ({' '.join(str(error).split())})"
            ) from None
        tally.n_records += 1
        tally.bad(path, f"after record {tally.n_records - 1}", str(error).splitlines()[0])
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror or error}") from None


def _records(file: IO[bytes], path: Path, tally: Tally) -> Iterator[Any]:
    """Yield the records; of those of a wrong length the tally is told, and nothing is printed."""
    from warcio.archiveiterator import ArchiveIterator

    # What it would print of odd records goes nowhere, as a bar may be on the screen.
    logging.getLogger("warcio").addHandler(logging.NullHandler())
    archive, n_passed = ArchiveIterator(file), 0
    archive.INC_RECORD = ""
    records = iter(archive)
    while True:
        record = next(records, None)
        if archive.err_count > n_passed:
            n_passed = archive.err_count
            tally.bad(path, f"after record {tally.n_records}", "is something that is no record")
            tally.n_records += 1
        if record is None:
            return
        yield record


def _read(record: Any, path: Path, tally: Tally) -> Look | None:
    place = f"record {tally.n_records}"
    headers = record.rec_headers
    url = (headers.get_header("WARC-Target-URI") or "").strip("<>")
    if not url.startswith(("http://", "https://")):
        tally.n_left_out += 1
        return None
    try:
        at_s = datetime.fromisoformat(headers.get_header("WARC-Date") or "").timestamp()
    except ValueError:
        tally.bad(path, place, f"WARC-Date is {headers.get_header('WARC-Date')!r}")
        return None
    profile = headers.get_header("WARC-Profile") or ""
    if record.rec_type == "revisit" and profile.endswith("server-not-modified"):
        return Look(url, at_s, changed=False, status=304)
    try:
        code = int(record.http_headers.get_statuscode()) if record.http_headers else None
    except ValueError:
        tally.bad(path, place, "has no HTTP status")
        return None
    if code is not None and not 200 <= code < 300 and code != 304:
        return Look(url, at_s, status=code)
    digest = headers.get_header("WARC-Payload-Digest")
    mark = digest.rpartition(":")[2].encode() if digest else _hash(record)
    return Look(url, at_s, mark, None, code)


def _hash(record: Any) -> bytes:
    found = xxhash.xxh3_128()
    while block := record.content_stream().read(_BLOCK):
        found.update(block)
    return found.digest()
