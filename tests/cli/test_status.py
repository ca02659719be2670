"""The model side of `recrawl status`: prediction beside practice, and where they part."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.web.state import records_of

from recrawl.cli import main
from recrawl.crawler.control.addresses.reach import Reach
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PlanRecord, Visit

FOLLOWED = {
    "control_fetch_rate": 0.1,
    "control_index_rate": 1.0,
    "measured_seconds": 10_000.0,
    "now_s": 1e9,
} | {
    f"{side}_{name}": value
    for name, value in {
        "starvation": 0.1,
        "loss_rate": 0.08,
        "throughput": 0.9,
        "buffer_mean": 2.5,
        "robots_mean": 9.8,
    }.items()
    for side in ("predicted", "measured")
}


def told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, facts: dict[str, float], *options: str
) -> str:
    frontier = open_frontier(tmp_path)
    frontier.save_facts(*records_of(facts))
    frontier.close()
    with pytest.raises(SystemExit) as ended:
        main(["status", "--state", str(tmp_path), *options])
    assert not ended.value.code
    return capsys.readouterr().out


def test_prediction_stands_beside_practice(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In the terms of the model, and without a warning while they agree."""
    out = told(capsys, tmp_path, FOLLOWED | {"measured_starvation": 0.11}, "--model")

    assert "10.0%" in out
    assert "11.0%" in out
    assert "part in" not in out


def test_a_control_for_irregular_times_is_not_solved_anew(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It takes seconds, and says nothing of what a status shows beside what the state tells."""
    irregular = {
        "control_is_general": 1.0, "control_service_variation": 3.0, "robots": 8.0,
        "buffer_capacity": 8.0, "starvation_weight": 1.0,
    }  # fmt: skip
    told(capsys, tmp_path, FOLLOWED | irregular)
    probe = (
        "import sys\n"
        "from recrawl.cli import main\n"
        f"try: main(['status', '--json', '--state', {str(tmp_path)!r}])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print('loaded', 'recrawl.crawler.reports.robots' in sys.modules)\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    said, loaded = ended.stdout.rsplit("\n", 2)[:2]
    shown = json.loads(said)["control"]
    assert shown["model"].startswith("general")
    assert shown["measures"]["obsolete_share"]["predicted"] is None
    assert loaded == "loaded False"


def test_it_says_where_they_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With what the model does not know."""
    out = told(capsys, tmp_path, FOLLOWED | {"measured_buffer_mean": 0.5}, "--model")

    assert "Theory and practice part in: pages in the buffer" in out


def test_a_short_while_proves_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Some hundred pages first."""
    facts = FOLLOWED | {"measured_buffer_mean": 0.5, "measured_seconds": 100.0}
    report = json.loads(told(capsys, tmp_path, facts, "--json"))

    assert report["control"]["parted"] == []
    assert report["control"]["measures"]["buffer_mean"] == {"predicted": 2.5, "measured": 0.5}


def test_without_a_control_it_says_when_there_will_be_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Nothing is made up."""
    out = told(capsys, tmp_path, {}, "--model")

    assert "No model yet" in out
    assert '[buffer] control = "optimal"' in " ".join(out.split())


def test_it_says_that_a_control_was_dropped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """And what runs instead."""
    assert "was dropped" in told(capsys, tmp_path, FOLLOWED | {"control_dropped": 1.0}, "--model")


@pytest.mark.parametrize(("is_free", "used"), [(True, 0.25), (False, 1.0)])
def test_first_visits_beside_the_budget_use_none_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, is_free: bool, used: float
) -> None:
    """Three first visits of the last hour, and one page that was visited again."""
    now_s = 2e9  # after any day on which this runs: the state's own clock counts
    facts = {"now_s": now_s, "budget_per_s": 4.0 / 3600.0, "first_free": float(is_free)}
    urls = [f"http://a.test/{number}" for number in range(3)]
    frontier = open_frontier(tmp_path)
    (host_id,) = frontier.admit(
        [Discovery(url, "http://a.test") for url in urls], 0.0, AdmissionLimits()
    )
    for outcome, at_s, limit in [(Outcome.NEW, 60.0, 3), (Outcome.UNCHANGED, 30.0, 1)]:
        leases = frontier.lease(host_id, limit=limit, due_by_s=now_s, now_s=now_s, until_s=now_s)
        visit = Visit(now_s - at_s, outcome, 200, changed=False)
        frontier.complete(
            [PageUpdate(lease, visit, PageState.INDEXED, due_s=0.0) for lease in leases]
        )
    frontier.close()

    shown = " ".join(told(capsys, tmp_path, facts).split())

    assert f"Budget: 4/h, {used:.0%} used in the last hour" in shown
    assert ("hour; first visits come beside it, as fast as politeness allows" in shown) is is_free


