"""Small letters of whole texts are those that Python gives, however they are come by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.texts.letters import folded, lower, may_run_on

TYPOGRAPHY = st.text(
    st.sampled_from("AZaz 09") | st.characters(min_codepoint=0x80, max_codepoint=0xBF)
    | st.characters(min_codepoint=0x2000, max_codepoint=0x203F)
)  # fmt: skip


@given(st.text() | TYPOGRAPHY)
def test_letters_are_those_of_python(text: str) -> None:
    assert lower(text) == text.lower()
    assert folded(text) == text.casefold()


@pytest.mark.parametrize(
    "text", ["", "Fox\u2019s \u2013 MAIN", "5 \u00b5m", "A\ud800B", "STRASSE ß"]
)
def test_signs_that_only_seem_to_have_no_case(text: str) -> None:
    assert (lower(text), folded(text)) == (text.lower(), text.casefold())


@given(st.text())
def test_scripts_that_run_on_are_never_overlooked(text: str) -> None:
    ranges = ((0x0800, 0x1FFF), (0x3000, 0xD7FF), (0xE000, 0xFFFF))
    runs_on = any(first <= ord(letter) <= last for letter in text for first, last in ranges)
    assert may_run_on(text) == runs_on


@pytest.mark.parametrize(
    ("text", "runs_on"), [("caf\u00e9 \u2019", False), ("\u0e01", True), ("\u3042", True)]
)
def test_scripts_by_example(text: str, runs_on: bool) -> None:
    assert may_run_on(text) is runs_on
