"""What pages of a calendar say but for their own date."""

import pytest

from recrawl.crawler.control.calendars import beside_dates, month_of

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
