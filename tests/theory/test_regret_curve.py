"""The regret of learning as a measured curve: what the page says, the table holds."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from recrawl.simulation.backtest import Backtest, run_policy
from recrawl.simulation.history import ChangeHistory

DOCS = Path(__file__).parents[2] / "docs"


def measured() -> dict[str, dict[float, float]]:
    """Regret by policy and days."""
    found: dict[str, dict[float, float]] = defaultdict(dict)
    with (DOCS / "benchmarks" / "regret.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["policy"]][float(row["days"])] = float(row["regret"])
    return found


def test_the_page_says_what_was_measured() -> None:
    """Each row of the table, rounded; and the sentence below it."""
    text, found = (DOCS / "theory" / "learning.md").read_text(), measured()
    section = text[text.index("## What not knowing costs") :]

    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", section, re.M)

    assert [float(row[0]) for row in rows] == sorted(found["recrawl"])
    for days, *lost in rows:
        for policy, shown in zip(("recrawl", "explore", "uniform"), lost, strict=True):
            assert float(shown) == pytest.approx(found[policy][float(days)], abs=0.0051)
    assert found["explore"][300] / found["explore"][30] == pytest.approx(5.3, abs=0.3)
    assert found["recrawl"][300] / found["recrawl"][30] == pytest.approx(2.2, abs=0.3)


def test_what_learns_loses_less_and_less_a_day() -> None:
    """A small replay of the same kind: 150 pages whose rates are log-normal, 10 and 80 days."""
    random, lost = np.random.default_rng(1), {}
    rates = np.exp(1.5 * random.standard_normal(150))
    rates /= rates.mean()
    for days in (10.0, 80.0):
        page = np.repeat(np.arange(150), random.poisson(rates * days))
        at = random.uniform(0.0, days, page.size)
        order = np.lexsort((at, page))
        alike, none = np.zeros(150, np.int64), np.zeros(150, np.bool_)
        ends = (np.zeros(150), np.full(150, days))
        history = ChangeHistory(
            page, at[order], *ends, none, np.ones(150), alike, alike, np.zeros(0)
        )
        test = Backtest(history, 150.0, learning=1e-6, unit_s=86_400.0)
        fresh = {
            policy: run_policy(test, policy).fresh.sum() / 150
            for policy in ("oracle", "recrawl", "uniform")
        }
        lost[days] = [fresh["oracle"] - fresh[policy] for policy in ("recrawl", "uniform")]

    (early, even_early), (late, even_late) = lost[10.0], lost[80.0]
    assert 0 < early < even_early
    assert early < late < 0.35 * even_late
    assert late / 80 < 0.5 * early / 10
