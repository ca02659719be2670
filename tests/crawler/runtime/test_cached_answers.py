"""What visits tell of a page where caches answer: nothing but the truth."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.answers.lifecycle import RevisitRules, is_known_anew
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES, IntervalRulePolicy
from recrawl.crawler.control.revisiting.policies import FixedRates
from recrawl.crawler.runtime.outcomes import Finding, is_outdated, update_of
from recrawl.terms import FetchResponse, Kind, Lease, Outcome, PageState, PageUpdate
from recrawl.testing import ScriptedFetcher, VirtualCrawl, run_virtually, virtual_crawl

START_S = 1_800_000_000.0
RULES = RevisitRules(max_interval_s=1e6)
TIMES = DueTimes(RULES, FixedRates(RULES, "uniform"))
LEASE = Lease(
    1,
    "http://a.test/",
    1,
    1,
    START_S,
    state=PageState.INDEXED,
    signature=b"0",
    last_visit_s=START_S + 50.0,
    seen_s=START_S + 20.0,
)


def told(lease: Lease, outcome: Outcome, at_s: float, age_s: float) -> PageUpdate:
    """Return the update of a visit whose answer says that it is so old."""
    response = FetchResponse(lease.url, 200, age_s=age_s)
    return update_of(lease, Finding(outcome, response), START_S + at_s, TIMES)


def test_an_interval_lies_between_the_instants_that_answers_are_of() -> None:
    """The page was looked at 70 s apart, its answers are of 40 s apart."""
    visit = told(LEASE, Outcome.UNCHANGED, 100.0, 40.0).visit

    assert (visit.changed, visit.interval_s, visit.seen_s) == (False, 40.0, START_S + 60.0)
    assert visit.note == "a cache answered, 40s old"


@pytest.mark.parametrize("age_s", [79.5, 80.0, 95.0])
@pytest.mark.parametrize("outcome", [Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED])
def test_what_a_cache_had_before_tells_nothing(outcome: Outcome, age_s: float) -> None:
    """Neither that the page changed nor that it did not; but the visit was made."""
    update = told(LEASE, outcome, 100.0, age_s)

    assert (update.visit.changed, update.visit.interval_s) == (None, None)
    assert update.visit.seen_s == LEASE.seen_s
    assert is_known_anew(update)
    assert update.failures == 0
    assert update.due_s > START_S + 100.0


def test_an_answer_without_an_age_is_of_its_visit() -> None:
    """Also after one that was not."""
    visit = told(LEASE, Outcome.UNCHANGED, 100.0, 0.0).visit

    assert (visit.changed, visit.interval_s, visit.seen_s) == (False, 80.0, None)


def test_the_age_of_an_error_is_nobodys_copy() -> None:
    """What is known of the page stays."""
    update = told(LEASE, Outcome.NOT_FOUND, 100.0, 40.0)

    assert update.visit.seen_s is None
    assert not is_known_anew(update)


def test_a_listing_from_a_cache_is_neither_quiet_nor_new() -> None:
    """It is looked at again after as long as before."""
    lease = replace(LEASE, kind=Kind.FEED, memory=bytes([3]))

    quiet = told(lease, Outcome.LISTING, 100.0, 0.0)
    response = FetchResponse(lease.url, 200, age_s=90.0)
    finding = Finding(Outcome.LISTING, response, raw_hash=b"1", changed=False)
    cached = update_of(lease, finding, START_S + 100.0, TIMES)

    assert quiet.memory == bytes([3])  # it was not compared
    assert cached.memory == bytes([3])
    assert cached.visit.changed is None


def test_a_rule_of_intervals_keeps_its_interval() -> None:
    """As there is nothing to lengthen or shorten it by."""
    times = DueTimes(RULES, IntervalRulePolicy("nutch", SHIPPED_RULES["nutch"]))
    finding = Finding(Outcome.UNCHANGED, FetchResponse(LEASE.url, 200))
    first = update_of(replace(LEASE, last_visit_s=None), finding, START_S, times)
    second = update_of(replace(LEASE, memory=first.memory), finding, START_S + 100.0, times)
    cached = replace(finding, response=FetchResponse(LEASE.url, 200, age_s=99.0))
    third = update_of(replace(LEASE, memory=second.memory), cached, START_S + 100.0, times)

    assert third.visit.changed is None
    assert third.due_s == pytest.approx(second.due_s)


def test_an_older_copy_does_not_take_the_place_of_a_newer_one() -> None:
    """Of two caches one had the edit, and the other answers later with what was before."""

    def answers(web: ScriptedFetcher) -> None:
        new, old = (
            FetchResponse(LEASE.url, 200, f"the {word} words".encode(), "text/plain")
            for word in ("edited", "former")
        )
        web.reply(LEASE.url, replace(old, age_s=60.0), new, replace(old, age_s=1e7), new)

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl()
        answers(virtual.web)
        await virtual.run_for(2 * 3600.0)
        return virtual

    virtual = run_virtually(main())

    details = virtual.frontier.details(LEASE.url, recent=500)
    assert details is not None
    seen = [(visit.outcome, visit.changed) for visit in reversed(details.recent)]
    assert seen[:3] == [
        (Outcome.NEW, None),
        (Outcome.CHANGED, True),
        (Outcome.UNCHANGED, None),
    ]
    assert details.changes == 1
    assert details.visits >= 4


@given(
    st.lists(st.integers(1, 200), max_size=30, unique=True),
    st.lists(st.lists(st.integers(0, 200), min_size=1, unique=True), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 30)), max_size=40),
)
def test_whatever_caches_do_what_visits_tell_is_true(
    changes: list[int], refreshed: list[list[int]], visits: list[tuple[int, int]]
) -> None:
    """Some hold copies for a time, some are told of changes, and any of them may answer.

    Between the instants that two answers are of the page changed, or it did not; and what the
    index holds is never older than what it held.
    """

    def version(at: float) -> int:
        return sum(2 * change <= at for change in changes)  # ages are known to two seconds

    lease = replace(LEASE, last_visit_s=START_S, seen_s=None)
    held, held_of, now = 0, 0, 0
    for cache, wait in visits:
        now += 2 * wait
        copies = refreshed[cache % len(refreshed)]
        of = max((2 * at for at in copies if 2 * at <= now), default=now)
        answer, response = version(of), FetchResponse(lease.url, 200, age_s=float(now - of))
        outcome = Outcome.UNCHANGED if answer == held else Outcome.CHANGED
        if is_outdated(lease, response, START_S + now):
            outcome = Outcome.UNCHANGED
        else:
            held, held_of = answer, max(of, held_of)
        assert held == version(held_of), "the index holds an older copy than it held"
        visit = update_of(lease, Finding(outcome, response), START_S + now, TIMES).visit
        seen_s = START_S + now if visit.seen_s is None else visit.seen_s
        before_s = lease.last_visit_s if lease.seen_s is None else lease.seen_s
        assert before_s is not None
        assert seen_s >= before_s
        if visit.changed is not None:
            assert visit.interval_s == seen_s - before_s > 0.0
            changed = version(seen_s - START_S) != version(before_s - START_S)
            assert visit.changed == changed
        lease = replace(lease, last_visit_s=START_S + now, seen_s=visit.seen_s)
