"""A state directory looked through, mended, copied and brought back."""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.frontier.sql import migrations
from recrawl.crawler.frontier.store import DATABASE
from recrawl.crawler.index.files import named_files
from recrawl.crawler.index.trouble import translated
from recrawl.crawler.wiring import upkeep
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.crawler.wiring.upkeep import back_up, check, is_lost, mend_index, repair, restore
from recrawl.errors import InputError, StateError
from recrawl.testing import run_virtually, virtual_crawl

A = "http://a.test"
PAGES = [f"{A}/{number}" for number in range(30)]


def crawl(state: Path) -> int:
    """Crawl everything once; return the requests for pages that it took."""
    frontier, index = open_frontier(state), open_index(state)

    async def main() -> int:
        virtual = virtual_crawl(frontier=frontier, index=index, once=True)
        virtual.web.page(f"{A}/", "home", *PAGES)
        for url in PAGES:
            virtual.web.page(url, f"the page {url} has words of its own " * 20)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.crawl.until_done()
        return len(virtual.web.requests)

    n = run_virtually(main())
    index.close()
    frontier.close()
    return n


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("original") / "state"
    crawl(state)
    return state


@pytest.fixture
def state(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "state"))


def urls_in(state: Path) -> set[str]:
    frontier, index = open_frontier(state, read_only=True), open_index(state, read_only=True)
    held = dict(index.urls())
    assert held == dict(frontier.urls_indexed())
    frontier.close()
    return set(held)


def flip(path: Path, place: int) -> None:
    body = bytearray(path.read_bytes())
    body[place % len(body)] ^= 4
    path.write_bytes(body)


def test_a_whole_state_is_whole_and_private(state: Path) -> None:
    assert check(state) == []
    assert repair(state) == []
    fresh = state.parent / "fresh"
    crawl(fresh)
    assert [oct(path.stat().st_mode & 0o777) for path in (fresh, fresh / "index")] == ["0o700"] * 2
    for path in fresh.glob("*"):
        assert path.is_dir() or path.stat().st_mode & 0o777 == 0o600, path


def test_a_lost_index_is_told_and_refilled(state: Path) -> None:
    shutil.rmtree(state / "index")

    assert "31 pages have no copy" in check(state)[0].what
    assert repair(state) == ["31 pages without a copy are fetched again"]
    crawl(state)
    assert urls_in(state) == {f"{A}/", *PAGES}


def test_a_flipped_bit_costs_its_segment_and_nothing_else(state: Path) -> None:
    crawl(state)
    segment, names = next(iter(named_files(state / "index").items()))
    flip(state / "index" / f"{segment}.store", 40)

    assert [(fault.part, fault.what.split()[0]) for fault in check(state)] == [
        ("index", f"{segment}.store")
    ]
    done = repair(state)
    assert "moved to" in done[0]
    assert {path.name for path in (state / "damaged-1").iterdir()} == set(names)
    assert check(state) == []
    crawl(state)
    assert urls_in(state) == {f"{A}/", *PAGES}


def test_what_a_killed_process_left_is_told_and_removed(state: Path) -> None:
    (state / "index" / f"{'e' * 32}.store").touch()
    with contextlib.closing(sqlite3.connect(state / DATABASE)) as opened, opened:
        opened.execute("INSERT INTO indexing (page_id) VALUES (3)")

    assert [fault.what for fault in check(state)] == [f"{'e' * 32}.store belongs to no commit"]
    assert repair(state) == [
        "1 files that belong to no commit were removed",
        "1 pages were followed up whose copy was being written",
    ]
    assert check(state) == []


@pytest.mark.parametrize("left", ["empty", "gone", "rubbish"])
def test_a_lost_database_is_begun_anew_from_the_index(state: Path, left: str) -> None:
    """No page that the index has is forgotten; a crawl alone would not start over it."""
    for path in state.glob(f"{DATABASE}*"):
        path.unlink()
    if left != "gone":
        (state / DATABASE).write_bytes(b"" if left == "empty" else b"rubbish" * 1000)

    assert is_lost(state) == (left != "rubbish")
    assert check(state)[0].part == "state"
    repair(state)
    assert check(state) == []
    assert urls_in(state) == {f"{A}/", *PAGES}
    assert crawl(state) >= 31


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=3), st.sampled_from([0, 0xFF, 0x5A]))
def test_whatever_page_of_the_database_is_overwritten_it_is_mended(
    original: Path, tmp_path_factory: pytest.TempPathFactory, places: list[int], byte: int
) -> None:
    """Rows that can be read are kept, pages that cannot come back from the index."""
    state = Path(shutil.copytree(original, tmp_path_factory.mktemp("hit") / "state"))
    body = bytearray((state / DATABASE).read_bytes())
    for place in places:
        at = place * 4096 % len(body)
        body[at : at + 4096] = bytes([byte]) * 4096
    (state / DATABASE).write_bytes(body)

    assert check(state)
    repair(state)

    assert check(state) == []
    assert urls_in(state) == {f"{A}/", *PAGES}


def fill(disk: Path) -> Path:
    """Leave no room on a disk; what takes it can be removed."""
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return filler


