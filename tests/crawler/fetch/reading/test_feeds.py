"""Feeds: the addresses of their entries and when these were updated, and nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.crawler.control.urls import normalise
from recrawl.crawler.fetch.reading.feeds import MAX_ENTRIES, read_feed

A = "http://a.test"


def read(body: str | bytes) -> list[str]:
    return [url for url, _ in dated(body)]


def dated(body: str | bytes) -> list[tuple[str, float | None]]:
    return read_feed(body.encode() if isinstance(body, str) else body, f"{A}/dir/feed")


def rss(*items: str) -> str:
    return f'<rss version="2.0"><channel><title>F</title>{"".join(items)}</channel></rss>'


def item(link: str) -> str:
    return f"<item><link>{link}</link></item>"


@pytest.mark.parametrize(
    "body",
    [
        rss(item(f"{A}/1"), item(f"{A}/2"), item(f"{A}/1#again")),
        rss(item("/1"), item("../2")),
        f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{A}/1"/></entry>'
        f'<entry><link rel="alternate" href="{A}/2"/></entry></feed>',
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        f'xmlns="http://purl.org/rss/1.0/"><item><link>{A}/1</link></item>'
        f"<item><link>{A}/2</link></item></rdf:RDF>",
        json.dumps({"items": [{"id": "x", "url": "/1"}, {"id": f"{A}/2"}, {"id": "no address"}]}),
        "\ufeff" + json.dumps({"items": [{"url": 7}, "no item", {"url": "/1"}, {"url": "../2"}]}),
    ],
    ids=["rss", "relative", "atom", "rdf", "json", "json, odd"],
)
def test_entries_are_read_in_order_and_once(body: str) -> None:
    """RSS, Atom, RDF and JSON Feed; relative links too."""
    assert read(body) == [f"{A}/1", f"{A}/2"]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("<pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate>", 1_795_255_200.0),
        ("<pubDate>Sat, 21 Nov 2026 12:00:00 +0200</pubDate>", 1_795_255_200.0),
        ("<pubDate>yesterday, or so</pubDate>", None),
        ("", None),
    ],
)
def test_entries_come_with_their_dates(date: str, expected: float | None) -> None:
    """A date announces that the page has changed since; one that cannot be read says nothing."""
    assert dated(rss(f"<item><link>{A}/1</link>{date}</item>")) == [(f"{A}/1", expected)]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ({"date_modified": "2026-11-21T10:00:00Z"}, 1_795_255_200.0),
        ({"date_published": "2026-11-21T12:00:00+02:00"}, 1_795_255_200.0),
        ({"date_modified": "2026-11-21T10:00:00"}, None),
        ({"date_modified": 7}, None),
        ({}, None),
    ],
)
def test_entries_in_json_come_with_their_dates(
    dates: dict[str, object], expected: float | None
) -> None:
    told = json.dumps({"items": [{"url": f"{A}/1", **dates}]})

    assert dated(told) == [(f"{A}/1", expected)]


@pytest.mark.parametrize("body", ['{"items": 7}', '{"items": [{"url": "/1"}', "{}", '{"a":' * 5000])
def test_json_that_is_no_feed_gives_nothing(body: str) -> None:
    assert read(body) == []


def test_the_latest_update_counts_not_the_first_publication() -> None:
    """As Atom tells them apart."""
    entry = (
        f'<entry><link href="{A}/1"/><published>2026-11-01T00:00:00Z</published>'
        "<updated>2026-11-21T10:00:00Z</updated></entry>"
    )

    feed = f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>'
    assert dated(feed) == [(f"{A}/1", 1_795_255_200.0)]


@pytest.mark.parametrize("link", ["", "mailto:x@y", "javascript:x()", "file:///etc/passwd"])
def test_links_that_lead_nowhere_are_left_out(link: str) -> None:
    """The others count."""
    assert read(rss(item(link), item(f"{A}/1"))) == [f"{A}/1"]


def test_entries_are_bounded() -> None:
    """A thousand of the newest are enough."""
    assert len(read(rss(*(item(f"{A}/{n}") for n in range(MAX_ENTRIES + 50))))) == MAX_ENTRIES


def test_a_feed_with_entities_gives_nothing() -> None:
    """Expanding them is how XML bombs work."""
    bomb = '<!DOCTYPE x [<!ENTITY a "http://a.test/"><!ENTITY b "&a;&a;">]>'

    assert read(bomb + rss(item("&b;"), item(f"{A}/1"))) == []


def test_a_body_that_names_a_file_is_not_opened(tmp_path: Path) -> None:
    """A server could read this machine's files, or have the crawler read /dev/zero for ever."""
    secret = tmp_path / "secret.xml"
    secret.write_text(rss(item(f"{A}/secret")))

    assert read(str(secret)) == []
    assert read("file://" + str(secret)) == []


FEED = rss(item(f"{A}/1"), item("/2"), item("../3")).encode()
EDITS = st.lists(st.tuples(st.integers(0, len(FEED)), st.integers(0, 8), st.binary(max_size=8)))


@given(EDITS)
@example([])
def test_no_bytes_break_it(edits: list[tuple[int, int, bytes]]) -> None:
    """Of a feed with some bytes taken out and others put in; addresses come out in normal form."""
    body = FEED
    for start, length, instead in edits:
        body = body[:start] + instead + body[start + length :]

    found = read(body)

    assert all(normalise(url) == url for url in found)
    if not edits:
        assert found == [f"{A}/1", f"{A}/2", f"{A}/3"]


def test_a_feed_on_which_the_parser_trips_gives_nothing() -> None:
    """Found by fuzzing: an item whose link is never opened made it raise KeyError."""
    assert read_feed(b"<channel<item<link></item\xa2</link<", "http://a.test/feed") == []
