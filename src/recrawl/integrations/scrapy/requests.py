"""Requests as they are kept: JSON where that says all, Scrapy's dictionary pickled elsewhere.

What is pickled is read back from the state alone, which nobody else may write (as Scrapy's own
job directories are).
"""

import json
import pickle
from base64 import b64decode, b64encode
from typing import Any, Final

import xxhash
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

__all__ = ["META", "decode_request", "encode_request", "page_id_of"]

META: Final = "recrawl"  # key of a request's meta that holds the number of its page
_PICKLE: Final = 4
# Of Scrapy's defaults nothing is kept: most requests are an address and a callback.
_DEFAULTS: Final[dict[str, Any]] = {
    "method": "GET", "headers": {}, "body": b"", "cookies": {}, "meta": {}, "encoding": "utf-8",
    "priority": 0, "dont_filter": False, "flags": [], "cb_kwargs": {}, "callback": None,
    "errback": None,
}  # fmt: skip


def page_id_of(spider: str, fingerprint: bytes) -> int:
    """Return the number of a page: of a spider's name and Scrapy's fingerprint of the request."""
    return xxhash.xxh3_64_intdigest(spider.encode() + b"\0" + fingerprint) >> 1


def encode_request(request: Request, spider: Spider) -> bytes:
    """Return a request as bytes.

    Raises
    ------
    ValueError
        It cannot be stored: a callback is no method of the spider, or a value cannot be pickled.
    """
    told = request.to_dict(spider=spider)
    told["meta"] = {name: value for name, value in told["meta"].items() if name != META}
    short = {
        name: value
        for name, value in told.items()
        if name not in _DEFAULTS or value != _DEFAULTS[name]
    }
    as_json = _as_json(short)
    if as_json is not None:
        return as_json
    try:
        return pickle.dumps(told, protocol=_PICKLE)
    except Exception as error:  # whatever an object's own pickling raises
        raise ValueError(f"cannot be pickled: {error}") from error


def _as_json(told: dict[str, Any]) -> bytes | None:
    plain = dict(told)
    if "headers" in plain:
        plain["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in plain["headers"].items()
        }
    if "body" in plain:
        plain["body"] = b64encode(plain["body"]).decode("ascii")
    try:
        text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    # Tuples and numbers as keys would come back as something else.
    return text.encode() if _is_same(json.loads(text), plain) else None


def _is_same(read: Any, given: Any) -> bool:
    if type(read) is not type(given):
        return False
    if isinstance(given, dict):
        return read.keys() == given.keys() and all(_is_same(read[k], given[k]) for k in given)
    if isinstance(given, list):
        return all(map(_is_same, read, given))
    return bool(read == given)


def decode_request(kept: bytes, spider: Spider) -> Request:
    """Return the request that was kept.

    Raises
    ------
    ValueError
        It cannot be read: the spider has no such callback any more, or the bytes are damaged.
    """
    try:
        if kept[:1] != b"{":
            return request_from_dict(pickle.loads(kept), spider=spider)
        told = json.loads(kept)
        if "headers" in told:
            told["headers"] = {
                name.encode("latin-1"): [value.encode("latin-1") for value in values]
                for name, values in told["headers"].items()
            }
        if "body" in told:
            told["body"] = b64decode(told["body"])
        return request_from_dict(told, spider=spider)
    except ValueError:
        raise
    except Exception as error:  # a class that is gone, bytes that are no pickle
        raise ValueError(f"{type(error).__name__}: {error}") from error
