"""What an index that another version made holds is brought over."""

from pathlib import Path

import pytest
import tantivy

from recrawl.crawler.index import schema
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.wiring.indexes import is_to_be_brought_over
from recrawl.errors import OtherVersion, StateError

URLS = ["http://a.test/", "http://a.test/2"]


def older(directory: Path, *urls: str) -> Path:
    """Make an index as of a version that knew little of a page."""
    directory.mkdir()
    builder = tantivy.SchemaBuilder()
    for name in ("url", "host", "title", "text"):
        builder.add_text_field(name, stored=True)
    index = tantivy.Index(builder.build(), path=str(directory))
    writer = index.writer(15_000_000, 1)
    for url in urls:
        writer.add_document(tantivy.Document(url=url, title="One", text="amber lanterns"))
    writer.commit()
    writer.wait_merging_threads()
    return directory


def test_whoever_may_write_brings_the_copies_over(tmp_path: Path) -> None:
    """Who may only read is told that somebody has to."""
    directory = older(tmp_path / "index", *URLS)
    (directory / "language").write_text("german")
    assert is_to_be_brought_over(tmp_path)

    with pytest.raises(OtherVersion, match="brings it over"):
        TantivyIndex(directory, read_only=True)
    index = TantivyIndex(directory)
    assert index.n_brought == 2
    assert sorted(index.urls()) == [(url, b"") for url in URLS]
    assert index.search("lantern")[0] == 2
    copy = index.copy(URLS[1])
    assert copy is not None
    assert (copy.title, copy.text) == ("One", "amber lanterns")
    assert (directory / "language").read_text() == "german"
    index.close()
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert not is_to_be_brought_over(tmp_path)
    again = TantivyIndex(directory)
    assert (again.n_brought, again.n_documents()) == (0, 2)
    again.close()


@pytest.mark.parametrize("found", ["nothing", "an empty folder"])
def test_what_was_cut_off_before_it_began_is_begun(tmp_path: Path, found: str) -> None:
    directory = tmp_path / "index"
    aside = older(schema.aside_of(directory), *URLS)
    if found == "an empty folder":
        directory.mkdir()
    assert is_to_be_brought_over(tmp_path)

    index = TantivyIndex(directory)
    assert (index.n_brought, index.n_documents()) == (2, 2)
    index.close()
    assert not aside.exists()


def test_what_was_cut_off_half_way_is_gone_on_with(tmp_path: Path) -> None:
    directory = tmp_path / "index"
    older(directory, URLS[0])
    TantivyIndex(directory).close()
    older(schema.aside_of(directory), *URLS)

    index = TantivyIndex(directory)
    assert (index.n_brought, index.n_documents()) == (1, 2)
    index.close()


def test_what_a_third_version_had_begun_is_begun_again(tmp_path: Path) -> None:
    directory = older(tmp_path / "index", "http://b.test/")
    older(schema.aside_of(directory), *URLS)

    index = TantivyIndex(directory)
    assert [url for url, _ in index.urls()] == URLS
    index.close()


def test_a_copy_that_is_damaged_is_left_to_be_fetched(tmp_path: Path) -> None:
    directory = older(tmp_path / "index", *URLS)
    (store,) = directory.glob("*.store")
    store.write_bytes(
        bytes(byte ^ 255 for byte in store.read_bytes()[:20]) + store.read_bytes()[20:]
    )

    index = TantivyIndex(directory)
    assert (index.n_brought, index.n_documents()) == (0, 0)
    index.close()


def test_what_cannot_be_opened_at_all_is_begun_anew(tmp_path: Path) -> None:
    directory = tmp_path / "index"
    aside = older(schema.aside_of(directory), *URLS)
    (aside / "meta.json").write_text("{")

    index = TantivyIndex(directory)
    assert (index.n_brought, index.n_documents()) == (0, 0)
    index.close()
    assert not aside.exists()


def test_what_cannot_be_opened_now_is_not_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many files are open, say: the copies are brought over by a later start."""
    directory = tmp_path / "index"
    aside = older(schema.aside_of(directory), *URLS)

    def refuses(path: str) -> None:
        raise ValueError(f"IO Error: Too many open files (os error 24): {path}")

    with monkeypatch.context() as patched:
        patched.setattr("recrawl.crawler.index.schema.tantivy.Index.open", refuses)
        with pytest.raises(StateError, match="raise the limit") as refused:
            TantivyIndex(directory)
    assert aside.exists()
    index = TantivyIndex(directory)  # while what went wrong is still looked at
    assert (index.n_brought, index.n_documents()) == (2, 2)
    assert refused.tb is not None
    index.close()
