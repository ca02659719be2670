"""Data that an index keeps of a page unsearched: Markdown, and what the page says of itself."""

from typing import Final

import msgspec

from recrawl.terms import About, Document

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(tuple[str, About | None])


def packed(document: Document) -> bytes | None:
    """Return it as bytes; None where there is nothing."""
    if not document.markdown and document.about is None:
        return None
    return _ENCODER.encode((document.markdown, document.about))


def unpacked(held: bytes | None) -> tuple[str, About | None]:
    """Return Markdown, and what the page says of itself."""
    return ("", None) if held is None else _DECODER.decode(held)
