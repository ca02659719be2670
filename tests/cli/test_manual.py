"""Completion and the manual page are made from the parser."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.command import recrawl

from recrawl.cli import main
from recrawl.cli.app import VERBS


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a call writes, here in this process: a new one would import every verb anew."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_verb(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A shell that is here finds no fault in it."""
    script = printed(capsys, "--show-completion", shell)

    assert [name for name, *_ in VERBS if name not in script] == []
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_completion_is_put_where_the_shell_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file is named, and is what would be printed."""
    monkeypatch.setenv("HOME", str(tmp_path))

    told = printed(capsys, "--install-completion", "fish")

    place = tmp_path / ".config" / "fish" / "completions" / "recrawl.fish"
    assert told.startswith(f"Wrote {place}. ")
    assert place.read_text() == printed(capsys, "--show-completion", "fish")


def test_an_unknown_shell_is_bad_input(tmp_path: Path) -> None:
    """The shells that there are, in one message."""
    ended = recrawl("--show-completion", "tcsh", cwd=tmp_path)

    assert ended.returncode == 2
    assert ended.stderr == "recrawl: SHELL: 'tcsh' is not one of bash, zsh, fish\n"


def test_the_manual_page_has_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """With its options; groff, where it is, warns of nothing."""
    page = printed(capsys, "--show-man")

    assert page.startswith(".TH RECRAWL 1")
    assert [name for name, *_ in VERBS if f'.SS "recrawl {name}"' not in page] == []
    assert "\\-\\-allow\\-private" in page
    if shutil.which("groff"):
        checked = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww", "-z"],
            input=page, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert checked.stderr == ""


def test_the_manual_page_offers_no_option_that_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is on that ``--no-...`` would turn off, in verbs of verbs neither."""
    assert "\\-\\-no\\-" not in printed(capsys, "--show-man")
