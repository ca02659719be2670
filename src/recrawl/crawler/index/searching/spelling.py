"""Spelling corrections, from the words that an index knows."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

_WORD: Final = re.compile(r"\w+")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_LONGEST: Final = 24  # letters of a word that is looked for with an error in it
_MOST_LIKE: Final = 3
_MOST_BEGINNING: Final = 4_000
_ENDING: Final = 5  # letters that a stemmer takes away


class WordList:
    """Words with the number of pages that have them; what is not abstract may be done better."""

    @abstractmethod
    def pages_with(self, word: str) -> int:
        """Return how many pages have a word."""

    @abstractmethod
    def beginning(
        self, text: str, limit: int = 20, like: Callable[[str], bool] | None = None
    ) -> list[tuple[str, int]]:
        """Return words that begin so, the most common first.

        Parameters
        ----------
        limit : words that are looked at
        like : a test that they pass
        """

    def known(self, words: Sequence[str]) -> dict[str, int]:
        """Return those that some page has, each with how many have it."""
        return {word: n for word in words if (n := self.pages_with(word))}

    def stem(self, word: str) -> str:
        """Return the form by which a word is known."""
        return word

    def stem_of_beginning(self, text: str) -> str | None:
        """Return a known stem that ends before the beginning of a word does: ``replicati``."""
        del text
        return None


def meant(word: str, words: WordList) -> list[tuple[str, float]]:
    """Return words like one that nobody has, with how likely each was meant, at most 1.

    One letter too many, too few, wrong, or in its neighbour's place is looked for first; then two
    of those in words of five letters or more, where the first two are right.

    Parameters
    ----------
    word : in lower case; shorter than 3 letters or longer than 24 it is like none
    words : that are known
    """
    if not 3 <= len(word) <= _LONGEST:
        return []
    off = dict(_one_off(word))
    found = [(one, n, off[one]) for one, n in words.known(list(off)).items()]
    if not found and len(word) > 4:
        stem = words.stem(word)

        def likely(one: str) -> float:
            is_near = _may_be_two_off(word, one)
            return max(_likely(word, one), _likely(stem, one)) if is_near else 0.0

        near = words.beginning(word[:2], _MOST_BEGINNING, lambda one: likely(one) > 0.0)
        found = [(one, n, likely(one)) for one, n in near]
    found.sort(key=lambda one: (-one[2] * (one[1] ** 0.5), one[0]))
    return [(one, likely) for one, _, likely in found[:_MOST_LIKE]]


def respelled(query: str, words: WordList) -> str | None:
    """Return the query with unknown words replaced, or None where nothing comes near.

    Parameters
    ----------
    query : as typed; what follows its first 200 characters is left out
    words : that are known
    """
    is_new = False

    def better(match: re.Match[str]) -> str:
        nonlocal is_new
        word = match.group().lower()
        if words.pages_with(word):
            return match.group()
        likely = meant(word, words)
        if not likely:
            return match.group()
        is_new = True
        return likely[0][0]

    text = _WORD.sub(better, query[:200])
    return text if is_new else None


def _one_off(word: str) -> Iterator[tuple[str, float]]:
    """Yield what a word may be with one error taken back; slips of the order are the commonest."""
    seen = {word}
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    ways: list[tuple[Iterable[str], float]] = [
        ((a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1), 1.0),
        ((a + b[1:] for a, b in cuts if b), 0.9),
        ((a + letter + b for a, b in cuts for letter in _LETTERS), 0.9),
        ((a + letter + b[1:] for a, b in cuts if b for letter in _LETTERS), 0.7),
    ]
    for made, likely in ways:
        for one in made:
            if one not in seen:
                seen.add(one)
                yield one, likely


def _may_be_two_off(word: str, other: str) -> bool:
    # Half of a stem of four letters would be wrong, and the rest taken for an ending.
    if len(other) < 5 or not -10 < len(other) - len(word) < 3 or not other.isalpha():
        return False
    return len(set(other) - set(word)) <= 2


def _likely(word: str, stem: str) -> float:
    """Return how likely a word is one of a stem with two errors in it, 0 for more of them.

    Letters that follow the stem are an ending, up to five of them. O(length squared).
    """
    two_above: list[int] = []
    above = list(range(len(stem) + 1))
    best = 0.0
    for row, letter in enumerate(word, start=1):
        here = [row]
        for column, sign in enumerate(stem, start=1):
            cost = min(above[column] + 1, here[-1] + 1, above[column - 1] + (letter != sign))
            if row > 1 and column > 1 and letter == stem[column - 2] and sign == word[row - 2]:
                cost = min(cost, two_above[column - 2] + 1)
            here.append(cost)
        if here[-1] <= 2 and len(word) - row <= _ENDING:
            best = max(best, 0.9 - 0.3 * here[-1] - 0.05 * (len(word) - row))
        if min(here) > 2:
            break
        two_above, above = above, here
    return best
