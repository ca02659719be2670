"""What pages are expected to be worth before their first visit."""

import pytest

from recrawl.crawler.control.worth.importance import ExpectedImportance, share_before_visit

A = "http://a.test"


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        (1.0, "/things/7"),
        (1.0, "/things?page=2"),
        (0.5, "/things?state=open&label=red"),
        (0.25, "/things?state=open&label=red&page=2"),
        (0.25, "/wiki/Start?action=edit"),
        (0.25, "/login"),
        (2.0**-6, "/things?" + "&".join(f"name{number}=1" for number in range(40))),
    ],
)
def test_lists_that_are_narrowed_down_once_more_come_later(expected: float, path: str) -> None:
    """And what speaks against itself; both are bounded, so that nothing waits for ever."""
    assert share_before_visit(A + path) == expected


def test_where_pages_lie_tells_what_they_may_be_worth() -> None:
    """By the folder, else by the host; nothing is said of what nothing is known of."""
    expected = ExpectedImportance()
    assert expected.of(f"{A}/docs/a") is None
    assert expected.of(f"{A}/docs/a?x=1&y=2") == 0.5

    expected.learn({A: 2.0}, {f"{A}/docs/": 3.0})

    assert expected.of(f"{A}/docs/a") == 3.0
    assert expected.of(f"{A}/docs/a?x=1&y=2") == 1.5
    assert expected.of(f"{A}/else/b") == 2.0
    assert expected.of("http://b.test/") == 1.0
