"""Content as HTML: what a page wrote can show, and do nothing."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from recrawl.crawler.reports.content import as_html, content_as
from recrawl.terms import Document

URL = "http://a.test/page"
HARMLESS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "img", "em", "strong", "code", "pre", "ul", "ol",
    "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "hr", "br",
}  # fmt: skip


class Seen(HTMLParser):
    """Notes elements and where attributes lead."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.targets: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.targets += [value or "" for name, value in attrs if name in ("href", "src")]


def shown(markdown: str) -> str:
    return as_html(Document(URL, "Title", markdown, 0.0, b"", markdown=markdown))


def test_structure_is_kept() -> None:
    """Headings, lists, tables, code with its language, links."""
    html = shown("# A\n\n- [b](http://b.test/)\n\n```py\nx < 1\n```\n\n|a|b|\n|-|-|\n|1|2|\n")

    assert "<h1>A</h1>" in html
    assert '<a href="http://b.test/">b</a>' in html
    assert '<code class="language-py">x &lt; 1\n</code>' in html
    assert "<td>2</td>" in html


def test_a_copy_is_what_is_asked_for() -> None:
    """Text as it is; without Markdown of its own, paragraphs of it."""
    page = Document(URL, "Title", "one *two*", 0.0, b"")

    assert content_as(page, "text") == "one *two*"
    assert content_as(page, "markdown") == "# Title\n\none \\*two\\*\n"
    assert content_as(page, "html") == "<h1>Title</h1>\n<p>one *two*</p>\n"


@pytest.mark.parametrize(
    "markdown",
    [
        "[a](javascript:alert(1))",
        "[a](JAVA\nSCRIPT:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](&#1;javascript:alert(1))",
        "[a](data:text/html,x)",
        "![a](data:image/png;base64,AAAA)",
        "<javascript:alert(1)>",
        "[a]: vbscript:x\n\n[a]",
        "[a](//c.test/x)",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '[a](http://b.test/" onclick="x)',
        '```x" onclick="y\ncode\n```',
        "[a](file:///etc/passwd)",
        "[a](#b)",
        "[a](\u200bjavascript:x)",
        "[a](java\\script:x)",
        "[a](javascript&colon;x)",
        "[![a](data:,x)](vbscript:x)",
        "| [a](javascript:x) |\n| --- |",
        "[a](https:/c.test)",
    ],
)
def test_nothing_acts(markdown: str) -> None:
    """Whatever a page wrote."""
    seen = Seen()
    seen.feed(shown(markdown))

    assert seen.tags <= HARMLESS
    assert seen.names <= {"href", "src", "alt", "title", "class", "start"}
    assert all(target.startswith(("http://", "https://", "mailto:")) for target in seen.targets)


@given(st.text(st.sampled_from("<>[]()!\"'`*_~|\\&#:;/=- \n\tajsh1\x01"), max_size=200))
def test_nothing_acts_whatever_is_written(markdown: str) -> None:
    """Any signs that mean something, in any order."""
    seen = Seen()
    seen.feed(shown(markdown))

    assert seen.tags <= HARMLESS
    assert seen.names <= {"href", "src", "alt", "title", "class", "start", "style"}


def test_what_is_very_long_comes_as_paragraphs() -> None:
    """Rendering takes longer than in proportion where tables have many columns."""
    table = "|a" * 5_000 + "\n" + "|-" * 5_000 + "\n" + ("|a" * 5_000 + "\n") * 30
    html = as_html(Document(URL, "Title", "one <b>\n\ntwo", 0.0, b"", markdown=table))

    assert html == "<p>one &lt;b&gt;</p>\n<p>two</p>\n"
