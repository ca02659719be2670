"""Where a page sends its reader on to, and after how long."""

from math import inf

import pytest

from recrawl.crawler.control.answers.refresh import Refresh, refresh_of


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("5; url=/there", Refresh("http://a.test/there", 5.0)),
        ("0,'there'", Refresh("http://a.test/dir/there", 0.0)),
        ("1.2.3; url=/there", Refresh("http://a.test/there", inf)),
        ("5", None),
        ("5; url= ", None),
        ("5; url=mailto:me@a.test", None),
        ("/there", None),
        ("", None),
        (None, None),
    ],
)
def test_a_reader_is_sent_where_that_leads_somewhere(
    told: str | None, expected: Refresh | None
) -> None:
    assert refresh_of(told, "http://a.test/dir/page") == expected
