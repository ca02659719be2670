"""`recrawl explain`: what companions have to do with the next visit, in words and in JSON."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.web.state import DAY_S, HOST, NOW_S, stories, write_state

from recrawl.cli import main
from recrawl.crawler.facts import PlanFacts
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PlanRecord, Visit

PAGE, OTHER = f"{HOST}/guide/0", f"{HOST}/guide/new"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Three pages, one of which changed after the others were seen; and a plan that says so."""
    state = write_state(tmp_path, stories(3, f"{HOST}/guide"))
    frontier = open_frontier(state)
    (host,) = frontier.admit([Discovery(OTHER, HOST, depth=1)], NOW_S, AdmissionLimits())
    (lease,) = frontier.lease(host, limit=1, due_by_s=NOW_S, now_s=NOW_S, until_s=NOW_S + 9.0)
    visit = Visit(NOW_S - DAY_S, Outcome.CHANGED, 200, changed=True)
    frontier.complete([PageUpdate(lease, visit, PageState.INDEXED, due_s=NOW_S + DAY_S)])
    details = frontier.details(PAGE)
    assert details is not None
    assert details.last_visit_s is not None
    plan = PlanRecord(NOW_S, 4, 1.0, 1.0, 0.5, 0, "foresight")
    frontier.save_plan(plan)
    ids, rates = np.array([details.page_id]), np.array([0.25 / DAY_S])
    due_s, own_due_s = (np.array([details.last_visit_s + days * DAY_S]) for days in (3.0, 4.0))
    frontier.save_crawl_rates(plan, ids, rates, due_s, own_due_s=own_due_s)
    frontier.close()
    return state


def told(capsys: pytest.CaptureFixture[str], state: Path, *options: str, url: str = PAGE) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["explain", url, "--state", str(state), *options])
    assert not ended.value.code
    return capsys.readouterr().out


def test_one_link_is_no_links(capsys: pytest.CaptureFixture[str], state: Path) -> None:
    """Of a page that a seed leads to."""
    assert "(page, 1 link from a seed)" in told(capsys, state, url=OTHER)


def test_companions_are_told_with_their_share(
    capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    """Which, since when, and by how much they brought the next visit forward."""
    shown = " ".join(told(capsys, state).split())
    companions = json.loads(told(capsys, state, "--json"))["companions"]

    assert "one page of /guide/ has changed since Tuesday; the next visit is" in shown
    assert "brought forward by 1d, 25% of the 4d by its own rate alone" in shown
    assert companions["n_changed"] == 1
    assert companions["changed"] == [{"url": OTHER, "found_at": NOW_S - DAY_S}]
    assert companions["share"] == pytest.approx(0.25)
    assert companions["own_interval_s"] == pytest.approx(4 * DAY_S)
    assert companions["interval_s"] == pytest.approx(3 * DAY_S)


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("noindex", "last visit asks not to be indexed (noindex)"),
        ("took more than 2s\x1b[31m", "last visit took more than 2s\N{REPLACEMENT CHARACTER}[31m"),
        (None, ""),
    ],
)
def test_what_is_special_about_the_last_visit_is_told(
    capsys: pytest.CaptureFixture[str], state: Path, note: str | None, words: str
) -> None:
    """Why a page is not indexed, why it failed; nothing where nothing is."""
    url = f"{HOST}/noted"
    frontier = open_frontier(state)
    (host,) = frontier.admit([Discovery(url, HOST)], NOW_S, AdmissionLimits())
    leases = frontier.lease(host, limit=9, due_by_s=NOW_S, now_s=NOW_S, until_s=NOW_S + 9.0)
    (lease,) = [one for one in leases if one.url == url]
    visits = (
        Visit(NOW_S - 1.0, Outcome.FAILED, note="no answer"),
        Visit(NOW_S, Outcome.NEW, 200, note=note),
    )
    for visit in visits:
        frontier.complete([PageUpdate(lease, visit, PageState.EXCLUDED, due_s=NOW_S + DAY_S)])
    frontier.close()

    shown = " ".join(told(capsys, state, url=url).split())

    assert words in shown
    assert "no answer" not in shown
    assert (note is None) == ("last visit " not in shown)


def test_a_page_that_moved_out_of_scope_says_so_and_nothing_of_a_plan(
    capsys: pytest.CaptureFixture[str], state: Path, tmp_path: Path
) -> None:
    frontier = open_frontier(state)
    host_id, now_s = frontier.hosts()[0].host_id, NOW_S + 40 * DAY_S
    leases = frontier.lease(host_id, limit=9, due_by_s=now_s, now_s=now_s, until_s=now_s + 9.0)
    (lease,) = [lease for lease in leases if lease.url == PAGE]
    visit = Visit(now_s, Outcome.REDIRECTED, 301)
    target = "http://elsewhere.test/"
    moved = PageUpdate(lease, visit, PageState.MOVED, due_s=now_s + 9.0, redirect_url=target)
    frontier.complete([moved])
    frontier.close()
    config = tmp_path / "recrawl.toml"
    config.write_text(
        f'seeds = ["{HOST}/"]\ncontact = "mailto:me@my.domain"\nstate = "{state}"\n'
        '[scope]\nexclude = ["/guide/new"]\n'
    )

    def shown(url: str) -> str:
        with pytest.raises(SystemExit):
            main(["explain", url, "--config", str(config)])
        return " ".join(capsys.readouterr().out.split())

    assert f"leads to {target} (out of scope: another host)" in shown(PAGE)
    assert "crawl rate" not in shown(PAGE)
    assert "companions" not in shown(PAGE)
    assert "next visit none (out of scope: matches an exclude pattern)" in shown(OTHER)


def test_a_page_whose_host_waits_for_more_of_its_pages_says_so(
    capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    """Due, not blocked, and its rules are old; while they hold, or nothing is due, not a word."""
    frontier = open_frontier(state)
    now_s = frontier.facts().instant.now_s or NOW_S
    frontier.save_facts(PlanFacts(fetch_worth=1.0, plan_bound_per_s=1.0))
    frontier.admit([Discovery(f"{HOST}/wanted", HOST)], now_s - DAY_S, AdmissionLimits())
    frontier.close()

    def shown(robots_until_s: float, url: str = f"{HOST}/wanted") -> str:
        frontier = open_frontier(state)
        (host,) = frontier.hosts()
        frontier.save_host(replace(host, robots_status=404, robots_until_s=robots_until_s))
        frontier.close()
        return " ".join(told(capsys, state, url=url).split())

    def counted() -> int:
        with pytest.raises(SystemExit):
            main(["status", "--state", str(state), "--json"])
        n: int = json.loads(capsys.readouterr().out)["closed"]
        with pytest.raises(SystemExit):
            main(["status", "--state", str(state)])
        assert ("due, their host waits for more" in capsys.readouterr().out) == bool(n)
        return n

    words = "its robots.txt, 4d old, is read again when enough waits here"
    assert counted() == 0
    assert words in shown(now_s - 3 * DAY_S)
    assert counted() == 1
    assert "is read again" not in shown(now_s - 0.5 * DAY_S), "nothing was fetched since then"
    assert counted() == 0
    shown(now_s - 3 * DAY_S)
    assert words not in shown(now_s - 3 * DAY_S, OTHER)
    assert words not in shown(now_s + 9.0)
