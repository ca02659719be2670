"""What is shown is counted only where that was switched on, and nothing but addresses."""

from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.settings import Settings
from recrawl.terms import Discovery, Hit
from recrawl.web.shown import Shown
from recrawl.web.threads import Reader

URL = "http://a.test/x"


@pytest.mark.parametrize("share", [0.0, 0.5])
async def test_results_are_counted_where_searches_have_a_share(
    tmp_path: Path, share: float
) -> None:
    frontier = SqliteFrontier(tmp_path)
    frontier.admit([Discovery(URL, "http://a.test")], 0.0, AdmissionLimits())
    frontier.close()
    plain = Settings(["http://a.test/"], "mailto:me@my.domain")
    settings = replace(plain, importance=(("even", 1.0 - share), ("searches", share)))
    reader = Reader(tmp_path, "state")
    shown = Shown(reader, settings)

    for _ in range(3):
        shown.note([Hit(URL, "", "", (), 1.0, 0.0), Hit("http://a.test/y", "", "", (), 1.0, 0.0)])
    await shown.keep()
    reader.close()

    frontier = SqliteFrontier(tmp_path, read_only=True)
    told = [row[1:3] for row in frontier.worths.tallies()]
    frontier.close()
    assert told == ([("searches", 3.0)] if share else [])
