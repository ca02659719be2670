"""Requests as they are kept: JSON where that says all, Scrapy's dictionary pickled elsewhere.

What is pickled is read back from the state alone, which nobody else may write (as Scrapy's own
job directories are).
"""

import json
import pickle
from base64 import b64decode, b64encode
from math import isfinite
from typing import Any, Final

import msgspec
import xxhash
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

META: Final = "recrawl"  # key of a request's meta that holds the number of its page
_PICKLE: Final = 4
# Of Scrapy's defaults nothing is kept: most requests are an address and a callback.
_DEFAULTS: Final[dict[str, Any]] = {
    "method": "GET", "headers": {}, "body": b"", "cookies": {}, "meta": {}, "encoding": "utf-8",
    "priority": 0, "dont_filter": False, "flags": [], "cb_kwargs": {}, "callback": None,
    "errback": None,
}  # fmt: skip
_PLAIN: Final = frozenset({str, int, bool, type(None)})
_encode: Final = msgspec.json.Encoder().encode


def page_id_of(spider: str, fingerprint: bytes) -> int:
    """Return the number of a page: of a spider's name and Scrapy's fingerprint of the request."""
    return xxhash.xxh3_64_intdigest(spider.encode() + b"\0" + fingerprint) >> 1


def encode_request(request: Request, spider: Spider) -> bytes:
    """Return a request as bytes.

    Parameters
    ----------
    request : to be kept
    spider : whose methods its callbacks are

    Raises
    ------
    ValueError
        It cannot be stored: a callback is no method of the spider, or a value cannot be pickled.
    """
    told = _told(request, spider)
    as_json = _as_json(told)
    if as_json is not None:
        return as_json
    try:
        return pickle.dumps(_DEFAULTS | told, protocol=_PICKLE)
    except Exception as error:  # whatever an object's own pickling raises
        raise ValueError(f"cannot be pickled: {error}") from error


def _told(request: Request, spider: Spider) -> dict[str, Any]:
    """Return what ``Request.to_dict`` says, without what is as usual and what is ours."""
    names = (_method(spider, request.callback), _method(spider, request.errback))
    if type(request) is Request and None not in names:
        # What nobody has asked for yet is None beneath, and would be made by being asked for:
        # a request that waits would hold five more objects.
        told = {
            name: getattr(request, name)
            for name in Request.attributes
            if getattr(request, f"_{name}", name) is not None
        }
        told["callback"], told["errback"] = names[0] or None, names[1] or None
        if "headers" in told:
            told["headers"] = dict(told["headers"])
    else:
        told = request.to_dict(spider=spider)
    meta = told.get("meta", ())
    if META in meta:
        told["meta"] = {name: value for name, value in meta.items() if name != META}
    return {
        name: value
        for name, value in told.items()
        if name not in _DEFAULTS or value != _DEFAULTS[name]
    }


def _method(spider: Spider, callback: Any) -> str | None:
    """Return the name of a spider's method; "": there is none to name, None: not this easily.

    Scrapy looks through all that a spider has, for each request.
    """
    if callback is None:
        return ""
    name = getattr(callback, "__name__", None)
    function = getattr(callback, "__func__", None)
    if name is None or function is None:
        return None
    return name if getattr(getattr(spider, name, None), "__func__", None) is function else None


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
        return _encode(plain) if _is_plain(plain) else None
    except (ValueError, OverflowError, RecursionError):  # half a character, a number of 20 digits
        return None


def _is_plain(value: Any) -> bool:
    """Tell whether JSON gives a value back as it is; not so tuples, and numbers as keys."""
    kind = type(value)
    if kind is dict:
        return all(type(name) is str and _is_plain(one) for name, one in value.items())
    if kind is list:
        return all(map(_is_plain, value))
    return kind in _PLAIN or (kind is float and isfinite(value))


def decode_request(kept: bytes, spider: Spider) -> Request:
    """Return the request that was kept.

    Parameters
    ----------
    kept : of :func:`encode_request`
    spider : whose methods its callbacks are

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


def is_readable(kept: bytes, spider: Spider) -> bool:
    """Tell whether :func:`decode_request` reads it."""
    try:
        decode_request(kept, spider)
    except ValueError:
        return False
    return True
