"""What reads files of people and of a disk: it works, or says in one message what is wrong."""

import contextlib
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.control.urls import host_of
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import DATABASE
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.settings import load_settings
from recrawl.errors import InputError, StateError
from recrawl.terms import Discovery, Document, Kind

KEYS = st.sampled_from(
    (
        "seeds contact budget robots name state scope.hosts scope.max_depth politeness.delay "
        "fetch.max_bytes revisit.min_interval buffer.capacity buffer.deadline index.language "
        "plan.discovery_share weights sources"
    ).split()
)
VALUES = st.one_of(
    st.sampled_from(['"1e999d"', '"nan/h"', "inf", "nan", "-1", "[]", "{}", '"\\u0000"', '"-0s"']),
    st.integers().map(str),
    st.text("0123456789.eE+-/smhd ", max_size=8).map('"{}"'.format),
    st.text(max_size=5),
)


@settings(max_examples=150)
@given(st.lists(st.tuples(KEYS, VALUES), max_size=4))
def test_a_configuration_is_settings_or_one_message(lines: list[tuple[str, str]]) -> None:
    """Whatever is written as a value, and wherever."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recrawl.toml"
        given_lines = [f"{key} = {value}" for key, value in lines]
        text = "\n".join(['seeds = ["https://a.test/"]', 'contact = "me@a.test"', *given_lines])
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            read = load_settings(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - both ends are good
        else:
            assert read.seeds
            assert 0.0 < read.budget_per_s <= 100_000.0
            assert 0.0 < read.min_interval_s <= read.max_interval_s


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of a small state directory."""
    folder = tmp_path_factory.mktemp("whole")
    frontier = SqliteFrontier(folder, read_only=False)
    url = "http://a.test/"
    page = Discovery(url, host_of(url), Kind.PAGE, 0, 0, 1.0, None, None)
    frontier.admit([page], 1e9, AdmissionLimits())
    frontier.close()
    index = TantivyIndex(folder / "index")
    index.replace(Document(url, "title", "some text", 1e9, b"s" * 16))
    index.commit()
    index.close()
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def use(folder: Path) -> None:
    """Open everything and ask a little."""
    frontier = SqliteFrontier(folder, read_only=False)
    try:
        for host in frontier.hosts():
            frontier.lease(host.host_id, limit=9, due_by_s=2e9, now_s=2e9, until_s=3e9)
        frontier.planned_pages()
    finally:
        frontier.close()
    index = TantivyIndex(folder / "index")
    try:
        index.signature("http://a.test/")
        index.search("some text")
    finally:
        index.close()


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([DATABASE, "index/meta.json", "index/language"]),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_damaged_state_works_or_says_so(
    whole: dict[str, bytes], name: str, edits: list[tuple[int, int]]
) -> None:
    """Bytes that a disk made up never end in anything but a StateError."""
    with tempfile.TemporaryDirectory() as folder:
        for path, body in whole.items():
            changed = bytearray(body)
            for place, byte in edits if path == name else []:
                changed[place % len(changed)] = byte
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(changed)
        try:
            use(Path(folder))
        except StateError as error:
            assert str(error)  # noqa: PT017 - both ends are good


def test_an_index_without_its_fields_is_damaged(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """Found when it is opened, not in the middle of a search."""
    (tmp_path / "index").mkdir()
    for path, body in whole.items():
        (tmp_path / path).write_bytes(body.replace(b'"title"', b'"titlf"'))

    with pytest.raises(StateError, match="title"):
        TantivyIndex(tmp_path / "index")


def test_a_schema_that_is_not_utf8_is_damaged(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """SQLite quotes it in a message that Python cannot read."""
    body = bytearray(whole[DATABASE])
    for place in range(100, len(body) - 12):
        if body[place : place + 12] == b"CREATE TABLE":
            body[place + 2] = 0xF9
    (tmp_path / DATABASE).write_bytes(body)

    with pytest.raises(StateError, match="damaged"):
        SqliteFrontier(tmp_path, read_only=False)


def test_a_page_in_no_state_that_there_is_is_damage(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    """One word that only a crawl writes."""
    (tmp_path / DATABASE).write_bytes(whole[DATABASE])
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE)) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute("UPDATE page SET state = 'nowhere'")

    with pytest.raises(StateError, match="nowhere"):
        use(tmp_path)


@pytest.mark.parametrize("change", ["state = 'nowhere'", "kind = 'nowhere'"])
def test_a_page_with_a_word_that_there_is_not_is_explained_as_damage(
    tmp_path: Path, whole: dict[str, bytes], change: str
) -> None:
    """Whoever asks about that page is told, as whoever uses it is."""
    (tmp_path / DATABASE).write_bytes(whole[DATABASE])
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE)) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(f"UPDATE page SET {change}")
    frontier = SqliteFrontier(tmp_path, read_only=True)
    try:
        with pytest.raises(StateError, match="nowhere"):
            frontier.details("http://a.test/")
    finally:
        frontier.close()
