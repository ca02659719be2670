"""The signature of a page's main content: equal means "nothing changed that a reader would see".

Boilerplate has been cut before this module sees the text. Here goes what changes by itself:
clock times and dates, "5 minutes ago", counters of comments and views, long tokens. Ordinary
numbers stay, because a changed price is a change.

Every crawled page passes here, so the patterns are written for how the matcher searches: each
begins with what it can look for quickly (a digit, the letters that months begin with), and looks
behind for the start of the word afterwards. None takes more than linear time on a hostile page.
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

_MONTH_FIRST: Final = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?<!\w...)"
    r"(?:uary|ruary|ch|il|e|y|ust|tember|t|ober|ember)?\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}\b"
)
_ENDS_IN_YEAR: Final = re.compile(r"\d(?:st|nd|rd|th)?,? \d{4}\b")  # as what begins with a month
_FROM_DIGIT: Final = re.compile(
    r"\d(?<!\w\d)(?:"
    + "|".join(
        (
            r"\d{3}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?\b",
            r"\d?[./]\d{1,2}[./]\d{2,4}\b",
            rf"\d?(?:st|nd|rd|th)?\.? {_MONTH}\.?,? \d{{4}}\b",
            r"\d?:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?"
            r"(?: ?(?:utc|gmt|cet|cest|est|edt|pst|pdt)\b)?",
            rf"\d* {_UNIT} ago\b",
            r"[\d,.]{0,20} (?:comments?|views?|visitors?|users? online|likes?|shares?|replies)\b",
            r"\d{9,}\b",
        )
    )
    + ")"
)
_IN_WORDS: Final = re.compile(
    rf"\b(?:an?|one) {_UNIT} ago\b|\bjust now\b|\b(?:yesterday|today) at\b"
)
_TOKEN: Final = re.compile(
    r"(?<![\w-])(?=[a-z0-9_-]*\d)(?=[a-z0-9_-]*[a-z])[a-z0-9_-]{20,}\b|\b[0-9a-f]{16,}\b"
)
_LONG: Final = 16  # letters in the shortest token
_MARKS: Final = bytes(ord("0") if chr(byte).isdigit() else ord(" ") for byte in range(128)) * 2
_YEARS: Final = (b"0 0000 ", b"0  0000 ", b"0   0000 ", b"0    0000 ")  # 5 2026, 5th, 2026
_FEW: Final = 40  # characters a number, from which on it pays to look only where numbers begin


def signature(text: str) -> bytes:
    """Return a 16-byte signature of main content.

    Texts that differ in nothing but what changes by itself have the same one.
    O(length of the text); at most the first million characters count.
    """
    words = text[:1_000_000].lower().split()
    if max(map(len, words), default=0) >= _LONG:
        words = [word if len(word) < _LONG else _TOKEN.sub("#", word) for word in words]
    stable = " ".join(words)
    stable = _ascii_timeless(stable) if stable.isascii() else _timeless(stable)
    if " ago" in stable or "just now" in stable or "day at" in stable:
        stable = _IN_WORDS.sub("#", stable)
    return xxhash.xxh3_128_digest(stable.encode("utf-8", "replace"))


def _timeless(stable: str) -> str:
    """Blot out times, dates and counters."""
    if _ENDS_IN_YEAR.search(stable):
        stable = _MONTH_FIRST.sub("#", stable)
    return _FROM_DIGIT.sub("#", stable)


def _ascii_timeless(stable: str) -> str:
    """Do the same, four times as fast where numbers are few: bytes tell where they begin."""
    marks = b" " + stable.encode().translate(_MARKS) + b" "
    if any(mark in marks for mark in _YEARS) and _ENDS_IN_YEAR.search(stable):
        return _timeless(stable)
    if _FEW * marks.count(b" 0") > len(stable):
        return _FROM_DIGIT.sub("#", stable)
    kept, end = [], 0
    start = marks.find(b" 0")
    while start >= 0:
        found = _FROM_DIGIT.match(stable, start)
        if found:
            kept.append(stable[end:start])
            end = found.end()
        start = marks.find(b" 0", max(end, start + 1))
    return "#".join([*kept, stable[end:]]) if kept else stable


def raw_hash(body: bytes) -> bytes:
    """Return a 16-byte hash of a body as it came."""
    return xxhash.xxh3_128_digest(body)
