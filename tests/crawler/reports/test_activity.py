"""What was found where and when: bounded, whatever a crawl has found, and wherever."""

import json
from itertools import count

import pytest

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.activity import activity_report
from recrawl.errors import StateError
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PlanRecord, Visit

HOST, HOUR_S, NOW_S = "http://a.test", 3_600.0, 1_800_000_000.0  # a whole hour
PLAN = PlanRecord(NOW_S - 60.0, 9, 1.0, 1.0, 0.5, 0, "foresight")


def crawled(found: dict[str, list[tuple[float, Outcome]]]) -> MemoryFrontier:
    """Return a crawl whose visits of these paths found this, then."""
    frontier, token = MemoryFrontier(), count()
    (host,) = frontier.admit([Discovery(HOST + path, HOST) for path in found], 0.0, _LIMITS)
    visits = [(at_s, path, what) for path, told in found.items() for at_s, what in told]
    for at_s, path, outcome in sorted(visits):
        frontier.make_due(at_s)
        leases = frontier.lease(host, limit=999, due_by_s=at_s, now_s=at_s, until_s=at_s + 1.0)
        (lease,) = [one for one in leases if one.url == HOST + path]
        changed = {Outcome.CHANGED: True, Outcome.UNCHANGED: False}.get(outcome)
        visit = Visit(at_s, outcome, 200, changed)
        signature = str(next(token)).encode()
        frontier.complete(
            [PageUpdate(lease, visit, PageState.INDEXED, due_s=at_s + 9.0, signature=signature)]
        )
        frontier.release([one for one in leases if one is not lease])
    return frontier


_LIMITS = AdmissionLimits()


def test_changes_and_new_pages_are_counted_by_directory_and_bin() -> None:
    """Bins of a quarter of an hour hold the eleven hours; the last one holds this instant."""
    told = activity_report(
        crawled(
            {
                "/guide/1": [(NOW_S - 11 * HOUR_S, Outcome.NEW), (NOW_S - 5.0, Outcome.CHANGED)],
                "/guide/2?a=/b/": [(NOW_S - 2 * HOUR_S, Outcome.CHANGED)],
                "/3": [(NOW_S - HOUR_S, Outcome.NEW), (NOW_S - 0.5 * HOUR_S, Outcome.UNCHANGED)],
            }
        ),
        None,
        now_s=NOW_S,
    )

    assert (told["step"], told["bins"]) == (900.0, 45)
    assert told["since"] == NOW_S - 11 * HOUR_S
    guide, root = told["directories"]
    assert (guide["directory"], guide["changes"], guide["new"]) == (f"{HOST}/guide/", 2, 1)
    assert [place for place, n in enumerate(guide["changes_by_bin"]) if n] == [36, 43]
    assert [place for place, n in enumerate(guide["new_by_bin"]) if n] == [0]
    assert (root["directory"], root["changes"], root["new"]) == (f"{HOST}/", 0, 1)
    assert told["others"] == {"directories": 0, "changes": 0, "new": 0}


def test_nothing_found_is_nothing_to_draw() -> None:
    """Of a crawl that has only begun, or is long over."""
    for frontier in (MemoryFrontier(), crawled({"/1": [(5.0, Outcome.NEW)]})):
        told = activity_report(frontier, None, now_s=NOW_S)
        assert (told["bins"], told["directories"], told["fast"]) == (0, [], None)


@pytest.mark.parametrize("age_s", [0.0, 0.4, 59.0, 5 * HOUR_S, 47 * 6 * HOUR_S])
@pytest.mark.parametrize("now_s", [NOW_S, NOW_S + 0.7, NOW_S + 5_000.1])
def test_no_more_than_twelve_directories_and_48_bins(age_s: float, now_s: float) -> None:
    """However many there are, and however long ago the first was found."""
    found = {f"/{n}/{page}": [(now_s - age_s, Outcome.CHANGED)] for n in range(20) for page in "ab"}
    found["/0/c"] = [(now_s, Outcome.NEW)]
    told = activity_report(crawled(found), None, now_s=now_s)

    assert told["bins"] <= 48
    assert told["since"] <= now_s - age_s
    assert told["since"] + told["bins"] * told["step"] > now_s
    rows = told["directories"]
    assert [row["directory"] for row in rows[:2]] == [f"{HOST}/0/", f"{HOST}/1/"]
    assert len(rows) == 12
    assert all(len(row[key]) == told["bins"] for row in rows for key in KEYS)
    assert [sum(row["changes_by_bin"]) for row in rows] == [2] * 12
    assert told["others"] == {"directories": 8, "changes": 16, "new": 0}


