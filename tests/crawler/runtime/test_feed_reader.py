"""What is told of a change, with and without the copy in the index."""

from dataclasses import replace

import pytest

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.runtime.feed_reader import FeedReader, Wanted, record_of
from recrawl.terms import Change, ChangeKind, Document

CHANGE = Change(7, 1_800_000_000.0, ChangeKind.NEW, "http://a.test/", 1, b"\x01")
COPY = Document(CHANGE.url, "home", "words", 1_800_000_000.5, b"\x01")


def reader(content: str, *copies: Document) -> FeedReader:
    index = MemoryIndex()
    for copy in copies:
        index.replace(copy)
    index.commit()
    wanted = Wanted(content=content, latest=True)
    return FeedReader(MemoryFrontier().feed, lambda: index, wanted, content_as)


def test_what_the_entry_does_not_say_is_completed_from_the_copy() -> None:
    """Its title and when it was fetched; content comes under its own name, where it is wanted."""
    (bare,) = reader("none", COPY).whole([CHANGE])
    (full,) = reader("text", COPY).whole([CHANGE])

    assert (bare.change.title, bare.content) == ("home", None)
    assert bare.record["fetched_at"] == "2027-01-15T08:00:00.500Z"
    assert "text" not in bare.record
    assert full.content == full.record["text"] == "words"


@pytest.mark.parametrize("copies", [(), (replace(COPY, signature=b"\x02"),)])
def test_a_change_whose_copy_is_gone_is_left_out_only_where_content_is_wanted(
    copies: tuple[Document, ...],
) -> None:
    """It comes with a later entry; who wants no content is told of it all the same."""
    assert reader("text", *copies).whole([CHANGE]) == []
    (told,) = reader("none", *copies).whole([CHANGE])
    assert told.change == CHANGE


def test_a_record_holds_the_content_under_what_it_is() -> None:
    assert record_of(CHANGE, "markdown", "# home")["markdown"] == "# home"
    assert "markdown" not in record_of(CHANGE, "markdown", None)
