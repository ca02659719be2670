"""Columns of every kind that pandas, polars, databases and files have."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recrawl
from recrawl.errors import InvalidTable
from recrawl.tables.columns import plain_table, truths
from recrawl.tables.histories import history_of
from recrawl.tables.instants import instants
from recrawl.tables.reading import read_table

_URLS = pa.array(["https://a.test/x", "https://a.test/y", "https://b.test/z"])
_RATES = pa.array([1.0, 2.0, 3.0])


def _kinds(texts: pa.Array) -> list[Any]:
    views = texts.cast(pa.string_view())
    return [
        texts.cast(pa.large_string()),
        views,
        texts.dictionary_encode(),
        texts.cast(pa.large_string()).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array(range(len(texts)), pa.uint32()), views),
        texts.cast(pa.binary()),
    ]


@pytest.mark.parametrize("urls", _kinds(_URLS), ids=lambda one: str(one.type))
def test_a_plan_with_limits_is_the_same_whatever_text_is_held_as(urls: pa.Array) -> None:
    """Categories of pandas and views of polars were no text for Arrow's regular expressions."""
    plans = [
        recrawl.plan(pa.table({"url": one, "change_rate": _RATES}), "2/d", host_limit="1/d")
        for one in (_URLS, urls)
    ]

    assert plans[1].table["crawl_rate"] == plans[0].table["crawl_rate"]
    assert plans[1].table["url"].type == urls.type  # as it came


@pytest.mark.parametrize(
    "rates",
    [
        pa.array([Decimal("1.0"), Decimal("2.0"), Decimal("3.0")]),
        _RATES.dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3], _RATES),
    ],
    ids=lambda one: str(one.type),
)
def test_numbers_are_read_as_databases_hand_them_out(rates: pa.Array) -> None:
    """A literal 1.5 of SQL is a decimal."""
    plans = [recrawl.plan({"url": _URLS, "change_rate": one}, "2/d") for one in (_RATES, rates)]
    assert plans[1].table["crawl_rate"] == plans[0].table["crawl_rate"]


def test_a_host_that_is_no_text_is_refused() -> None:
    """It was an AttributeError."""
    with pytest.raises(InvalidTable, match="column host holds int64, must be text"):
        recrawl.plan({"host": [1, 2, 3], "change_rate": _RATES}, "2/d", host_limit="1/d")


@pytest.mark.parametrize(
    "times",
    _kinds(pa.array(["2026-08-22T09:30:00Z", "2026-08-22T11:30:00+02:00"])),
    ids=lambda one: str(one.type),
)
def test_times_in_text_are_read_whatever_text_is_held_as(times: pa.Array, tmp_path: Path) -> None:
    """In memory and from a file."""
    table = pa.table({"at": times})
    assert instants(table, "at", Path("t")).tolist() == [1_787_391_000.0] * 2
    if not pa.types.is_dictionary(times.type):
        pq.write_table(table, tmp_path / "t.parquet")
        assert instants(read_table(tmp_path / "t.parquet"), "at", Path("t"))[0] == 1_787_391_000.0


def test_a_time_may_be_finer_than_is_computed_with() -> None:
    """Nanoseconds, as clocks of machines and pandas give them."""
    fine = pa.array([1_787_391_000_000_000_001], pa.timestamp("ns", tz="UTC"))
    texts = pa.array(["2026-08-22T09:30:00.000000001Z"])
    for column in (fine, texts):
        assert instants(pa.table({"at": column}), "at", Path("t")).tolist() == [1_787_391_000.0]


def test_a_missing_time_among_texts_is_called_missing() -> None:
    """It was said to have no time zone."""
    with pytest.raises(InvalidTable, match="row 2: the time is missing"):
        instants(pa.table({"at": ["2026-08-22T09:30:00Z", None]}), "at", Path("t"))


@pytest.mark.parametrize(
    "changed",
    [
        pa.array([1, 0, 1, 0]),
        pa.array([1.0, 0.0, 1.0, 0.0]),
        pa.array(["true", "false", "true", "false"]),
        pa.array(["True", "False", "True", "False"]).dictionary_encode(),
        pa.array(["t", "f", "t", "f"]).cast(pa.string_view()),
        pa.array(["new", "unchanged", "changed", "not-modified"]),
        pa.array([None, False, True, False]),
    ],
    ids=str,
)
def test_what_changed_is_told_apart_however_it_is_said(changed: pa.Array) -> None:
    """The text "false" counted as a change."""
    visits = {"url": ["/a"] * 4, "visited_at": [0.0, 10.0, 20.0, 30.0], "changed": changed}
    assert history_of(visits).changed_at.tolist() == [15.0]


def test_a_visit_that_tells_nothing_does_not_say_that_nothing_changed() -> None:
    """A change is in the middle between the visits that tell."""
    visits = {"url": ["/a"] * 3, "visited_at": [0.0, 10.0, 20.0], "changed": [True, None, True]}
    assert history_of(visits).changed_at.tolist() == [10.0]


def test_what_is_neither_true_nor_false_is_refused() -> None:
    """With its row."""
    with pytest.raises(InvalidTable, match="column changed, row 2: 'perhaps' must be true or fal"):
        truths(pa.array(["true", "perhaps"]), "changed", Path("t"))


def test_weights_that_are_no_numbers_are_refused() -> None:
    """It was Arrow's own exception."""
    with pytest.raises(InvalidTable, match="column weight: holds no numbers"):
        history_of({"url": ["/a"], "changed_at": [1.0], "weight": ["much"]})


def test_tables_without_rows_stay_so() -> None:
    """Also of dictionaries, of which a table may have no part at all."""
    table = pa.table({"url": pa.chunked_array([], pa.dictionary(pa.int32(), pa.large_string()))})
    assert plain_table(table).column("url").type == pa.string()


def test_numbers_beyond_what_a_float_tells_apart_are_numbers(tmp_path: Path) -> None:
    """Rounded as a rate or a weight, and no time that there is."""
    vast = 202_602_602_026_026_026
    pages = pa.table({"url": _URLS, "change_rate": [1, 2, vast]})
    times = pa.table({"url": _URLS, "at": [vast] * 3})

    assert recrawl.plan(pages, budget="30/d").freshness > 0.0
    with pytest.raises(InvalidTable, match=r"row 1: .* is no time"):
        instants(times, "at", tmp_path)
