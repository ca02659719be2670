"""What servers tell caches of a page."""

import pytest

from recrawl.crawler.control.answers.promises import promise_of
from recrawl.terms import FetchResponse


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (200, "public, max-age=31536000, immutable", True),
        (200, "IMMUTABLE", True),
        (200, "max-age=315360000", True),
        (304, "Max-Age = 31536000", True),
        (200, 'max-age="31536000"', True),
        (200, "max-age=25920000", True),  # 300 days
        (200, "max-age=25919999", False),
        (200, "public, max-age=86400", False),
        (200, "max-age=31536000, no-cache", False),
        (200, 'private="immutable", max-age=60', False),
        (200, "max-age=31536000, max-age=0", False),
        (200, "no-store", False),
        (200, "max-age=99999999999999999999999", True),
        (200, "", False),
        (304, "", None),
        (404, "immutable", None),
        (301, "max-age=31536000", None),
    ],
)
def test_a_page_is_promised_to_hold_for_good(status: int, said: str, expected: bool | None) -> None:
    """By a word, or by a time that is as good as for ever; errors and redirects promise nothing."""
    response = FetchResponse("http://a.test/", status, cache_control=said)
    assert promise_of(response) is expected
