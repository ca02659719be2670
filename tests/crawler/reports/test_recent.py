"""What went wrong, and why pages are left out: by kind, counted, each with an example."""

from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest

from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.recent import (
    left_out,
    recent_changes,
    spending,
    troubles,
    why_left_out,
)
from recrawl.crawler.wiring.stores import open_frontier, open_history
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, Visit

HOST = "http://a.test"
SEEN = {
    "/1": (Outcome.FAILED, None, "timeout: nothing came in 10 s", PageState.DISCOVERED),
    "/2": (Outcome.FAILED, None, "timeout: nothing came in 11 s", PageState.DISCOVERED),
    "/3": (Outcome.SERVER_ERROR, 503, None, PageState.DISCOVERED),
    "/4": (Outcome.NEW, 200, "noindex", PageState.EXCLUDED),
    "/5": (Outcome.NEW, 200, "noindex", PageState.EXCLUDED),
    "/6": (Outcome.UNSUPPORTED, 200, "content type image/png", PageState.EXCLUDED),
    "/7": (Outcome.GONE, 410, None, PageState.GONE),
    "/8": (Outcome.CHANGED, 200, None, PageState.INDEXED),
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Eight pages, each visited once; one excluded before that does not answer since."""
    frontier = open_frontier(tmp_path)
    found = [Discovery(HOST + path, HOST) for path in SEEN]
    (host,) = frontier.admit(found, 0.0, AdmissionLimits())
    for lease in frontier.lease(host, limit=9, due_by_s=1.0, now_s=1.0, until_s=9.0):
        outcome, status, note, after = SEEN[lease.url.removeprefix(HOST)]
        visit = Visit(5.0, outcome, status, note=note)
        difference = "-old\n+new" if outcome is Outcome.CHANGED else None
        frontier.complete(
            [PageUpdate(lease, visit, after, due_s=10.0, title="T", difference=difference)]
        )
    (again,) = frontier.lease(host, limit=9, due_by_s=20.0, now_s=20.0, until_s=30.0)[3:4]
    assert again.url == f"{HOST}/4"
    visit = Visit(21.0, Outcome.FAILED, None, note="dns: no such name")
    frontier.complete([PageUpdate(again, visit, PageState.EXCLUDED, due_s=99.0)])
    frontier.close()
    return tmp_path


def test_troubles_are_told_by_kind_with_an_example(state: Path) -> None:
    """Failures by what failed, answers by their status; the most frequent first."""
    history = open_history(state)
    told = [(row["why"], row["visits"], row["pages"], row["example"]) for row in troubles(history)]
    history.close()

    assert told[0] == ("no answer in time", 2, 2, f"{HOST}/2")
    assert set(told[1:]) == {
        ("the server is in trouble (503)", 1, 1, f"{HOST}/3"),
        ("the name of the host is not known", 1, 1, f"{HOST}/4"),
    }


def test_the_latest_visits_are_told_by_what_they_were_for(state: Path) -> None:
    """Eight first visits and one of a page known: copies, troubles, and addresses found by each."""
    frontier = open_frontier(state)
    links = [Discovery(f"{HOST}/new/{number}", HOST) for number in range(3)]
    frontier.admit(links, 22.0, AdmissionLimits())
    frontier.close()
    with closing(connect(state / "state.sqlite3")) as store:
        store.execute(
            "UPDATE page SET found_on = (SELECT id FROM page WHERE url = ?) "
            "WHERE url LIKE '%/new/%'",
            (f"{HOST}/4",),
        )
        store.commit()
    history = open_history(state)
    told = {row["purpose"]: row for row in spending(history)}
    history.close()

    assert set(told) == {"first visits of pages", "visits of pages known"}
    first, again = told["first visits of pages"], told["visits of pages known"]
    assert (first["visits"], first["new"], first["changed"], first["troubled"]) == (8, 2, 1, 3)
    assert (first["found"], again["found"]) == (0, 3)  # by the visit after which they were found
    assert again["brought"] == 3.0


def test_pages_left_out_have_a_reason(state: Path) -> None:
    """That of the last visit that saw anything of them: a failure since says nothing."""
    history = open_history(state)
    told = [(row["why"], row["pages"], row["example"]) for row in left_out(history)]
    history.close()

    assert told == [
        ("asks not to be indexed (noindex)", 2, f"{HOST}/4"),
        ("cannot be indexed: content type image/png", 1, f"{HOST}/6"),
        ("is gone (410)", 1, f"{HOST}/7"),
    ]


def test_changes_are_told_line_by_line(state: Path) -> None:
    """With the sign apart from the text."""
    frontier = open_frontier(state, read_only=True)
    (told,) = recent_changes(frontier)
    frontier.close()

    assert (told["url"], told["lines"]) == (f"{HOST}/8", [("-", "old"), ("+", "new")])


def test_every_state_has_words() -> None:
    """Whatever visit it was that led there."""
    for state in PageState:
        for outcome in (None, *Outcome):
            assert why_left_out(state, outcome, 404, None)