def test_directories_that_run_fast_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In a line each, whatever they are called; and with all that was found, in JSON."""
    clock = {"group": "http://a.test/[b]/", "factor": 2.5, "found": 3, "expected": 1, "for_s": 7200}
    now_s = 2e9  # after any day on which this runs: the state's own clock counts
    frontier = open_frontier(tmp_path)
    plan = PlanRecord(now_s - 60.0, 4, 1.0, 1.0, 0.5, 0, "foresight", json.dumps([clock]))
    frontier.save_plan(plan)
    frontier.close()

    shown = told(capsys, tmp_path, {"now_s": now_s})
    activity = json.loads(told(capsys, tmp_path, {}, "--json"))["activity"]

    assert "Runs fast now: http://a.test/[b]/, 2.5 times as fast as usual: 0 changes" in shown
    assert "found in 2h, where 1 were expected" in shown
    assert activity["directories"] == []
    assert activity["fast"][0]["group"] == "http://a.test/[b]/"


def test_a_site_that_moved_away_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With what would have the crawl follow."""
    old, new = "http://a.test", "http://www.a.test:81"
    frontier = open_frontier(tmp_path)
    frontier.save_reach(Reach(("a.test",)).as_text())
    (host_id,) = frontier.admit([Discovery(f"{old}/", old)], 0.0, AdmissionLimits())
    (lease,) = frontier.lease(host_id, limit=1, due_by_s=1.0, now_s=1.0, until_s=9.0)
    visit = Visit(2.0, Outcome.REDIRECTED, 301)
    moved = PageUpdate(lease, visit, PageState.MOVED, due_s=9.0, redirect_url=f"{new}/")
    frontier.complete([moved])
    frontier.close()

    shown = " ".join(told(capsys, tmp_path, {}).split())
    (row,) = json.loads(told(capsys, tmp_path, {}, "--json"))["moved_away"]

    assert f"Moved away from {old}: 1 page leads to {new}, where this crawl does not go" in shown
    assert 'add "www.a.test:81" to scope.hosts' in shown
    assert row == {"host": old, "to": new, "pages": 1}


def test_it_says_why_there_is_nothing_but_the_seeds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A site that has no link followed looks like one of a single page."""
    config = tmp_path / "recrawl.toml"
    config.write_text('seeds = ["http://a.test/"]\ncontact = "mailto:a@b.example"\nstate = "s"\n')
    with closing(open_frontier(tmp_path / "s")) as frontier:
        frontier.admit([Discovery("http://a.test/", "http://a.test")], 1.0, AdmissionLimits())
        (lease,) = frontier.lease(1, limit=1, due_by_s=2.0, now_s=2.0, until_s=9.0)
        visit = Visit(3.0, Outcome.NEW, 200, note="nofollow")
        frontier.complete([PageUpdate(lease, visit, PageState.INDEXED, due_s=99.0)])

    with pytest.raises(SystemExit):
        main(["status", "--config", str(config)])

    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing but the seeds was found: http://a.test/ asks that no link in it" in said
