"""Notes on hosts in a file beside the index."""

import json
from pathlib import Path

import numpy as np
import pytest

from recrawl.crawler.index.repeats import note_file
from recrawl.crawler.index.repeats.drawn import Parts
from recrawl.crawler.index.repeats.host_lines import HostLines
from recrawl.crawler.index.repeats.note_file import NoteFile


def test_kinds_are_apart_and_the_latest_notes_count(tmp_path: Path) -> None:
    """What is of another kind than asked for is as if it were not there."""
    file = NoteFile(tmp_path)
    one, two = file.shelf("one", list[int]), file.shelf("two", list[int])
    one.write({"a": [1], "b": [2]})
    one.write({"a": [3]})
    two.write({"a": [4]})
    file.close()

    again = NoteFile(tmp_path, read_only=True)
    assert again.shelf("one", list[int]).read("a") == [3]
    assert sorted(again.shelf("one", list[int]).every()) == [("a", [3]), ("b", [2])]
    assert again.shelf("two", list[int]).read("b") is None
    assert again.shelf("two", str).read("a") is None
    assert list(again.shelf("two", str).every()) == []


def test_hosts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were written longest ago go, of their kind."""
    monkeypatch.setattr(note_file, "_MOST", 3)
    file = NoteFile(tmp_path)
    file.shelf("two", int).write({"a": 1})
    shelf = file.shelf("one", int)
    shelf.write({"a": 1, "b": 2, "c": 3})
    shelf.write({"a": 4, "d": 5})

    assert dict(shelf.every()) == {"c": 3, "a": 4, "d": 5}
    assert file.shelf("two", int).read("a") == 1


@pytest.mark.parametrize("read_only", [False, True])
def test_damage_is_no_hindrance(tmp_path: Path, read_only: bool) -> None:
    """Nor is a file that is not there."""
    shelf = NoteFile(tmp_path, read_only=read_only).shelf("one", int)
    assert shelf.read("a") is None
    (tmp_path / "notes.sqlite3").write_bytes(b"no database" * 100)
    shelf = NoteFile(tmp_path, read_only=read_only).shelf("one", int)

    assert shelf.read("a") is None
    assert list(shelf.every()) == []


def test_what_another_version_wrote_is_taken_over(tmp_path: Path) -> None:
    """From a file for each kind, of which a damaged one goes."""
    counted = {"pages": 8, "seen": [1, 2], "lines": {"7": 8, "5": 1}, "early": None}
    (tmp_path / "repeated.json").write_text(json.dumps({"a.test": counted}))
    (tmp_path / "drawn.json").write_text("{")
    file = NoteFile(tmp_path)
    assert list(file.shelf("drawn", Parts).every()) == []
    held = file.shelf("repeated", HostLines).read("a.test")

    assert not list(tmp_path.glob("*.json"))
    assert held is not None
    assert (held.pages, held.early, held.lines) == (8, None, {})
    assert held.of(np.array([5, 6, 7], np.uint64)).tolist() == [1, 0, 8]


def test_it_is_read_by_a_path_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever that path is called."""
    monkeypatch.chdir(tmp_path)
    here = Path("what?#%20")
    here.mkdir()
    NoteFile(here).shelf("one", int).write({"a": 1})

    assert NoteFile(here, read_only=True).shelf("one", int).read("a") == 1
