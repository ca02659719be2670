"""The part of a text that is worth showing for a query: short, whatever the length of the page."""

from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["best_passage"]

_MOST_TEXT: Final = 100_000  # characters that are looked through
_MOST_PLACES: Final = 8  # of each word
_MOST_WORDS: Final = 8


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
    begin = _where_most_are_near([list(_places(lowered, word)) for word in wanted], near)
    if begin <= near // 2:
        return text[:length]
    begin -= near // 2
    space = text.find(" ", begin, begin + near // 2)
    begin = space + 1 if space >= 0 else begin
    return text[begin : begin + length]


def _where_most_are_near(places: Sequence[Sequence[int]], near: int) -> int:
    """Return the first place after which most words follow within so many characters."""
    found = [of_word for of_word in places if of_word]
    if not found:
        return 0
    firsts = [of_word[0] for of_word in found]
    if max(firsts) < min(firsts) + near:
        return min(firsts)
    best, begin = 0, 0
    every = sorted((at, number) for number, of_word in enumerate(found) for at in of_word)
    for row, (at, _) in enumerate(every):
        seen = {number for place, number in every[row : row + 24] if place < at + near}
        if len(seen) > best:
            best, begin = len(seen), at
        if best == len(found):
            break
    return begin


def _places(text: str, word: str) -> Iterator[int]:
    """Yield where words begin so."""
    at, found = text.find(word), 0
    while at >= 0 and found < _MOST_PLACES:
        if at == 0 or not text[at - 1].isalnum():
            yield at
            found += 1
        at = text.find(word, at + len(word))
