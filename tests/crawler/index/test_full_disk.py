"""A disk that is really full: what is said, and that nothing is lost once there is room."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.index.trouble import translated
from recrawl.errors import DamagedState, StateError
from recrawl.terms import Document


def document(number: int) -> Document:
    """Words that no other page has, so that it takes room."""
    words = np.random.default_rng(number).integers(1 << 60, size=4_000)
    return Document(
        f"http://a.test/{number}", f"Page {number}", " ".join(map(str, words)), 1.0, b"s"
    )


def test_a_full_disk_is_told_and_what_was_committed_is_there_once_there_is_room(
    small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The writer of an index ends without saying why, and its threads have much to say."""
    index = TantivyIndex(small_disk / "index")
    committed = 0

    def fill() -> None:
        nonlocal committed
        while committed < 200:
            index.replace(document(committed))
            index.commit()
            committed += 1

    with pytest.raises(StateError, match=r"[Tt]he disk is full; make room and start again"):
        fill()
    index.close()

    assert 0 < committed < 200
    assert "Traceback" not in capfd.readouterr().err
    room = ["mount", "-o", "remount,size=64m", str(small_disk)]
    subprocess.run(room, check=True)
    again = TantivyIndex(small_disk / "index")
    assert again.n_documents() >= committed
    again.replace(document(500))
    again.commit()
    assert again.search("Page 500")[0] >= 1
    again.close()


@pytest.mark.parametrize(
    ("free_bytes", "words"),
    [(1 << 20, "the disk is full; make room"), (1 << 40, "its writer ended")],
)
def test_a_writer_that_ended_without_a_reason_is_told_by_what_is_free(
    free_bytes: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread met the full disk, and what asks it next hears only that it is gone."""
    usage = SimpleNamespace(free=free_bytes)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)

    with pytest.raises(StateError, match=words), translated(tmp_path):
        raise ValueError("An index writer was killed.. A worker thread encountered an error")


def test_a_directory_that_was_removed_is_no_full_disk(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="removed or moved"), translated(tmp_path / "gone"):
        raise ValueError("An index writer was killed.. A worker thread encountered an error")


def test_a_lock_that_a_disk_does_not_take_is_nobody_elses(tmp_path: Path) -> None:
    said = 'Failed to acquire Lockfile: IoError(Os { message: "Read-only file system" }). None'

    with pytest.raises(StateError, match="on a disk that cannot be written"), translated(tmp_path):
        raise ValueError(said)


@pytest.mark.parametrize(
    "said",
    ["System error.'Failed to spawn segment merging thread'", "An IO error (os error 11): "
     "'Resource temporarily unavailable'"],
)  # fmt: skip
def test_threads_that_a_system_does_not_allow_are_no_damage(said: str, tmp_path: Path) -> None:
    """Whoever was told of damage had the index mended, which changed nothing."""
    with pytest.raises(StateError, match="no more threads") as told, translated(tmp_path):
        raise ValueError(said)

    assert not isinstance(told.value, DamagedState)
