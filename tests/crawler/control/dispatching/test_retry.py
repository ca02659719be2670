"""When a host says to come back, and when we do by ourselves."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.dispatching.retry import Backoff, retry_after_s

NOW_S = 1_792_567_680.0  # Wed, 21 Oct 2026 07:28:00 GMT


@pytest.mark.parametrize(
    ("expected", "header"),
    [
        (120.0, "120"),
        (120.0, "  120 "),
        (0.0, "0"),
        (1.5, "1.5"),
        (0.0, "-5"),
        (1e9, "1000000000"),
        (60.0, "Wed, 21 Oct 2026 07:29:00 GMT"),
        (60.0, "Wednesday, 21-Oct-26 07:29:00 GMT"),
        (60.0, "Wed Oct 21 07:29:00 2026"),
        (60.0, "Wed, 21 Oct 2026 07:29:00"),
        (60.0, "Wed, 21 Oct 2026 09:29:00 +0200"),
        (0.0, "Wed, 21 Oct 2015 07:28:00 GMT"),
        (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ],
)
def test_both_forms_name_an_instant(expected: float, header: str) -> None:
    """Seconds and all three date forms of RFC 9110; dates are in GMT, and the past means now."""
    assert retry_after_s(header, NOW_S) == NOW_S + expected


def test_dates_do_not_depend_on_where_the_crawler_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A date that names no zone is in GMT, not in the machine's zone."""
    import time

    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        found = retry_after_s("Wed Oct 21 07:29:00 2026", NOW_S)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert found == NOW_S + 60.0


@pytest.mark.parametrize(
    "header",
    [None, "", " ", "soon", "nan", "inf", "-inf", "1e999", "Wed", "0 Foo 0 0:0:0", "99 Oct 2026"],
)
def test_what_names_no_instant_is_none(header: str | None) -> None:
    """Then our own back-off holds."""
    assert retry_after_s(header, NOW_S) is None


@given(st.text(max_size=40) | st.from_regex(r"\w{3}, \d{1,3} \w{3} \d{1,6} [\d:]{1,9} \S{0,6}"))
def test_no_header_breaks_it(header: str) -> None:
    """It is what strangers write, and never in the past."""
    found = retry_after_s(header, NOW_S)

    assert found is None or found >= NOW_S


def test_delays_double_up_to_the_longest() -> None:
    """60 s, 2 min, 4 min ... a day, and then a day however long it lasts."""
    still, random = Backoff(jitter=0.0), Random(1)

    delays = [still.delay_s(failures, random) for failures in (1, 2, 3, 11, 12, 100, 10_000)]

    assert delays == [60.0, 120.0, 240.0, 61_440.0, 86_400.0, 86_400.0, 86_400.0]


@given(failures=st.integers(1, 2000), jitter=st.floats(0, 1), seed=st.integers(0, 99))
def test_jitter_stretches_and_never_shortens(failures: int, jitter: float, seed: int) -> None:
    """By at most its share, so that the bounds that hosts were promised hold."""
    plain = Backoff(jitter=0.0).delay_s(failures, Random(seed))

    delay = Backoff(jitter=jitter).delay_s(failures, Random(seed))

    assert plain <= delay <= plain * (1.0 + jitter)


def test_hosts_do_not_return_in_step() -> None:
    """Two hosts that failed together are asked again at different instants, over a tenth more."""
    random = Random(2)

    delays = {Backoff().delay_s(1, random) for _ in range(50)}

    assert len(delays) == 50
    assert min(delays) < 61.0
    assert 65.0 < max(delays) <= 66.0
