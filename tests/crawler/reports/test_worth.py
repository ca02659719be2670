"""What a page is worth is shown by part."""

from dataclasses import replace

import pytest

from recrawl.crawler.control.worth.removal_hazards import folder_hazard
from recrawl.crawler.control.worth.tiers import visit_gain
from recrawl.crawler.facts import PlanFacts
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.page import worth_report
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PageWorth, Visit

HOST = "http://a.test"


def test_changes_births_and_importance_are_told_apart() -> None:
    frontier = MemoryFrontier()
    frontier.admit([Discovery(f"{HOST}/", HOST), Discovery(f"{HOST}/new", HOST)], 0.0, _LIMITS)
    (hub,) = _leased(frontier, 5.0, "/")
    frontier.complete([_visit(frontier, hub, 0.0, Outcome.NEW)])
    (hub,) = _leased(frontier, 200.0, "/")
    found = [Discovery(f"{HOST}/{n}", HOST, found_on=hub.page_id) for n in range(50)]
    frontier.admit(found, 100.0, _LIMITS)
    frontier.complete([_visit(frontier, hub, 100.0, Outcome.CHANGED)])
    frontier.worths.save([PageWorth(hub.page_id, 3.0, 3.0, '{"links":[0.5,5],"even":[0.5,1]}')])
    facts = PlanFacts(visit_price=10.0, fresh_s=40.0)

    details = [frontier.details(f"{HOST}{path}") for path in ("/", "/new")]
    assert details[0] is not None
    assert details[1] is not None
    of_hub, of_new = (worth_report(frontier, one, facts) for one in details if one)

    assert of_hub["importance_by"]["links"] == {"share": 0.5, "says": 5}
    assert of_hub["births"]["per_s"] == pytest.approx(0.5, rel=0.05)
    assert of_hub["worth"]["births"] == pytest.approx(0.5 * 0.5 * 100.0**2, rel=0.1)
    assert of_new["worth"] == {"price": 10.0, "first_visit": 40.0}
    assert worth_report(frontier, details[0], PlanFacts())["worth"] is None


def test_what_a_visit_is_worth_as_pages_of_the_folder_go_is_told_where_some_did() -> None:
    """Seventy went in a hundred seconds each, and three more were there as long."""
    frontier, facts = MemoryFrontier(), PlanFacts(visit_price=10.0, fresh_s=40.0)
    paths = [f"/ads/{n}" for n in range(73)]
    frontier.admit([Discovery(HOST + path, HOST) for path in paths], 0.0, _LIMITS)
    for path in paths:
        (lease,) = _leased(frontier, 5.0, path)
        frontier.complete([_visit(frontier, lease, 0.0, Outcome.NEW)])
    told = []
    for n, path in enumerate(paths):
        (lease,) = _leased(frontier, 200.0, path)
        update = _visit(frontier, lease, 100.0, Outcome.CHANGED)
        went = replace(update, state=PageState.GONE)
        frontier.complete([went if n < 70 else update])
        if n in (1, 69):
            details = frontier.details(f"{HOST}/ads/72")
            assert details is not None
            told.append(worth_report(frontier, details, facts))

    few, many = told
    hazard = folder_hazard(70, 70 * 100.0)
    assert few["removals"] is None
    assert few["worth"]["removals"] == 0.0
    assert many["removals"] == {"of_folder": 70, "per_s": pytest.approx(hazard)}
    assert many["worth"]["removals"] == pytest.approx(visit_gain(hazard * 100.0) / hazard)


_LIMITS = AdmissionLimits()


def _leased(frontier: MemoryFrontier, now_s: float, path: str):
    leases = frontier.lease(1, limit=99, due_by_s=now_s, now_s=now_s, until_s=now_s)
    return [one for one in leases if one.url == HOST + path]


def _visit(frontier: MemoryFrontier, lease, at_s: float, outcome: Outcome) -> PageUpdate:
    changed = None if outcome is Outcome.NEW else True
    visit = Visit(at_s, outcome, 200, changed, None if changed is None else 100.0)
    return PageUpdate(lease, visit, PageState.INDEXED, at_s + 100.0, 100.0, signature=b"x")
