"""A file that people have written is there in full, or as it was."""

from pathlib import Path

import pytest

from recrawl.errors import InputError, StateError
from recrawl.whole_files import whole_file


def test_what_is_there_stays_when_the_new_one_is_not_finished(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    out.write_text("old")

    def broken_by(error: BaseException) -> None:
        with whole_file(out) as part:
            part.write_text("half")
            raise error

    with pytest.raises(StateError, match=r"table\.csv: cannot be written: No space left"):
        broken_by(OSError(28, "No space left on device"))
    with pytest.raises(KeyboardInterrupt):
        broken_by(KeyboardInterrupt())

    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    assert out.read_text() == "old"


def test_a_name_that_no_file_can_have_is_said_to_be_that(tmp_path: Path) -> None:
    whole = whole_file(tmp_path / ("x" * 300))

    with pytest.raises(StateError, match="cannot be written: File name too long"), whole as to:
        to.write_text("x")


def test_links_and_rights_stay(tmp_path: Path) -> None:
    out, link = tmp_path / "private.toml", tmp_path / "link.toml"
    out.touch(0o600)
    link.symlink_to(out)

    with whole_file(link) as part:
        part.write_text("new")

    assert link.is_symlink()
    assert (out.read_text(), out.stat().st_mode & 0o777) == ("new", 0o600)


def test_devices_are_written_as_they_are(capfd: pytest.CaptureFixture[str]) -> None:
    with whole_file(Path("/dev/stdout")) as part:
        part.write_text("said\n")

    assert capfd.readouterr().out == "said\n"


def test_the_option_is_named(tmp_path: Path) -> None:
    whole = whole_file(tmp_path / "nowhere/x.csv", option="--out", raises=InputError)

    with (
        pytest.raises(InputError, match=r"--out: .*nowhere/x\.csv: cannot be written"),
        whole as to,
    ):
        to.write_text("x")
