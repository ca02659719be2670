"""Lines that pages of a host have said."""

import pytest

from recrawl.crawler.control.addresses import lines_said
from recrawl.crawler.control.addresses.lines_said import LinesSaid

A = "http://a.test"
ROWS = [
    ["The lamp of the harbour", "novel", "a story of a lamp that never went out at night"],
    ["Letters from a garden", "poems", "what somebody wrote among beans and roses"],
]


def filtered(colour: str, rows: list[list[str]]) -> list[str]:
    return [
        "books",
        f"{len(rows)} rows where colour = {colour}",
        *(cell for row in rows for cell in row),
    ]


@pytest.fixture
def said() -> LinesSaid:
    """What a list says, and a filter of it."""
    made = LinesSaid()
    made.keep(A, filtered("", ROWS))
    assert made.says_more(f"{A}/books?colour=red&kind=x", A, filtered("red", ROWS[:1]))  # "where"
    return made


def test_rows_that_others_have_are_no_more_whatever_was_chosen(said: LinesSaid) -> None:
    """Words of the address, and numbers, do not count."""
    for colour in ("blue", "green"):
        url = f"{A}/books?colour={colour}&kind=x"
        assert not said.says_more(url, A, filtered(colour, ROWS[1:]))


def test_a_row_that_no_other_page_has_is_more(said: LinesSaid) -> None:
    """So are rows of another host."""
    row = ["On tides", "essay", "why the water comes back twice a day, told for children"]
    url = f"{A}/books?colour=blue&kind=x"

    assert said.says_more(url, A, filtered("blue", [row]))
    assert said.says_more(url, "http://b.test", filtered("blue", ROWS))


def test_a_name_among_labels_that_all_have_is_more() -> None:
    """However little of a record it is."""
    labels = [f"label {n} of a long form that everybody fills in the same way" for n in range(40)]
    kept = LinesSaid()
    for name in ("Ada Lovelace", "Alan Turing"):
        assert kept.says_more(f"{A}/people?kind=x&id=7", A, [*labels, name])
        kept.keep(A, labels)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of long ago are forgotten."""
    monkeypatch.setattr(lines_said, "_MOST_MARKS", 100)
    kept = LinesSaid()
    url, lines = f"{A}/books?colour=blue&kind=x", [cell for row in ROWS for cell in row]
    kept.keep(A, lines)
    kept.keep(A, [f"line {n}" for n in range(100)])
    assert not kept.says_more(url, A, lines)

    kept.keep(A, [f"other line {n}" for n in range(200)])

    assert kept.says_more(url, A, lines)
