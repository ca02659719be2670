"""Times in tables: with a zone, and of this calendar."""

from pathlib import Path

import pyarrow as pa
import pytest

from recrawl.errors import InvalidTable
from recrawl.tables.instants import instants


@pytest.mark.parametrize("value", [3_080_808_080_808.0, -1e12, float("nan"), float("inf")])
def test_a_number_that_no_calendar_has_is_refused(value: float) -> None:
    """Milliseconds, mostly."""
    table = pa.table({"at": [1.0, value]})
    with pytest.raises(InvalidTable, match=r"t\.csv, column at, row 2: .*seconds since 1970"):
        instants(table, "at", Path("t.csv"))


def test_the_same_instant_is_the_same_however_it_is_written() -> None:
    """In text with a zone, as a time stamp, in seconds."""
    texts = pa.table({"at": ["2026-08-22T09:30:00Z", "2026-08-22T11:30:00+02:00"]})
    found = instants(texts, "at", Path("t.csv"))
    assert found.tolist() == [1_787_391_000.0] * 2
    assert instants(pa.table({"at": found}), "at", Path("t.csv")).tolist() == found.tolist()
