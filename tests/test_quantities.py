"""Durations, rates and sizes as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.quantities import (
    UNIT_S,
    parse_bytes,
    parse_duration_s,
    parse_rate_per_s,
    show_bytes,
    show_duration,
    show_measured_rate,
    show_rate,
)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (0.25, "250ms"),
        (30.0, "30s"),
        (30.0, " 30 S "),
        (5400.0, "90m"),
        (5400.0, "90min"),
        (43_200.0, "12h"),
        (129_600.0, "1.5d"),
        (1_209_600.0, "2w"),
        (31_557_600.0, "1y"),
        (1000.0, "1e3s"),
        (0.5, ".5s"),
        (0.0, "0s"),
    ],
)
def test_every_unit_of_time_is_known(expected: float, text: str) -> None:
    """With or without a space, in any case."""
    assert parse_duration_s(text, name="delay") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (50.0, "50/s"),
        (50_000.0, "50/ms"),
        (0.1, "6/min"),
        (0.1, "6 / m"),
        (1000 / 3600, "1000/h"),
        (1000 / 3600, "1000 per h"),
        (1.0, "86400/d"),
        (1.0, "604800/W"),
        (1e-3, "31557.6/y"),
    ],
)
def test_every_unit_of_a_rate_is_known(expected: float, text: str) -> None:
    """A number per unit of time."""
    assert parse_rate_per_s(text, name="budget") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (1000, "1000"),
        (12, "12 B"),
        (4000, "4kB"),
        (4096, "4KiB"),
        (1_500_000, "1.5MB"),
        (1_572_864, "1.5 MiB"),
        (2_000_000_000, "2gb"),
        (2_147_483_648, "2GiB"),
    ],
)
def test_every_unit_of_size_is_known(expected: int, text: str) -> None:
    """Powers of a thousand and of 1024."""
    assert parse_bytes(text, name="size") == expected


@pytest.mark.parametrize(
    ("parse", "right", "texts"),
    [
        (parse_duration_s, "30s", ["", "30", "s", "-5s", "1 parsec", "1h30m", "1,5h", "∞", "nans"]),
        (parse_rate_per_s, "1000/h", ["", "1000", "/h", "-1/h", "5/parsec", "1/2h", "5/", "5h"]),
        (parse_bytes, "4MiB", ["", "lots", "MiB", "-1", "5 bits", "1TB", "1e3"]),
    ],
)
def test_what_is_none_is_named_with_what_would_be_right(
    parse: object, right: str, texts: list[str]
) -> None:
    """The setting, the text, and an example."""
    for text in texts:
        with pytest.raises(InputError) as told:
            parse(text, name="the.key")  # type: ignore[operator]
        assert str(told.value).startswith("the.key: ")
        assert repr(text) in str(told.value)
        assert right in str(told.value)


@pytest.mark.parametrize("text", ["1.2.3s", "..s", "1e999s"])
def test_numbers_that_are_none_are_named(text: str) -> None:
    """Two points, or more than there are numbers for."""
    with pytest.raises(InputError, match=r"the\.key: .* (not a number|not finite)"):
        parse_duration_s(text, name="the.key")


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_an_error_with_a_name(text: str) -> None:
    """Never another exception, never infinite, never negative."""
    for parse in (parse_duration_s, parse_rate_per_s, parse_bytes):
        value = math.nan
        try:
            value = parse(text, name="key")
        except InputError:
            continue
        assert 0 <= value < math.inf


@given(st.floats(1e-3, 1e9))
def test_what_is_shown_can_be_read_back(seconds: float) -> None:
    """To the three or four digits that people read."""
    shown = show_duration(seconds)
    rate = show_rate(1 / seconds)

    assert parse_duration_s(shown, name="x") == pytest.approx(seconds, rel=6e-3)
    assert parse_rate_per_s(rate, name="x") == pytest.approx(1 / seconds, rel=6e-4)
    assert shown[-1] in "syhdn"
    assert set(UNIT_S) >= {rate.partition("/")[2]}


@pytest.mark.parametrize(
    ("expected", "seconds"),
    [
        ("4.2s", 4.2), ("0.003s", 0.003), ("17min", 1020), ("3.5h", 12_600), ("12d", 1_036_800),
        ("2y", 63_115_200), ("-2h", -7200), ("never", math.inf), ("never", math.nan), ("0s", 0),
    ],
)  # fmt: skip
def test_durations_read_well(expected: str, seconds: float) -> None:
    """In the largest unit of which there is one."""
    assert show_duration(seconds) == expected


@pytest.mark.parametrize(
    ("expected", "size"),
    [("0 B", 0), ("812 B", 812), ("1 KiB", 1024), ("3.4 MiB", 3.4 * 2**20), ("5 GiB", 5 * 2**30)],
)
def test_sizes_read_well(expected: str, size: float) -> None:
    """Up to gibibytes."""
    assert show_bytes(size) == expected


@pytest.mark.parametrize("written", ["200/d", "1000/h", "6/min", "50000/d", "3/s", "2500/d"])
def test_a_rate_is_shown_as_it_was_written(written: str) -> None:
    """In the unit in which it is a whole number."""
    assert show_rate(parse_rate_per_s(written, name="budget")) == written


def test_a_rate_that_is_whole_in_no_unit_is_shown_in_one_in_which_it_can_be_read() -> None:
    """With four digits."""
    assert show_rate(1 / 7) == "8.571/min"
    assert show_rate(1e-9) == "0.03156/y"


def test_a_measured_rate_stays_in_one_unit_while_it_moves() -> None:
    """Whole in no unit by chance: a progress line that changes its unit cannot be read."""
    assert show_rate(97.88583333333334) == "352389/h"
    assert [show_measured_rate(rate) for rate in (97.88583333333334, 98.1, 98.0)] == [
        "97.89/s",
        "98.1/s",
        "98/s",
    ]
    assert show_measured_rate(1 / 7) == "8.571/min"
