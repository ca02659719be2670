"""Undo a content encoding, within a bound: a small bomb must not become a large page."""

import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import brotli

from recrawl.crawler.fetch.charsets import is_charset
from recrawl.errors import FetchError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"
_MAX_LAYERS: Final = 2
_MAX_MEMBERS: Final = 1_000
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


class Decoder(Protocol):
    """Decodes a body piece by piece."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """Return at most ``limit`` bytes of what ``data`` adds; the rest may be dropped."""
        ...


class _Members:
    """A stream that may consist of several members (gzip) or frames (zstd), one after the other."""

    def __init__(self, magic: bytes, open_member: Callable[[], Any]) -> None:
        self._magic = magic
        self._open = open_member
        self._inner = open_member()
        self._opened = 1
        self._rest = b""

    def decode(self, data: bytes, limit: int) -> bytes:
        parts: list[bytes] = []
        while limit > 0:
            if self._inner.eof:
                data = self._rest + data
                if len(data) < len(self._magic):
                    self._rest = data
                    break
                if not data.startswith(self._magic) or self._opened >= _MAX_MEMBERS:
                    break  # what follows the last member is no part of the body
                self._rest = b""
                self._inner = self._open()
                self._opened += 1
            parts.append(self._inner.decompress(data, limit))
            limit -= len(parts[-1])
            if not self._inner.eof:
                break
            data = self._inner.unused_data
        return b"".join(parts)


class _Zlib:
    def __init__(self) -> None:
        self._inner: Any = None
        self._head = b""  # until there are the two bytes that tell a header

    def decode(self, data: bytes, limit: int) -> bytes:
        if self._inner is not None:
            return self._decoded(data, limit)
        data = self._head + data
        if len(data) < 2:
            self._head = data
            return b""
        if data.startswith(_GZIP):
            self._inner = _Members(_GZIP, lambda: zlib.decompressobj(zlib.MAX_WBITS | 16))
            return self._decoded(data, limit)
        self._inner = zlib.decompressobj()
        try:
            return self._decoded(data, limit)
        except zlib.error:
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)  # "deflate" without its header
            return self._decoded(data, limit)

    def _decoded(self, data: bytes, limit: int) -> bytes:
        inner = self._inner
        out: bytes = (inner.decode if isinstance(inner, _Members) else inner.decompress)(
            data, limit
        )
        return out


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        out: bytes = self._inner.process(data, output_buffer_limit=limit)
        return out


def _zstd() -> _Members:
    # A window of at most 8 MiB, as browsers allow: memory is bounded by us, not the sender.
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
    return _Members(_ZSTD, lambda: zstd.ZstdDecompressor(options=options))


class _Chain:
    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    def decode(self, data: bytes, limit: int) -> bytes:
        for decoder in self._decoders:
            data = decoder.decode(data, limit)
        return data


_KNOWN: Final[Mapping[str, Callable[[], Decoder]]] = {
    "gzip": _Zlib,
    "x-gzip": _Zlib,
    "deflate": _Zlib,
    "br": _Brotli,
    "zstd": _zstd,
}
# Said of bodies that are as they are: by storage that keeps what an upload was sent with, and where
# a charset, or how a message is carried, was taken for a content encoding.
_NOTHING: Final = frozenset(
    {"", "identity", "none", "aws-chunked", "chunked", "7bit", "8bit", "binary"}
)
ERRORS: Final = (zlib.error, brotli.error, zstd.ZstdError, EOFError)


def decoder_for(encoding: str) -> Decoder | None:
    """Return a decoder for a Content-Encoding header; None where there is nothing to undo.

    Raises
    ------
    FetchError
        ``encoding`` when it names one that is not known, or stacks more than two.
    """
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name not in _NOTHING and not is_charset(name)]
    if not names:
        return None
    if len(names) > _MAX_LAYERS or any(name not in _KNOWN for name in names):
        raise FetchError("encoding", f"content encoding {encoding[:80]!r} is not supported")
    layers: list[Decoder] = [_KNOWN[name]() for name in reversed(names)]
    return layers[0] if len(layers) == 1 else _Chain(layers)
