"""The verb ``reproduce``."""

import json
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.reproductions import NAMES


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_without_a_name_it_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Every name, with what it is."""
    code, out, _ = run(capsys)
    _, listed, _ = run(capsys, "--json")

    assert code == 0
    assert all(name in out for name in NAMES)
    assert list(json.loads(listed)["names"]) == list(NAMES)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("avrachenkov-table-1", 15),
        ("eckstein-grids", 9),
        ("eckstein-policies", 24),
        ("talim-figures", 3),
        ("talim-table-1", 27),
        ("talim-table-2", 27),
    ],
)
def test_the_json_contract(capsys: pytest.CaptureFixture[str], name: str, rows: int) -> None:
    """The name, and rows of printed, computed and note."""
    code, out, _ = run(capsys, name, "--json")

    found = json.loads(out)
    assert code == 0
    assert found["name"] == name
    assert len(found["rows"]) == rows
    assert all({"printed", "computed", "note"} <= row.keys() for row in found["rows"])


def test_printed_beside_ours_with_the_misprints_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two lines a row, numbered notes below."""
    code, out, _ = run(capsys, "talim-table-2")

    assert code == 0
    assert out.count("printed  ") >= 27
    assert "copying slip" in out
    assert "[5]" in out


def test_the_pictures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Figures 2 to 4 on one sheet; a table has none."""
    path = tmp_path / "figures.png"

    code, _, err = run(capsys, "talim-figures", "--plot", str(path))
    refused, out, complaint = run(capsys, "talim-table-1", "--plot", str(path))

    assert code == 0, err
    assert path.stat().st_size > 20_000
    assert (refused, out) == (2, "")
    assert "talim-table-1 is a table" in complaint


def test_an_unknown_name_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists those that are known."""
    code, out, err = run(capsys, "talim-table-3")

    assert (code, out) == (2, "")
    assert (
        "the names are altman-figure-1, altman-mmpp, avrachenkov-figures, avrachenkov-table-1"
        in err
    )
