"""Avrachenkov, Dudin, Klimenok, Nain and Semenova 2011: the tables from the reconstruction."""

import json
from pathlib import Path

import pytest

from recrawl.reproductions import avrachenkov
from recrawl.reproductions.avrachenkov import agrees
from recrawl.reproductions.avrachenkov_printed import TABLE_1, paper_model
from recrawl.reproductions.result import Reproduction

DATA = json.loads((Path(__file__).parent / "data" / "avrachenkov-2011.json").read_text())


def matches(found: Reproduction, *names: str) -> list[bool]:
    return [
        agrees(str(row.printed[name]), float(str(row.computed[name])))
        for row in found.rows
        for name in names
    ]


def test_table_1() -> None:
    """Fourteen of fifteen rows as printed, the other a copying slip; thresholds too."""
    found = avrachenkov.table_1()

    good = matches(found, "J")
    assert [row.case["robots"] for row in found.rows if row.note] == ["4 or 3 or 1"]
    assert sum(good) == 14
    assert good[12] is False
    same = [row.printed["thresholds"] == row.computed["thresholds"] for row in found.rows]
    assert all(same)
    for row, known in zip(found.rows, DATA["instances"]["paper"]["table1"], strict=True):
        assert row.computed["J"] == pytest.approx(known["J"], rel=1e-10)
    assert len(TABLE_1) == 15


def test_table_2() -> None:
    """45 of 48 single-mode values, all controlled ones; three thresholds are slips."""
    found = avrachenkov.table_2()

    assert sum(matches(found, "J_1", "J_2", "J_3", "J_4")) == 45
    assert all(matches(found, "J*"))
    off = [
        row.case["N"] for row in found.rows if row.printed["threshold"] != row.computed["threshold"]
    ]
    assert off == [3, 6, 7]


def test_tables_3_and_4() -> None:
    """147 of 148 single-mode values; the listed misprints among the controlled ones."""
    third, fourth = avrachenkov.table_3(), avrachenkov.table_4()

    singles = (
        matches(third, "J_1", "J_2", "J_3", "J_4"),
        matches(fourth, "J_1", "J_2", "J_3", "J_4"),
    )
    assert (len(singles[0]) + len(singles[1]), sum(singles[0]) + sum(singles[1])) == (148, 147)
    wrong = [
        row.case["factor"]
        for row, good in zip(third.rows, matches(third, "J*"), strict=True)
        if not good
    ]
    assert wrong == [3.0, 15]
    wrong = [
        row.case["factor"]
        for row, good in zip(fourth.rows, matches(fourth, "J*"), strict=True)
        if not good
    ]
    assert wrong == [0.01]
    by_factor = {row.case["factor"]: row.computed["best of all"] for row in third.rows}
    assert by_factor[3.0] == pytest.approx(160.488, abs=5e-4)


def test_figures() -> None:
    """What the text says of them: variances at the ends, the threshold that falls from 2 to 0."""
    found = avrachenkov.figures()

    best = [
        int(str(row.computed["best threshold"])) for row in found.rows if row.case["figure"] == 4
    ]
    assert best[0] == 2
    assert best[-1] == 0
    assert best == sorted(best, reverse=True)
    curves = [str(row.case["curve"]) for row in found.rows]
    for part in ("variance 0.4318", "variance 5.79", "variance 25", "variance 449"):
        assert any(part in curve for curve in curves), part


def test_the_second_example_is_said_to_be_lost() -> None:
    """Plainly, and why."""
    remarks = " ".join(avrachenkov.table_1().remarks)

    assert "cannot be recovered" in remarks
    assert "impossible" in remarks
    assert paper_model().states == 22
