"""What links say about the page that they lead to."""

from pathlib import Path

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.index.anchors import Anchors
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import Document, FetchResponse

A = "http://a.test"


def page(path: str, text: str, *links: tuple[str, str]) -> Document:
    return Document(f"{A}{path}", path, text, 1.0, b"s", links=links)


def test_the_text_of_a_link_comes_with_its_address() -> None:
    """The first that has one: pictures have none."""
    body = b"<a href=/x><img src=i></a><a href=/x> Rates of <b>change</b> </a><a href=/y>other</a>"
    found = PageExtractor("recrawl").page(FetchResponse(f"{A}/", 200, body, "text/html"))

    assert dict(zip(found.links, found.anchors, strict=True)) == {
        f"{A}/x": "Rates of change",
        f"{A}/y": "other",
    }


@pytest.mark.parametrize("target_first", [True, False])
def test_what_others_call_a_page_finds_it(tmp_path: Path, target_first: bool) -> None:
    """Whether they were indexed before it or after, and after the index was opened anew."""
    target = page("/target", "nothing of the kind stands here")
    source = page("/source", "a list", (target.url, "Chandelier repair"))
    index = TantivyIndex(tmp_path)
    for document in (target, source) if target_first else (source, target):
        index.replace(document)
        index.commit()
    index.close()

    index = TantivyIndex(tmp_path, read_only=True)
    assert [hit.url for hit in index.search("chandelier")[1]] == [target.url]
    assert index.copy(target.url) is not None
    index.close()


def test_words_that_lead_everywhere_name_nothing(tmp_path: Path) -> None:
    """Next, here, more."""
    index = TantivyIndex(tmp_path)
    for number in range(8):
        links = ((f"{A}/{number + 1}", "onwards"), (f"{A}/{number + 1}", f"chapter m{number}"))
        index.replace(page(f"/{number}", "text", *links))
    for _ in range(2):
        index.commit()

    assert index.search("onwards")[0] <= 4  # those that were called so before it was known
    assert [hit.url for hit in index.search("m3")[1]] == [f"{A}/4"]
    index.close()


def test_texts_are_bounded_and_kept(tmp_path: Path) -> None:
    """Eight of a page, up to eighty characters; another process knows them; damage is mended."""
    anchors = Anchors(tmp_path)
    named = anchors.learn([(A, f"name {number}") for number in range(20)])
    assert anchors.learn([(A, "x"), (A, "x" * 81), (A, "-->"), (A, " name  1 ")]) == []
    anchors.close()

    assert len(named) == 8
    again = Anchors(tmp_path)
    assert len(again.of(A)) == 6
    again.close()
    (tmp_path / "anchors.sqlite3").write_bytes(b"no database" * 999)
    mended = Anchors(tmp_path)
    assert mended.of(A) == []
    assert mended.learn([(A, "a name")]) == [A]
    mended.close()
