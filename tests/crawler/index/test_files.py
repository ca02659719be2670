"""The files of an index: which count, whether they are sound, and copies of them."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.index.files import (
    collect,
    damaged_files,
    has_copies,
    named_files,
    orphans,
    set_aside,
    snapshot,
)
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.errors import StateError
from recrawl.terms import Document

SIGNATURE = b"s" * 16


def document(number: int, words: str = "some words") -> Document:
    return Document(f"http://a.test/{number}", f"page {number}", words, 1e9, SIGNATURE)


def filled(directory: Path) -> Path:
    """An index of two segments, one with deletions."""
    index = TantivyIndex(directory)
    for number in range(20):
        index.replace(document(number))
    index.commit()
    index.replace(document(3, "other words"))
    index.commit()
    index.close()
    return directory


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("whole") / "index")


def grown(directory: Path, others: list[Path]) -> Path:
    """An index that holds the segments of others, too, as if a kill had cut off their merge."""
    meta = json.loads((directory / "meta.json").read_text())
    for other in others:
        meta["segments"] += json.loads((other / "meta.json").read_text())["segments"]
        for names in named_files(other).values():
            for name in names:
                shutil.copy(other / name, directory / name)
    (directory / "meta.json").write_text(json.dumps(meta))
    managed = [name for names in named_files(directory).values() for name in names]
    (directory / ".managed.json").write_text(json.dumps([*managed, "meta.json"]))
    return directory


def test_the_first_replacement_of_a_writer_leaves_no_copy_beside(tmp_path: Path) -> None:
    """Nor where segments are merged before the next commit, of which one has deletions."""
    made = [TantivyIndex(tmp_path / f"{number}") for number in range(8)]
    for number, index in enumerate(made):
        for each in range(3 if number == 0 else 5):
            index.replace(document(10 * number + each))
        index.commit()
        if number == 0:
            index.remove(document(2).url)
            index.commit()
        index.close()
    first, *others = (tmp_path / f"{number}" for number in range(8))
    index = TantivyIndex(grown(first, others))
    index.replace(document(0, "other words"))
    index.commit()
    index.close()  # waits for the merge

    read = TantivyIndex(first, read_only=True)
    assert len(list(read.urls())) == len(dict(read.urls())) == 37
    read.close()


def test_deletions_of_a_killed_commit_do_not_stop_the_next(tmp_path: Path) -> None:
    """Their files bear the numbers that the next commit gives out again."""
    directory = filled(tmp_path / "index")
    opstamp = json.loads((directory / "meta.json").read_text())["opstamp"]
    for segment in named_files(directory):
        for number in range(opstamp, opstamp + 20):
            (directory / f"{segment}.{number}.del").touch()
    index = TantivyIndex(directory)
    for number in (3, 5, 7):
        index.replace(document(number, "anew"))
    index.commit()

    assert index.search("anew")[0] == 3
    index.close()
    assert damaged_files(directory) == []


def test_only_what_no_commit_names_is_collected(tmp_path: Path) -> None:
    directory = filled(tmp_path / "index")
    named = {name for names in named_files(directory).values() for name in names}
    left = {"f" * 32 + ".store", ".tmpAbc123"}
    for name in (*left, "mine.txt"):
        (directory / name).touch()

    assert set(orphans(directory)) == left
    assert set(collect(directory)) == left
    assert named <= {path.name for path in directory.iterdir()}
    assert (directory / "mine.txt").exists()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_byte_that_changed_is_noticed(whole: Path, data: st.DataObject) -> None:
    """Wherever it is, the checksum itself included; so is a file that is cut or gone."""
    names = sorted(name for names in named_files(whole).values() for name in names)
    name = data.draw(st.sampled_from(names))
    body = (whole / name).read_bytes()
    place = data.draw(st.integers(0, len(body) - 1))
    bit = data.draw(st.integers(0, 7))
    damaged = bytearray(body)
    damaged[place] ^= 1 << bit
    try:
        (whole / name).write_bytes(damaged)
        changed = [found for found, _ in damaged_files(whole)]
        (whole / name).write_bytes(body[:place])
        cut = [found for found, _ in damaged_files(whole)]
        (whole / name).unlink()
        gone = damaged_files(whole)
    finally:
        (whole / name).write_bytes(body)
    # The version of tantivy stands beside the checksum and bears on nothing.
    assert changed in ([name], []) if place >= len(body) - 120 else changed == [name]
    assert cut == [name]
    assert gone == [(name, "is missing")]
    assert damaged_files(whole) == []


def test_a_damaged_segment_is_set_aside_and_the_rest_stays(tmp_path: Path) -> None:
    directory, aside = filled(tmp_path / "index"), tmp_path / "aside"
    segment = next(iter(named_files(directory)))
    names = set(named_files(directory)[segment])
    before = TantivyIndex(directory, read_only=True).n_documents()

    set_aside(directory, [segment], aside)

    index = TantivyIndex(directory)
    assert 0 < index.n_documents() < before
    index.replace(document(99))
    index.commit()
    index.close()
    assert {path.name for path in aside.iterdir()} == names


def test_a_snapshot_is_the_last_commit(tmp_path: Path) -> None:
    """What is staged meanwhile is not in it; what follows does not change it."""
    index = TantivyIndex(tmp_path / "index")
    index.replace(document(1))
    index.commit()
    index.replace(document(2))
    snapshot(tmp_path / "index", tmp_path / "copy")
    index.commit()
    index.close()
    shutil.rmtree(tmp_path / "index")

    assert damaged_files(tmp_path / "copy") == []
    copy = TantivyIndex(tmp_path / "copy")
    assert dict(copy.urls()) == {"http://a.test/1": SIGNATURE}
    copy.close()


@pytest.mark.parametrize("text", ["", "{", '{"segments": 3}', '{"segments": [{}]}'])
def test_a_damaged_list_of_segments_is_said(tmp_path: Path, text: str) -> None:
    directory = filled(tmp_path / "index")
    (directory / "meta.json").write_text(text)

    with pytest.raises(StateError, match="check --repair"):
        named_files(directory)
    assert has_copies(directory)


def test_what_a_killed_start_leaves_is_no_hindrance(tmp_path: Path) -> None:
    """An empty name of a language, and a list of files that cannot be read."""
    directory = filled(tmp_path / "index")
    (directory / "language").write_text("")
    (directory / ".managed.json").write_text("[")

    index = TantivyIndex(directory, language="german")

    assert (directory / "language").read_text() == "german"
    assert index.n_documents() == 20
    index.close()


def test_errors_of_an_index_say_what_to_do(tmp_path: Path) -> None:
    directory = filled(tmp_path / "index")
    first = TantivyIndex(directory)
    with pytest.raises(StateError, match="stop that crawl first"):
        TantivyIndex(directory)
    first.close()
    (directory / "meta.json").write_text("{")
    with pytest.raises(StateError, match="recrawl check"):
        TantivyIndex(directory, read_only=True)


def test_a_closed_index_leaves_nothing_behind_that_no_commit_names(tmp_path: Path) -> None:
    """Whatever was replaced or merged last; and the right to write is given back."""
    for turn in range(3):
        index = TantivyIndex(tmp_path)
        for number in range(60):
            index.replace(document(number, f"turn {turn}"))
            if number % 6 == 5:
                index.commit()
        index.replace(document(1_000, "not committed"))
        index.close()

        assert orphans(tmp_path) == []
        assert TantivyIndex(tmp_path, read_only=True).n_documents() == 60
