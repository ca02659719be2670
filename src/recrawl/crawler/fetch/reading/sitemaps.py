"""Sitemaps and sitemap indexes, plain, gzipped, XML or text; safe on any bytes."""

import codecs
import contextlib
import io
import re
from datetime import UTC, datetime
from typing import Final

from lxml import etree

from recrawl.crawler.control.urls import join
from recrawl.crawler.fetch.decoding import ERRORS, decoder_for
from recrawl.terms import DatedUrls

MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024  # the protocol's own bound, uncompressed
MAX_ENTRIES: Final = 50_000
_DOCTYPE: Final = re.compile(rb"<!DOCTYPE", re.IGNORECASE)
# Nothing is tried twice: what stands in quotes or a comment ends no document type.
_WHOLE_DOCTYPE: Final = re.compile(
    rb"""<!DOCTYPE(?:[^\[>"']|"[^"]*"|'[^']*')*+"""
    rb"""(?:\[(?:[^\]"'<]|"[^"]*"|'[^']*'|<!--.*?-->|<(?!!--))*+\]\s*+)?+>""",
    re.IGNORECASE | re.DOTALL,
)
_GZIP: Final = b"\x1f\x8b"
_MOST_LAYERS: Final = 3  # of archives within archives
_PIECE: Final = 65_536  # bytes of an archive that are unpacked at once
_DECLARATION: Final = re.compile(r"\A\s{0,100}<\?xml[^>]{0,200}\?>")
# What refers to nothing that all of XML knows. The parser recovers from it, but leaves out every
# sign that is written by reference from there on.
_STRAY: Final = re.compile(
    rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)([\w.:-]{1,100};)?", re.IGNORECASE
)
_ENTITY: Final = "\ue000"  # in the place of an entity; no address holds it


def read_sitemap(body: bytes, url: str) -> tuple[DatedUrls, DatedUrls]:
    """Return pages with their lastmod, and further sitemaps with theirs.

    Entities are neither declared nor resolved and nothing is fetched, so XML bombs stay small: an
    address that uses one is left out. A broken file gives what could be read before and after the
    break. O(length).

    Parameters
    ----------
    body : XML, or text with an address a line; compressed by gzip or not
    url : of the sitemap, from which relative addresses are meant
    """
    for _ in range(_MOST_LAYERS):
        if body.startswith(_GZIP):
            body = _gunzip(body)
    body = _in_utf_8(body)
    if body.lstrip()[:1] != b"<":
        return _text_sitemap(body, url), []
    # No sitemap needs a document type, and entities declared in one are how XML bombs work.
    start = _DOCTYPE.search(body)
    found = start and _WHOLE_DOCTYPE.match(body, start.start())  # tried once: a search is quadratic
    if found:
        body = body[: found.start()] + body[found.end() :]
    if _STRAY.search(body):
        body = _mended(body)
    pages: DatedUrls = []
    sitemaps: DatedUrls = []
    with contextlib.suppress(etree.XMLSyntaxError, ValueError):  # what came before a break counts
        _read_xml(body, url, pages, sitemaps)
    return pages, sitemaps


def _read_xml(body: bytes, url: str, pages: DatedUrls, sitemaps: DatedUrls) -> None:
    steps = etree.iterparse(
        io.BytesIO(body),
        events=("end",),
        recover=True,
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    location: str | None = None
    lastmod: float | None = None
    for _, element in steps:
        tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        parent = element.getparent()
        inner = parent is not None and parent.tag.rpartition("}")[2] not in ("url", "sitemap")
        if tag == "loc" and not inner:
            location = (element.text or "").strip()
        elif tag == "lastmod":
            lastmod = _instant(element.text or "")
        elif tag in ("url", "sitemap"):
            found = join(url, location) if location and _ENTITY not in location else None
            if found and tag == "url":
                pages.append((found, lastmod))
            elif found:
                sitemaps.append((found, lastmod))
            location, lastmod = None, None
            element.clear()
            while element.getprevious() is not None:  # memory stays flat however long the file
                del element.getparent()[0]
        if len(pages) + len(sitemaps) >= MAX_ENTRIES:
            return


def _mended(body: bytes) -> bytes:
    """Write signs that refer to nothing as they ought to be, where they are meant to refer."""
    pieces: list[bytes] = []
    at = 0
    while at < len(body):
        start = body.find(b"<![CDATA[", at)
        start = len(body) if start < 0 else start
        pieces.append(_STRAY.sub(_written, body[at:start]))
        end = body.find(b"]]>", start)
        at = len(body) if end < 0 else end
        pieces.append(body[start:at])
    return b"".join(pieces)


def _written(stray: re.Match[bytes]) -> bytes:
    return b"&#%d;" % ord(_ENTITY) if stray[1] else b"&amp;"


def _gunzip(body: bytes) -> bytes:
    """Unpack all members of an archive, up to where it is broken."""
    decoder, found, left = decoder_for("gzip"), [b""], MAX_SITEMAP_BYTES
    assert decoder is not None
    with contextlib.suppress(*ERRORS):
        for start in range(0, len(body), _PIECE):
            found.append(decoder.decode(body[start : start + _PIECE], left))
            left -= len(found[-1])
            if left <= 0:
                break
    return b"".join(found)


def _in_utf_8(body: bytes) -> bytes:
    """Return a body that begins as UTF-16 does in UTF-8, without a declaration of the former."""
    if not body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.removeprefix(codecs.BOM_UTF8)
    told = body[:MAX_SITEMAP_BYTES].decode("utf-16", "replace")
    return _DECLARATION.sub("", told, count=1).encode("utf-8", "replace")


def _text_sitemap(body: bytes, url: str) -> DatedUrls:
    lines = body[:MAX_SITEMAP_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    found = [
        join(url, line.strip())
        for line in lines[:MAX_ENTRIES]
        if line.strip().startswith(("http://", "https://"))
    ]
    return [(page, None) for page in found if page]


def _instant(text: str) -> float | None:
    """Return a W3C date or time as epoch seconds; a date without a zone is taken as UTC."""
    text = text.strip()
    if len(text) in (4, 7):
        text += "-01-01"[: 10 - len(text)] if len(text) == 4 else "-01"
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
