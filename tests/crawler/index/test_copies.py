"""One page at several addresses is one result."""

from pathlib import Path

import pytest

from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import Document

A = "http://a.test"
TEXT = " ".join(f"manifold word{number}" for number in range(60))


def urls_of(folder: Path, pages: dict[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Index these texts, all of one title, and search."""
    index = TantivyIndex(folder)
    for number, (path, text) in enumerate(pages.items()):
        index.replace(Document(f"{A}{path}", "The page", text, float(number), b""))
    index.commit()
    total, hits = index.search("manifold", limit=10)
    index.close()
    assert total == len(hits)
    return [(hit.url, hit.copies) for hit in hits]


@pytest.mark.parametrize(
    ("expected", "path"),
    [(1, "/page?print=1"), (1, "/page?x=1&sid=2"), (2, "/other"), (2, "/other?print=1")],
)
def test_nearly_the_same_text_under_one_parameter_more_is_one_result(
    expected: int, path: str, tmp_path: Path
) -> None:
    """Elsewhere it may be another page that is like it."""
    found = urls_of(tmp_path, {"/page": TEXT, path: f"{TEXT} printed today"})

    assert len(found) == expected
    if expected == 1:
        assert found == [(f"{A}/page", (f"{A}{path}",))]


def test_what_says_something_else_is_a_result_of_its_own(tmp_path: Path) -> None:
    """A parameter may name a page."""
    other = " ".join(f"manifold thing{number}" for number in range(60))

    assert len(urls_of(tmp_path, {"/page": TEXT, "/page?id=7": other})) == 2
