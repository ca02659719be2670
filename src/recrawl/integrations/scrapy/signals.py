"""Signatures that tell changes of a page: of body, text, or the items that it gives."""

import json
from collections.abc import Iterable
from typing import Any

import xxhash
from itemadapter import ItemAdapter
from scrapy.http import Response


def response_signature(response: Response, change: str) -> bytes:
    """Return a signature of what a response says.

    Parameters
    ----------
    response : with its body decompressed
    change : ``body``: every byte counts; ``text``: what a reader would see of its main part, but
        for what changes by itself, such as clock times
    """
    if change == "text":
        # What reads pages is large; most projects compare bodies.
        from recrawl.crawler.wiring.reading import text_signature

        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        return text_signature(response.url, response.body, kind)
    return xxhash.xxh3_128_digest(response.body)


def item_hash(item: Any, volatile: frozenset[str]) -> bytes:
    """Return a hash of an item's fields, in any order.

    Parameters
    ----------
    item : anything that Scrapy takes for an item, or a mapping
    volatile : names of fields that are no change, and left out
    """
    fields = ItemAdapter(item).asdict() if ItemAdapter.is_item(item) else item
    kept = {key: value for key, value in fields.items() if key not in volatile}
    text = json.dumps(kept, sort_keys=True, default=_said)
    return xxhash.xxh3_128_digest(text.encode())


def _said(value: Any) -> Any:
    """Return what JSON cannot say; sets are in another order in every process."""
    return sorted(map(repr, value)) if isinstance(value, set | frozenset) else repr(value)


def items_signature(items: Iterable[bytes], links: Iterable[str]) -> bytes:
    """Return a signature of the items of a page, or of where it leads if it gives none.

    Parameters
    ----------
    items : hashes of :func:`item_hash`, in any order
    links : addresses, in any order and any number of times
    """
    hashes = sorted(items)
    if not hashes:
        hashes = [link.encode() for link in sorted(set(links))]
    return xxhash.xxh3_128_digest(b"\0".join(hashes))