def test_a_full_disk_is_no_damage(original: Path, small_disk: Path) -> None:
    """Nothing is known of the state while it cannot be opened: it stays as it is."""
    state = Path(shutil.copytree(original, small_disk / "state"))
    database, segments = (state / DATABASE).read_bytes(), named_files(state / "index")
    filler = fill(small_disk)

    for look in (check, repair):
        with pytest.raises(StateError, match="the disk is full; make room"):
            look(state)

    assert (state / DATABASE).read_bytes() == database
    filler.unlink()
    assert named_files(state / "index") == segments
    assert check(state) == []


def test_what_is_damaged_stays_in_its_place_while_there_is_no_room_for_what_is_kept_of_it(
    original: Path, small_disk: Path
) -> None:
    """Moved aside first, it would not be found by the next one that mends."""
    state = Path(shutil.copytree(original, small_disk / "state"))
    body = bytearray((state / DATABASE).read_bytes())
    body[8192:12288] = bytes(4096)
    (state / DATABASE).write_bytes(body)
    filler = fill(small_disk)
    os.truncate(filler, filler.stat().st_size - (128 << 10))  # enough to look, not to mend

    with pytest.raises(StateError, match="the disk is full; make room"):
        repair(state)

    assert (state / DATABASE).read_bytes() == body
    filler.unlink()
    repair(state)
    assert check(state) == []
    assert urls_in(state) == {f"{A}/", *PAGES}


def test_a_restore_without_room_is_one_message(
    original: Path, small_disk: Path, tmp_path: Path
) -> None:
    """It had the names of all files, twice."""
    back_up(original, tmp_path / "copy")
    filler = fill(small_disk)
    os.truncate(filler, filler.stat().st_size - (64 << 10))  # for folders, and not for all files

    with pytest.raises(StateError, match="No space left on device") as raised:
        restore(tmp_path / "copy", small_disk / "state")

    assert len(str(raised.value)) < 600
    assert not list(small_disk.glob("state*"))


def test_an_index_that_cannot_be_opened_now_is_not_set_aside(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start after a kill mends the index, which a limit of the system has done nothing to."""
    said = "Too many open files (os error 24)"
    monkeypatch.setattr(upkeep, "TantivyIndex", raising(said))

    with pytest.raises(StateError, match="raise the limit"):
        mend_index(state)

    monkeypatch.undo()
    assert check(state) == []


def test_an_index_of_another_version_is_no_damage(state: Path) -> None:
    """A start after a kill leaves it to whoever opens it to write."""
    shutil.rmtree(state / "index")
    (state / "index").mkdir()
    builder = tantivy.SchemaBuilder()
    for name in ("url", "host", "title", "text"):
        builder.add_text_field(name, stored=True)
    tantivy.Index(builder.build(), path=str(state / "index"))

    assert mend_index(state) == []
    index = open_index(state)
    assert index.n_documents() == 0
    index.close()


def raising(said: str) -> Callable[..., None]:
    """Return what stands for an index of which tantivy says this."""

    def opened(directory: Path, *, read_only: bool) -> None:
        with translated(directory):
            raise ValueError(said)

    return opened


def test_a_backup_made_while_the_crawl_goes_on_is_whole(state: Path, tmp_path: Path) -> None:
    """And restored it goes on where it was."""
    frontier, index = open_frontier(state), open_index(state)
    back_up(state, tmp_path / "copy")
    index.close()
    frontier.close()

    assert check(tmp_path / "copy") == []
    restore(tmp_path / "copy", tmp_path / "again")
    assert urls_in(tmp_path / "again") == urls_in(state)
    assert not list(tmp_path.glob("*.part"))


def test_a_backup_never_writes_over_anything(state: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").touch()
    with pytest.raises(InputError, match="not empty"):
        back_up(state, tmp_path / "copy")
    with pytest.raises(InputError, match="not empty"):
        restore(state, tmp_path / "copy")
    with pytest.raises(InputError, match="holds no backup"):
        restore(tmp_path / "copy", tmp_path / "new")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["mine"]


def test_a_backup_of_something_damaged_is_refused(state: Path, tmp_path: Path) -> None:
    segment = next(iter(named_files(state / "index")))
    flip(state / "index" / f"{segment}.idx", 10)

    with pytest.raises(StateError, match="damaged"):
        back_up(state, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_repair_waits_for_no_crawl(state: Path) -> None:
    frontier = open_frontier(state)
    with pytest.raises(StateError, match=f"in use by process {os.getpid()}"):
        repair(state)
    frontier.close()


def test_a_copy_of_the_state_is_kept_before_it_is_migrated(tmp_path: Path) -> None:
    """It is what the older version can go back to."""
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE)) as old:
        old.executescript(f"{migrations()[0]}\nPRAGMA user_version = 1;")
        old.execute("INSERT INTO host (host) VALUES ('http://a.test')")
        old.commit()

    open_frontier(tmp_path).close()

    (kept,) = tmp_path.glob("state-before-schema-*.sqlite3")
    with contextlib.closing(sqlite3.connect(kept)) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (1,)
        assert copy.execute("SELECT host FROM host").fetchall() == [("http://a.test",)]


def test_a_newer_version_is_refused_by_its_name(state: Path) -> None:
    with contextlib.closing(sqlite3.connect(state / DATABASE)) as opened, opened:
        opened.execute("UPDATE label SET value = '9.8.7' WHERE name = 'version'")
        opened.execute("PRAGMA user_version = 999")

    for look in (check, repair):
        with pytest.raises(StateError, match=r"recrawl 9\.8\.7"):
            look(state)
