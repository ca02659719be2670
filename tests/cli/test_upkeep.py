"""`recrawl check`, `backup`, `restore`, and what an export leaves that is interrupted."""

import json
from pathlib import Path

import pytest

from recrawl.cli.app import main
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery


@pytest.fixture
def state(tmp_path: Path) -> Path:
    frontier = open_frontier(tmp_path / "state")
    frontier.admit([Discovery("http://a.test/", "http://a.test")], 1e9, AdmissionLimits())
    frontier.close()
    return tmp_path / "state"


def ended(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return int(stop.value.code or 0)


def test_check_says_whether_and_what(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("check", "--state", state) == 0
    assert "is whole" in capsys.readouterr().out

    (state / "state.sqlite3").write_bytes(b"rubbish" * 1000)
    assert ended("check", "--state", state, "--json") == 1
    assert json.loads(capsys.readouterr().out)["faults"][0]["part"] == "state"
    assert ended("check", "--state", state, "--repair") == 0
    assert "Done: " in capsys.readouterr().out


def test_a_backup_is_made_and_brought_back(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, again = tmp_path / "copy", tmp_path / "again"

    assert ended("backup", copy, "--state", state) == 0
    assert ended("restore", copy, "--state", again) == 0
    assert ended("check", "--state", again) == 0
    assert ended("restore", copy, "--state", again) == 2
    assert "not empty" in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, OSError])
def test_an_export_that_is_interrupted_leaves_nothing(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Neither a half nor what it was written to."""

    def half(path: Path, _: object) -> int:
        path.write_text("half")
        raise error

    monkeypatch.setattr("recrawl.cli.crawler.export._write_csv", half)

    assert ended("export", "pages", "--out", tmp_path / "pages.csv", "--state", state) != (
        0 if error is not SystemExit else -1
    )
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