KEYS = ("changes_by_bin", "new_by_bin")


def test_what_is_looked_at_is_bounded() -> None:
    """Of a crawl that finds much, the time that is told of begins later."""
    found = {f"/1/{n}": [(NOW_S - 60.0 * n, Outcome.NEW)] for n in range(40)}

    told = activity_report(crawled(found), None, now_s=NOW_S, limit=5)

    assert sum(row["new"] for row in told["directories"]) == 5
    assert NOW_S - told["since"] < 300.0


def clock(group: str, found: float, for_s: float = HOUR_S) -> dict[str, object]:
    return {"group": group, "factor": 3.2, "found": found, "expected": 0.5, "for_s": for_s}


def planned(*lines: list[dict[str, object]]) -> PlanRecord:
    clocks = "\n".join(json.dumps(line) for line in lines)
    return PlanRecord(NOW_S - 60.0, 9, 1.0, 1.0, 0.5, 0, "foresight", clocks)


def test_clocks_that_run_fast_are_told_with_what_was_found() -> None:
    """Those of all processes, the one with most to tell first; eight of them."""
    frontier = crawled(
        {
            "/guide/1": [(NOW_S - 0.5 * HOUR_S, Outcome.CHANGED)],
            "/guide/new/2": [(NOW_S - 0.2 * HOUR_S, Outcome.NEW)],
            "/guide/3": [(NOW_S - 9.0 * HOUR_S, Outcome.CHANGED)],
            "/core.fr.html": [(NOW_S - 0.2 * HOUR_S, Outcome.CHANGED)],
        }
    )
    many = [clock(f"{HOST}/{n}/", 1.0) for n in range(9)]
    plan = planned([clock(f"{HOST}/guide/", 4.0), *many], [clock(f"{HOST}/core.*", 5.0)])

    told = activity_report(frontier, plan, now_s=NOW_S)["fast"]

    assert [one["group"] for one in told[:2]] == [f"{HOST}/core.*", f"{HOST}/guide/"]
    assert [(one["changes"], one["new"]) for one in told[:3]] == [(1, 0), (1, 1), (0, 0)]
    assert len(told) == 8
    assert told[1]["words"] == (
        "3.2 times as fast as usual: 1 change and 1 new page found in 1h, where 0.5 were expected"
    )


def test_clocks_of_long_ago_are_not_those_of_now() -> None:
    """A crawl that stopped says nothing of the present; a policy without clocks has none."""
    plan = planned([clock(f"{HOST}/1/", 2.0, 100.0), clock(f"{HOST}/2/", 2.0, 1e4)])
    of = MemoryFrontier()

    (one,) = activity_report(of, plan, now_s=NOW_S + 100.0)["fast"]
    assert one["group"] == f"{HOST}/2/"
    assert activity_report(of, PLAN, now_s=NOW_S)["fast"] == []
    other = PlanRecord(NOW_S, 9, 1.0, 1.0, 0.5, 0, "recrawl")
    assert activity_report(of, other, now_s=NOW_S)["fast"] is None


def test_damaged_clocks_end_in_a_message() -> None:
    """As all that is damaged."""
    plan = PlanRecord(NOW_S, 9, 1.0, 1.0, 0.5, 0, "foresight", '[{"group": 3}]')
    with pytest.raises(StateError, match="clocks"):
        activity_report(MemoryFrontier(), plan, now_s=NOW_S)


def test_names_of_directories_are_told_as_they_are() -> None:
    """Whoever shows them escapes them: tests/web has the pages."""
    path = "/<script>alert(1)</script>/'\"&/"
    told = activity_report(crawled({f"{path}1": [(NOW_S, Outcome.NEW)]}), None, now_s=NOW_S)

    assert told["directories"][0]["directory"] == HOST + path
