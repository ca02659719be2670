"""Places of WARC records: files of their own, or files in the package of a web archive (WACZ)."""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from typing_extensions import Buffer, override

from recrawl.errors import InvalidTable

_ZIP: Final = b"PK\x03\x04"
_GZIP: Final = b"\x1f\x8b"
_WARC: Final = b"WARC/"
_NEXT: Final = b"\r\n\r\nWARC/"
# Bytes within which a second record begins, in one piece with the first.
_LOOKED_AT: Final = 1 << 18
_LOCAL_HEADER: Final = struct.Struct("<26x2H")  # of a zip's entry: what follows are name and extra


@dataclass(frozen=True, slots=True)
class WarcFile:
    """A WARC file, or one that lies in another as it is.

    Parameters
    ----------
    path : of the file
    start : place of the first byte in it, >= 0
    size : bytes
    name : what messages call it
    """

    path: Path
    start: int
    size: int
    name: str

    def open(self, offset: int = 0) -> IO[bytes]:
        """Return it for reading from so many bytes on.

        Raises
        ------
        OSError
            The file cannot be read.
        """
        raw = _Part(self.path, self.start, self.size)
        raw.seek(offset)
        return io.BufferedReader(raw)

    @contextmanager
    def records(self) -> Iterator[IO[bytes]]:
        """Open it for a while, unpacked where it is packed as a whole and not record by record.

        Raises
        ------
        OSError
            The file cannot be read.
        """
        with self.open() as raw:
            begin = zlib.decompressobj(wbits=31)
            try:
                is_whole = _NEXT in begin.decompress(raw.read(_LOOKED_AT), _LOOKED_AT)
            except zlib.error:  # it is not packed
                is_whole = False
            raw.seek(0)
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if is_whole else raw

    def begins_as_one(self) -> bool:
        """Tell whether what it holds, unpacked, begins as WARC does.

        Raises
        ------
        InvalidTable
            It cannot be read.
        """
        try:
            with self.open() as raw:
                is_packed = raw.read(2) == _GZIP
                raw.seek(0)
                return (gzip.open(raw) if is_packed else raw).read(len(_WARC)) == _WARC
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InvalidTable(f"{self.name}: is no whole gzip file ({error})") from None
        except OSError as error:
            raise InvalidTable(f"{self.name}: {error.strerror or error}") from None


class _Part(io.RawIOBase):
    """A part of a file, whose first byte is number 0 and which ends where the part ends."""

    def __init__(self, path: Path, start: int, size: int) -> None:
        self._file = path.open("rb", buffering=0)
        self._start, self._size, self._at = start, size, 0

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int | None:
        left = max(self._size - self._at, 0)
        self._file.seek(self._start + self._at)
        n = self._file.readinto(memoryview(buffer)[:left])
        self._at += n or 0
        return n

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    @override
    def close(self) -> None:
        self._file.close()
        super().close()


def warc_files(path: Path) -> tuple[WarcFile, ...]:
    """Return the WARC files that a file holds: itself, or those of a package.

    Parameters
    ----------
    path : a WARC file, or a package (WACZ 1.1), which is a zip with WARC files below ``archive/``

    Raises
    ------
    InvalidTable
        It cannot be read, is a zip without WARC files, or packs them a second time, so that no
        record can be read without all before it.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != _ZIP:
                return (WarcFile(path, 0, path.stat().st_size, str(path)),)
            with zipfile.ZipFile(file) as package:
                held = [one for one in package.infolist() if _is_warc(one.filename)]
            if not held:
                raise InvalidTable(f"{path}: is a zip without WARC files below archive/")
            return tuple(_part(path, file, one) for one in held)
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, struct.error) as error:
        raise InvalidTable(f"{path}: is no whole zip ({error})") from None


def _is_warc(name: str) -> bool:
    return name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))


def _part(path: Path, file: IO[bytes], entry: zipfile.ZipInfo) -> WarcFile:
    name = f"{path}: {entry.filename}"
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        raise InvalidTable(
            f"{name} is packed or encrypted within the zip; unzip it, and name the WARC file"
        )
    file.seek(entry.header_offset)
    lengths = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    start = entry.header_offset + _LOCAL_HEADER.size + sum(lengths)
    return WarcFile(path, start, entry.file_size, name)
