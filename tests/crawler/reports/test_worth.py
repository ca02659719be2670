"""What a page is worth is shown by part."""

import pytest

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


_LIMITS = AdmissionLimits()


def _leased(frontier: MemoryFrontier, now_s: float, path: str):
    leases = frontier.lease(1, limit=9, due_by_s=now_s, now_s=now_s, until_s=now_s)
    return [one for one in leases if one.url == HOST + path]


def _visit(frontier: MemoryFrontier, lease, at_s: float, outcome: Outcome) -> PageUpdate:
    changed = None if outcome is Outcome.NEW else True
    visit = Visit(at_s, outcome, 200, changed, None if changed is None else 100.0)
    return PageUpdate(lease, visit, PageState.INDEXED, at_s + 100.0, 100.0, signature=b"x")
