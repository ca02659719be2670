"""State and index are held against each other at a start, and made to agree."""

from collections.abc import Iterator

import pytest

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.runtime.agreement import (
    UNDER_WAY,
    Mended,
    Parting,
    make_agree,
    partings,
    recover,
)
from recrawl.terms import Document, PageState
from recrawl.testing import ScriptedFetcher, VirtualCrawl, run_virtually, virtual_crawl

A = "http://a.test"
PAGES = [f"{A}/{number}" for number in range(12)]


def crawl(frontier: MemoryFrontier, index: MemoryIndex, seconds: float = 100.0) -> VirtualCrawl:
    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(frontier=frontier, index=index)
        script(virtual.web)
        await virtual.run_for(seconds)
        return virtual

    return run_virtually(main())


def script(web: ScriptedFetcher) -> None:
    web.page(f"{A}/", "home", *PAGES)
    for url in PAGES:
        web.page(url, f"the page {url}", etag='"1"')


@pytest.fixture
def crawled() -> tuple[MemoryFrontier, MemoryIndex]:
    frontier, index = MemoryFrontier(), MemoryIndex()
    crawl(frontier, index)
    assert index.n_documents() == 13
    return frontier, index


@pytest.mark.parametrize(
    ("words", "parting"),
    [
        ("has 2 copies in the index", Parting(A, b"1", b"1", 2)),
        ("has no copy in the index", Parting(A, b"1", None, 0)),
        ("has an older or newer copy in the index", Parting(A, b"1", b"2")),
        ("is not on record", Parting(A, None, b"2")),
    ],
)
def test_people_are_told_how_state_and_index_differ(words: str, parting: Parting) -> None:
    """The number of copies first: which of them is meant cannot be told."""
    assert parting.words == words


def test_a_lost_index_is_refilled(crawled: tuple[MemoryFrontier, MemoryIndex]) -> None:
    """Every page is due at once and asked for without validators, though the last end was clean."""
    frontier, _ = crawled
    index = MemoryIndex()

    virtual = crawl(frontier, index)

    assert index.n_documents() == 13
    assert dict(index.urls()) == dict(frontier.urls_indexed())
    assert virtual.web.asked(PAGES[0])[0].etag is None


def test_a_few_lost_copies_are_noticed_by_their_number(
    crawled: tuple[MemoryFrontier, MemoryIndex],
) -> None:
    frontier, index = crawled
    index.remove(PAGES[3])
    index.commit()

    mended = recover(frontier, index, 1e9)

    assert (mended.missing, mended.other) == (1, 0)
    details = frontier.details(PAGES[3])
    assert details is not None
    assert details.state is PageState.DISCOVERED
    assert details.due_s == 1e9


def test_after_an_end_out_of_order_every_page_is_compared(
    crawled: tuple[MemoryFrontier, MemoryIndex],
) -> None:
    """As many copies as there should be, but one is another, and one a stranger."""
    frontier, index = crawled
    index.replace(Document(PAGES[1], "t", "x", 1.0, b"another"))
    index.remove(PAGES[2])
    index.replace(Document(f"{A}/stranger", "t", "x", 1.0, b"strange"))
    index.commit()
    frontier.save_facts(UNDER_WAY)

    mended = recover(frontier, index, 1e9)

    assert (mended.missing, mended.other) == (1, 2)
    assert partings(frontier, index) == []
    stranger = frontier.details(f"{A}/stranger")
    assert stranger is not None
    assert (stranger.state, stranger.due_s) == (PageState.INDEXED, 1e9)


def test_another_copy_is_noticed_though_there_are_as_many_as_there_should_be(
    crawled: tuple[MemoryFrontier, MemoryIndex],
) -> None:
    """A page that was being indexed is followed up, and is no other copy for that."""
    frontier, index = crawled
    index.replace(Document(PAGES[1], "t", "x", 1.0, b"another"))
    index.replace(Document(PAGES[2], "t", "x", 1.0, b"new"))
    index.commit()
    page = frontier.details(PAGES[2])
    assert page is not None
    frontier.begin_indexing([page.page_id])

    assert recover(frontier, index, 1e9) == Mended(1, 0, 1, 0, 0.0)
    assert dict(frontier.urls_indexed())[PAGES[1]] == b"another"
    assert dict(frontier.urls_indexed())[PAGES[2]] == b"new"


def test_every_page_is_compared_with_all_of_its_copies(
    crawled: tuple[MemoryFrontier, MemoryIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier, index = crawled
    stated = dict(frontier.urls_indexed())
    copies = [item for item in stated.items() if item[0] != PAGES[0]]
    strange = [(PAGES[1], b"1"), (PAGES[1], b"2"), (f"{A}/stranger", b"3")]
    monkeypatch.setattr(index, "urls", lambda: iter(copies + strange))

    assert partings(frontier, index) == [
        Parting(PAGES[1], stated[PAGES[1]], b"2", 3),
        Parting(f"{A}/stranger", None, b"3", 1),
        Parting(PAGES[0], stated[PAGES[0]], None, 0),
    ]


def test_people_are_told_what_was_mended() -> None:
    """Nothing of what was sound."""
    assert Mended().words == []
    assert Mended(1_000, 2, 0, 4, 7_200.0).words == [
        "1,000 pages were followed up whose copy was being written",
        "2 pages without a copy are fetched again",
        "4 pages are read again, as other rules say now what of them is content; within 2h",
    ]


def test_a_clean_stop_is_on_record(
    crawled: tuple[MemoryFrontier, MemoryIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a sample tells, and not each page is compared."""
    frontier, index = crawled
    monkeypatch.setattr(index, "urls", lambda: pytest.fail("all pages were compared"))

    assert frontier.facts().end.ended_in_order
    assert recover(frontier, index, 1e9) == Mended(0, 0, 0, 0, 0.0)
    assert not frontier.facts().end.ended_in_order, "a crawl is under way from now on"


@pytest.mark.parametrize("is_meanwhile", [False, True])
def test_pages_that_are_being_indexed_are_not_told_of(
    crawled: tuple[MemoryFrontier, MemoryIndex],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_meanwhile: bool,
) -> None:
    """Before, or by a crawl that goes on while they are compared."""
    frontier, index = crawled
    index.remove(PAGES[3])
    index.commit()
    page = frontier.details(PAGES[3])
    assert page is not None
    copies = list(index.urls())

    def urls() -> Iterator[tuple[str, bytes]]:
        frontier.begin_indexing([page.page_id])
        yield from copies

    if is_meanwhile:
        monkeypatch.setattr(index, "urls", urls)
    else:
        frontier.begin_indexing([page.page_id])

    assert partings(frontier, index) == []


def test_a_page_of_two_copies_has_none_before_the_state_says_so(
    crawled: tuple[MemoryFrontier, MemoryIndex],
) -> None:
    """What is taken out is on disk by then; where nothing is taken out nothing is committed."""
    frontier, index = crawled
    held = index.signature(PAGES[4])
    index.replace(Document(f"{A}/staged", "t", "x", 1.0, b"staged"))

    make_agree(frontier, index, [Parting(PAGES[5], None, b"another", 1)], 1e9)
    assert f"{A}/staged" not in dict(index.urls())
    make_agree(frontier, index, [Parting(PAGES[4], held, held, 2)], 1e9)

    assert PAGES[4] not in dict(index.urls())
    assert PAGES[4] not in dict(frontier.urls_indexed())
    assert dict(frontier.urls_indexed())[PAGES[5]] == b"another"
