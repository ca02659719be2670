"""The part of a text that is worth showing for a query: short, whatever the length of the page."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

_MOST_TEXT: Final = 100_000  # characters that are looked through
_MOST_PLACES: Final = 8  # of each word
_MOST_WORDS: Final = 8
_SENTENCE: Final = 60  # characters of a line, from which on it is likely one
_PROSE: Final = 0.5  # of a word
# Words of these need no space between them.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\U0010ffff]")
_GROWS: Final = "\u0130"  # a capital I with a dot: the one letter that is two when it is small
_BEGINNING: Final = re.compile(r"(?:[.!?]\s|\n)\s*")


def best_passage(
    text: str, beginnings: Sequence[str], *, near: int = 160, length: int = 300
) -> str:
    """Return the passage in which most of the words occur near to each other.

    Parameters
    ----------
    text : of the page
    beginnings : how the words begin, in lower case: endings differ
    near : characters within which words count as near
    length : of the passage, in characters

    Returns
    -------
    str
        The first of the best ones; the beginning of the text where no word occurs.
    """
    lowered = text[:_MOST_TEXT].replace(_GROWS, "I").lower()  # else places would be off
    wanted = [word for word in dict.fromkeys(beginnings) if word][:_MOST_WORDS]
    return _sentences(text, _where_most_are_near(lowered, wanted, near), near, length)


def _where_most_are_near(text: str, words: Sequence[str], near: int) -> int:
    """Return the first place from which on most words stand within so many characters.

    Of each word the first places count, and what stands shortly before them: one that a page says
    again and again begins many passages without the others. Among places of as many words a
    sentence comes before a heading or a cell of a table.
    """
    first = {at for word in words for at in islice(_places(text, word), _MOST_PLACES)}
    before = {
        at for place in first for word in words for at in _places(text, word, place - near, place)
    }
    best, begin = 0.0, 0
    for at in sorted(first | before):
        end = at + near
        n_seen = sum(next(_places(text, word, at, end), None) is not None for word in words)
        worth = n_seen + (_PROSE if _line_length(text, at) >= _SENTENCE else 0.0)
        if worth > best:
            best, begin = worth, at
    return begin


def _line_length(text: str, at: int) -> int:
    end = text.find("\n", at, at + _SENTENCE)
    begin = text.rfind("\n", max(at - _SENTENCE, 0), at)
    return (end if end >= 0 else at + _SENTENCE) - (begin if begin >= 0 else at - _SENTENCE)


def _sentences(text: str, at: int, near: int, length: int) -> str:
    """Return the passage from the beginning of the sentence, or of a word if that is far."""
    earliest = max(at - near, 0)
    begins = [found.end() for found in _BEGINNING.finditer(text, earliest, at)]
    if begins:
        begin = begins[-1]
    elif earliest == 0:
        begin = 0
    else:
        space = text.find(" ", at - near // 2, at)
        begin = space + 1 if space >= 0 else at
    passage = text[begin : begin + length]
    ends = [found.start() + 1 for found in _BEGINNING.finditer(passage, at - begin + 1)]
    return passage[: ends[-1]].rstrip() if ends and ends[-1] > length // 2 else passage


def _places(text: str, word: str, begin: int = 0, end: int = _MOST_TEXT) -> Iterator[int]:
    """Yield where words begin so, between two places."""
    at = text.find(word, max(begin, 0), end)
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum() or _UNSPACED.search(text[at - 1] + word[0]):
            yield at
        at = text.find(word, at + len(word), end)
