"""Tells the charset of a page that declares none and is no UTF-8, by its bytes.

In the languages of western Europe a letter beyond ASCII stands mostly alone among ASCII letters, in
Chinese, Japanese, Korean and Cyrillic such bytes stand together. Only where they do, a charset is
looked for, and one is taken only where nearly all of the page is ordinary writing in it: kana among
the signs of Japanese, the common syllables of Korean, the common characters of Chinese, the
frequent letters of Cyrillic in lower case. All else is Windows-1252, as browsers have it.
"""

import re
from typing import Final

_SAMPLE: Final = 65_536  # bytes beyond ASCII, with what is beside them
_FEWEST: Final = 24  # of them, below which nothing is told
_MOST_ALONE: Final = 0.5  # of them
_MOST_WRONG: Final = 0.01  # of the characters read may be none
_BEYOND: Final = re.compile(rb"[\x80-\xff][\x30-\x39\x40-\x7e\x80-\xff]*")
_ALONE: Final = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")

_KANA: Final = re.compile("[\u3041-\u30fc]")
_HALF_WIDTH: Final = re.compile("[\uff61-\uff9f]")
_LEAST_KANA: Final = 0.25  # of the characters beyond ASCII
_MOST_HALF_WIDTH: Final = 0.05

# Pairs of bytes by the rows that they are of.
_PAIR: Final = re.compile(rb"[\xa1-\xfe]{2}")
_PAIR_OF_BIG5: Final = re.compile(rb"[\xa1-\xf9][\x40-\x7e\xa1-\xfe]")
_OF_SYLLABLES: Final = range(0xB0, 0xC9)  # all of Korean, in EUC-KR
_OF_COMMON: Final = range(0xB0, 0xD8)  # the common characters of GB 2312, ordered by sound
_OF_COMMON_BIG5: Final = range(0xA4, 0xC7)
_OF_SIGNS: Final = range(0xA1, 0xB0)
_OF_SIGNS_BIG5: Final = range(0xA1, 0xA4)
_LEAST_SYLLABLES: Final = 0.95
_LEAST_COMMON: Final = 0.9
_LEAST_IN_PAIRS: Final = 0.9  # of the bytes beyond ASCII
_FEWEST_SORTS: Final = 10  # of characters: a line of arrows or of boxes is no writing

_CYRILLIC: Final = re.compile("[\u0400-\u045f\u0490\u0491]")
_LOWER: Final = re.compile("[\u0430-\u045f\u0491]")
_FREQUENT: Final = re.compile("[оеаинтсрі]")  # half of any text, or more
_LEAST_CYRILLIC: Final = 0.85
_LEAST_LOWER: Final = 0.6  # of the letters
_LEAST_FREQUENT: Final = 0.45  # of the letters in lower case


def charset_by_bytes(body: bytes) -> str:
    """Return the name of Python's codec for a body that is no UTF-8; ``cp1252`` in doubt.

    Takes time in proportion to the body, and no more than a few milliseconds beyond one search.
    """
    held = bytearray()
    for found in _BEYOND.finditer(body):
        held += found[0][: _SAMPLE - len(held)] + b" "
        if len(held) >= _SAMPLE:
            break
    sample = bytes(held)
    beyond = sum(byte >= 0x80 for byte in sample)
    if beyond < _FEWEST or len(_ALONE.findall(sample)) > _MOST_ALONE * beyond:
        return "cp1252"
    return _japanese(sample) or _cyrillic(sample) or _of_pairs(sample, beyond) or "cp1252"


def _japanese(sample: bytes) -> str | None:
    for codec in ("euc_jp", "cp932"):
        text, n = _read(sample, codec)
        if (
            n
            and len(_KANA.findall(text)) >= _LEAST_KANA * n
            and len(_HALF_WIDTH.findall(text)) <= _MOST_HALF_WIDTH * n
        ):
            return codec
    return None


def _cyrillic(sample: bytes) -> str | None:
    for codec in ("cp1251", "koi8_u"):
        text, n = _read(sample, codec)
        letters = len(_CYRILLIC.findall(text))
        lower = len(_LOWER.findall(text))
        if (
            n
            and letters >= _LEAST_CYRILLIC * n
            and lower >= _LEAST_LOWER * letters
            and len(_FREQUENT.findall(text)) >= _LEAST_FREQUENT * lower
        ):
            return codec
    return None


def _of_pairs(sample: bytes, beyond: int) -> str | None:
    """Return the charset of Korean or Chinese."""
    pairs = _PAIR.findall(sample)
    if 2 * len(pairs) >= _LEAST_IN_PAIRS * beyond:
        leads = [pair[0] for pair in pairs if pair[0] not in _OF_SIGNS]
        if _share(leads, _OF_SYLLABLES) >= _LEAST_SYLLABLES and _read(sample, "cp949")[1]:
            return "cp949"
        if _share(leads, _OF_COMMON) >= _LEAST_COMMON and _read(sample, "gb18030")[1]:
            return "gb18030"
        return None
    leads = [pair[0] for pair in _PAIR_OF_BIG5.findall(sample) if pair[0] not in _OF_SIGNS_BIG5]
    if _share(leads, _OF_COMMON_BIG5) >= _LEAST_COMMON and _read(sample, "big5")[1]:
        return "big5"
    return None


def _share(leads: list[int], rows: range) -> float:
    return sum(lead in rows for lead in leads) / max(len(leads), 1)


def _read(sample: bytes, codec: str) -> tuple[str, int]:
    """Return a sample as a codec reads it, and its characters beyond ASCII; 0: it is not in it."""
    text = sample.decode(codec, "replace")
    beyond = [sign for sign in text if not sign.isascii()]
    is_writing = len(set(beyond)) >= _FEWEST_SORTS
    return text, len(beyond) if is_writing and text.count("\ufffd") <= _MOST_WRONG * len(
        beyond
    ) else 0
