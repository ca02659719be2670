"""Boxes that lead to other pages are no text of the page that they stand on."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from recrawl.crawler.fetch.reading.other_pages import boxes_of_other_pages

OWN = "<p>" + "What this page is about, in words of its own. " * 6 + "</p>"
TEASERS = "".join(
    f"<div><h3><a href=/{n}>Of lamps {n}</a></h3><p>A line of what is said there.</p></div>"
    for n in range(3)
)


def left(box: str, *, own: str = OWN) -> bool:
    """Tell whether a box is left on a page."""
    tree = LexborHTMLParser(f"<body class='has-related-posts'><main>{own}{box}</main>")
    assert tree.body is not None
    for one in boxes_of_other_pages(tree.body):
        one.decompose()
    assert own in (tree.html or "")
    return "Of lamps 2" in tree.text()


@pytest.mark.parametrize(
    "name",
    [
        "related", "related-posts", "related_articles", "relatedposts", "jp-relatedposts",
        "yarpp yarpp-related", "page__related", "RelatedPosts_wrapper__x1Ya", "recent-posts-list",
        "wp-block-latest-posts", "latestNews", "similar-products", "recommended-stories",
        "popular-posts widget", "related-grid", "section-related-content",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tag", ["div", "section", "ul"])
def test_a_box_of_other_pages_is_known_by_its_name(name: str, tag: str) -> None:
    assert not left(f'<{tag} class="{name}">{TEASERS}</{tag}>')


@pytest.mark.parametrize(
    "name",
    [
        "has-related-posts", "no-related", "with-latest-news", "related-work", "relations",
        "correlated", "recent-changes", "recently", "latest", "popular", "similarity", "posts", "",
    ],
)  # fmt: skip
def test_other_names_say_nothing(name: str) -> None:
    assert left(f'<div class="{name}">{TEASERS}</div>')


def test_it_is_the_text_of_a_page_that_has_hardly_another() -> None:
    """As of a start page, that lists the latest; nor is one without a link a box of pages."""
    box = f"<div class=latest-posts>{TEASERS}</div>"

    assert left(box, own="<h1>Lamps</h1>")
    assert left(box + "<p>news of the day </p>" * 3, own="<h1>Lamps</h1>")
    assert left("<div class=related-posts>Of lamps 2 there is nothing else</div>")
    long = (
        f"<div class=latest-posts>{OWN.replace('own', 'own <a href=/7>Of lamps 2</a>') * 2}</div>"
    )
    assert left(long)


def test_what_surrounds_the_page_is_none() -> None:
    """Whatever it is called."""
    tree = LexborHTMLParser(f"<body><div class=related-posts>{OWN}{TEASERS}</div></body>")
    assert tree.body is not None

    assert boxes_of_other_pages(tree.body) == []
    tree = LexborHTMLParser(f"<body class=related-posts><main class=related>{OWN}<a href=/>A</a>")
    assert tree.body is not None
    assert boxes_of_other_pages(tree.body) == []


def test_boxes_in_boxes_are_one() -> None:
    inner = f"<div class=related-grid>{TEASERS}</div>"
    tree = LexborHTMLParser(f"{OWN}<section class=related-posts>{inner}{inner}</section>")
    assert tree.body is not None

    assert [box.tag for box in boxes_of_other_pages(tree.body)] == ["section"]
