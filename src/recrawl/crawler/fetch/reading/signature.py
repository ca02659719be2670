"""The signature of a page's main content: equal means "nothing changed that a reader would see".

Boilerplate has been cut before this module sees the text. Here goes what changes by itself:
clock times and dates, "5 minutes ago", counters of comments and views, long tokens; in other
languages by :mod:`.passing`. Ordinary numbers stay, because a changed price is a change.

Every crawled page passes here, so the patterns are written for how the matcher searches: each
begins with what it can look for quickly (a digit, the letters that months begin with), and looks
behind for the start of the word afterwards. None takes more than linear time on a hostile page.
"""

import re
from typing import Final

import xxhash

from recrawl.crawler.control.texts.letters import lower
from recrawl.crawler.fetch.reading.passing import without_passing

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
            r"\d{3}(?:-\d{2}-|/\d{2}/)\d{2}"
            r"(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?\b",
            rf"\d{{3}}[ -]{_MONTH}[ -]\d{{1,2}}\b",
            r"\d?[./]\d{1,2}[./]\d{2,4}\b",
            rf"\d?(?:st|nd|rd|th)?\.? {_MONTH}\.?,? \d{{4}}\b",
            r"\d?:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?"
            r"(?: ?(?:utc|gmt|cet|cest|est|edt|pst|pdt)\b)?",
            rf"\d*(?:\.\d)?(?: {_UNIT},?(?: and)? \d{{1,4}}){{0,3}} {_UNIT} ago\b",  # and more
            r"[\d,.]{0,20} (?:(?:page|profile|total|unique) (?:views?|visits?|visitors?)|comments?"
            r"|views?|visitors?|users? online|likes?|shares?|replies|reads)\b",
            r"\d{9,}\b",
        )
    )
    + ")"
)
_ROUGHLY: Final = (  # before an age, of which there is but a mark by then
    "half", "about", "almost", "around", "over", "nearly", "less than", "more than",
)  # fmt: skip
_IN_WORDS: Final = re.compile(
    rf"\b(?:an?|one|a few) {_UNIT} ago\b|\bjust now\b|\b(?:yesterday|today) at\b"
)
_TOKEN: Final = re.compile(
    r"(?<![\w-])(?=[a-z0-9_-]*\d)(?=[a-z0-9_-]*[a-z])[a-z0-9_-]{20,}\b|\b[0-9a-f]{16,}\b"
)
_LONG: Final = b"x" * 16  # the shortest token, as a shape
_ASCII: Final = range(128)
_PLAIN: Final = bytes(32 if chr(b).isspace() else ord(chr(b).lower()) for b in _ASCII) * 2
_SOLID: Final = bytes(32 if b == 32 else ord("x") for b in range(256))
_MARKS: Final = bytes(ord("0") if chr(byte).isdigit() else ord(" ") for byte in _ASCII) * 2
_YEARS: Final = (b"0 0000 ", b"0  0000 ", b"0   0000 ", b"0    0000 ")  # 5 2026, 5th, 2026
_FEW: Final = 20  # characters a number, from which on it pays to look only where numbers begin
# First bytes in UTF-8 of the scripts that have digits of their own, and of much that has none.
_OTHER_DIGITS: Final = bytes(
    ord("?" if byte in b"\xd9\xdb\xdf\xe0\xe1\xea" or byte >= 0xEF else " ") for byte in range(256)
)


def signature(text: str) -> bytes:
    """Return a 16-byte signature of main content.

    Texts that differ in nothing but what changes by itself have the same one.
    O(length of the text); at most the first million characters count.
    """
    plain = _plain(text[:1_000_000])
    stable = _without_times(without_passing(_without_tokens(plain)))
    if " ago" in stable or "just now" in stable or "day at" in stable:
        stable = _IN_WORDS.sub("#", stable)
    if " ago" in plain:
        for roughly in _ROUGHLY:
            stable = stable.replace(f" {roughly} #", " #")
    return xxhash.xxh3_128_digest(stable.encode("utf-8", "replace"))


def _plain(text: str) -> str:
    """Return the words in lower case, a space between two."""
    if not text.isascii():
        return " ".join(lower(text).split())
    plain = text.encode().translate(_PLAIN)
    return (b" ".join(plain.split()) if b"  " in plain else plain.strip()).decode()


def _without_tokens(plain: str) -> str:
    """Blot out long tokens; only words that are long enough are looked at."""
    shape = plain.encode("ascii", "replace").translate(_SOLID) + b" "  # a byte a character
    start = shape.find(_LONG)
    if start < 0:
        return plain
    kept, end = [], 0
    while start >= 0:
        kept.append(plain[end:start])
        end = shape.find(b" ", start)
        kept.append(_TOKEN.sub("#", plain[start:end]))
        start = shape.find(_LONG, end)
    return "".join([*kept, plain[end:]])


def _without_times(stable: str) -> str:
    """Blot out times, dates and counters; a table of bytes tells where numbers begin."""
    if not stable.isascii() and _may_have_other_digits(stable):
        return _searched(stable)
    marks = stable.encode("ascii", "replace").translate(_MARKS) + b" "  # a byte a character
    numbers = marks.split()
    if b"0000" in numbers and any(mark in marks for mark in _YEARS):
        return _searched(stable)
    if _FEW * len(numbers) > len(stable):
        return _FROM_DIGIT.sub("#", stable)
    kept, end = [], 0
    start = marks.find(b"0")
    while start >= 0:
        found = _FROM_DIGIT.match(stable, start)
        if found:
            kept.append(stable[end:start])
            end = found.end()
        start = marks.find(b"0", found.end() if found else marks.find(b" ", start))
    return "#".join([*kept, stable[end:]]) if kept else stable


def _may_have_other_digits(stable: str) -> bool:
    return b"?" in stable.encode("utf-8", "replace").translate(_OTHER_DIGITS)


def _searched(stable: str) -> str:
    """Do the same by searching the whole text, also for dates that begin with a month."""
    if _ENDS_IN_YEAR.search(stable):
        stable = _MONTH_FIRST.sub("#", stable)
    return _FROM_DIGIT.sub("#", stable)


def raw_hash(body: bytes) -> bytes:
    """Return a 16-byte hash of a body as it came."""
    return xxhash.xxh3_128_digest(body)
