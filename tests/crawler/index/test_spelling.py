"""What a word that nobody has may have been meant to be."""

import pytest

from recrawl.crawler.index.spelling import meant


class Words:
    """A few known words, each on a page; stems are the words themselves."""

    def __init__(self, *known: str) -> None:
        self._known = known

    def pages_with(self, word: str) -> int:
        return int(word in self._known)

    def beginning(self, text: str, limit: int = 20) -> list[tuple[str, int]]:
        return [(word, 1) for word in self._known if word.startswith(text)][:limit]

    def stem(self, word: str) -> str:
        return word


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
