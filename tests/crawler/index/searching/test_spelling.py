"""What a word that nobody has may have been meant to be."""

from collections.abc import Callable

import pytest
from typing_extensions import override

from recrawl.crawler.index.searching.spelling import WordList, meant


class Words(WordList):
    """A few known words, each on a page; stems are the words themselves."""

    def __init__(self, *known: str) -> None:
        self._known = known

    @override
    def pages_with(self, word: str) -> int:
        return int(word in self._known)

    @override
    def beginning(
        self, text: str, limit: int = 20, like: Callable[[str], bool] | None = None
    ) -> list[tuple[str, int]]:
        found = [word for word in self._known if word.startswith(text)]
        return [(word, 1) for word in found if like is None or like(word)][:limit]


@pytest.mark.parametrize(
    ("typed", "known", "found"),
    [
        ("vaccum", "vacuum", True),  # one slip
        ("replacted", "replic", True),  # two in a stem of six, and an ending
        ("wordz", "word", True),
        ("zzzqqqx", "zzif", False),  # half of so short a stem would be wrong
        ("vacuming", "valu", False),
    ],
)
def test_two_slips_are_taken_back_of_words_that_are_long_enough(
    typed: str, known: str, found: bool
) -> None:
    """Of a stem of four letters two slips leave nothing: what comes near is chance."""
    assert bool(meant(typed, Words(known))) is found
