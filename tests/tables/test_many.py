"""A table in several files is one table."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.cli.app import main
from recrawl.errors import InvalidTable
from recrawl.tables.many import open_page_tables, table_paths


def written(folder: Path, n_files: int = 3) -> Path:
    """Write a table in parts; return the folder."""
    draw = np.random.default_rng(1)
    folder.mkdir()
    for number in range(n_files):
        n = 40 + number
        columns = {
            "url": [f"http://h{number}.test/{row}" for row in range(n)],
            "change_rate": draw.lognormal(-1.0, 1.5, n),
            "weight": draw.pareto(1.5, n) + 1.0,
            "max_interval": np.full(n, 90.0),
        }
        pq.write_table(pa.table(columns), folder / f"pages-{number}.parquet")
    return folder


def run(*arguments: str, code: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", *arguments])
    assert ended.value.code == code


def rates(path: Path) -> np.ndarray:
    return np.asarray(pq.read_table(path)["crawl_rate"].to_numpy())


def test_a_plan_of_the_parts_is_the_plan_of_the_whole(tmp_path: Path) -> None:
    """By a pattern or by their folder; each part is written under its name."""
    folder = written(tmp_path / "parts")
    parts = [pq.read_table(path) for path in sorted(folder.iterdir())]
    pq.write_table(pa.concat_tables(parts), tmp_path / "whole.parquet")
    whole, first, second = (str(tmp_path / name) for name in ("w.parquet", "a", "b"))
    run(str(tmp_path / "whole.parquet"), "--budget", "60/d", "--out", whole)
    run(str(folder / "pages-*.parquet"), "--budget", "60/d", "--out", first)
    run(str(folder), "--budget", "60/d", "--out", second)
    expected = rates(Path(whole))
    for out in (first, second):
        got = np.concatenate([rates(path) for path in sorted(Path(out).iterdir())])
        assert np.allclose(got, expected, rtol=1e-12, atol=0.0)
    assert pq.read_table(Path(first) / "pages-1.parquet")["url"][0].as_py() == "http://h1.test/0"


def test_a_wrong_value_is_named_with_its_file_and_row(tmp_path: Path) -> None:
    """Not with its row in the whole."""
    folder = written(tmp_path / "parts")
    table = pq.read_table(folder / "pages-2.parquet")
    values = table["weight"].to_numpy().copy()
    values[7] = -1.0
    table = table.set_column(2, "weight", pa.array(values))
    pq.write_table(table, folder / "pages-2.parquet")
    whole, row = open_page_tables(folder), 1
    for _, batch in whole.batches():
        last, first_row, row = batch, row, row + batch.num_rows
    with pytest.raises(InvalidTable, match=r"pages-2.parquet, row 8, column weight: -1"):
        whole.numbers(last, "weight", first_row)


def test_what_makes_no_table_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is written."""
    folder = written(tmp_path / "parts")
    (tmp_path / "empty").mkdir()
    for path, words in ((tmp_path / "empty", "no table in it"), (tmp_path / "x-*", "no file")):
        with pytest.raises(InvalidTable, match=words):
            table_paths(path)
        run(str(path), "--budget", "1/d", code=2)
        assert words in capsys.readouterr().err
    run(str(folder), "--budget", "1/d", "--out", str(tmp_path / "o.parquet"), code=2)
    assert "must be a folder" in capsys.readouterr().err
    run(str(folder), "--budget", "1/d", "--out", str(folder), code=2)
    assert "holds the tables themselves" in capsys.readouterr().err
    pq.write_table(pa.table({"change_rate": [1.0]}), folder / "pages-9.parquet")
    run(str(folder), "--budget", "1/d", "--out", str(tmp_path / "o"), code=2)
    assert "pages-9.parquet: the columns" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
