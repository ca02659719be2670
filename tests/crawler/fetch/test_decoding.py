"""Content encodings: every one is undone, none gives more than was asked for."""

import gzip
import sys
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.fetch.decoding import ACCEPT_ENCODING, ERRORS, decoder_for
from recrawl.errors import FetchError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZip ": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "br, gzip": lambda data: gzip.compress(brotli.compress(data)),
    "identity, gzip": gzip.compress,
}


@pytest.mark.parametrize("encoding", PACKERS)
@given(data=st.binary(max_size=3000), size=st.integers(1, 400))
def test_a_body_comes_back_whole_in_pieces_of_any_size(
    encoding: str, data: bytes, size: int
) -> None:
    """The network cuts where it likes."""
    packed = PACKERS[encoding](data)
    decoder = decoder_for(encoding)
    assert decoder is not None

    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]

    assert b"".join(decoder.decode(piece, 100_000) for piece in pieces) == data


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=5), size=st.integers(1, 400))
def test_members_that_follow_one_another_are_one_body(
    encoding: str, parts: list[bytes], size: int
) -> None:
    """Logs and archives are often made by appending; what follows the last member is dropped."""
    packed = b"".join(map(PACKERS[encoding], parts)) + b"\0\0\0\0 trailer"
    decoder = decoder_for(encoding)
    assert decoder is not None

    pieces = [packed[start : start + size] for start in range(0, len(packed), size)]

    assert b"".join(decoder.decode(piece, 100_000) for piece in pieces) == b"".join(parts)


def test_a_body_of_countless_empty_members_ends_soon() -> None:
    """Each costs a decoder: after a thousand the rest is dropped."""
    decoder = decoder_for("gzip")
    assert decoder is not None

    out = decoder.decode(gzip.compress(b"") * 20_000 + gzip.compress(b"late"), 100)

    assert out == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_a_bomb_gives_no_more_than_the_limit(encoding: str) -> None:
    """A few kilobytes that say five megabytes; brotli may overshoot by a block of its own."""
    packed = b"\0" * 5_000_000
    for name in encoding.split(", "):
        packed = PACKERS[name](packed)
    decoder = decoder_for(encoding)
    assert decoder is not None

    out = decoder.decode(packed, 1000)

    assert 0 < len(out) <= (100_000 if encoding == "br" else 1000)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "br, gzip"])
@given(data=st.binary(min_size=1, max_size=200))
def test_broken_bodies_fail_in_the_ways_that_are_expected(encoding: str, data: bytes) -> None:
    """The fetcher turns these errors, and no others, into a failed visit."""
    decoder = decoder_for(encoding)
    assert decoder is not None

    try:
        for byte in data:
            decoder.decode(bytes([byte]), 1000)
    except ERRORS:
        pass


@pytest.mark.parametrize("encoding", ["", " ", "identity", "Identity, identity", ","])
def test_where_there_is_nothing_to_undo_there_is_no_decoder(encoding: str) -> None:
    """The usual case costs nothing."""
    assert decoder_for(encoding) is None


@pytest.mark.parametrize(
    "encoding", ["none", "UTF-8", "iso-8859-1", "utf-8, none", "aws-chunked", "8bit", "binary"]
)
def test_what_is_no_content_encoding_is_not_undone(encoding: str) -> None:
    """S3 keeps "aws-chunked" of an upload; servers put charsets there. Such pages all failed."""
    assert decoder_for(encoding) is None


def test_what_is_no_content_encoding_stands_beside_one() -> None:
    """As where a compressed file was put into S3."""
    decoder = decoder_for("aws-chunked,gzip")

    assert decoder is not None
    assert decoder.decode(gzip.compress(b"text"), 100) == b"text"


@pytest.mark.parametrize("encoding", ["compress", "gzip, rot13", "gzip, gzip, gzip", "x" * 5000])
def test_unknown_and_stacked_encodings_are_refused(encoding: str) -> None:
    """More than two layers are an attack; the message stays short."""
    with pytest.raises(FetchError, match="not supported") as refused:
        decoder_for(encoding)

    assert refused.value.kind == "encoding"
    assert len(refused.value.detail) < 200


def test_all_that_is_offered_to_servers_is_understood() -> None:
    """Accept-Encoding and the decoders say the same."""
    assert all(decoder_for(name) is not None for name in ACCEPT_ENCODING.split(", "))
