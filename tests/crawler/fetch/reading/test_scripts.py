"""Scripts that make a site's menu: the pages that they name are found."""

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.scripts import MAX_ADDRESSES, MAX_SCRIPTS, read_script
from recrawl.terms import FetchResponse

A = "http://a.test"
PAGE = f"{A}/manual/index.html"
MENU = """var menudata={children:[
{text:"Main Page",url:"index.html"},
{text:"Files",url:'files.html',children:[{text:"a",url:"globals.html#index_a"}]},
{text:"Elsewhere",url:"http://b.test/x.htm"}]}"""


def lists(body: str, url: str = PAGE) -> tuple[str, ...]:
    response = FetchResponse(url=url, status=200, body=body.encode(), content_type="text/html")
    return PageExtractor("recrawl").page(response).scripts


def named(script: str) -> list[str]:
    return [url for url, _ in read_script(script, f"{A}/manual/menudata.js")]


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ("", (f"{A}/manual/menu.js", f"{A}/lib.js")),
        ('<a href="http://b.test/">elsewhere</a>', (f"{A}/manual/menu.js", f"{A}/lib.js")),
        ('<a href="#top">up</a>', (f"{A}/manual/menu.js", f"{A}/lib.js")),
        ('<a href="files.html">files</a>', ()),
    ],
)
def test_where_no_link_leads_on_the_scripts_may(links: str, expected: tuple[str, ...]) -> None:
    """Those of the host only; a page that has links needs none."""
    scripts = (
        '<script src="menu.js"></script><script src="http://cdn.test/jquery.js"></script>'
        '<script src="/lib.js"></script><script>var a = "x.html";</script>'
    )

    assert lists(f"<body>{links}<p>Text.</p>{scripts}</body>") == expected


def test_a_menu_names_pages() -> None:
    """Relative to the script; strings that are no addresses of pages name none."""
    expected = [f"{A}/manual/{name}.html" for name in ("index", "files", "globals")]

    assert named(MENU) == [*expected, "http://b.test/x.htm"]
    assert named("""e+".html"; "text/html"; "a b.html"; '${x}.html'; "*.html"; ".html" """) == []


def test_a_script_is_read_where_a_feed_is() -> None:
    """By its content type: nothing else of it matters."""
    url, body = f"{A}/manual/menudata.js", MENU.encode()
    response = FetchResponse(url=url, status=200, body=body, content_type="text/javascript")

    assert (f"{A}/manual/files.html", None) in PageExtractor("recrawl").feed(response)


def test_what_scripts_bring_is_bounded() -> None:
    """However many are loaded, and whatever they name."""
    many = "".join(f'<script src="s{n}.js"></script>' for n in range(3 * MAX_SCRIPTS))
    long = ",".join(f'"p{n}.html"' for n in range(3 * MAX_ADDRESSES))

    assert len(lists(f"<body>{many}</body>")) == MAX_SCRIPTS
    assert len(named(long)) == MAX_ADDRESSES
