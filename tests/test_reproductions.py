"""``recrawl.reproductions``: published results as objects."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from recrawl.errors import InputError, InvalidTable
from recrawl.reproductions import NAMES, ON_DATA, reproduce


def test_printed_values_beside_ours_and_a_picture() -> None:
    """Rows of both, a title that names the paper, and six panels."""
    found = reproduce("talim-figures")
    figure = Figure()
    assert found.draw is not None
    found.draw(figure)

    assert "Talim" in found.title
    for row in found.rows:
        assert float(str(row.printed["cost"])) == pytest.approx(row.computed["cost"], abs=5e-6)
    assert len(figure.axes) == 6


def test_a_table_has_no_picture() -> None:
    """What is printed as a table is left to its reader to draw."""
    assert reproduce("avrachenkov-table-2").draw is None


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("talim-table-3", None, "'talim-table-3' is not known; the names are altman-figure-1"),
        ("talim-table-1", "traces.csv", "data: talim-table-1 takes none"),
        ("eckstein-traces", None, "data: eckstein-traces needs a table of updates"),
    ],
)
def test_wrong_calls_say_what_would_be_right(name: str, data: str | None, words: str) -> None:
    """Before anything is computed."""
    with pytest.raises(InputError, match=words):
        reproduce(name, data)


def test_a_file_that_is_no_table_is_told(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(InvalidTable, match=r"none\.csv"):
        reproduce("eckstein-figures", tmp_path / "none.csv")


def test_those_on_data_are_known() -> None:
    """A part of all names."""
    assert set(NAMES) > ON_DATA
