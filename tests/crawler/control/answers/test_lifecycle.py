"""The life of a page, the whole table of it, and when it is due again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from recrawl.crawler.control.answers.lifecycle import (
    KEEPS,
    RevisitRules,
    is_copied,
    is_removed,
    next_state,
    outcome_of_status,
)
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.policies import FixedRates
from recrawl.crawler.control.revisiting.revisit_policy import NextVisit, PageVisit
from recrawl.crawler.control.revisiting.timetables import Timetables
from recrawl.crawler.control.worth.announced import WORTHLESS
from recrawl.crawler.control.worth.births import NewPages, birth_worth
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.crawler.control.worth.returns import Returns
from recrawl.terms import Kind, Lease, Outcome, PageState

Is, Was = PageState, Outcome
NOW_S = 1_800_000_000.0
RULES = RevisitRules(
    min_interval_s=600.0,
    max_interval_s=1_000_000.0,
    initial_interval_s=5_000.0,
    confirm_s=3_000.0,
    retry_s=700.0,
    listing_s=40_000.0,
)

# One line for each state before; the states after, for each outcome that can move a page.
TABLE = """
           content not-modified unchanged moved redirected not-found gone denied excluded disallowed
discovered indexed discovered   discovered moved moved missing gone missing excluded disallowed
indexed    indexed indexed      indexed    moved missing missing gone missing missing  missing
excluded   indexed excluded     excluded   moved moved missing gone missing excluded disallowed
moved      indexed moved        moved      moved moved missing gone missing excluded disallowed
missing    indexed indexed      indexed    moved moved gone    gone gone    excluded disallowed
gone       indexed gone         gone       moved moved gone    gone gone    excluded disallowed
disallowed indexed disallowed   indexed    moved moved missing gone missing excluded disallowed
"""
OUTCOMES = {
    "content": (Was.NEW, Was.CHANGED, Was.LISTING),
    "not-modified": (Was.NOT_MODIFIED,),
    "unchanged": (Was.UNCHANGED,),
    "moved": (Was.MOVED,),
    "redirected": (Was.REDIRECTED,),
    "not-found": (Was.NOT_FOUND,),
    "gone": (Was.GONE,),
    "denied": (Was.DENIED,),
    "excluded": (Was.TOO_LARGE, Was.UNSUPPORTED),
    "disallowed": (Was.DISALLOWED,),
}
TELLS_NOTHING = (
    Was.THROTTLED, Was.SERVER_ERROR, Was.FAILED, Was.POISON, Was.LOST, Was.OBSOLETE,
    Was.DEFERRED,
)  # fmt: skip


def transitions() -> list[tuple[PageState, PageState, Outcome]]:
    """Return (after, before, outcome) for every pair."""
    head, *lines = (line.split() for line in TABLE.strip().splitlines())
    rows = [
        (Is(after), Is(before), outcome)
        for before, *afters in lines
        for name, after in zip(head, afters, strict=True)
        for outcome in OUTCOMES[name]
    ]
    return rows + [(state, state, outcome) for state in Is for outcome in TELLS_NOTHING]


def lease(state: PageState = Is.INDEXED, **fields: object) -> Lease:
    values: dict[str, object] = {"page_id": 1, "url": "http://a/", "host_id": 1, "token": 1}
    return Lease(**(values | {"due_s": NOW_S - 50.0, "state": state} | fields))  # type: ignore[arg-type]


def test_the_table_is_whole() -> None:
    """Every state meets every outcome once."""
    pairs = [(before, outcome) for _, before, outcome in transitions()]

    assert len(pairs) == len(set(pairs)) == len(Is) * len(Was)


@pytest.mark.parametrize(("expected", "state", "outcome"), transitions())
def test_every_visit_leads_where_the_table_says(
    expected: PageState, state: PageState, outcome: Outcome
) -> None:
    """Failures and lost pages change nothing; everything else follows the table."""
    assert next_state(state, outcome) is expected


def walk(*outcomes: Outcome, state: PageState = Is.INDEXED) -> list[PageState]:
    states = []
    for outcome in outcomes:
        state = next_state(state, outcome)
        states.append(state)
    return states


@pytest.mark.parametrize(
    ("expected", "outcomes"),
    [
        ([Is.MISSING, Is.GONE], (Was.NOT_FOUND, Was.NOT_FOUND)),
        ([Is.MISSING, Is.MISSING, Is.GONE], (Was.NOT_FOUND, Was.FAILED, Was.DENIED)),
        ([Is.MISSING, Is.INDEXED, Is.MISSING], (Was.NOT_FOUND, Was.NOT_MODIFIED, Was.NOT_FOUND)),
        ([Is.GONE, Is.GONE, Is.INDEXED], (Was.GONE, Was.NOT_FOUND, Was.NEW)),
        ([Is.MOVED, Is.MOVED, Is.INDEXED], (Was.MOVED, Was.MOVED, Was.NEW)),
        ([Is.MISSING, Is.DISALLOWED, Is.INDEXED], (Was.DISALLOWED, Was.DISALLOWED, Was.NEW)),
        ([Is.MISSING, Is.INDEXED], (Was.DISALLOWED, Was.NOT_MODIFIED)),
        ([Is.MISSING, Is.EXCLUDED], (Was.TOO_LARGE, Was.UNSUPPORTED)),
        ([Is.MISSING, Is.INDEXED], (Was.TOO_LARGE, Was.UNCHANGED)),
        ([Is.MISSING, Is.INDEXED], (Was.REDIRECTED, Was.NOT_MODIFIED)),
        ([Is.MISSING, Is.MOVED], (Was.REDIRECTED, Was.REDIRECTED)),
        ([Is.MISSING, Is.MOVED], (Was.NOT_FOUND, Was.REDIRECTED)),
        ([Is.INDEXED] * 3, (Was.SERVER_ERROR, Was.THROTTLED, Was.LOST)),
    ],
)
def test_a_page_goes_only_when_told_twice_or_plainly(
    expected: list[PageState], outcomes: tuple[Outcome, ...]
) -> None:
    """404 twice, or elsewhere for now; 410 at once; trouble tells nothing; all can return."""
    assert walk(*outcomes) == expected


def test_the_copy_goes_with_the_step_out_of_the_index_and_only_then() -> None:
    """A page missing once keeps its copy."""
    for before in Is:
        for after in Is:
            assert is_removed(before, after) is (before in KEEPS and after not in KEEPS)
    assert {Is.DISCOVERED, Is.INDEXED, Is.MISSING} == KEEPS


@pytest.mark.parametrize(
    ("expected", "statuses"),
    [
        (None, [200, 201, 203, 204, 206, 299]),
        (Was.NOT_MODIFIED, [304]),
        (Was.MOVED, [301, 308]),
        (Was.REDIRECTED, [302, 303, 307]),
        (Was.NOT_FOUND, [404]),
        (Was.GONE, [410]),
        (Was.THROTTLED, [429]),
        (Was.DENIED, [400, 401, 403, 406, 418, 451, 499]),
        (Was.SERVER_ERROR, [500, 501, 502, 503, 504, 599, 600, 999, 100, 300, 305, 0]),
    ],
)
def test_every_status_has_a_meaning(expected: Outcome | None, statuses: list[int]) -> None:
    """Those that no standard knows are trouble of the server."""
    assert {outcome_of_status(status) for status in statuses} == {expected}


def next_visit(visited: Lease, outcome: Outcome, failures: int) -> NextVisit:
    """Ask the owner of due times, without timetables."""
    times = DueTimes(RULES, FixedRates(RULES, "uniform"))
    after = next_state(visited.state, outcome)
    return times.after_visit(visited, outcome, after, NOW_S, failures=failures)


@pytest.mark.parametrize("outcome", [Was.NOT_FOUND, Was.NEW])
def test_what_was_made_up_to_hear_of_errors_is_not_asked_for_again(outcome: Outcome) -> None:
    """There may be one a day; but what told nothing is tried again."""
    made_up = replace(lease(Is.DISCOVERED), url="http://site.test/a/zq0123456789abcdef")
    times = DueTimes(RULES, FixedRates(RULES, "uniform"))

    asked = times.after_visit(made_up, outcome, Is.EXCLUDED, NOW_S)
    failed = times.after_visit(made_up, Was.FAILED, Is.EXCLUDED, NOW_S, failures=1)

    assert asked.due_s > NOW_S + 1_000.0 * RULES.max_interval_s
    assert failed.due_s < NOW_S + RULES.max_interval_s


def test_a_policy_is_told_how_long_ago_the_visit_before_was() -> None:
    """Nothing with the first."""
    told: list[PageVisit] = []

    class Noting(FixedRates):
        @override
        def after_visit(self, visit: PageVisit) -> NextVisit:
            told.append(visit)
            return super().after_visit(visit)

    times = DueTimes(RULES, Noting(RULES, "uniform"))
    for before_s in (None, NOW_S - 300.0):
        visited = replace(lease(), last_visit_s=before_s)
        times.after_visit(visited, Was.CHANGED, Is.INDEXED, NOW_S)

    assert [visit.elapsed_s for visit in told] == [None, 300.0]


@pytest.mark.parametrize(
    ("expected", "visited", "outcome"),
    [
        (5_000.0, lease(Is.DISCOVERED), Was.NEW),
        (5_000.0, lease(), Was.UNCHANGED),
        (1_950.0, lease(crawl_rate_per_s=1 / 2_000), Was.CHANGED),
        (1_750.0, lease(crawl_rate_per_s=1 / 2_000, due_s=NOW_S - 750.0), Was.CHANGED),
        (2_000.0, lease(crawl_rate_per_s=1 / 2_000, due_s=NOW_S + 750.0), Was.CHANGED),
        (600.0, lease(crawl_rate_per_s=1 / 30), Was.NOT_MODIFIED),
        (2_999_950.0, lease(crawl_rate_per_s=1 / 3_000_000), Was.UNCHANGED),
        (999_950.0, lease(crawl_rate_per_s=0.0), Was.UNCHANGED),
        (3_000.0, lease(), Was.NOT_FOUND),
        (3_000.0, lease(), Was.DENIED),
        (1_000_000.0, lease(Is.MISSING), Was.NOT_FOUND),
        (1_000_000.0, lease(), Was.GONE),
        (1_000_000.0, lease(), Was.MOVED),
        (3_000.0, lease(), Was.REDIRECTED),
        (5_000.0, lease(Is.MISSING), Was.REDIRECTED),
        (3_000.0, lease(), Was.TOO_LARGE),
        (1_000_000.0, lease(Is.MISSING), Was.TOO_LARGE),
        (1_000_000.0, lease(Is.DISCOVERED), Was.DISALLOWED),
        (86_400.0, lease(last_visit_s=NOW_S - 500_000.0), Was.DISALLOWED),
        (500_000.0, lease(Is.DISALLOWED, last_visit_s=NOW_S - 500_000.0), Was.DISALLOWED),
        (1_000_000.0, lease(Is.DISALLOWED, last_visit_s=NOW_S - 5_000_000.0), Was.DISALLOWED),
        (40_000.0, lease(kind=Kind.SITEMAP), Was.LISTING),
        (40_000.0, lease(kind=Kind.FEED, crawl_rate_per_s=1.0), Was.NOT_MODIFIED),
        (-50.0, lease(), Was.LOST),
        (-50.0, lease(), Was.OBSOLETE),
        (-50.0, lease(), Was.THROTTLED),
        (60.0, lease(), Was.DEFERRED),
        (0.0, lease(due_s=NOW_S + 99.0), Was.LOST),
    ],
)
def test_when_a_page_is_due_again(expected: float, visited: Lease, outcome: Outcome) -> None:
    """By the plan where there is one, less the 50 s of delay; what was lost is due as before."""
    assert next_visit(visited, outcome, 1).due_s - NOW_S == pytest.approx(expected)


@pytest.mark.parametrize("outcome", [Was.FAILED, Was.SERVER_ERROR, Was.POISON])
def test_failures_are_retried_ever_later(outcome: Outcome) -> None:
    """Doubling, up to the longest interval, whatever the count."""
    delays = [
        next_visit(lease(), outcome, failures).due_s - NOW_S
        for failures in (1, 2, 3, 11, 12, 5_000)
    ]

    assert delays == [700.0, 1400.0, 2800.0, 716_800.0, 1_000_000.0, 1_000_000.0]


def test_what_is_put_off_unread_comes_again_ever_later() -> None:
    """Soon at first, as it is not to blame; but no host fills the crawl with such pages."""
    delays = [next_visit(lease(), Was.DEFERRED, n).due_s - NOW_S for n in (1, 2, 3, 5_000)]

    assert delays == [60.0, 120.0, 240.0, 1_000_000.0]


def test_a_host_that_is_busy_again_and_again_makes_its_page_wait() -> None:
    """At the first time the host alone decides."""
    delays = [next_visit(lease(), Was.THROTTLED, n).due_s - NOW_S for n in (1, 2, 3)]

    assert delays == [-50.0, 700.0, 1400.0]


@pytest.mark.slow
@given(
    st.sampled_from(Is),
    st.sampled_from(Was),
    st.sampled_from(Kind),
    st.none() | st.floats(0.0, 10.0),
    st.integers(1, 100),
)
def test_no_page_is_ever_forgotten(
    state: PageState, outcome: Outcome, kind: Kind, rate: float | None, failures: int
) -> None:
    """Without a plan that says otherwise, every page is due within the longest interval."""
    visited = lease(state, kind=kind, crawl_rate_per_s=rate)

    due_s = next_visit(visited, outcome, failures).due_s

    assert due_s < float("inf")
    if not rate or rate >= 1 / RULES.max_interval_s:
        assert due_s <= NOW_S + RULES.max_interval_s


def test_only_new_content_in_the_index_is_a_copy() -> None:
    """Excluded pages and listings put nothing there."""
    copied = {(o, s) for o in Was for s in Is if is_copied(o, s)}

    assert copied == {(Was.NEW, Is.INDEXED), (Was.CHANGED, Is.INDEXED)}


@pytest.mark.parametrize(
    ("expected", "visited", "outcome"),
    [
        ("dropped by the buffer", lease(crawl_rate_per_s=1.0), Was.LOST),
        ("took long to read", lease(), Was.DEFERRED),
        ("host was busy", lease(Is.GONE), Was.THROTTLED),
        ("visit failed", lease(), Was.FAILED),
        ("in quarantine", lease(), Was.POISON),
        ("to be confirmed", lease(), Was.NOT_FOUND),
        ("gone:", lease(Is.MISSING), Was.GONE),
        ("moved:", lease(), Was.MOVED),
        ("leads elsewhere for now, once: to be confirmed", lease(), Was.REDIRECTED),
        ("leads elsewhere for now: looked at again", lease(Is.MISSING), Was.REDIRECTED),
        ("not indexable", lease(Is.DISCOVERED), Was.UNSUPPORTED),
        ("robots.txt forbids it: ", lease(Is.DISCOVERED), Was.DISALLOWED),
        ("robots.txt forbids it now: to be confirmed", lease(), Was.DISALLOWED),
        (
            "robots.txt forbids it now: looked at again",
            lease(Is.MISSING, last_visit_s=NOW_S - 1.0),
            Was.DISALLOWED,
        ),
        ("interval of their own", lease(kind=Kind.SITEMAP), Was.LISTING),
        ("not planned yet", lease(Is.DISCOVERED), Was.NEW),
        ("the plan", lease(crawl_rate_per_s=0.0), Was.CHANGED),
    ],
)
def test_people_are_told_what_set_the_due_time(
    expected: str, visited: Lease, outcome: Outcome
) -> None:
    """In the words that `recrawl explain` shows, given together with the due time."""
    assert expected in next_visit(visited, outcome, 1).why


def test_pages_that_came_back_are_counted() -> None:
    """What was gone and has content again tells how soon others may come back."""
    returns = Returns()
    times = DueTimes(RULES, FixedRates(RULES, "uniform"), returns=returns)

    times.after_visit(lease(Is.GONE), Was.NEW, Is.INDEXED, NOW_S)
    for _ in range(2):
        times.after_visit(lease(Is.INDEXED), Was.UNCHANGED, Is.INDEXED, NOW_S)

    assert returns.returned == 1.0


def test_what_leads_to_the_same_again_and_again_is_looked_at_ever_more_seldom() -> None:
    """From the initial interval to the longest; another target begins anew, as does a policy."""
    kept: list[bytes] = []

    class Remembering(FixedRates):
        @override
        def after_visit(self, visit: PageVisit) -> NextVisit:
            kept.append(visit.memory)
            return super().after_visit(visit)

    times = DueTimes(RULES, Remembering(RULES, "uniform"))
    visited, waits = lease(Is.MISSING, memory=b"a policy's"), []
    for target in [*"a" * 50, *"bba"]:
        came = times.after_visit(visited, Was.REDIRECTED, Is.MOVED, NOW_S, leads_to=target)
        waits.append(came.due_s - NOW_S)
        assert ("as before" in came.why) == (waits[-1] > 5_000.0)
        visited = lease(Is.MOVED, memory=came.memory)

    assert waits[:4] == [5_000.0, 10_000.0, 20_000.0, 40_000.0]
    assert set(waits[8:-3]) == {1_000_000.0}
    assert waits[-3:] == [5_000.0, 10_000.0, 5_000.0]
    times.after_visit(visited, Was.NEW, Is.INDEXED, NOW_S)
    times.after_visit(lease(memory=b"its own"), Was.UNCHANGED, Is.INDEXED, NOW_S)
    assert kept == [b"", b"its own"]


@pytest.mark.parametrize(
    ("expected", "before", "outcome", "last_days"),
    [
        (1.0, Is.INDEXED, Was.CHANGED, 9.0),
        (1.0, Is.MISSING, Was.CHANGED, 9.0),
        (1.0, Is.EXCLUDED, Was.NEW, 0.1),
        (6.0, Is.EXCLUDED, Was.NEW, 3.0),
        (6.0, Is.EXCLUDED, Was.NOT_MODIFIED, 3.0),
        (30.0, Is.EXCLUDED, Was.NEW, 20.0),
        (30.0, Is.EXCLUDED, Was.UNSUPPORTED, 3.0),
        (30.0, Is.DISCOVERED, Was.NEW, None),
    ],
)
def test_what_is_to_be_indexed_no_more_is_looked_at_again_the_next_day(
    expected: float, before: PageState, outcome: Outcome, last_days: float | None
) -> None:
    """Then ever later; what never was in the index waits for the longest interval."""
    rules = replace(RULES, max_interval_s=30 * 86_400.0)
    last_s = None if last_days is None else NOW_S - last_days * 86_400.0
    visited = lease(before, last_visit_s=last_s)

    times = DueTimes(rules, FixedRates(rules, "uniform"))
    came = times.after_visit(visited, outcome, Is.EXCLUDED, NOW_S)

    assert (came.due_s - NOW_S) / 86_400.0 == expected
    assert ("doubles" in came.why) == (last_days is not None and outcome is not Was.UNSUPPORTED)


@pytest.mark.parametrize("before", [Is.DISCOVERED, Is.EXCLUDED])
def test_what_is_not_indexed_and_led_to_new_pages_is_looked_at_again_soon(
    before: PageState,
) -> None:
    """After the initial interval, as a list of what is new is to be left out as any other."""
    last_s = None if before is Is.DISCOVERED else NOW_S - 20 * 86_400.0
    times = DueTimes(RULES, FixedRates(RULES, "uniform"))
    came = times.after_visit(
        lease(before, last_visit_s=last_s), Was.NEW, Is.EXCLUDED, NOW_S, told_news=True
    )
    assert came.due_s - NOW_S == RULES.initial_interval_s
    assert "led to new pages" in came.why


def test_of_pages_that_move_the_first_of_a_host_is_looked_at_again_the_next_day() -> None:
    """Then ever later, as long as it leads elsewhere; the others, and those of its kind, are not.

    What it remembers of that is no policy's.
    """
    day_s = 86_400.0
    kept: list[bytes] = []

    class Remembering(FixedRates):
        @override
        def after_visit(self, visit: PageVisit) -> NextVisit:
            kept.append(visit.memory)
            return super().after_visit(visit)

    rules = replace(RULES, max_interval_s=30 * day_s)
    times = DueTimes(rules, Remembering(rules, "uniform"))

    def days(visited: Lease, at_s: float, outcome: Outcome = Was.MOVED) -> float:
        came = times.after_visit(visited, outcome, Is.MOVED, NOW_S + at_s)
        assert ("the first of its host" in came.why) == (came.memory is not None)
        return (came.due_s - NOW_S - at_s) / day_s

    there = lease(last_visit_s=NOW_S)
    never_there = lease(Is.DISCOVERED, last_visit_s=None)
    assert [days(one, 0.0) for one in (never_there, there, there)] == [30.0, 1.0, 30.0]
    assert [days(there, at_s) for at_s in (day_s - 1.0, 2.0 * day_s - 1.0)] == [30.0, 1.0]
    assert days(lease(Is.MISSING, last_visit_s=NOW_S, host_id=2), 0.0) == 1.0

    first = times.after_visit(replace(there, host_id=3), Was.MOVED, Is.MOVED, NOW_S).memory
    assert first is not None
    again = lease(Is.MOVED, last_visit_s=NOW_S, memory=first)
    assert [days(again, n * day_s) for n in (1, 3, 9, 27)] == [2.0, 6.0, 18.0, 30.0]
    assert days(lease(Is.MOVED, last_visit_s=NOW_S), 9.0 * day_s) == 30.0
    times.after_visit(again, Was.NEW, Is.INDEXED, NOW_S)
    assert kept == [b""]


def test_listings_that_tell_nothing_new_are_read_ever_more_seldom() -> None:
    """Up to eight times the interval; the first news bring them back to it."""
    times = DueTimes(RULES, FixedRates(RULES, "uniform"))
    listing, waits = lease(kind=Kind.FEED), []
    for changed in (None, False, False, False, False, True, False):
        came = times.after_visit(listing, Was.LISTING, Is.INDEXED, NOW_S, changed=changed)
        waits.append((came.due_s - NOW_S) / RULES.listing_s)
        quiet = {2.0: 1, 4.0: 2, 8.0: 3}.get(waits[-1])
        assert ("longer" in came.why) == (quiet is not None)
        assert quiet is None or f"last {quiet} times" in came.why
        listing = lease(kind=Kind.FEED, memory=came.memory)

    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0, 1.0, 2.0]


def test_where_dates_are_not_true_a_later_one_is_no_news() -> None:
    """Of a listing in which every date is new each time; new pages still are."""
    times, waits = DueTimes(RULES, FixedRates(RULES, "uniform")), []
    times.price.announced = {1: WORTHLESS}
    listing = lease(kind=Kind.SITEMAP, memory=b"\0")
    for told_news in (False, False, True):
        came = times.after_visit(
            listing, Was.LISTING, Is.INDEXED, NOW_S, changed=True, told_news=told_news
        )
        waits.append((came.due_s - NOW_S) / RULES.listing_s)
        listing = lease(kind=Kind.SITEMAP, memory=came.memory)

    assert waits == [2.0, 4.0, 1.0]


def test_a_listing_is_read_early_once_as_that_is_the_first_to_tell_what_is_new() -> None:
    """Nothing new in so short a time says nothing; then its interval begins."""
    times = DueTimes(RULES, FixedRates(RULES, "uniform"))
    found = lease(Is.DISCOVERED, kind=Kind.FEED)
    first = times.after_visit(found, Was.LISTING, Is.INDEXED, NOW_S)
    read = lease(kind=Kind.FEED, memory=first.memory)
    second = times.after_visit(read, Was.LISTING, Is.INDEXED, NOW_S, changed=False)
    read = lease(kind=Kind.FEED, memory=second.memory)
    third = times.after_visit(read, Was.LISTING, Is.INDEXED, NOW_S, changed=False)
    absent = times.after_visit(found, Was.NOT_FOUND, Is.MISSING, NOW_S)

    waits = [one.due_s - NOW_S for one in (first, second, third, absent)]
    usual_s = RULES.listing_s
    assert waits == pytest.approx([usual_s / 24.0, usual_s, 2.0 * usual_s, usual_s], abs=1e-6)
    assert "second reading" in first.why


def test_a_listing_that_is_not_there_is_looked_for_ever_more_seldom() -> None:
    """Until it is there again, and what it told of before says how soon that is at first."""

    class Priced(OnePrice):
        @override
        def listing_interval(self, page_id: int, *args: object, **_: object) -> float | None:
            return 700.0 if page_id == 7 else None

    times = DueTimes(RULES, FixedRates(RULES, "uniform"), price=Priced(1.0))

    def waits(listing: Lease, states: list[PageState]) -> list[float]:
        found = list[float]()
        for state in states:
            outcome = {Is.INDEXED: Was.LISTING}.get(state, Was.NOT_FOUND)
            came = times.after_visit(listing, outcome, state, NOW_S, changed=None)
            listing = replace(listing, state=state, memory=came.memory or b"")
            found.append(came.due_s - NOW_S)
        return found

    never = waits(lease(Is.DISCOVERED, kind=Kind.SITEMAP), [Is.MISSING, *[Is.GONE] * 12])
    assert never == [min(RULES.listing_s * 2**n, RULES.max_interval_s) for n in range(13)]
    away = [Is.MISSING, Is.GONE, Is.GONE, Is.INDEXED, Is.MISSING]
    told = waits(lease(kind=Kind.FEED, page_id=7, memory=bytes([3])), away)
    assert told == [700.0, 1_400.0, 2_800.0, 700.0, 700.0]
    back = times.after_visit(
        lease(Is.GONE, kind=Kind.FEED, page_id=7, memory=bytes([3])), Was.LISTING, Is.INDEXED, NOW_S
    )
    assert back.memory == bytes([0]), "it has not been quiet, but away"


def test_a_listing_is_read_when_what_it_brings_is_worth_that() -> None:
    """Where it is known what that is; how often it told nothing new is kept all the same."""

    class Priced(OnePrice):
        @override
        def listing_interval(self, *args: object, **_: object) -> float:
            return 50_000.0

    times = DueTimes(RULES, FixedRates(RULES, "uniform"), price=Priced(1.0))
    came = times.after_visit(lease(kind=Kind.FEED), Was.LISTING, Is.INDEXED, NOW_S, changed=False)

    assert (came.due_s - NOW_S, came.memory) == (50_000.0, b"\x01")


def test_listings_are_brought_forward_when_what_they_announce_is_worth_more_than_it_was() -> None:
    """By the price in force and by how quiet each was; sources with a timetable are left out."""
    price = OnePrice(1.0)
    flow = NewPages(1e-3, shared=1.0, lead_s=1e6)
    price.price, price.announced = 1e6, {6: WORTHLESS} | dict.fromkeys((7, 8, 9), flow)
    times = DueTimes(RULES, FixedRates(RULES, "uniform"), price=price)
    times.timetables.page_ids["http://a.test/probed"] = 9
    for changed, page_id in ((True, 7), (None, 7), (False, 8)):
        read = lease(kind=Kind.SITEMAP, page_id=page_id, host_id=1)
        times.after_visit(read, Was.LISTING, Is.INDEXED, NOW_S, changed=changed)

    told = times.listing_intervals(range(6, 10), NOW_S)
    price.price = 1e5
    cheaper = times.listing_intervals(range(6, 10), NOW_S)

    assert told.keys() == cheaper.keys() == {7, 8}
    assert all(cheaper[one] < told[one] for one in told)
    assert told[7] < told[8], "it told nothing new"
    for page_id, quiet in ((7, 0), (8, 1)):
        halved = replace(flow, flow_per_s=1e-3 * 0.5**quiet)
        assert birth_worth(halved, told[page_id]) == pytest.approx(1e6, rel=1e-4)


def test_a_source_with_a_timetable_keeps_to_it_where_it_was_seen() -> None:
    """A probe that failed is repeated before the next one."""

    class Hourly(Timetables):
        @override
        def next_s(self, url: str, now_s: float) -> float:
            return now_s + 3_600.0

    times = DueTimes(RULES, FixedRates(RULES, "uniform"))
    times.timetables = Hourly()
    waits = [
        times.after_visit(lease(), outcome, Is.INDEXED, NOW_S, failures=1).due_s - NOW_S
        for outcome in (Was.CHANGED, Was.NOT_MODIFIED, Was.FAILED)
    ]

    assert waits == [3_600.0, 3_600.0, 700.0]


def test_a_listing_of_which_nothing_is_kept_begins_at_its_interval() -> None:
    """As read by a release that kept no count: its first visit without news doubles the wait."""
    times = DueTimes(RULES, FixedRates(RULES, "uniform"))

    came = times.after_visit(
        lease(kind=Kind.FEED, memory=None), Was.LISTING, Is.INDEXED, NOW_S, changed=False
    )

    assert came.due_s == NOW_S + 2.0 * RULES.listing_s
