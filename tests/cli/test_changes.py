"""`recrawl changes`: everything once, in order, from wherever one was."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.acceptance.command import recrawl, start
from tests.fed import HOST, Fed

from recrawl.cli.app import main
from recrawl.crawler.control.texts.word_differences import marked_words


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A page that changed, one that went, one that moved, and one that stayed."""
    fed = Fed(tmp_path / "state")
    fed.put("/a", "/b", text="first")
    fed.put("/c", language="de", canonical=f"{HOST}/c", content_type="text/html")
    fed.put("/a", text="second", edit="@@ -1,1 +1,1 @@\n-first of /a\n+second of /a")
    fed.drop("/b")
    fed.drop("/c", moved_to=f"{HOST}/d")
    fed.close()
    return tmp_path / "state"


def told(capsys: pytest.CaptureFixture[str], state: Path, *options: str) -> list[dict[str, Any]]:
    with pytest.raises(SystemExit) as ended:
        main(["changes", "--state", str(state), *options])
    assert ended.value.code == 0, capsys.readouterr().err
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_changes_come_in_order_with_what_is_known(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An edition that was overtaken says so; what is removed says why, or where it has gone."""
    rows = told(capsys, state)

    assert [(row["seq"], row["kind"], row["url"][-1]) for row in rows] == [
        (1, "new", "a"), (2, "new", "b"), (3, "new", "c"),
        (4, "changed", "a"), (5, "removed", "b"), (6, "moved", "c"),
    ]  # fmt: skip
    assert [bool(row.get("overtaken")) for row in rows] == [True] * 3 + [False] * 3
    assert rows[2]["language"] == "de"
    assert rows[2]["canonical"] == f"{HOST}/c"
    assert rows[3]["fetched_at"].startswith("2027-01-15T08:00:0")
    assert rows[3]["signature"] == b"second/a".hex()
    assert rows[4]["why"] == "gone"
    assert rows[5]["moved_to"] == f"{HOST}/d"
    assert rows[3]["version"] > rows[0]["version"]


def test_one_goes_on_where_one_was(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By number, or by instant; and only with what one asked for."""
    assert [row["seq"] for row in told(capsys, state, "--since", "4")] == [5, 6]
    assert told(capsys, state, "--since", "6") == []
    at = told(capsys, state, "--since", "4")[0]["at"]
    assert [row["seq"] for row in told(capsys, state, "--since", at)] == [5, 6]
    assert [row["seq"] for row in told(capsys, state, "--since", "2999-01-01")] == []
    assert [row["seq"] for row in told(capsys, state, "--path", "/b*", "--path", "/c")] == [
        2, 3, 5, 6,
    ]  # fmt: skip
    assert [row["seq"] for row in told(capsys, state, "--kind", "new", "--limit", "2")] == [1, 2]


def test_content_and_diff_come_where_they_are_asked_for(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the edition that the index holds, and of no other."""
    rows = told(capsys, state, "--content", "text", "--diff")

    assert [row.get("text") for row in rows] == [None] * 3 + ["second of /a", None, None]
    assert rows[3]["diff"].splitlines()[1:] == ["-first of /a", "+second of /a"]
    assert rows[3]["diff_html"] == "<p><del>first</del><ins>second</ins> of /a</p>"
    assert "diff" not in rows[0]
    marked = told(capsys, state, "--content", "markdown", "--since", "3", "--limit", "1")
    assert marked[0]["markdown"] == "# Title\n\nsecond of /a\n"


def test_what_was_only_found_again_is_told_with_what_the_index_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After an end in the midst of a commit nobody knows its title but the index."""
    fed = Fed(tmp_path / "state")
    fed.put("/a")
    (copy,) = fed.index.urls()
    fed.frontier.reconcile(1, None, 9e9)
    fed.frontier.reconcile(1, copy[1], 9e9)
    fed.close()

    assert told(capsys, tmp_path / "state")[-1]["title"] == "Title"


def test_tables_hold_the_same(state: Path, tmp_path: Path) -> None:
    """CSV on standard output or in a file, Parquet in a file."""
    plain = recrawl(
        "changes", "--state", state, "--format", "csv", "--content", "text", cwd=tmp_path
    )
    rows = list(csv.DictReader(io.StringIO(plain.stdout)))
    out = tmp_path / "changes.parquet"
    made = recrawl("changes", "--state", state, "--format", "parquet", "--out", out, cwd=tmp_path)

    assert [row["kind"] for row in rows] == ["new", "new", "new", "changed", "removed", "moved"]
    assert rows[3]["text"] == "second of /a"
    assert made.returncode == 0, made.stderr
    assert pq.read_table(out).column("seq").to_pylist() == [1, 2, 3, 4, 5, 6]
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.acceptance
def test_who_follows_is_told_as_it_happens(tmp_path: Path) -> None:
    """Beside whoever writes the state."""
    fed = Fed(tmp_path / "state")
    fed.put("/a")
    follower = start("changes", "--state", tmp_path / "state", "--follow", cwd=tmp_path)
    assert follower.stdout is not None
    try:
        assert json.loads(follower.stdout.readline())["url"] == f"{HOST}/a"
        fed.put("/b")
        assert json.loads(follower.stdout.readline())["url"] == f"{HOST}/b"
    finally:
        follower.kill()
        follower.communicate()
        fed.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--since", "99"], "ahead of this crawl, whose last change is number 6"),
        (["--since", "yesterday"], "'yesterday' is neither"),
        (["--since", "-1"], "'-1' is neither"),
        (["--limit", "0"], "--limit: 0 must be at least 1"),
        (["--path", ""], "--path: a path pattern is empty"),
        (["--format", "parquet"], "name a file with --out"),
        (["--follow", "--limit", "3"], "leave out --out and --limit"),
        (["--kind", "gone"], "'gone' is not one of"),
    ],
)
def test_what_cannot_be_asked_is_said(
    state: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    """In one message, with what would be right."""
    with pytest.raises(SystemExit) as ended:
        main(["changes", "--state", str(state), *options])

    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_words_are_marked_and_text_stays_text() -> None:
    """What a page says is no markup of ours, also within a mark."""
    edit = (
        "@@ -1,3 +1,3 @@\n same <i>\n-the old & <b>\n-went\n+the new & <b>\n@@ -9,0 +9,1 @@\n+came"
    )

    assert marked_words(edit) == (
        "<p>same &lt;i&gt;</p><p>the <del>old</del><ins>new</ins> &amp; &lt;b&gt;</p>"
        "<p><del>went</del></p><p><ins>came</ins></p>"
    )
    assert marked_words("-" + "x " * 9_000 + "\n+" + "y " * 9_000).count("<del>") == 1


def test_importance_comes_where_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside what is told of the copy, which it hides from nobody; in tables as a number."""
    fed = Fed(tmp_path / "state")
    fed.put("/a", "/b")
    fed.weigh("/a", 2.5)
    fed.close()
    rows = told(capsys, tmp_path / "state", "--content", "text")

    assert [(row["kind"], row.get("importance"), row["text"]) for row in rows] == [
        ("new", None, "words of /a"), ("new", None, "words of /b"),
        ("importance", 2.5, "words of /a"),
    ]  # fmt: skip
    assert [row["seq"] for row in told(capsys, tmp_path / "state", "--kind", "importance")] == [3]
    assert len(told(capsys, tmp_path / "state", "--kind", "new")) == 2
    out = tmp_path / "changes.parquet"
    told(capsys, tmp_path / "state", "--format", "parquet", "--out", str(out))
    assert pq.read_table(out)["importance"].to_pylist() == [None, None, 2.5]
