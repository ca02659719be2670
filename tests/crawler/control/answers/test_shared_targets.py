"""Moves that are likely a slip."""

import pytest

from recrawl.crawler.control.answers.shared_targets import SharedTargets

A = "http://a.test"


@pytest.mark.parametrize(
    ("url", "target", "is_doubtful"),
    [
        (f"{A}/one", f"{A}/new/one", False),
        (f"{A}/one", f"{A}/", True),
        (f"{A}/one", "https://b.test/", True),
        (f"{A}/", "https://a.test/", False),
        (f"{A}/", f"{A}/en/", False),
        (f"{A}/one", f"{A}/?page=one", False),
    ],
)
def test_a_move_to_the_start_page_is_doubtful(url: str, target: str, *, is_doubtful: bool) -> None:
    assert SharedTargets().is_doubtful(url, target) == is_doubtful


def test_so_is_a_move_to_where_another_page_has_moved() -> None:
    """A page that says so again is no other page."""
    targets = SharedTargets()

    said = [targets.is_doubtful(f"{A}/{name}", f"{A}/rest") for name in "aabac"]
    assert said == [False, False, True, False, True]


@pytest.mark.parametrize(("n_others", "is_known"), [(99_999, True), (100_000, False)])
def test_a_hundred_thousand_targets_are_remembered(n_others: int, *, is_known: bool) -> None:
    targets = SharedTargets()
    targets.is_doubtful(f"{A}/a", f"{A}/rest")
    for number in range(n_others):
        targets.is_doubtful(f"{A}/{number}", f"{A}/new/{number}")

    assert targets.is_doubtful(f"{A}/b", f"{A}/rest") == is_known
