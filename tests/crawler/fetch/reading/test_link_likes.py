"""What is no link and leads somewhere all the same."""

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.terms import FetchResponse

A = "http://a.test"


def links(body: str) -> list[tuple[str, str]]:
    html = f"<html><body><main><p>words of the page</p>{body}</main></body></html>"
    found = PageExtractor("recrawl").page(
        FetchResponse(f"{A}/d/x", 200, html.encode(), "text/html")
    )
    return list(zip(found.links, found.anchors, strict=True))


@pytest.mark.parametrize(
    ("element", "to"),
    [
        ("<div onclick=\"location.href='/p/1'\">One</div>", "/p/1"),
        (
            "<table><td onclick='window.location = \"p?id=1\"; return false'>One</table>",
            "/d/p?id=1",
        ),
        ("<li onclick=\"document.location.assign('/p/1')\">One</li>", "/p/1"),
        ("<a href='#' onclick=\"window.open('/p/1', 'w', 'width=300')\">One</a>", "/p/1"),
        ("<a href=\"javascript:window.open('/p/1')\">One</a>", "/p/1"),
        ("<a href=\"JavaScript:location.replace('../p/1');\">One</a>", "/p/1"),
        ("<div data-href='/p/1'>One</div>", "/p/1"),
        ("<a href='#' data-href='/p/1'>One</a>", "/p/1"),
        ("<select onchange='go(this)'><option value='/p/1'>One</option></select>", "/p/1"),
        (
            "<select onchange='go(this)'><option value='one.html'>One</option></select>",
            "/d/one.html",
        ),
    ],
)
def test_what_a_reader_would_click_is_a_link(element: str, to: str) -> None:
    assert links(element) == [(A + to, "One")]


@pytest.mark.parametrize(
    "element",
    [
        "<div onclick=\"location.href='/p/' + this.id\">One</div>",
        "<div onclick=\"show('/p/1')\">One</div>",
        "<div onclick=\"location.href='/p/${one}'\">One</div>",
        "<a href='javascript:void(0)'>One</a>",
        "<a href=\"javascript:location.href='javascript:one()'\">One</a>",
        "<a href='#' rel=nofollow onclick=\"location.href='/p/1'\">One</a>",
        "<div onclick>One</div><div data-href=''>One</div>",
        "<select onchange='go(this)'><option value='1'>One</option><option>Two</option></select>",
        "<select><option value='/p/1'>One</option></select>",
        "<form action='/p/1'><button>One</button></form>",
    ],
)
def test_what_is_put_together_or_asks_for_something_is_none(element: str) -> None:
    assert links(element) == []


def test_a_link_goes_where_it_says_whatever_a_script_adds() -> None:
    assert links("<a href='/p/1' onclick=\"location.href='/counted'\">One</a>") == [
        (f"{A}/p/1", "One")
    ]
