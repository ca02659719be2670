"""Letters by script, and small ones of whole texts, quickly where all beyond ASCII is typography.

Python takes five times as long for the letters of a page that has a single curly quote in it as for
one in plain ASCII. Most such pages have quotes, dashes and blanks only, which have no case.
"""

import re
from functools import lru_cache
from typing import Final
from unicodedata import is_normalized, normalize

# Within brackets of an expression: Chinese, Japanese and Korean, of which each sign tells much; and
# Thai to Khmer, which put no space between words, and whose vowels are signs of their own.
SIGNS: Final = "\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
VOWELS_APART: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
)
_ASCII: Final = bytes(range(128))
# In UTF-8: Latin-1's signs but the micro sign, which folds to a letter, and general punctuation.
_WITHOUT_CASE: Final = re.compile(rb"(?:\xc2[\x80-\xb4\xb6-\xbf]|\xe2\x80[\x80-\xbf])*")
# First bytes in UTF-8 of Thai to Khmer, and of all from Chinese on.
_RUN_ON: Final = b"\xe0\xe1" + bytes(range(0xE3, 0xF0))
_OTHERS: Final = bytes(set(range(256)).difference(_RUN_ON))


def composed(text: str) -> str:
    """Return a text with each letter and its accents as one sign, where there is one. O(length).

    Files of some systems, PDFs and Vietnamese keyboards have them apart, and people type them so.
    """
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def lower(text: str) -> str:
    """Return ``text.lower()``. O(length)."""
    return text.lower() if text.isascii() else _lower(text) or text.lower()


def folded(text: str) -> str:
    """Return ``text.casefold()``. O(length)."""
    return text.lower() if text.isascii() else _lower(text) or text.casefold()


@lru_cache(1)  # asked some four times a page
def folded_words(text: str) -> tuple[str, ...]:
    """Return the words of ``folded(text)``, between white space. O(length)."""
    return tuple(folded(text).split())


def _lower(text: str) -> str | None:
    """Return the text in small letters if no letter beyond ASCII is in it, else None."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:  # half a pair
        return None
    others = raw.translate(None, _ASCII)
    return raw.lower().decode() if _WITHOUT_CASE.fullmatch(others) else None


def may_run_on(text: str) -> bool:
    """Tell whether a text may hold letters of scripts that put no space between words. O(length).

    False only if it holds none of U+0800 to U+1FFF and of U+3000 to U+FFFF.
    """
    return not text.isascii() and bool(text.encode("utf-8", "replace").translate(None, _OTHERS))
