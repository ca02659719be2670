"""What pages of a calendar say but for their own date."""

import pytest

from recrawl.crawler.control.addresses.calendars import (
    beside_dates,
    calendar_of,
    month_of,
    uncounted,
)

WORDS = ["monday,", "(march)", "5th", "2026", "31", "99", "meeting"]


@pytest.mark.parametrize(
    ("left", "url"),
    [
        (["5th", "2026", "31", "99", "meeting"], "http://a.test/2026-03-05"),
        (["5th", "2026", "31", "99", "meeting"], "http://a.test/?date=2026-03-05"),
        (["99", "meeting"], "http://a.test/?time=1772668800"),
        (["99", "meeting"], "http://a.test/?date=1772668800&view=day"),
    ],
)
def test_what_is_said_beside_a_date(left: list[str], url: str) -> None:
    """Where the address tells it in seconds, numbers of days and years are part of it too."""
    assert beside_dates(WORDS, url) == left


def test_dates_are_said_by_any_calendar() -> None:
    words = ["2031-4", "lamp", "7", "5/2/2031", "54", "12.5", "2031-05-02"]
    url = "http://a.test/plan?month=4&year=2031"
    assert beside_dates(words, url) == ["lamp", "7", "54", "12.5"]


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ("", "15 16 17 18"),
        ("lamp 7 8 9 7", "lamp 7 8 9 7"),
        ("lamp 5 12 33 41 50", "lamp 2029 2030 2031 2032 5 12 33 41 50"),
        ("plan lamp", "plan 51 52 1 2 3 lamp"),
        ("", "48 29 30 31 1 49 2 3 4 5 6 7 8 50 9 10 11 12 51 13 14 15 16"),
    ],
)
def test_numbers_that_count_up_are_those_of_a_calendar(left: str, words: str) -> None:
    """Of the days of a month, of its weeks, and of years; no others."""
    assert uncounted(words.split()) == left.split()


@pytest.mark.parametrize(
    ("calendar", "query"),
    [
        ("month=&query=3&year=", "month=4&query=3&year=2031"),
        ("y=&m=&d=", "y=2019&m=04&d=31"),
        ("cal%5Byear%5D=&cal%5Bmonth%5D=", "cal%5Byear%5D=2019&cal%5Bmonth%5D=4"),
        (None, "month=13&year=2031"),
        (None, "year=2031"),
        (None, "id=7&m=3"),
        ("date=", "date=2026-02-05"),
    ],
)
def test_months_are_told_by_one_parameter_or_by_several(calendar: str | None, query: str) -> None:
    assert calendar_of(f"http://a.test/?{query}") == (calendar and f"/?{calendar}")


@pytest.mark.parametrize(
    ("month", "path"),
    [
        (None, "/club/2026/02/"),
        (None, "/club/2026-02.html"),
        ("/club/2026/02", "/club/2026/02/05"),
        ("/2026-02.html", "/2026-02-05.html"),
        (None, "/?date=2026-02-05"),
    ],
)
def test_days_are_of_a_month(month: str | None, path: str) -> None:
    """Where the end of the path tells both."""
    assert month_of(f"http://a.test{path}") == (month and f"http://a.test{month}")
