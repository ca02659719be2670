"""What is told of a change, with and without the copy in the index."""

from dataclasses import replace

import pytest
from tests.oracles.feed import PlainFeed
from typing_extensions import override

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.runtime.feed_reader import FeedReader, Wanted, about_of, record_of
from recrawl.terms import About, Change, ChangeKind, Document

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


class Entries(PlainFeed):
    """A feed of so many changes, each of a page of its own; keeps how it was asked."""

    def __init__(self, n: int) -> None:
        super().__init__(lambda: [])
        self.n = n
        self.asked: list[tuple[bool, bool]] = []
        self.given = 0

    @override
    def changes(
        self, *, after: int, limit: int, latest: bool = False, edits: bool = False
    ) -> list[Change]:
        self.asked.append((latest, edits))
        numbers = range(after + 1, min(after + limit, self.n) + 1)
        self.given += len(numbers)
        return [replace(CHANGE, seq=seq, url=f"http://a.test/{seq}") for seq in numbers]


@pytest.mark.parametrize(
    ("n", "every", "limit", "until", "seen", "upto"),
    [
        (7, 1, 10, None, [1, 2, 3, 4, 5, 6, 7], 7),
        (7, 1, 3, None, [1, 2, 3], 3),
        (7, 1, 10, 5, [1, 2, 3, 4, 5], 5),
        (7, 3, 10, 5, [3], 5),
        (100_000, 1_000, 10, None, [1_000], 40 * 4 * 10),
        (100_000, 10_000, 400, None, [10_000, 20_000], 40 * 500),
    ],
)
def test_an_answer_says_up_to_where_it_is_all(
    n: int, every: int, limit: int, until: int | None, seen: list[int], upto: int
) -> None:
    """However few are wanted of what it looks through, which is bounded."""
    feed = Entries(n)
    wanted = Wanted(matches=lambda url: int(url.rpartition("/")[2]) % every == 0)
    reader = FeedReader(feed, lambda: None, wanted, content_as)

    items, at = reader.read(0, limit, until)

    assert ([item.change.seq for item in items], at) == (seen, upto)
    assert set(feed.asked) == {(False, False)}


def test_who_wants_all_has_no_entry_read_twice() -> None:
    """Of a feed that is read in parts, one after the other."""
    feed = Entries(1_000)
    reader = FeedReader(feed, lambda: None, Wanted(), content_as)

    at = 0
    while at < feed.n:
        _, at = reader.read(at, 100)

    assert feed.given == feed.n


def test_what_a_page_says_of_itself_comes_with_its_content() -> None:
    """As plain values, and nothing of what it does not say."""
    about = About(published="2027-01-15", author="Jo", licenses=("http://l.test/",))

    assert about_of(replace(COPY, about=about)) == {
        "about": {"published": "2027-01-15", "author": "Jo", "licenses": ["http://l.test/"]}
    }
    assert about_of(replace(COPY, about=About())) == about_of(COPY) == {}
