"""Undo a content encoding, within a bound: a small bomb must not become a large page."""

import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import brotli

from recrawl.errors import FetchError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["ACCEPT_ENCODING", "Decoder", "decoder_for"]

ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"
_MAX_LAYERS: Final = 2


class Decoder(Protocol):
    """Decodes a body piece by piece."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """Return at most ``limit`` bytes of what ``data`` adds; the rest may be dropped."""
        ...


class _Zlib:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._started = False

    def decode(self, data: bytes, limit: int) -> bytes:
        try:
            out = self._inner.decompress(data, limit)
        except zlib.error:
            if self._started:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)  # "deflate" without its header
            out = self._inner.decompress(data, limit)
        self._started = True
        return out


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        out: bytes = self._inner.process(data, output_buffer_limit=limit)
        return out


class _Zstd:
    def __init__(self) -> None:
        # A window of at most 8 MiB, as browsers allow: memory is bounded by us, not the sender.
        self._inner = zstd.ZstdDecompressor(
            options={zstd.DecompressionParameter.window_log_max: 23}
        )

    def decode(self, data: bytes, limit: int) -> bytes:
        return b"" if self._inner.eof else self._inner.decompress(data, limit)


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
    "zstd": _Zstd,
}
ERRORS: Final = (zlib.error, brotli.error, zstd.ZstdError, EOFError)


def decoder_for(encoding: str) -> Decoder | None:
    """Return a decoder for a Content-Encoding header; None where there is nothing to undo.

    Raises
    ------
    FetchError
        ``encoding`` when it names one that is not known, or stacks more than two.
    """
    names = [name.strip().lower() for name in encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if not names:
        return None
    if len(names) > _MAX_LAYERS or any(name not in _KNOWN for name in names):
        raise FetchError("encoding", f"content encoding {encoding[:80]!r} is not supported")
    layers: list[Decoder] = [_KNOWN[name]() for name in reversed(names)]
    return layers[0] if len(layers) == 1 else _Chain(layers)
