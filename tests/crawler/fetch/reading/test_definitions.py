"""Names that a page explains without a heading."""

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.terms import Extract, FetchResponse


def read(html: str) -> Extract:
    body = f"<body><main><h1>Shapes</h1>{html}</main></body>".encode()
    return PageExtractor("recrawl").page(
        FetchResponse("https://a.test/shapes", 200, body, "text/html", "utf-8")
    )


@pytest.mark.parametrize(
    "html",
    [
        "<div id=method-i-move><div><span>move</span><span>(by)</span></div><p>Moves it.</p></div>",
        "<a name=shapes.Shape.move></a> <a name=move> </a>"
        "<div>def <span>move</span>(by)</div><p>Moves it.</p>",
        "<section id=Shape.move><div><span>def</span> <b>move</b>(by)</div>Moves it.</section>",
        "<p><a id=v:move href='#v:move'>move</a> :: Int</p><p>Moves it.</p>",
    ],
)
def test_what_begins_with_the_name_of_its_place_is_explained_there(html: str) -> None:
    """Wherever that belongs, and however it is shown; said once."""
    found = read(html)

    assert found.headings == ("Shapes", "move")
    assert found.text.startswith("Shapes\n")


@pytest.mark.parametrize(
    "html",
    [
        "<div id=move>Moves <span>it</span>.</div>",
        "<div id=move><h2>How to</h2><p><b>move</b></p></div>",
        f"<div id=move>{'<p>It is a shape.</p>' * 12}<b>move</b></div>",
        "<a name=move></a>You may <b>move</b> it.",
        "<div id=id-by><b>by</b></div>",
        "<div id=move><b>move it</b></div>",
    ],
)
def test_what_only_mentions_the_name_of_its_place_explains_nothing(html: str) -> None:
    """Nor what is called by a heading, or by two letters."""
    assert set(read(html).headings) <= {"Shapes", "How to"}
