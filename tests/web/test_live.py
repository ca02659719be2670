"""The live view: one look for all who watch."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.web.state import FACTS, NOW_S, stories, write_state

from recrawl.crawler.facts import CrawlFacts
from recrawl.crawler.frontier.store import lock_state
from recrawl.web.live import LiveView
from recrawl.web.observation import CrawlObserver, crawl_instant
from recrawl.web.source import CrawlSource
from recrawl.web.threads import Reader


def parsed(message: bytes) -> dict[str, dict[str, object]]:
    """Return events by name."""
    told = {}
    for block in message.decode().strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        told[lines["event"]] = json.loads(lines["data"])
    return told


def test_a_report_tells_all(crawl: Path) -> None:
    """Freshness beside the plan, visits, hosts with their state, pages by worth and by time."""
    source = CrawlSource(crawl)
    report = CrawlObserver().report(source)
    source.close()

    over_time = report["freshness_over_time"]
    assert isinstance(over_time, dict)
    assert len(over_time["at"]) == 120
    assert all(0.0 <= value <= 1.0 for value in over_time["value"])
    assert over_time["value"][-1] == report["freshness"]
    hosts = report["hosts"]
    assert isinstance(hosts, list)
    assert (hosts[0]["host"], hosts[0]["why"]) == ("http://b.test:81", "answered 503")
    assert isinstance(report["gain"], float)
    assert report["gain"] > 0.0
    valuable, slowest = report["valuable"], report["slowest"]
    assert isinstance(valuable, list)
    assert isinstance(slowest, list)
    assert len(valuable) == len(slowest) == 8
    assert [row["fetch_s"] for row in slowest] == sorted(
        (row["fetch_s"] for row in slowest), reverse=True
    )
    json.dumps(report)


def test_a_pulse_counts_only_what_is_new(tmp_path: Path) -> None:
    """And tells when the crawl starts or stops."""
    write_state(tmp_path, stories(4))
    source, observer = CrawlSource(tmp_path), CrawlObserver()
    first = observer.pulse(source)
    second = observer.pulse(source)
    lock = lock_state(tmp_path)
    third = observer.pulse(source)
    lock.release()
    source.close()

    assert first["outcomes"] == {"new": 4, "changed": 4, "not-modified": 4}
    assert second["outcomes"] == first["outcomes"]
    assert (second["turned"], third["turned"]) == (False, True)
    assert (second["running"], third["running"]) == (False, True)
    assert (third["robots_active"], third["buffer"]) == (6, 2)
    control = third["control"]
    assert isinstance(control, dict)
    assert control["measures"]["sojourn_s"] == {"predicted": 2.0, "measured": 2.0}


def test_a_crawl_without_a_solved_control_shows_what_theory_expects(tmp_path: Path) -> None:
    """Prediction beside measurement, the control that was not worth it, and how little it wins."""
    safe = {
        "control_known": 0.0, "safe_pages": 80.0, "safe_fetch_rate": 0.05, "safe_index_rate": 1.0,
        "safe_seconds": 100.0, "safe_starvation": 0.6, "safe_loss_rate": 0.0,
        "safe_throughput": 0.4, "safe_buffer_mean": 0.6, "safe_robots_mean": 8.0,
    }  # fmt: skip
    write_state(tmp_path, stories(4), facts=FACTS | safe)
    source = CrawlSource(tmp_path)
    pulse = CrawlObserver().pulse(source)
    source.close()

    curve, control = pulse["curve"], pulse["control"]
    assert isinstance(curve, dict)
    assert isinstance(control, dict)
    assert (curve["kind"], curve["best"]["kind"]) == ("room", "optimal")
    assert control["measures"]["starvation"]["measured"] == 0.6
    assert control["measures"]["sojourn_s"]["measured"] == pytest.approx(1.5)
    assert 0.0 <= control["to_win"] < 1.0
    json.dumps(pulse)


def test_a_running_crawl_has_the_say_about_now() -> None:
    """A demo's clock runs ahead of ours, and behind it while it began in the past."""
    past = FACTS | {"now_s": 5.0}

    assert crawl_instant(CrawlFacts.of(past), is_running=True) == 5.0
    assert crawl_instant(CrawlFacts.of(past), is_running=False) > 1e9
    fixed = CrawlFacts.of(past | {"starvation_weight": 0.0})
    assert crawl_instant(fixed, is_running=True) > 1e9
    assert crawl_instant(CrawlFacts.of(FACTS), is_running=False) == NOW_S


async def test_all_who_watch_are_told(crawl: Path) -> None:
    """Who comes later gets what is known at once; who leaves is forgotten."""
    reader = Reader(crawl, "live")
    view = LiveView(reader, agent="recrawl", at_most=2)
    looking = asyncio.create_task(view.run())
    first, second = view.messages(view.enter()), view.messages(view.enter())
    assert (await anext(first)).startswith(b"retry")
    told: dict[str, object] = {}
    while not {"pulse", "report"} <= told.keys():
        told |= parsed(await anext(first))
    await anext(second)
    late = parsed(await anext(second))

    assert {"pulse", "report"} <= late.keys()
    full = view.is_full
    await first.aclose()  # type: ignore[attr-defined]
    assert (full, view.is_full) == (True, False)
    view.close()
    assert [message async for message in second] == []
    looking.cancel()
    await asyncio.wait([looking])
    reader.close()


def test_a_dashboard_has_its_place_from_the_first_moment(tmp_path: Path) -> None:
    """Many that ask at once are no more than may be there, and places are given back."""
    reader = Reader(tmp_path, "live")
    view = LiveView(reader, agent="recrawl", at_most=2)
    places = [view.enter(), view.enter()]
    full = view.is_full
    view.leave(places[0])
    view.leave(places[0])
    freed = view.is_full
    view.enter()
    assert (full, freed, view.is_full) == (True, False, True)
    reader.close()


async def test_trouble_is_told_and_forgotten(tmp_path: Path) -> None:
    """A directory without a crawl says so; once there is one it is shown."""
    reader = Reader(tmp_path, "live")
    view = LiveView(reader, agent="recrawl")
    looking = asyncio.create_task(view.run())
    watching = view.messages(view.enter())
    await anext(watching)
    told = parsed(await anext(watching))
    looking.cancel()
    await asyncio.wait([looking])

    assert "holds no crawl" in str(told["trouble"]["message"])
    write_state(tmp_path, stories(2))
    looking = asyncio.create_task(view.run())
    assert "trouble" not in parsed(await anext(watching))
    looking.cancel()
    await asyncio.wait([looking])
    reader.close()
