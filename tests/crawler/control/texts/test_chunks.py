"""Pages in pieces: all of it, within bounds, with names that last."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.texts.chunks import chunks

URL = "http://a.test/"
PAGE = """Before.

# Guide

Text of the guide.

## Install it

Run this.

```sh
# no heading
apt-get install it
```

## Use it

One sentence. Another sentence that is longer.

### Use it

Twice the same name.
"""
PLACES = (("Guide", "guide"), ("Install it", "install"), ("Use it", "use"), ("Use it", "use-1"))


def test_a_page_is_cut_at_its_headings() -> None:
    """Code is no heading; each piece has its place, and the address that leads there."""
    found = chunks(URL, PAGE, PLACES, 400)
    assert [(one.headings, one.anchor) for one in found] == [
        ((), ""),
        (("Guide",), "guide"),
        (("Guide", "Install it"), "install"),
        (("Guide", "Use it"), "use"),
        (("Guide", "Use it", "Use it"), "use-1"),
    ]
    assert "# no heading\napt-get" in found[2].text
    assert found[0].text == "Before."


def test_headings_that_are_shown_elsewhere_lead_to_no_other() -> None:
    """A page has headings beside its main text too; marks and case do not count."""
    places = (("News", "news"), ("GUIDE!", "guide"), ("Share", "share"), ("install it", "install"))
    found = chunks(URL, PAGE, places, 400)
    assert [one.anchor for one in found] == ["", "guide", "install", "", ""]


def test_names_last() -> None:
    """What is written elsewhere on a page changes no piece; what changes keeps its name."""
    before = chunks(URL, PAGE, PLACES, 400)
    after = chunks(URL, PAGE.replace("Run this.", "Run that, now."), PLACES, 400)
    assert [one.id for one in before] == [one.id for one in after]
    changed = [one.headings for one, other in zip(before, after, strict=True) if one != other]
    assert changed == [("Guide", "Install it")]
    assert len({one.id for one in before}) == len(before)
    assert not {one.id for one in before} & {
        one.id for one in chunks("http://b.test/", PAGE, (), 400)
    }


CODE = "```sh\n# no heading\n\napt-get install it\n```"
TABLE = "| Name | Said |\n| --- | --: |\n" + "\n".join(f"| n{row} | {row} |" for row in range(5))


@pytest.mark.parametrize("whole", [CODE, CODE.replace("`", "~"), TABLE])
@pytest.mark.parametrize("place", ["- {}\n{}\n{}", "{}\n{}\n{}", "{}\n\n{}\n\n{}"])
def test_code_and_tables_are_whole_where_they_fit(whole: str, place: str) -> None:
    """Whatever stands right before and after them, and however little else fits beside them."""
    page = place.format("Words before it. " * 5, whole, "Words after it. " * 5)
    for most in range(len(whole), len(page)):
        assert sum(whole in one.text for one in chunks(URL, page, (), most)) == 1


@pytest.mark.parametrize("mark", ["- ", "1. ", "> ", "  * "])
def test_code_of_lists_and_quotations_is_whole(mark: str) -> None:
    """It begins after their marks, and blank lines do not end it."""
    beside = mark if ">" in mark else " " * len(mark)
    code = CODE.replace("\n", f"\n{beside}")
    page = f"Words. {'More words. ' * 9}\n{mark}{code}\n\n# Next\n\nWords.\n"
    found = chunks(URL, page, (), len(mark + code) + 8)

    assert sum(mark + code in one.text for one in found) == 1
    assert found[-1].headings == ("Next",)


def test_code_that_stands_in_a_line_begins_none() -> None:
    """What follows is no code: its headings are headings."""
    found = chunks(URL, "```x``` is code.\n\n# Next\n\nWords.\n", (), 400)
    assert [one.headings for one in found] == [(), ("Next",)]


def test_what_is_too_long_is_cut_between_lines() -> None:
    """Rows and lines of code stay whole."""
    for whole in (CODE, TABLE):
        found = chunks(URL, whole, (), 40)
        assert "\n".join(one.text for one in found) == whole
        assert len(found) > 1


@pytest.mark.parametrize(
    ("texts", "whole", "most"),
    [
        (["ab cd", "ef"], "ab cd ef", 5),
        (["One. Two.", "Six."], "One. Two. Six.", 9),
        (["ab\ncd", "ef"], "ab\ncd\nef", 5),
        (["ab\n\ncd", "ef"], "ab\n\ncd\n\nef", 6),
        (["word", "| a |\n|---|\n| c |"], "word\n| a |\n|---|\n| c |", 17),
        (["word\none | two", "six | ten"], "word\none | two\nsix | ten", 20),  # no table
    ],
)
def test_as_much_as_fits_is_together(texts: list[str], whole: str, most: int) -> None:
    """To the character; lines with bars are a table where the second says so."""
    assert [one.text for one in chunks(URL, whole, (), most)] == texts


WORDS = st.text(alphabet="ab .\n#`-|~>\u3002", max_size=400)


@given(WORDS, st.integers(1, 60))
def test_everything_is_in_one_piece(text: str, most: int) -> None:
    """Once, in order, none longer than it may be."""
    found = chunks(URL, text, (), most)
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())
    assert all(len(one.text) <= most for one in found)
    assert len({one.id for one in found}) == len(found)
