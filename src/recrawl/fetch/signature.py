"""The signature of a page's main content: equal means "nothing changed that a reader would see".

Boilerplate has been cut before this module sees the text. Here goes what changes by itself:
clock times and dates, "5 minutes ago", counters of comments and views, long tokens. Ordinary
numbers stay, because a changed price is a change.
"""

import re
from typing import Final

import xxhash

__all__ = ["raw_hash", "signature"]

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_UNIT: Final = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)"
_FLEETING: Final = re.compile(
    "|".join(
        (
            r"\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
            r"(?:z|[+-]\d{2}:?\d{2})?)?\b",
            r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b",
            rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH}\.?,? \d{{4}}\b",
            rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b",
            r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?"
            r"(?: ?(?:utc|gmt|cet|cest|est|edt|pst|pdt)\b)?",
            rf"\b(?:\d+|an?|one) {_UNIT} ago\b|\bjust now\b|\b(?:yesterday|today) at\b",
            r"\b\d[\d,.]* (?:comments?|views?|visitors?|users? online|likes?|shares?|replies)\b",
            r"\b(?=[a-z0-9_-]*\d)(?=[a-z0-9_-]*[a-z])[a-z0-9_-]{20,}\b|\b[0-9a-f]{16,}\b|\b\d{10,}\b",
        )
    )
)
_SPACE: Final = re.compile(r"\s+")


def signature(text: str) -> bytes:
    """Return a 16-byte signature of main content.

    Texts that differ in nothing but what changes by itself have the same one.
    O(length of the text); at most the first million characters count.
    """
    lowered = text[:1_000_000].lower()
    stable = _FLEETING.sub("#", lowered)
    return xxhash.xxh3_128_digest(_SPACE.sub(" ", stable).strip().encode("utf-8", "replace"))


def raw_hash(body: bytes) -> bytes:
    """Return a 16-byte hash of a body as it came."""
    return xxhash.xxh3_128_digest(body)
