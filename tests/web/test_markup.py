"""What strangers write stays text."""

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from recrawl.web.markup import Markup, element, joined, link, plain


@given(st.text())
def test_text_is_never_markup(text: str) -> None:
    """Whatever it holds, a parser finds one element and the same text again."""
    made = element("p", text, title=text)

    assert "<" not in made[3:-4].replace('"', "").removeprefix(">")
    paragraphs = HTMLParser(made).css("p")
    assert len(HTMLParser(made).css("body *")) == 1
    assert paragraphs[0].attributes["title"] == plain(text)
    assert unescape(made[made.index(">") + 1 : -4]) == plain(text)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//x.test/",
        "ftp://x.test/",
        "",
    ],
)
def test_only_web_addresses_are_links(url: str) -> None:
    """Everything else is shown, and leads nowhere."""
    assert "<a" not in link(url, "here")
    assert "here" in link(url, "here")


def test_a_link_tells_nobody_where_it_was_found() -> None:
    """No referrer, no opener, and no vote for the page."""
    made = link("https://a.test/?a=1&b=2", "<here>")

    assert made == (
        '<a href="https://a.test/?a=1&amp;b=2" rel="noopener noreferrer nofollow">&lt;here&gt;</a>'
    )


def test_names_that_turn_the_direction_round_are_defused() -> None:
    """A file that ends in exe does not look as if it ended in pdf."""
    assert joined("invoice\u202efdp.exe") == "invoice\ufffdfdp.exe"


def test_attributes_stand_alone_or_are_left_out() -> None:
    """As Python says it: True, None, and names with a trailing underscore."""
    made = element("input", class_="a", required=True, value=None, data_x=3, disabled=False)

    assert made == '<input class="a" required data-x="3">'
    assert isinstance(made, Markup)
