"""Pages that went have those beside them looked at, but for where something else is the matter."""

import pytest

from recrawl.crawler.control.revisiting.removals import Removals
from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate, Visit

INDEXED, MISSING = PageState.INDEXED, PageState.MISSING


def update(
    outcome: Outcome, before: PageState, after: PageState, at_s: float = 1_000.0, **fields: object
) -> PageUpdate:
    """Return what came of a visit of a page that was there at 200 s."""
    told: dict[str, object] = {
        "page_id": 1, "url": "http://a.test/1", "host_id": 7, "token": 1, "due_s": 0.0,
        "kind": Kind.PAGE, "depth": 1, "hops": 0, "state": before, "last_visit_s": 200.0,
    }  # fmt: skip
    lease = Lease(**(told | fields))  # type: ignore[arg-type]
    return PageUpdate(lease=lease, visit=Visit(at_s, outcome), state=after, due_s=at_s)


@pytest.mark.parametrize(
    ("outcome", "after"),
    [
        (Outcome.NOT_FOUND, MISSING),
        (Outcome.GONE, PageState.GONE),
        (Outcome.MOVED, PageState.MOVED),
    ],
)
def test_those_beside_need_a_look_but_for_what_was_visited_lately(
    outcome: Outcome, after: PageState
) -> None:
    """Lately: within the last quarter of the 800 s since the page was there."""
    assert Removals().observe(update(outcome, INDEXED, after)) == 800.0


@pytest.mark.parametrize("before", [PageState.GONE, PageState.MOVED])
def test_those_beside_one_that_is_back_need_a_look_as_well(before: PageState) -> None:
    """But for one that never was there; and pages that are back are not too many in a row."""
    removals = Removals()

    looks = [removals.observe(update(Outcome.NEW, before, INDEXED)) for _ in range(99)]
    assert looks == [800.0] * 99
    assert removals.observe(update(Outcome.NEW, before, INDEXED, last_visit_s=None)) is None


@pytest.mark.parametrize(
    "one",
    [
        update(Outcome.NOT_FOUND, MISSING, PageState.GONE),  # those beside were looked at already
        update(Outcome.NOT_FOUND, PageState.DISCOVERED, PageState.GONE, last_visit_s=None),
        update(Outcome.DENIED, INDEXED, MISSING),  # it may well be there
        update(Outcome.SERVER_ERROR, INDEXED, INDEXED),
        update(Outcome.UNCHANGED, MISSING, INDEXED),  # it never went
        update(Outcome.NEW, PageState.EXCLUDED, INDEXED),
        update(Outcome.NOT_FOUND, INDEXED, MISSING, kind=Kind.FEED),
    ],
)
def test_other_visits_say_nothing_of_those_beside(one: PageUpdate) -> None:
    """A page that was never there, one that is denied, and a listing."""
    assert Removals().observe(one) is None


def test_a_host_where_nothing_at_all_is_there_is_not_swept() -> None:
    """Until a page of it answers again."""
    removals = Removals()
    away = [update(Outcome.NOT_FOUND, INDEXED, MISSING) for _ in range(70)]

    assert sum(removals.observe(one) is not None for one in away) == 64
    assert removals.observe(update(Outcome.GONE, INDEXED, PageState.GONE, host_id=8)) is not None
    removals.observe(update(Outcome.NOT_MODIFIED, INDEXED, INDEXED))
    assert removals.observe(away[0]) is not None


def back(removals: Removals, before: PageState = MISSING, **fields: object) -> None:
    removals.observe(update(Outcome.UNCHANGED, before, INDEXED, **fields))  # type: ignore[arg-type]


def test_where_pages_are_back_by_chance_more_looks_confirm_that_one_went() -> None:
    """Half of all looks say that pages are gone which are there: seven in a row do by chance."""
    removals = Removals()
    for _ in range(500):
        back(removals, INDEXED)
    told = [removals.looks_needed(7)]
    for _ in range(9):
        back(removals)
        told.append(removals.looks_needed(7))

    assert told == [2, 2, 2] + [7] * 7
    assert removals.looks_needed(8) == 2
    for _ in range(40):
        back(removals, INDEXED)
    assert removals.looks_needed(7) == 3
    for _ in range(1_000):
        back(removals, INDEXED)
    assert removals.looks_needed(7) == 2


def test_looks_that_were_in_vain_count_each_and_none_that_is_long_ago() -> None:
    """Nor does what is back after more than a day, or no page, or was never there."""
    once, twice, never = Removals(), Removals(), Removals()
    for _ in range(3):
        back(once)
        back(twice, failures=2)
        back(never, PageState.GONE, at_s=90_000.0)
        back(never, kind=Kind.FEED)
        back(never, last_visit_s=None)
    back(never, PageState.GONE, at_s=80_000.0)
    assert (once.looks_needed(7), twice.looks_needed(7), never.looks_needed(7)) == (7, 8, 2)
    back(never, PageState.GONE, at_s=80_000.0)
    assert never.looks_needed(7) > 2


def test_hosts_whose_pages_are_counted_are_bounded() -> None:
    removals = Removals()
    for host_id in range(2_000):
        back(removals, host_id=host_id)
    assert len(removals._hosts) == 1_000
