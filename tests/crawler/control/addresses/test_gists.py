"""Fingerprints of texts: what is the same in another order, what nearly is, and what is not."""

from collections.abc import Callable

import pytest

from recrawl.crawler.control.addresses.gists import _bits, content_hash, gist, is_akin, is_near

LISTED = " ".join(f"word{n}" for n in range(40))
TABLE = " ".join("0 1 1 0 1 0 0 1".split() * 10)
LONG = " ".join(f"word{n:05}" for n in range(6_000))[:50_000]


@pytest.mark.parametrize(
    ("is_same", "one", "other"),
    [
        (True, LISTED, " ".join(reversed(LISTED.split()))),
        (False, LISTED, LISTED.replace("word7 ", "word8 ")),
        (False, TABLE, " ".join(sorted(TABLE.split()))),  # few words: their order counts
        (True, LONG, f"{LONG}more"),
        (False, LONG, f"{LONG[:-1]}."),
        (True, f"{LISTED} 3 days ago", f"{LISTED} about an hour ago"),
    ],
)
def test_copies_have_a_mark_in_common(one: str, other: str, *, is_same: bool) -> None:
    """Of the first 50 000 characters, however long ago they say that something was."""
    assert (content_hash("Title", one) == content_hash("TITLE", other)) == is_same
    assert content_hash("Title", one) != content_hash("Another", one)


def test_a_text_that_is_too_short_has_no_mark() -> None:
    assert content_hash("Title", " ".join("abcdefghi")) == 0
    assert content_hash("Title", " ".join("abcdefghij")) != 0


@pytest.mark.parametrize(("is_told", "n_named", "n_others"), [
    (False, 0, 9), (True, 0, 10), (True, 6, 10), (True, 6, 6), (False, 4, 5)
])  # fmt: skip
def test_texts_of_few_words_are_near_nothing(n_named: int, n_others: int, *, is_told: bool) -> None:
    """Ten are enough, those that stand in the address among them where others are too few."""
    names = "alpha beta gamma delta epsilon zeta".split()[:n_named]
    text = " ".join(names + LISTED.split()[:n_others])

    assert (gist(text, f"http://a.test/{'-'.join(names)}").near != 0) == is_told


@pytest.mark.parametrize(("alike", "bits"), [(is_near, 12), (is_akin, 20)])
def test_texts_are_alike_that_differ_in_few_bits(
    alike: Callable[[int, int], bool], bits: int
) -> None:
    """In no more than so many; nothing is alike of which too little is known."""
    one = 0x0123_4567_89AB_CDEF

    assert alike(one, one ^ (2**bits - 1))
    assert not alike(one, one ^ (2 ** (bits + 1) - 1))
    assert alike(1, 3)
    assert not alike(0, 3)
    assert not alike(3, 0)


def test_words_have_the_same_bits_in_every_process() -> None:
    """Else who says more would be decided by luck, where two words share a bit."""
    bits = _bits(["ferns", "lamps"])
    assert [place for place in range(bits.bit_length()) if bits >> place & 1] == [170, 1059]
