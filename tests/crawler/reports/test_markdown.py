"""Markdown of a copy: whatever the text holds, a renderer shows the same words."""

import re
from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from recrawl.crawler.reports.markdown import as_markdown
from recrawl.terms import Document

LINE = st.text(
    st.sampled_from("ab1.)#*_-+=`~[]<>&|!\\ \u00e9\u4e2d"), min_size=1, max_size=12
).filter(str.strip)


class Words(HTMLParser):
    """Gathers text, and the names of the elements that it stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


def rendered(markdown: str) -> Words:
    found = Words()
    found.feed(MarkdownIt("commonmark").enable("table").render(markdown))
    return found


def test_title_and_headings_stand_above_their_paragraphs() -> None:
    """The title once, where the text begins with it."""
    page = Document(
        "http://a.test/", "The Manual", "The Manual\nHow to\nTake it_up.\n1. one", 0.0, b"",
        ("The Manual", "How to"),
    )  # fmt: skip

    assert as_markdown(page) == "# The Manual\n\n## How to\n\nTake it\\_up.\n\n1\\. one\n"
    assert as_markdown(Document("http://a.test/", "", "", 0.0, b"")) == ""


@given(LINE, st.lists(LINE, max_size=5), st.sets(st.integers(0, 4)))
@example("1 #", ["# ##", "a ### #"], {0, 1})
def test_what_is_rendered_are_the_same_words(
    title: str, lines: list[str], marked: set[int]
) -> None:
    """Nothing in a text is a mark: only headings and paragraphs come out, with all characters."""
    headings = tuple(line for row, line in enumerate(lines) if row in marked)
    page = Document("http://a.test/", title, "\n".join(lines), 0.0, b"", headings)
    shown = rendered(as_markdown(page))

    first = lines[1:] if lines and " ".join(lines[0].split()) == title.strip() else lines
    wanted = " ".join(" ".join(" ".join((title, *first)).split()).split())
    assert re.sub(r"\s+", " ", "".join(shown.text)).strip() == wanted
    assert set(shown.tags) <= {"h1", "h2", "p"}
