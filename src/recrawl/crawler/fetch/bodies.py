"""The body of an answer: received and decoded up to a bound, and no further where it is no text."""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Final, NamedTuple

import aiohttp

from recrawl.crawler.fetch.decoding import ERRORS, Decoder, decoder_for
from recrawl.errors import FetchError

_HEAD: Final = 1_445  # bytes that tell whether a body is text
_MARKS: Final = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")  # byte orders of text
_WHOLE: Final = b"</html>"
_NO_TEXT: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class Body(NamedTuple):
    """A decoded body; a binary one that was called text is not read further."""

    content: bytes = b""
    received: int = 0
    is_cut: bool = False
    is_binary: bool = False


def _is_binary(head: bytes) -> bool:
    """Tell whether what is called plain text begins as no text does (WHATWG MIME Sniffing, 7.2)."""
    return not head.startswith(_MARKS) and _NO_TEXT.search(head, 0, _HEAD) is not None


async def read_body(
    answer: aiohttp.ClientResponse, limit: int, *, truncate: bool, text_only: bool
) -> Body:
    """Read and decode a body, up to the limit.

    Servers call what they do not know plain text, or nothing: archives, disks.

    Parameters
    ----------
    answer : of which the headers are here
    limit : bytes, of what is received and of what that decodes to
    truncate : cut a longer body there; else it raises :class:`FetchError`, ``too-large``
    text_only : do not read to its end what is called so and is no text
    """
    is_told = "Content-Type" in answer.headers
    suspect = text_only and (answer.content_type == "text/plain" or not is_told)
    decoder = decoder_for(answer.headers.get("Content-Encoding", ""))
    declared = answer.content_length
    if declared is not None and declared > limit and not truncate:
        raise FetchError("too-large", f"{declared} bytes declared, {limit} allowed")
    received = 0
    size = 0
    pieces: list[bytes] = []
    async for piece in _pieces(answer, pieces):
        received += len(piece)
        decoded = piece if decoder is None else _decode(decoder, piece, limit - size + 1)
        size += len(decoded)
        pieces.append(decoded)
        if suspect and size > 0:
            if _is_binary(b"".join(pieces)[:_HEAD]):
                answer.close()
                return Body(received=received, is_binary=True)
            suspect = size < _HEAD
        if max(size, received) > limit:
            if not truncate:
                raise FetchError("too-large", f"more than {limit} bytes")
            return Body(b"".join(pieces)[:limit], received, is_cut=True)
    return Body(pieces[0] if len(pieces) == 1 else b"".join(pieces), received)


async def _pieces(
    answer: aiohttp.ClientResponse, decoded: Sequence[bytes]
) -> AsyncGenerator[bytes, None]:
    """Yield what comes; a page is whole where its mark-up ends, whatever length was announced.

    Servers announce more than they send, or never say that they are done; browsers show it.
    """
    try:
        async for piece in answer.content.iter_any():
            yield piece
    except aiohttp.ClientPayloadError as error:
        if not b"".join(decoded[-2:]).rstrip().lower().endswith(_WHOLE):
            raise FetchError("disconnected", str(error)[:300]) from error


def _decode(decoder: Decoder, piece: bytes, limit: int) -> bytes:
    try:
        return decoder.decode(piece, limit)
    except ERRORS as error:
        raise FetchError("encoding", f"broken content encoding: {error}") from error
