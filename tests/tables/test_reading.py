"""Files that are brought as tables, and are none: the message says what they are."""

import bz2
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recrawl.errors import InvalidTable
from recrawl.tables.captures.looks import Tally
from recrawl.tables.captures.own_visits import read_visits
from recrawl.tables.instants import instants
from recrawl.tables.reading import open_page_table, read_table

_ROWS = b"url,change_rate\nhttps://a.test/,1\n"


@pytest.mark.parametrize("read", [open_page_table, read_table])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(_ROWS, mtime=0), "is compressed by gzip; unpack it first"),
        (bz2.compress(_ROWS), "is compressed by bzip2"),
        (_ROWS.decode().encode("utf-16"), "is UTF-16; save the file as UTF-8"),
        (b"PK\x03\x04rest", "save its table as CSV"),
        (b'[{"url": "https://a.test/", "change_rate": 1}]', "begins as a list of JSON"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(
    read: Callable[[Path], Any], content: bytes, said: str, tmp_path: Path
) -> None:
    """What spreadsheets and exports write, above all."""
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidTable, match=said):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("sign", [";", "\t"])
def test_other_signs_between_columns_are_named(sign: str, tmp_path: Path) -> None:
    """As spreadsheets write them in half of the world."""
    (tmp_path / "t.csv").write_bytes(_ROWS.replace(b",", sign.encode()))
    with pytest.raises(InvalidTable, match="between them, where commas must be"):
        open_page_table(tmp_path / "t.csv")


@pytest.mark.parametrize("read", [open_page_table, read_table])
def test_a_pipe_is_refused_before_it_is_read(read: Callable[[Path], Any], tmp_path: Path) -> None:
    """Its second reading would find nothing."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidTable, match="is a pipe"):
        read(pipe)


@pytest.mark.parametrize("at", ["2026-08-22T09:30:00Z", "2026-08-22T11:30:00+02:00"])
def test_times_in_json_keep_their_zones(at: str, tmp_path: Path) -> None:
    """Arrow read them as times without a zone, which are refused."""
    path = tmp_path / "visits.jsonl"
    path.write_text(f'{{"url": "http://a.test/", "visited_at": "{at}", "changed": true}}\n')

    assert instants(read_table(path), "visited_at", path).tolist() == [1_787_391_000.0]
    (look,) = read_visits(path, Tally())
    assert look.at_s == 1_787_391_000.0
