"""Boxes that say who is on a site are no text of its pages."""

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.terms import Extract, FetchResponse

OWN = "<p>" + "What this page is about, in words of its own. " * 6 + "</p>"


def read(box: str, own: str = OWN) -> Extract:
    """Return what is read of a page with a box below its text."""
    html = f"<title>Of lamps</title><body class='has-users-online'><main>{own}{box}</main>"
    response = FetchResponse("http://a/", 200, html.encode(), content_type="text/html")
    return PageExtractor("recrawl").page(response)


@pytest.mark.parametrize(
    "named",
    [
        'class="stat-block online-list"', 'id="whos_online"', 'id="wgo_onlineusers"',
        'id="block-user-online"', 'class="whosonline"', 'class="block-whosOnline"',
        'class="block block-views-blockwho-s-online-who-s-online-block"', 'id="onlinelist"',
        'class="who-is-online-widget"', 'class="online_users"', 'class="MembersOnline"',
    ],
)  # fmt: skip
def test_who_is_on_a_site_is_no_text_of_a_page(named: str) -> None:
    """Whatever the language; what stands beside it is as it was."""
    box = f"<div {named}><h3>Wer ist online?</h3><p>{{}} und {{}} Gäste</p></div><p>Below it.</p>"
    one, later = read(box.format("Ann", 5)), read(box.format("Bob", 12))

    assert one.signature == later.signature
    assert "Gäste" not in one.text
    assert one.text.endswith("Below it.")


@pytest.mark.parametrize(
    "named",
    [
        'class="online"', 'class="inline-list"', 'class="online-shop"', 'class="online-courses"',
        'id="onlineusersguide"', 'class="buy-online list"', 'class="online-listings"', "",
    ],
)  # fmt: skip
def test_other_boxes_are_text(named: str) -> None:
    box = f"<div {named}><p>Lamps, {{}} crowns each</p></div>"
    one, later = read(box.format(5)), read(box.format(6))

    assert "Lamps, 5 crowns" in one.text
    assert one.signature != later.signature


@pytest.mark.parametrize("tag", ["section", 'div class="section"', "h2", "span"])
def test_a_section_of_a_manual_may_have_that_name(tag: str) -> None:
    """``#online-users``, after its heading."""
    box = f"<{tag} id=online-users>Online users<p>Who is there is told by a command.</p></{tag}>"

    assert "Online users" in read(box).text


def test_it_is_the_text_of_a_page_that_says_nothing_else() -> None:
    """As of the page that lists who is there."""
    assert "Ann" in read("<div id=whos_online>Ann, Bob, and 5 guests</div>", "<h1>Here</h1>").text


def test_a_box_may_be_called_so_in_large_letters_alone() -> None:
    html = f"<title>Of lamps</title><body><main>{OWN}<div class=MembersOnline>5 Gäste</div></main>"
    response = FetchResponse("http://a/", 200, html.encode(), content_type="text/html")

    assert "Gäste" not in PageExtractor("recrawl").page(response).text
