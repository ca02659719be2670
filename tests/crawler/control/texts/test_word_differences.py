"""What changed in a line, word by word."""

import pytest

from recrawl.crawler.control.texts.word_differences import word_steps

LONG = " ".join(["so", "it", "is"] * 66 + ["so"])  # 199 words, with as many spaces but one


def test_of_a_long_line_the_words_that_changed_are_told() -> None:
    """However often the others are said."""
    steps = word_steps(f"one {LONG}", f"two {LONG}")

    assert steps == [("-", "one"), ("+", "two"), (" ", f" {LONG}")]


@pytest.mark.parametrize(
    ("before", "after"), [("one", f"one {LONG} {LONG}"), (f"one {LONG} {LONG}", "one")]
)
def test_of_more_than_four_hundred_words_all_went_and_came(before: str, after: str) -> None:
    """And spaces, and signs; on either side."""
    assert word_steps(before, after) == [("-", before), ("+", after)]
