"""The entries of feeds within bounds: of RSS and Atom by feedparser, and of JSON Feed."""

import calendar
import codecs
import io
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from recrawl.crawler.control.urls import join
from recrawl.terms import DatedUrls

MAX_FEED_BYTES: Final = 1024 * 1024
MAX_ENTRIES: Final = 1_000

_ROOT: Final = re.compile(rb"<(?:\w{1,20}:)?(?:rss|feed|RDF)[\s>]")
_BEGINNING: Final = 2_048  # bytes


def is_feed(body: bytes) -> bool:
    """Tell whether a sitemap is a feed, as the protocol of sitemaps allows, by how it begins."""
    return _ROOT.search(body, 0, _BEGINNING) is not None


def read_feed(body: bytes, url: str) -> DatedUrls:
    """Return the addresses of a feed's entries, in its order, at most a thousand, with their dates.

    A date is when the entry says that it was last updated, else published, in epoch seconds.

    A feed that cannot be read gives nothing. Nor does one that declares entities: no feed needs
    them, and expanding them is how XML bombs work.

    Parameters
    ----------
    body : its first MiB is read
    url : of the feed, from which relative addresses are meant
    """
    body = body[:MAX_FEED_BYTES]
    if b"<!ENTITY" in body or b"<!entity" in body:
        return []
    if body.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{":
        return _addresses(_json_entries(body), url)
    import feedparser  # takes a twentieth of a second: only who reads feeds pays

    # As a stream: feedparser opens a file where bytes happen to name one.
    stream = io.BytesIO(body)
    try:
        parsed = feedparser.parse(stream, sanitize_html=False, resolve_relative_uris=False)
    except Exception:  # the parser raises whatever it trips over in broken feeds
        return []
    return _addresses(((entry.get("link"), _date_of(entry)) for entry in parsed.entries), url)


def _addresses(entries: Iterable[tuple[Any, float | None]], url: str) -> DatedUrls:
    """Return addresses in normal form, each once, with the date of the first entry that has it."""
    found: dict[str, float | None] = {}
    for link, dated_s in islice(entries, MAX_ENTRIES):
        address = join(url, link) if isinstance(link, str) and link else None
        if address is not None:
            found.setdefault(address, dated_s)
    return list(found.items())


def _json_entries(body: bytes) -> Iterable[tuple[Any, float | None]]:
    """Yield links and dates of a JSON Feed: an item without an address often has it as its name."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return
    items = told.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            name = item.get("id")
            is_address = isinstance(name, str) and name.startswith(("http://", "https://"))
            link = item.get("url") or (name if is_address else None)
            yield link, _instant(item.get("date_modified") or item.get("date_published"))


def _instant(told: Any) -> float | None:
    """Return the epoch seconds of an instant that has a zone, as RFC 3339 writes it."""
    try:
        at = datetime.fromisoformat(told)
        return at.timestamp() if at.tzinfo is not None else None
    except (TypeError, ValueError):
        return None


def _date_of(entry: Mapping[str, Any]) -> float | None:
    """Return an entry's date where there is a sound one."""
    for name in ("updated_parsed", "published_parsed"):
        if name in entry:
            try:
                return float(calendar.timegm(entry[name]))
            except (TypeError, ValueError, OverflowError):
                return None
    return None
