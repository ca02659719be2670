"""What a state says in numbers."""

from pathlib import Path

import pytest

from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.gauges import StateGauges
from recrawl.terms import Discovery, Kind


def admitted(folder: Path, *urls: str) -> None:
    """A state that knows these pages, all due long ago."""
    frontier = SqliteFrontier(folder)
    found = [Discovery(url=url, host="http://a.test", depth=0, kind=Kind.PAGE) for url in urls]
    frontier.admit(found, 0.0, AdmissionLimits())
    frontier.close()


def test_a_state_is_read_beside_its_crawl(tmp_path: Path) -> None:
    admitted(tmp_path, "http://a.test/", "http://a.test/owl")

    told = StateGauges(tmp_path)()

    assert told["pages"] == 2.0
    assert told["pages_overdue"] == 2.0
    assert told["sink_behind_changes"] == 0.0
    assert told["disk_free_bytes"] > 0.0


def test_a_state_is_not_read_again_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks every second gets what was read before, until it is time."""
    admitted(tmp_path, "http://a.test/")
    now = [100.0]
    monkeypatch.setattr("recrawl.crawler.reports.gauges.time.monotonic", lambda: now[0])
    look = StateGauges(tmp_path)
    look()
    admitted(tmp_path, "http://a.test/owl")

    assert look()["pages"] == 1.0
    now[0] += 11.0
    assert look()["pages"] == 2.0


def test_no_state_is_no_error(tmp_path: Path) -> None:
    """Only the disk is told."""
    assert set(StateGauges(tmp_path)()) == {"disk_free_bytes"}
