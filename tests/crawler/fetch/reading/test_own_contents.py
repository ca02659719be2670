"""A page's own table of contents is no text of it."""

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.reading_rules import ContentRule, ReadingRules
from recrawl.terms import Extract, FetchResponse

URL = "https://a.test/docs/ferns.html"
BODY = (
    "<h1>Ferns</h1>{}<p>They grow.</p><h2 id='1'>1.1. Leaves<a href='#1'>\u00b6</a></h2><p>Green."
    "</p><h3 id='2'>grow(<i>x</i>)</h3><p>Up.</p><h2 id='3'>Spores</h2><p>Brown.</p>{}"
)
WITHOUT = "Ferns\nThey grow.\n1.1. Leaves\nGreen.\ngrow(x)\nUp.\nSpores\nBrown."


def read(contents: str, *rules: ContentRule, at_end: bool = False) -> Extract:
    """Read a page with something before its text, or behind it."""
    html = BODY.format(*(("", contents) if at_end else (contents, "")))
    response = FetchResponse(URL, 200, f"<body>{html}</body>".encode(), "text/html", "utf-8")
    return PageExtractor("recrawl", ReadingRules(rules)).page(response)


CONTENTS = (
    "<ul><li><a href='#1'>Leaves</a><ul><li><a href='#2'>grow(x)</a></ul>"
    "<li><a href='#3'>Spores</a></ul>",
    "<details><summary>On this page</summary><ol><li><a href='#1'>1.1 Leaves</a>"
    "<li><a href='#3'>2 Spores</a></ol></details>",
    "<div class=toc><p><b>Table of Contents</b></p><dl><dt><span><a href='ferns.html#1'>1.1. Leaves"
    "</a></span><dd><dl><dt><a href='ferns.html#2'>1.1.1. <code>grow(x)</code></a></dl></dl></div>",
    "<div><div><span>1.1 <a href='#1'>Leaves</a></span><br><span><a href='#2'><code>grow(x)</code>"
    "</a></span></div><p><a href='#3'>2 Spores</a></p></div>",
    "<div><div>Inhalt</div><ul><li>1.1 <a href='#1'>Leaves</a><li>2 "
    "<a href='#3'>Spores</a></ul></div>",
)


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("contents", CONTENTS)
def test_a_list_of_the_headings_of_a_page_is_no_text_of_it(contents: str, *, at_end: bool) -> None:
    """With its name, whatever language that is in; numbers of chapters or not."""
    assert read(contents, at_end=at_end).text == WITHOUT


@pytest.mark.parametrize(
    ("said", "html"),
    [
        (
            "Leaves\nSpores",
            "<ul><li><a href='moss.html#1'>Leaves</a><li><a href='b'>Spores</a></ul>",
        ),
        ("Leaves", "<ul><li><a href='#1'>Leaves</a></ul>"),
        ("Spores\nLeaves", "<ul><li><a href='#3'>Spores</a><li><a href='#1'>Leaves</a></ul>"),
        ("Roots\nLeaves", "<ul><li><a href='#4'>Roots</a><li><a href='#1'>Leaves</a></ul>"),
        (
            "Leaves are what you see first of a fern.\nSpores are in brown dots below them.",
            "<ul><li><a href='#1'>Leaves</a> are what you see first of a fern.<li>"
            "<a href='#3'>Spores</a> are in brown dots below them.</ul>",
        ),
    ],
)
def test_lists_that_say_something_else_are_text(said: str, html: str) -> None:
    """Of other pages, of what is no heading, with words behind the links."""
    assert said in read(html).text


def test_what_names_a_few_of_many_headings_is_text() -> None:
    """As what may be chosen from, in a text; or which of several kinds something is."""
    parts = "".join(f"<h2 id='p{n}'>Part {n}x</h2><p>Says {n}." for n in range(20))
    few = "<ul><li><a href='#p3'>Part 3x</a></li><li><a href='#p5'>Part 5x</a></li></ul>"
    dims = (
        "<dl><dt>kind<dd>It is told by <ul><li>1 for all of <a href='#1'>Leaves</a><li>2 for none "
        "of <a href='#3'>Spores</a></ul></dl>"
    )

    below = "".join(f"<h3 id='o{n}'>Option {n}</h3>" for n in range(2))
    of_one = "<ul><li><a href='#o0'>Option 0</a></li><li><a href='#o1'>Option 1</a></li></ul>"

    assert "By:\nOption 0\nOption 1" in read(f"{parts}<p>By:</p>{of_one}{below}").text
    assert "These:\nPart 3x\nPart 5x" in read(f"{parts}<p>These:</p>{few}").text
    assert "1 for all of Leaves\n2 for none of Spores" in read(dims).text


def test_what_is_around_a_table_of_contents_is_text_if_it_says_more_than_a_name() -> None:
    """A summary, say."""
    lead = "All that is known of ferns, told in three parts for those in a hurry"
    assert read(f"<div><p>{lead}</p>{CONTENTS[0]}</div>").text == WITHOUT.replace(
        "They", f"{lead}\nThey", 1
    )


def test_what_a_rule_selects_is_text() -> None:
    """People have said so."""
    rule = ContentRule("*", "ul")
    assert read(CONTENTS[0], rule).text == "Leaves\ngrow(x)\nSpores"


def test_a_drawing_leads_to_places_by_an_attribute_of_its_own() -> None:
    """Such a link is no link of the page's text, and no hindrance."""
    drawn = "<svg><a xlink:href='#1'><text>Leaves</text></a></svg>"

    assert read(drawn + CONTENTS[0]).text == WITHOUT


def test_what_the_page_is_called_is_no_name_of_its_table_of_contents() -> None:
    """Also where it stands in one box with that: "Ferns of the woods" stays, "Contents" goes."""
    for name, text in (
        ("Ferns of the woods", f"Ferns of the woods\n{WITHOUT}"),
        ("Contents", WITHOUT),
    ):
        html = BODY.format("", "").replace("<h1>", f"<div>{CONTENTS[0]}{name}</div><h1>")
        page = f"<title>Ferns of the woods - Manual</title><body>{html}</body>"
        response = FetchResponse(URL, 200, page.encode(), "text/html", "utf-8")

        assert PageExtractor("recrawl").page(response).text == text
