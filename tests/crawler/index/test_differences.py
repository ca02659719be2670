"""What a page says anew: the lines that came and went, and no more of them than can be kept."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.index.differences import difference

LINES = st.lists(st.text("ab \u00e9", min_size=1, max_size=6), max_size=12).map("\n".join)


def test_a_line_that_became_another_stands_before_it() -> None:
    """And what has nothing in common with any stands alone."""
    before = "Version 3.1 of the manual\nThis paragraph goes.\nThis one stays."
    after = "Version 3.2 of the manual\nThis one stays.\n0123456789 is new"

    assert difference(before, after).split("\n") == [
        "-Version 3.1 of the manual",
        "+Version 3.2 of the manual",
        "-This paragraph goes.",
        "+0123456789 is new",
    ]


def test_long_lines_are_clipped_to_where_they_part() -> None:
    """A paragraph of thousands of characters in which one word is another."""
    before = "x" * 5_000 + " black " + "y" * 5_000
    told = difference(before, before.replace("black", "white")).split("\n")

    assert [line[0] for line in told] == ["-", "+"]
    assert "black" in told[0]
    assert "white" in told[1]
    assert all(len(line) < 250 for line in told)


def test_the_number_of_lines_is_bounded() -> None:
    """Whatever was replaced."""
    before, after = ("\n".join(f"{word} {n}" for n in range(9_999)) for word in ("old", "fresh"))

    assert len(difference(before, after).split("\n")) <= 24


def test_lines_that_only_moved_are_no_difference() -> None:
    """Nor is a text that stayed as it was."""
    assert difference("one\ntwo\nthree", "three\none\ntwo") == ""
    assert difference("one", "one") == ""


@given(LINES, LINES)
def test_only_lines_of_the_one_go_and_of_the_other_come(before: str, after: str) -> None:
    """As short lines are not clipped: what went stood there before, what came stands there now."""
    told = [line for line in difference(before, after).split("\n") if line]

    assert all(line[1:] in before.split("\n") for line in told if line[0] == "-")
    assert all(line[1:] in after.split("\n") for line in told if line[0] == "+")
