"""The part of a text that is worth showing for a query: short, whatever the length of the page."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_MOST_TEXT: Final = 100_000  # characters that are looked through
_MOST_PLACES: Final = 8  # of each word
_MOST_WORDS: Final = 8
_SENTENCE: Final = 60  # characters of a line, from which on it is likely one
_PROSE: Final = 0.5  # of a word
# Words of these need no space between them.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\U0010ffff]")
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
    looked_through = text[:_MOST_TEXT]
    lowered = looked_through.lower()
    if len(lowered) != len(looked_through):  # a few letters grow: places would be off
        lowered = "".join(
            small if len(small := sign.lower()) == 1 else sign for sign in looked_through
        )
    wanted = [word for word in dict.fromkeys(beginnings) if word][:_MOST_WORDS]
    places = [list(_places(lowered, word)) for word in wanted]
    return _sentences(text, _where_most_are_near(text, places, near), near, length)


def _where_most_are_near(text: str, places: Sequence[Sequence[int]], near: int) -> int:
    """Return the first place after which most words follow within so many characters.

    Among places of as many words a sentence comes before a heading or a cell of a table.
    """
    best, begin = 0.0, 0
    every = sorted((at, number) for number, of_word in enumerate(places) for at in of_word)
    for row, (at, _) in enumerate(every):
        seen = {number for place, number in every[row : row + 24] if place < at + near}
        worth = len(seen) + (_PROSE if _line_length(text, at) >= _SENTENCE else 0.0)
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


def _places(text: str, word: str) -> Iterator[int]:
    """Yield where words begin so."""
    at, found = text.find(word), 0
    while at >= 0 and found < _MOST_PLACES:
        if at == 0 or not text[at - 1].isalnum() or _UNSPACED.search(text[at - 1] + word[0]):
            yield at
            found += 1
        at = text.find(word, at + len(word))
